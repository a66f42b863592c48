// SPDX-License-Identifier: Apache-2.0
#include "table/block/block_io.h"

#include <cstdlib>
#include <memory>
#include <new>

#include "api/foreign_cast.h"
#include "cache/sharded_cache.h"
#include "rocksdb/memory_allocator.h"
#include "table/read_stats.h"
#include "table/stat_timer.h"
#include "util/compression.h"

namespace compassdb {

namespace {

// Cache keys: file id and offset, 16 bytes.
struct BlockKey {
  char bytes[16];
  BlockKey(uint64_t file_id, uint64_t offset) {
    EncodeFixed64(bytes, file_id);
    EncodeFixed64(bytes + 8, offset);
  }
  Slice slice() const { return Slice(bytes, sizeof(bytes)); }
};

void DeleteCachedBlock(const Slice& /*key*/, void* value) {
  static_cast<LoadedBlock*>(value)->Free();
}

size_t PayloadSize(void* block) { return static_cast<LoadedBlock*>(block)->payload().size(); }

Status SavePayload(void* block, size_t offset, size_t length, void* out) {
  const Slice payload = static_cast<LoadedBlock*>(block)->payload();
  if (offset > payload.size() || length > payload.size() - offset) {
    return Status::InvalidArgument("secondary cache asks for bytes behind a data block");
  }
  memcpy(out, payload.data() + offset, length);
  return Status::OK();
}

// How blocks are saved in a secondary cache and deleted.
const rocksdb::Cache::CacheItemHelper kBlockHelper(&PayloadSize, &SavePayload, &DeleteCachedBlock);

void ReleaseHandle(void* cache, void* handle) {
  static_cast<rocksdb::Cache*>(cache)->Release(static_cast<rocksdb::Cache::Handle*>(handle));
}

void FreeLoaded(void* loaded, void*) { static_cast<LoadedBlock*>(loaded)->Free(); }

}  // namespace

Status BlockCorruption(const BlockPlace& place, const std::string& what) {
  return Status::Corruption(place.file->path(), "data block at offset " +
                                                    std::to_string(place.offset) + ", " +
                                                    std::to_string(place.length) + " bytes: " + what);
}

rocksdb::CompressionType PackBlock(rocksdb::CompressionType type, int level, std::string* payload) {
  if (type != rocksdb::kNoCompression) {
    std::string compressed;
    if (Compress(type, level, *payload, &compressed) &&
        compressed.size() <= payload->size() - payload->size() / 8) {
      payload->swap(compressed);
    } else {
      type = rocksdb::kNoCompression;
    }
  }
  payload->push_back(static_cast<char>(type));
  payload->append(4, '\0');
  return type;
}

// --- LoadedBlock ---

LoadedBlock* LoadedBlock::Allocate(const BlockAllocator& allocator, size_t bytes) {
  size_t usable = 0;
  BlockAllocator from;
  void* memory = allocator.Allocate(sizeof(LoadedBlock) + bytes, &usable, &from);
  if (memory == nullptr) return nullptr;
  LoadedBlock* loaded = new (memory) LoadedBlock;
  loaded->allocator_ = from;
  loaded->allocated_ = usable;
  return loaded;
}

void LoadedBlock::Free() {
  const BlockAllocator allocator = allocator_;
  this->~LoadedBlock();
  allocator.Free(this);
}

LoadedBlock* LoadedBlock::FromPayload(const Slice& payload, const BlockAllocator& allocator) {
  LoadedBlock* loaded = Allocate(allocator, payload.size());
  if (loaded == nullptr) return nullptr;
  memcpy(loaded->data(), payload.data(), payload.size());
  if (Block::Parse(Slice(loaded->data(), payload.size()), &loaded->block_)) return loaded;
  loaded->Free();
  return nullptr;
}

Status LoadedBlock::Check(const BlockPlace& place, const Slice& stored, bool verify_checksum,
                          rocksdb::CompressionType* type) {
  if (stored.size() != place.length || stored.size() < kBlockTrailerBytes) {
    return BlockCorruption(place, "the file ends within it");
  }
  const size_t covered = stored.size() - 4;
  if (verify_checksum) {
    PerfTimer timer(&rocksdb::PerfContext::block_checksum_time);
    const uint64_t context = MixContext(place.file->file_id(), place.offset);
    if (!ChecksumHolds(DecodeFixed32(stored.data() + covered),
                       Checksum32(Slice(stored.data(), covered), context))) {
      return BlockCorruption(place, "checksum mismatch");
    }
  }
  *type = static_cast<rocksdb::CompressionType>(static_cast<uint8_t>(stored[covered - 1]));
  return Status::OK();
}

Status LoadedBlock::Parse(const BlockPlace& place, size_t payload_size) {
  if (!Block::Parse(Slice(data(), payload_size), &block_)) {
    return BlockCorruption(place, "malformed header");
  }
  return Status::OK();
}

Status LoadedBlock::Decompress(const BlockPlace& place, const Slice& payload,
                               rocksdb::CompressionType type, const BlockAllocator& allocator,
                               rocksdb::Statistics* statistics, LoadedBlock** out) {
  uint64_t size = 0;
  Status s = UncompressedSize(type, payload, place.max_payload, &size);
  if (size > place.max_payload) {
    return BlockCorruption(place, "claims to hold " + std::to_string(size) + " bytes, the piece's " +
                                      "largest block has " + std::to_string(place.max_payload));
  }
  if (s.IsMemoryLimit()) return s;
  if (!s.ok()) return BlockCorruption(place, s.ToString());
  LoadedBlock* loaded = Allocate(allocator, size);
  if (loaded == nullptr) return Status::MemoryLimit("no memory for a data block");
  {
    PerfTimer timer(&rocksdb::PerfContext::block_decompress_time);
    const StatNanos nanos(statistics, rocksdb::DECOMPRESSION_TIMES_NANOS);
    s = DecompressInto(type, payload, loaded->data(), size);
  }
  if (s.ok()) {
    s = loaded->Parse(place, size);
  } else if (!s.IsMemoryLimit()) {
    s = BlockCorruption(place, s.ToString());
  }
  if (!s.ok()) {
    loaded->Free();
    return s;
  }
  Tick(statistics, rocksdb::NUMBER_BLOCK_DECOMPRESSED);
  if (statistics != nullptr) statistics->recordInHistogram(rocksdb::BYTES_DECOMPRESSED, size);
  *out = loaded;
  return s;
}

Status LoadedBlock::Decode(const BlockPlace& place, const Slice& stored, bool verify_checksum,
                           const BlockAllocator& allocator, rocksdb::Statistics* statistics,
                           LoadedBlock** out) {
  *out = nullptr;
  if (verify_checksum) Tick(statistics, rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT);
  rocksdb::CompressionType type;
  Status s = Check(place, stored, verify_checksum, &type);
  if (!s.ok()) return s;
  const Slice payload(stored.data(), stored.size() - kBlockTrailerBytes);
  if (type != rocksdb::kNoCompression) {
    return Decompress(place, payload, type, allocator, statistics, out);
  }
  LoadedBlock* loaded = Allocate(allocator, payload.size());
  if (loaded == nullptr) return Status::MemoryLimit("no memory for a data block");
  memcpy(loaded->data(), payload.data(), payload.size());
  s = loaded->Parse(place, payload.size());
  if (!s.ok()) {
    loaded->Free();
    return s;
  }
  *out = loaded;
  return s;
}

Status LoadedBlock::Read(const BlockPlace& place, bool verify_checksum,
                         const BlockAllocator& allocator, rocksdb::Statistics* statistics,
                         LoadedBlock** out) {
  EpochGuard::AssertNone();
  *out = nullptr;
  LoadedBlock* loaded = Allocate(allocator, place.length);
  if (loaded == nullptr) return Status::MemoryLimit("no memory for a data block");
  Slice stored;
  Status s;
  {
    PerfTimer timer(&rocksdb::PerfContext::block_read_time);
    const StatTimer micros(statistics, rocksdb::SST_READ_MICROS);
    s = place.file->file()->Read(place.offset, place.length, &stored, loaded->data());
  }
  CountBlockRead(place.length);
  if (!s.ok()) {
    loaded->Free();
    return s;
  }
  return Accept(place, stored, verify_checksum, allocator, statistics, loaded, out);
}

Status LoadedBlock::Accept(const BlockPlace& place, const Slice& stored, bool verify_checksum,
                           const BlockAllocator& allocator, rocksdb::Statistics* statistics,
                           LoadedBlock* loaded, LoadedBlock** out) {
  *out = nullptr;
  if (verify_checksum) Tick(statistics, rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT);
  rocksdb::CompressionType type = rocksdb::kNoCompression;
  Status s = Check(place, stored, verify_checksum, &type);
  if (s.ok()) {
    const Slice payload(stored.data(), stored.size() - kBlockTrailerBytes);
    if (type != rocksdb::kNoCompression) {
      s = Decompress(place, payload, type, allocator, statistics, out);
      loaded->Free();
      return s;
    }
    if (payload.data() != loaded->data()) memmove(loaded->data(), payload.data(), payload.size());
    s = loaded->Parse(place, payload.size());
  }
  if (!s.ok()) {
    loaded->Free();
    return s;
  }
  *out = loaded;
  return s;
}

// --- BlockRef ---

BlockRef& BlockRef::operator=(BlockRef&& other) noexcept {
  if (this != &other) {
    Reset();
    loaded_ = std::exchange(other.loaded_, nullptr);
    cache_ = std::exchange(other.cache_, nullptr);
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

void BlockRef::Reset() {
  if (loaded_ == nullptr) return;
  if (cache_ != nullptr) {
    cache_->Release(handle_);
  } else {
    loaded_->Free();
  }
  loaded_ = nullptr;
  cache_ = nullptr;
  handle_ = nullptr;
}

void BlockRef::MoveInto(rocksdb::Cleanable* pin) {
  if (loaded_ == nullptr) return;
  if (cache_ != nullptr) {
    pin->RegisterCleanup(&ReleaseHandle, cache_, handle_);
  } else {
    pin->RegisterCleanup(&FreeLoaded, loaded_, nullptr);
  }
  loaded_ = nullptr;
  cache_ = nullptr;
  handle_ = nullptr;
}

// --- BlockLoader ---

BlockLoader::BlockLoader(const TableReaderOptions& options)
    : cache_(options.block_cache.get()),
      own_(ForeignCast<ShardedCache*>(cache_)),
      statistics_(options.statistics) {
  if (cache_ != nullptr) allocator_.users = cache_->memory_allocator();
  if (own_ != nullptr) {
    allocator_.cells = own_->block_memory();
    own_has_secondary_ = own_->has_secondary();
  }
  create_ = [allocator = allocator()](const void* data, size_t size, void** out, size_t* charge) {
    LoadedBlock* loaded =
        LoadedBlock::FromPayload(Slice(static_cast<const char*>(data), size), allocator);
    if (loaded == nullptr) return Status::Corruption("secondary cache returned a damaged data block");
    *out = loaded;
    *charge = loaded->charge();
    return Status::OK();
  };
}

bool BlockLoader::FromCache(uint64_t file_id, uint64_t offset, BlockRef* ref) const {
  if (cache_ == nullptr) return false;
  const BlockKey key(file_id, offset);
  rocksdb::Cache::Handle* handle =
      cache_->Lookup(key.slice(), &kBlockHelper, create_, rocksdb::Cache::Priority::LOW,
                     /*wait=*/true, statistics_);
  if (handle == nullptr) {
    CountMiss();
    return false;
  }
  ref->Reset();
  ref->cache_ = cache_;
  ref->handle_ = handle;
  ref->loaded_ = static_cast<LoadedBlock*>(cache_->Value(handle));
  CountHit(ref->loaded_->charge());
  return true;
}

void BlockLoader::CountMiss() const {
  Tick(statistics_, rocksdb::BLOCK_CACHE_MISS);
  Tick(statistics_, rocksdb::BLOCK_CACHE_DATA_MISS);
}

void BlockLoader::CountHit(size_t charge) const {
  if (rocksdb::PerfContext* perf = PerfCounters()) ++perf->block_cache_hit_count;
  if (statistics_ != nullptr) {
    Tick(statistics_, rocksdb::BLOCK_CACHE_HIT);
    Tick(statistics_, rocksdb::BLOCK_CACHE_DATA_HIT);
    Tick(statistics_, rocksdb::BLOCK_CACHE_BYTES_READ, charge);
  }
}

bool BlockLoader::Contains(uint64_t file_id, uint64_t offset) const {
  if (own_ == nullptr) return false;
  const EpochGuard guard;
  return own_->Find(BlockKey(file_id, offset).slice(),
                    ShardedCache::HashOfWords(file_id, offset)) != nullptr;
}

void BlockLoader::PrefetchSlot(uint64_t file_id, uint64_t offset) const {
  if (own_ == nullptr) return;
  const EpochGuard guard;
  own_->Prefetch(ShardedCache::HashOfWords(file_id, offset));
}

void BlockLoader::PrefetchBlock(uint64_t file_id, uint64_t offset) const {
  if (own_ == nullptr) return;
  const EpochGuard guard;
  own_->PrefetchEntry(ShardedCache::HashOfWords(file_id, offset));
}

LoadedBlock* BlockLoader::Peek(uint64_t file_id, uint64_t offset) const {
  if (own_ == nullptr) return nullptr;
  const uint64_t hash = ShardedCache::HashOfWords(file_id, offset);
  if (own_->keeps_records()) own_->PrefetchBlockMiss(hash);
  const CacheEntry* const entry = own_->Peek(BlockKey(file_id, offset).slice(), hash);
  if (entry == nullptr) return nullptr;
  auto* const loaded = static_cast<LoadedBlock*>(entry->value);
  CountHit(loaded->charge());
  return loaded;
}

bool BlockLoader::Pin(LoadedBlock* peeked, BlockRef* ref) const {
  rocksdb::Cache::Handle* const handle = ShardedCache::Pin(peeked->entry());
  if (handle == nullptr) return false;
  ref->Reset();
  ref->cache_ = cache_;
  ref->handle_ = handle;
  ref->loaded_ = peeked;
  return true;
}

Status BlockLoader::FromFile(const BlockPlace& place, const BlockReadOptions& read,
                             BlockRef* ref) const {
  IoTimer timer(read.limits);
  Status s = timer.Begin();
  if (!s.ok()) return s;
  const StatTimer micros(statistics_, BlockReadHistogram(read));
  LoadedBlock* loaded = nullptr;
  s = LoadedBlock::Read(place, read.verify_checksums, allocator(), statistics_, &loaded);
  if (!s.ok()) return s;
  Adopt(loaded, place, read.fill_cache, ref);
  return timer.End();
}

Status BlockLoader::Accept(const BlockPlace& place, const ReadRequest& request,
                           const BlockReadOptions& read, LoadedBlock* loaded,
                           BlockRef* ref) const {
  CountBlockRead(place.length);
  if (!request.status.ok()) {
    loaded->Free();
    return request.status;
  }
  LoadedBlock* block = nullptr;
  Status s = LoadedBlock::Accept(place, request.result, read.verify_checksums, allocator(),
                                 statistics_, loaded, &block);
  if (s.ok()) Adopt(block, place, read.fill_cache, ref);
  return s;
}

BlockRef BlockLoader::Share(const BlockRef& ref) const {
  BlockRef other;
  if (ref.cache_ != nullptr && ref.cache_->Ref(ref.handle_)) {
    other.loaded_ = ref.loaded_;
    other.cache_ = ref.cache_;
    other.handle_ = ref.handle_;
  } else {
    other.loaded_ = LoadedBlock::FromPayload(ref.loaded_->payload(), allocator());
  }
  return other;
}

Status BlockLoader::FromBytes(const BlockPlace& place, const Slice& stored,
                              const BlockReadOptions& read, BlockRef* ref) const {
  LoadedBlock* loaded = nullptr;
  Status s =
      LoadedBlock::Decode(place, stored, read.verify_checksums, allocator(), statistics_, &loaded);
  if (s.ok()) Adopt(loaded, place, read.fill_cache, ref);
  return s;
}

void BlockLoader::Adopt(LoadedBlock* loaded, const BlockPlace& place, bool fill_cache,
                        BlockRef* ref) const {
  ref->Reset();
  ref->loaded_ = loaded;
  if (cache_ == nullptr || !fill_cache) return;
  const BlockKey key(place.file->file_id(), place.offset);
  rocksdb::Cache::Handle* handle = nullptr;
  const size_t charge = loaded->charge();
  const Status s =
      own_ != nullptr
          ? own_->InsertEmbedded(loaded->entry(), key.slice(), loaded, &kBlockHelper, charge,
                                 &handle, rocksdb::Cache::Priority::LOW)
          : cache_->Insert(key.slice(), loaded, &kBlockHelper, charge, &handle,
                           rocksdb::Cache::Priority::LOW);
  if (!s.ok()) {
    // A full cache with a strict limit: the read is served nevertheless.
    Tick(statistics_, rocksdb::BLOCK_CACHE_ADD_FAILURES);
    return;
  }
  ref->cache_ = cache_;
  ref->handle_ = handle;
  CountAdded(charge);
}

void BlockLoader::CountAdded(size_t charge) const {
  if (statistics_ == nullptr) return;
  Tick(statistics_, rocksdb::BLOCK_CACHE_ADD);
  Tick(statistics_, rocksdb::BLOCK_CACHE_DATA_ADD);
  Tick(statistics_, rocksdb::BLOCK_CACHE_DATA_BYTES_INSERT, charge);
  Tick(statistics_, rocksdb::BLOCK_CACHE_BYTES_WRITE, charge);
}

void BlockLoader::Keep(const BlockPlace& place, const Slice& payload) const {
  LoadedBlock* const loaded = LoadedBlock::FromPayload(payload, allocator());
  if (loaded == nullptr) return;
  const BlockKey key(place.file->file_id(), place.offset);
  const size_t charge = loaded->charge();
  // Without a handle nothing fails: a block that does not fit is deleted.
  own_->InsertEmbedded(loaded->entry(), key.slice(), loaded, &kBlockHelper, charge, nullptr,
                       rocksdb::Cache::Priority::LOW)
      .PermitUncheckedError();
  CountAdded(charge);
}

void BlockLoader::Erase(uint64_t file_id, uint64_t offset) const {
  if (cache_ != nullptr) cache_->Erase(BlockKey(file_id, offset).slice());
}

}  // namespace compassdb
