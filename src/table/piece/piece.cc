// SPDX-License-Identifier: Apache-2.0
#include "table/piece/piece.h"

#include <algorithm>

#include "cache/sharded_cache.h"
#include "format/user_timestamp.h"
#include "iter/merging_iterator.h"
#include "table/block/cached_record.h"
#include "table/block/point_block.h"
#include "table/piece/hashed_iterator.h"
#include "table/piece/piece_collectors.h"
#include "table/piece/piece_reader.h"
#include "util/epoch.h"
#include "util/heap_bytes.h"

namespace compassdb {

namespace {

// Up to this size a copy costs less than a reference that other threads count, too.
constexpr size_t kCopiedValueBytes = 1024;

constexpr uint32_t kNoBlock = UINT32_MAX;

// Whether this is the newest record of the key here, and complete by itself.
bool IsAnswer(const Block::FindResult& found) {
  return found.found && found.first && found.record.type != kTypeMerge;
}

// One in kSampled blocks that are found without hints checks kProbed blocks of the piece. Hints are made
// if at least three quarters of these are in the cache.
constexpr uint32_t kSampled = 64;
constexpr uint32_t kProbed = 32;

bool Sample() {
  static thread_local uint32_t found = 0;
  return ++found % kSampled == 0;
}

bool MostlyCached(const PieceReader& reader) {
  const uint32_t blocks = reader.num_blocks();
  const uint32_t probed = std::min(blocks, kProbed);
  uint32_t cached = 0;
  for (uint32_t i = 0; i < probed; ++i) {
    const auto block = static_cast<uint32_t>(uint64_t{i} * blocks / probed);
    cached += reader.HasCached(block) ? 1 : 0;
  }
  return cached * 4 >= probed * 3;
}

// They are in the file.
PieceMeta WithoutCollected(PieceMeta meta) {
  meta.collected.reset();
  return meta;
}

}  // namespace

Piece::Piece(TableContextRef context, const PieceMeta& meta, IndexMode mode)
    : meta_(WithoutCollected(meta)),
      reader_(std::move(context), mode, IndexCache::Kind::kIndex) {}
Piece::~Piece() { delete hints_.load(std::memory_order_acquire); }

Status Piece::Open(const BlockReadOptions& read, PieceRef* ref) const {
  return reader_.Get(
      read,
      [this](std::unique_ptr<const PieceReader>* loaded) {
        return PieceReader::Open(context(), meta_, loaded);
      },
      ref);
}

Status Piece::ReadRangeTombstones(std::vector<RangeTombstone>* tombstones) const {
  if (meta_.num_range_tombstones == 0) return Status::OK();
  PieceRef reader;
  Status s = Open({}, &reader);
  if (!s.ok()) return s;
  if (const std::vector<RangeTombstone>* const own = reader->tombstones(); own != nullptr) {
    tombstones->insert(tombstones->end(), own->begin(), own->end());
  }
  return s;
}

Status Piece::Find(const BlockReadOptions& read, const Slice& user_key, SequenceNumber snapshot,
                   FoundRecord* record) const {
  record->found = record->newest = record->key_present = false;
  record->pin.Reset();
  PieceRef reader;
  Status s = Open(read, &reader);
  if (!s.ok()) return s;
  VersionCursor cursor(std::move(reader), read, user_key);
  s = cursor.Seek(snapshot);
  if (!s.ok()) return s;
  record->key_present = cursor.key_present();
  if (!cursor.Valid()) return s;
  record->found = true;
  record->newest = cursor.newest();
  record->sequence = cursor.record().sequence;
  record->type = cursor.record().type;
  record->value = cursor.record().value;
  cursor.block()->MoveInto(&record->pin);
  return s;
}

LoadedBlock* Piece::PeekBlock(const PieceReader& reader, uint32_t block) const {
  if (block >= reader.num_blocks()) return nullptr;
  if (const BlockHints* const hints = hints_.load(std::memory_order_acquire)) [[likely]] {
    if (CacheEntry* const entry = hints->Find(block)) [[likely]] {
      return reader.loader().PeekAt(entry);
    }
  }
  return PeekAndNote(reader, block);
}

// Finds the block in the cache's table, and notes its place for the next time.
LoadedBlock* Piece::PeekAndNote(const PieceReader& reader, uint32_t block) const {
  LoadedBlock* const loaded = reader.PeekBlock(block);
  if (loaded == nullptr) return nullptr;
  BlockHints* hints = hints_.load(std::memory_order_acquire);
  if (hints == nullptr) {
    if (!Sample() || !MostlyCached(reader)) return loaded;
    auto made = std::make_unique<BlockHints>(reader.loader().own_cache(), reader.num_blocks());
    if (!hints_.compare_exchange_strong(hints, made.get(), std::memory_order_acq_rel)) return loaded;
    hints = made.release();
  }
  hints->Set(block, loaded->entry());
  return loaded;
}

bool Piece::FeedCachedRecord(const Slice& user_key, const KeyHash& hash, GetContext* ctx) const {
  const BlockLoader& loader = context().loader;
  const ShardedCache* const cache = loader.own_cache();
  if (cache == nullptr || !cache->keeps_records()) return false;
  // If most blocks are cached, records are not.
  if (hints_.load(std::memory_order_relaxed) != nullptr) return false;
  std::string ref;
  SequenceNumber sequence = 0;
  {
    const EpochGuard guard;
    const CachedRecord* const record =
        CachedRecord::Find(cache, {meta_.file_id, meta_.extent.offset, hash.h1}, user_key);
    if (record == nullptr || record->sequence() > ctx->snapshot()) return false;
    loader.CountHit(record->charge());
    if (record->type() != kTypeBlobIndex) {
      ctx->Add(record->sequence(), record->type(), record->value(), nullptr);
      return true;
    }
    sequence = record->sequence();
    ref = record->value().ToString();
  }
  ctx->Add(sequence, kTypeBlobIndex, ref, nullptr);  // may read from disk
  return true;
}

Piece::Found Piece::FindCached(const Slice& user_key, const KeyHash& hash,
                               GetContext* ctx) const {
  const PieceReader* const reader = resident();
  if (reader == nullptr) [[unlikely]] return Found::kUndecided;
  if (FeedCachedRecord(user_key, hash, ctx)) return Found::kFed;
  uint32_t missing;
  return FindInCache(*reader, user_key, hash, ctx, &missing);
}

Status Piece::FindNewest(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                         GetContext* ctx, Found* found) const {
  if (FeedCachedRecord(user_key, hash, ctx)) {
    *found = Found::kFed;
    return Status::OK();
  }
  PieceRef paged;
  const PieceReader* reader = resident();
  if (reader == nullptr) [[unlikely]] {
    if (Status s = Open(read, &paged); !s.ok()) return s;
    reader = &*paged;
  }
  uint32_t missing = kNoBlock;
  *found = FindInCache(*reader, user_key, hash, ctx, &missing);
  if (missing == kNoBlock || read.cache_only || meta_.smallest_seq > ctx->snapshot()) return Status::OK();
  return FindInFile(*reader, read, missing, user_key, hash, ctx, found);
}

// *missing: a block that FindInFile could read. Otherwise it does not change.
Piece::Found Piece::FindInCache(const PieceReader& r, const Slice& user_key, const KeyHash& hash,
                                GetContext* ctx, uint32_t* missing) const {
  const uint32_t block = r.LookupBlock(user_key);
  std::string ref;
  SequenceNumber sequence = 0;
  {
    const EpochGuard guard;
    // Hints stay in memory, which a paged index must not.
    LoadedBlock* const loaded =
        resident() != nullptr ? PeekBlock(r, block) : r.PeekBlock(block);
    if (loaded == nullptr) {
      if (block < r.num_blocks() && r.loader().PeekIsComplete()) *missing = block;
      return Found::kUndecided;
    }
    Block::FindResult found;
    if (!loaded->block().Find(r.order(), user_key, &hash, ctx->snapshot(), &found)) {
      return Found::kUndecided;
    }
    if (!found.key_present) return Found::kAbsent;
    if (!IsAnswer(found)) return Found::kUndecided;
    const Block::Record& record = found.record;
    sequence = record.sequence;
    if (record.type == kTypeBlobIndex) {
      ref = record.value.ToString();
    } else if (record.value.size() <= kCopiedValueBytes) {
      ctx->Add(sequence, record.type, record.value, nullptr);
      return Found::kFed;
    } else {
      BlockRef pinned;
      if (!r.loader().Pin(loaded, &pinned)) return Found::kUndecided;
      rocksdb::Cleanable pin;
      pinned.MoveInto(&pin);
      ctx->Add(sequence, record.type, record.value, &pin);
      return Found::kFed;
    }
  }
  ctx->Add(sequence, kTypeBlobIndex, ref, nullptr);  // may read from disk
  return Found::kFed;
}

Status Piece::FindInFile(const PieceReader& r, const BlockReadOptions& read, uint32_t block,
                         const Slice& user_key, const KeyHash& hash, GetContext* ctx,
                         Found* found) const {
  const BlockLoader& loader = r.loader();
  std::shared_ptr<CompactionFile> holder;
  const CompactionFile* file = nullptr;
  if (Status s = r.File(&holder, &file); !s.ok()) return s;
  const BlockPlace place = r.PlaceOf(block, file);
  if (place.length > PointBlock::kMaxBytes) return Status::OK();
  if (loader.has_cache()) loader.CountMiss();
  // Before the read, while its data is still in the processor's cache (prefetched by the lookups).
  ShardedCache* const cache = read.fill_cache ? loader.own_cache() : nullptr;
  const CachedRecord::Key key{meta_.file_id, meta_.extent.offset, hash.h1};
  ShardedCache::Keep keep = ShardedCache::Keep::kNothing;
  if (cache != nullptr) {
    keep = cache->NoteMiss(ShardedCache::HashOfWords(meta_.file_id, place.offset), place.length,
                           key.Hash());
  }
  PointBlock point;
  if (Status s = point.Read(loader, place, read); !s.ok()) return s;
  Block::FindResult result;
  if (!point.block().Find(r.order(), user_key, &hash, ctx->snapshot(), &result)) {
    return r.DamagedBlock(block, "malformed record");
  }
  const bool answer = IsAnswer(result);
  *found = !result.key_present ? Found::kAbsent : answer ? Found::kFed : Found::kNotAlone;
  if (answer) ctx->Add(result.record.sequence, result.record.type, result.record.value, nullptr);
  if (cache == nullptr) return Status::OK();
  // Large records, and those that will be read again soon, are kept with their block.
  if (keep == ShardedCache::Keep::kBlock || *found == Found::kNotAlone ||
      (keep == ShardedCache::Keep::kRecord && result.record.value.size() > kCopiedValueBytes)) {
    loader.Keep(place, point.payload());
  } else if (keep == ShardedCache::Keep::kRecord && answer) {
    CachedRecord::Keep(cache, loader.allocator(), key, user_key, result.record);
  }
  return Status::OK();
}

uint64_t Piece::FilterBytes() const {
  PieceRef reader;
  return Open({}, &reader).ok() && reader->filter() != nullptr ? reader->filter()->MemoryBytes() : 0;
}

FilterAnswer Piece::AskFilter(const BlockReadOptions& read, const Slice& user_key) const {
  PieceRef paged;
  const PieceReader* reader = resident();
  if (reader == nullptr) [[unlikely]] {
    if (!Open(read, &paged).ok()) return FilterAnswer::kNotAsked;
    reader = &*paged;
  }
  if (reader->filter() == nullptr) return FilterAnswer::kNotAsked;
  const size_t timestamp_size = reader->order().comparator()->timestamp_size();
  return reader->filter()->AskKey(StripTimestamp(user_key, timestamp_size), read.prefix_extractor);
}

InternalIteratorPtr Piece::NewIterator(const BlockReadOptions& read) const {
  PieceRef reader;
  Status s = Open(read, &reader);
  if (!s.ok()) return NewEmptyInternalIterator(s);
  if (reader->hashed()) return std::make_unique<HashedIterator>(std::move(reader), read);
  return std::make_unique<PieceIterator>(std::move(reader), read);
}

Status Piece::ReadHashes(PieceHashes* hashes) const {
  PieceRef reader;
  Status s = Open({}, &reader);
  if (!s.ok()) return s;
  if (reader->without_hashes()) {
    return Status::NotSupported(reader->Description(), "has no hash list");
  }
  std::string buffer;
  Slice bytes;
  s = reader->ReadSection(PieceSection::kHashes, &buffer, &bytes);
  if (!s.ok()) return s;
  return DecodeHashes(bytes, meta_.num_keys, reader->Description(), hashes);
}

Status Piece::ReadCollected(CollectedProperties* collected) const {
  PieceRef reader;
  Status s = Open({}, &reader);
  std::string buffer, comparator_name;
  Slice bytes;
  PieceMeta properties;
  if (s.ok()) s = reader->ReadSection(PieceSection::kProperties, &buffer, &bytes);
  if (s.ok()) s = DecodeProperties(bytes, reader->Description(), &properties, &comparator_name);
  if (s.ok() && properties.collected != nullptr) *collected = *properties.collected;
  return s;
}

Status Piece::ReadCompression(rocksdb::CompressionType* type) const {
  *type = rocksdb::kNoCompression;
  PieceRef reader;
  Status s = Open({}, &reader);
  if (!s.ok() || reader->num_blocks() == 0) return s;
  std::shared_ptr<CompactionFile> holder;
  const CompactionFile* file = nullptr;
  s = reader->File(&holder, &file);
  if (!s.ok()) return s;
  const BlockPlace place = reader->PlaceOf(0, file);
  std::string buffer(place.length, 0);
  Slice stored;
  s = file->file()->Read(place.offset, place.length, &stored, buffer.data());
  return s.ok() ? LoadedBlock::Check(place, stored, /*verify_checksum=*/true, type) : s;
}

uint64_t Piece::ApproximateOffset(const Slice& user_key) const {
  PieceRef reader;
  if (!Open({}, &reader).ok()) return meta_.data_bytes / 2;
  if (reader->hashed()) return reader->ApproximateHashedOffset(user_key);
  const SeparatorIndex& separators = reader->separators();
  if (separators.num_blocks() == 0) return 0;
  return separators.BlockOffset(separators.LowerBound(reader->order(), user_key));
}

size_t Piece::MemoryBytes() const {
  const BlockHints* const hints = hints_.load(std::memory_order_acquire);
  return meta_.smallest.MemoryBytes() + meta_.largest.MemoryBytes() +
         (hints != nullptr ? hints->MemoryBytes() : 0);
}

void Piece::EraseFromCache() const {
  BlockReadOptions read;
  read.cache_only = true;
  PieceRef reader;
  // Otherwise the blocks of the deleted file age out by themselves.
  if (!Open(read, &reader).ok()) return;
  const PieceReader& r = *reader;
  for (uint32_t i = 0; i < r.num_blocks(); ++i) {
    r.loader().Erase(meta_.file_id, meta_.extent.offset + r.BlockOffset(i));
  }
  for (uint64_t i = 0; r.hashed() && i < r.hashed_index().num_pages(); ++i) {
    r.loader().Erase(meta_.file_id, meta_.extent.offset + r.hashed_index().Page(i).offset);
  }
}

}  // namespace compassdb
