// SPDX-License-Identifier: Apache-2.0
// Blocks on their way from the file and through caches: damage behind right checksums, no memory, deadlines, and caches
// of the user's make.
#include <set>

#include "env/clock.h"
#include "env/read_batch.h"
#include "rocksdb/memory_allocator.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/secondary_cache.h"
#include "table/piece/block_set.h"
#include "table/block/cached_record.h"
#include "table/table_forge.h"
#include "util/compression.h"
#include "util/epoch.h"

namespace compassdb {
namespace {

using rocksdb::Cache;

// Malloc, as long as it is allowed to.
class LimitedAllocator : public rocksdb::MemoryAllocator {
 public:
  const char* Name() const override { return "test.Limited"; }
  void* Allocate(size_t size) override {
    if (left == 0) return nullptr;
    --left;
    ++held;
    return malloc(size);
  }
  void Deallocate(void* p) override {
    --held;
    free(p);
  }

  int left = 1 << 30;
  int held = 0;
};

// A cache of the user's make: one of ours behind its interface.
class UsersCache : public Cache {
 public:
  explicit UsersCache(size_t bytes) : cache_(rocksdb::NewLRUCache(bytes, 0)) {}
  const char* Name() const override { return "test.Users"; }
  Status Insert(const Slice& key, void* value, size_t charge, DeleterFn deleter, Handle** handle, Priority priority) override {
    return cache_->Insert(key, value, charge, deleter, handle, priority);
  }
  Status Insert(const Slice& key, void* value, const CacheItemHelper* helper, size_t charge, Handle** handle,
                Priority priority) override {
    return cache_->Insert(key, value, helper, charge, handle, priority);
  }
  Handle* Lookup(const Slice& key, rocksdb::Statistics* stats) override { return cache_->Lookup(key, stats); }
  Handle* Lookup(const Slice& key, const CacheItemHelper*, const CreateCallback&, Priority, bool,
                 rocksdb::Statistics* stats) override {
    return cache_->Lookup(key, stats);
  }
  bool Ref(Handle* handle) override { return shares && cache_->Ref(handle); }
  bool Release(Handle* handle, bool erase) override { return cache_->Release(handle, erase); }
  bool Release(Handle* handle, bool, bool erase) override { return cache_->Release(handle, erase); }
  void* Value(Handle* handle) override { return cache_->Value(handle); }
  void Erase(const Slice& key) override { cache_->Erase(key); }
  uint64_t NewId() override { return cache_->NewId(); }
  void SetCapacity(size_t capacity) override { cache_->SetCapacity(capacity); }
  void SetStrictCapacityLimit(bool strict) override { cache_->SetStrictCapacityLimit(strict); }
  bool HasStrictCapacityLimit() const override { return cache_->HasStrictCapacityLimit(); }
  size_t GetCapacity() const override { return cache_->GetCapacity(); }
  size_t GetUsage() const override { return cache_->GetUsage(); }
  size_t GetUsage(Handle* handle) const override { return cache_->GetUsage(handle); }
  size_t GetPinnedUsage() const override { return cache_->GetPinnedUsage(); }
  size_t GetCharge(Handle* handle) const override { return cache_->GetCharge(handle); }
  DeleterFn GetDeleter(Handle* handle) const override { return cache_->GetDeleter(handle); }
  void ApplyToAllEntries(const std::function<void(const Slice&, void*, size_t, DeleterFn)>& callback,
                         const ApplyToAllEntriesOptions& options) override {
    cache_->ApplyToAllEntries(callback, options);
  }
  void EraseUnRefEntries() override { cache_->EraseUnRefEntries(); }

  bool shares = true;

 private:
  const std::shared_ptr<Cache> cache_;
};

// Keeps what blocks save of themselves, and asks for more than there is.
class GreedySecondaryCache : public rocksdb::SecondaryCache {
 public:
  class Result : public rocksdb::SecondaryCacheResultHandle {
   public:
    Result(void* value, size_t size) : value_(value), size_(size) {}
    bool IsReady() override { return true; }
    void Wait() override {}
    void* Value() override { return value_; }
    size_t Size() override { return size_; }

   private:
    void* value_;
    size_t size_;
  };
  const char* Name() const override { return "test.Greedy"; }
  Status Insert(const Slice& key, void* value, const Cache::CacheItemHelper* helper) override {
    std::string data(helper->size_cb(value), '\0');
    for (const auto& [offset, length] : std::vector<std::pair<size_t, size_t>>{
             {0, data.size() + 1}, {1, data.size()}, {data.size() + 1, 0}}) {
      greed.insert(helper->saveto_cb(value, offset, length, data.data()).ToString());
    }
    Status s = helper->saveto_cb(value, 0, data.size(), data.data());
    if (s.ok()) map[key.ToString()] = data;
    return s;
  }
  std::unique_ptr<rocksdb::SecondaryCacheResultHandle> Lookup(const Slice& key, const Cache::CreateCallback& create, bool, bool,
                                                              bool& stays) override {
    auto it = map.find(key.ToString());
    if (it == map.end()) return nullptr;
    stays = false;
    void* value = nullptr;
    size_t charge = 0;
    if (damaged) it->second[0] = '\0';  // no records
    created = create(it->second.data(), it->second.size(), &value, &charge);
    map.erase(it);
    return created.ok() ? std::make_unique<Result>(value, charge) : nullptr;
  }
  bool SupportForceErase() const override { return true; }
  void Erase(const Slice& key) override { map.erase(key.ToString()); }
  void WaitAll(std::vector<rocksdb::SecondaryCacheResultHandle*>) override {}

  std::map<std::string, std::string> map;
  std::set<std::string> greed;
  bool damaged = false;
  Status created;
};

// Each look at it takes `step`.
class SteppingClock : public Clock {
 public:
  uint64_t NowMicros() override { return now += step; }
  uint64_t NowNanos() override { return NowMicros() * 1000; }
  void SleepMicros(uint64_t) override {}

  uint64_t now = 1000;
  uint64_t step = 0;
};

constexpr const char* kNoMemory = "Operation aborted: Memory limit reached: no memory for a data block";

class BlockLoaderTest : public ForgeTest {
 protected:
  void UseAllocator() {
    allocator_ = std::make_shared<LimitedAllocator>();
    options_.block_cache = rocksdb::NewLRUCache(1 << 20, 0, false, 0, allocator_);
  }
  // The three ways to a block: its copy, a look at it, and a read of several together.
  std::string Find(const Piece& piece, const std::string& key, const BlockReadOptions& read = {}) {
    FoundRecord found;
    const Status s = piece.Find(read, key, kMaxSequenceNumber, &found);
    return !s.ok() ? s.ToString() : found.found ? found.value.ToString() : "(absent)";
  }
  std::string Peek(const Piece& piece, const std::string& key, const BlockReadOptions& read = {}) {
    rocksdb::PinnableSlice value;
    GetContext ctx(key, kMaxSequenceNumber, nullptr, &value);
    Piece::Found found;
    const Status s = piece.FindNewest(read, key, build_.hasher(key), &ctx, &found);
    if (!s.ok()) return s.ToString();
    if (found == Piece::Found::kUndecided) return "(undecided)";
    if (found != Piece::Found::kFed) return "(absent)";
    EXPECT_OK(ctx.Finish());
    return value.ToString();
  }
  std::string Seek(const Piece& piece, const std::string& key, BlockReadOptions read = {}) {
    read.readahead_bytes = 1 << 20;
    auto iter = piece.NewIterator(read);
    iter->Seek(IKey(key, kMaxSequenceNumber));
    return !iter->status().ok() ? iter->status().ToString() : iter->Valid() ? iter->value().ToString() : "(absent)";
  }
  void ExpectDamage(const std::string& message) {
    const auto piece = OpenPiece(meta_);
    const std::string key = NumberedKey(0), expected = "Corruption: /db/000001.ph: data block at offset 36, ";
    for (const std::string& error : {Find(*piece, key), Peek(*piece, key), Seek(*piece, key)}) {
      EXPECT_EQ(error.substr(0, expected.size()), expected);
      EXPECT_NE(error.find(message), std::string::npos) << error;
    }
  }
  // The first block, with that type and a right checksum.
  void WriteStored(std::string payload, rocksdb::CompressionType type) {
    const PieceRange range = BlockRange(meta_, 0);
    const uint64_t place = meta_.extent.offset + range.offset;
    ASSERT_LE(payload.size() + kBlockTrailerBytes, range.length);
    payload.resize(range.length - kBlockTrailerBytes, '\0');
    payload.push_back(static_cast<char>(type));
    PutFixed32(&payload, Checksum32(payload, MixContext(meta_.file_id, place)));
    std::string file = ReadFile(meta_.extent.file_number);
    file.replace(place, payload.size(), payload);
    WriteFile(meta_.extent.file_number, file);
  }
  PieceRef Ref(const Piece& piece) {
    PieceRef ref;
    EXPECT_OK(piece.Open({}, &ref));
    return ref;
  }
  // Of block b, from `blocks`.
  std::string Take(BlockSet* blocks, const Piece& piece, uint32_t b, BlockRef* ref) {
    Status s;
    const uint64_t offset = meta_.extent.offset + piece.resident()->BlockOffset(b);
    return blocks->Get(meta_.file_id, offset, ref, &s) ? s.ToString() : "(not wanted)";
  }

  std::shared_ptr<LimitedAllocator> allocator_;
  const std::string value_ = std::string(20, 'v');
};

TEST_F(BlockLoaderTest, WhatABlockSaysOfItselfIsChecked) {
  Build(NumberedRecords(100));
  std::string claim;
  PutVarint32(&claim, 100000);
  WriteStored(claim, rocksdb::kLZ4Compression);
  ExpectDamage("claims to hold 100000 bytes, the piece's largest block has ");
  WriteStored(std::string(20, '\xff'), rocksdb::kLZ4Compression);
  ExpectDamage("Corruption: LZ4 block: has no uncompressed size");
  WriteStored("x", rocksdb::kXpressCompression);
  ExpectDamage("Not implemented: compression type Xpress (6)");
  claim.clear();
  PutVarint32(&claim, 100);
  WriteStored(claim + std::string(50, 'x'), rocksdb::kZlibCompression);
  ExpectDamage("Corruption: Zlib block");
  const std::string header = std::string(3, '\0') + std::string(100, 'x');  // of no records
  std::string compressed;
  ASSERT_TRUE(Compress(rocksdb::kZlibCompression, 6, header, &compressed));
  WriteStored(compressed, rocksdb::kZlibCompression);
  ExpectDamage("malformed header");
  WriteStored(header, rocksdb::kNoCompression);
  ExpectDamage("malformed header");
}

TEST_F(BlockLoaderTest, UnknownCompressionIsNotUsed) {
  std::string payload(100, 'x');
  EXPECT_EQ(PackBlock(rocksdb::kXpressCompression, 0, &payload), rocksdb::kNoCompression);
  EXPECT_EQ(payload.substr(0, 101), std::string(100, 'x') + '\0');
  EXPECT_EQ(payload.size(), 105u);
}

TEST_F(BlockLoaderTest, ChecksumsAreNotComputedIfNotWanted) {
  const auto statistics = rocksdb::CreateDBStatistics();
  options_.statistics = statistics.get();
  Build(NumberedRecords(100));
  std::string file = ReadFile(1);
  file[meta_.extent.offset + BlockRange(meta_, 0).length - 1] ^= 1;  // the checksum itself
  WriteFile(1, file);
  const auto piece = OpenPiece(meta_);
  BlockReadOptions read;
  read.verify_checksums = false;
  EXPECT_EQ(Find(*piece, NumberedKey(0), read), value_);
  EXPECT_EQ(Peek(*piece, NumberedKey(0), read), value_);
  EXPECT_EQ(Seek(*piece, NumberedKey(0), read), value_);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT), 0u);
  ExpectDamage("checksum mismatch");
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CHECKSUM_COMPUTE_COUNT), 3u);
}

TEST_F(BlockLoaderTest, AFileThatBecameShorterIsDamaged) {
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  ASSERT_OK(fs_.TruncateFile(PathOf(1), meta_.extent.offset + 50));
  const std::string error = "bytes: the file ends within it";
  EXPECT_NE(Find(*piece, NumberedKey(0)).find(error), std::string::npos);
  EXPECT_NE(Peek(*piece, NumberedKey(0)).find(error), std::string::npos);
  EXPECT_NE(Seek(*piece, NumberedKey(0)).find("Corruption"), std::string::npos);
  ExpectCorruption(piece->Verify(), "the file ends at ");
  ExpectCorruption(TryOpenPiece(meta_), "the file ends at 86");
}

TEST_F(BlockLoaderTest, WithoutMemoryReadsSaySo) {
  UseAllocator();
  Build(NumberedRecords(100));
  auto piece = OpenPiece(meta_);
  allocator_->left = 0;
  EXPECT_EQ(Find(*piece, NumberedKey(0)), kNoMemory);
  EXPECT_EQ(Seek(*piece, NumberedKey(0)), kNoMemory);
  // A look needs none. What the cache would keep of it is not kept.
  EXPECT_EQ(Peek(*piece, NumberedKey(0)), value_);
  BlockReadOptions cached;
  cached.cache_only = true;
  EXPECT_EQ(Find(*piece, NumberedKey(0), cached),
            "Result incomplete: data block is not in the block cache, and no file may be read");
  EXPECT_EQ(allocator_->held, 0);
  allocator_->left = 1;
  EXPECT_EQ(Peek(*piece, NumberedKey(0)), value_);
  EXPECT_EQ(Find(*piece, NumberedKey(0), cached), value_);
  EXPECT_EQ(allocator_->held, 1);
}

TEST_F(BlockLoaderTest, WithoutMemoryBlocksAreNotUnpacked) {
  UseAllocator();
  build_.compression = rocksdb::kLZ4Compression;
  Build(NumberedRecords(100));
  auto piece = OpenPiece(meta_);
  allocator_->left = 1;  // for the block as stored
  EXPECT_EQ(Find(*piece, NumberedKey(0)), kNoMemory);
  allocator_->left = 0;
  EXPECT_EQ(Peek(*piece, NumberedKey(0)), kNoMemory);
  EXPECT_EQ(Seek(*piece, NumberedKey(0)), kNoMemory);
  EXPECT_EQ(allocator_->held, 0);
  allocator_->left = 2;
  EXPECT_EQ(Find(*piece, NumberedKey(0)), value_);
}

TEST_F(BlockLoaderTest, WithoutMemoryRecordsAreNotKept) {
  UseAllocator();
  Build(NumberedRecords(10));
  const auto piece = OpenPiece(meta_);
  ShardedCache* const cache = piece->resident()->loader().own_cache();
  Block::Record record;
  record.value = "value";
  record.type = kTypeValue;
  const EpochGuard guard;
  allocator_->left = 0;
  CachedRecord::Keep(cache, piece->resident()->loader().allocator(), {1, 2, 3}, "k", record);
  EXPECT_EQ(CachedRecord::Find(cache, {1, 2, 3}, "k"), nullptr);
  allocator_->left = 1;
  CachedRecord::Keep(cache, piece->resident()->loader().allocator(), {1, 2, 3}, "k", record);
  ASSERT_NE(CachedRecord::Find(cache, {1, 2, 3}, "k"), nullptr);
}

// --- blocks of a batch ---

TEST_F(BlockLoaderTest, SetsLoadWhatThereIsMemoryFor) {
  UseAllocator();
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  for (int memory : {0, 1, 2}) {
    BlockSet blocks;
    for (uint32_t b : {3, 1}) blocks.Want(Ref(*piece), b);
    allocator_->left = memory;
    BlockReadOptions read;
    read.fill_cache = false;
    blocks.Load(read);
    BlockRef first, second;
    EXPECT_EQ(Take(&blocks, *piece, 1, &first), memory > 0 ? "OK" : kNoMemory);
    EXPECT_EQ(Take(&blocks, *piece, 3, &second), memory > 1 ? "OK" : kNoMemory);
    EXPECT_EQ(Take(&blocks, *piece, 3, &second), "(not wanted)");
    EXPECT_EQ(Take(&blocks, *piece, 2, &second), "(not wanted)");
    EXPECT_EQ(static_cast<bool>(first), memory > 0);
  }
  EXPECT_EQ(allocator_->held, 0);
}

TEST_F(BlockLoaderTest, SetsShareBlocksIfThereIsMemory) {
  UseAllocator();
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  for (int memory : {1, 2}) {
    BlockSet blocks;
    for (int i = 0; i < 2; ++i) blocks.Want(Ref(*piece), 1);
    allocator_->left = memory;
    BlockReadOptions read;
    read.fill_cache = false;  // no references are counted
    blocks.Load(read);
    BlockRef copy, block;
    EXPECT_EQ(Take(&blocks, *piece, 1, &copy), memory > 1 ? "OK" : kNoMemory);
    EXPECT_EQ(Take(&blocks, *piece, 1, &block), "OK");
    if (memory > 1) {
      EXPECT_EQ(copy.block().count(), block.block().count());
    }
  }
}

TEST_F(BlockLoaderTest, SetsCopyBlocksThatTheCacheDoesNotShare) {
  const auto cache = std::make_shared<UsersCache>(1 << 20);
  options_.block_cache = cache;
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  for (const bool shares : {true, false}) {
    cache->shares = shares;
    BlockSet blocks;
    for (int i = 0; i < 2; ++i) blocks.Want(Ref(*piece), 1);
    blocks.Load({});
    BlockRef first, second;
    ASSERT_EQ(Take(&blocks, *piece, 1, &first), "OK");
    ASSERT_EQ(Take(&blocks, *piece, 1, &second), "OK");
    EXPECT_EQ(first.block().limit() == second.block().limit(), shares);
    EXPECT_EQ(first.block().count(), second.block().count());
  }
}

TEST_F(BlockLoaderTest, SetsReportDamageByBlock) {
  Build(NumberedRecords(100));
  WriteStored(std::string(1, '\0'), rocksdb::kNoCompression);
  const auto piece = OpenPiece(meta_);
  BlockSet blocks;
  for (uint32_t b : {0, 1}) blocks.Want(Ref(*piece), b);
  blocks.Load({});
  BlockRef ref;
  EXPECT_NE(Take(&blocks, *piece, 0, &ref).find("malformed header"), std::string::npos);
  EXPECT_FALSE(ref);
  EXPECT_EQ(Take(&blocks, *piece, 1, &ref), "OK");
}

TEST_F(BlockLoaderTest, SetsReportFilesThatAreGone) {
  Build(NumberedRecords(100));
  NewFileCache(1);
  const auto piece = OpenPiece(meta_);
  files_->Evict(1);
  ASSERT_OK(fs_.DeleteFile(PathOf(1)));
  BlockSet blocks;
  blocks.Want(Ref(*piece), 0);
  blocks.Load({});
  BlockRef ref;
  const std::string error = Take(&blocks, *piece, 0, &ref);
  EXPECT_NE(error.find(PathOf(1)), std::string::npos) << error;
  EXPECT_FALSE(ref);
}

// --- deadlines ---

TEST_F(BlockLoaderTest, DeadlinesAreMetBeforeEachRead) {
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  SteppingClock clock;
  BlockReadOptions read;
  read.limits = {&clock, /*deadline=*/1000, /*io_timeout=*/0};
  const std::string late = "Operation timed out: ReadOptions::deadline has passed";
  EXPECT_EQ(Find(*piece, NumberedKey(0), read), late);
  EXPECT_EQ(Peek(*piece, NumberedKey(0), read), late);
  EXPECT_EQ(Seek(*piece, NumberedKey(0), read), late);
  BlockSet blocks;
  for (uint32_t b : {0, 1}) blocks.Want(Ref(*piece), b);
  blocks.Load(read);
  BlockRef ref;
  EXPECT_EQ(Take(&blocks, *piece, 0, &ref), late);
  EXPECT_EQ(Take(&blocks, *piece, 1, &ref), late);
  // A seek that is prepared in a batch says so when it is made.
  auto iter = piece->NewIterator(read);
  const std::string target = IKey(NumberedKey(0), kMaxSequenceNumber);
  const Slice key(target);
  ReadBatch batch;
  iter->PrepareSeek(&key, &batch);
  batch.Wait();
  iter->Seek(key);
  EXPECT_EQ(iter->status().ToString(), late);
  read.limits.deadline = 1001;
  EXPECT_EQ(Find(*piece, NumberedKey(0), read), value_);
}

TEST_F(BlockLoaderTest, ReadsThatTakeTooLongTimeOut) {
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  SteppingClock clock;
  clock.step = 10;
  BlockReadOptions read;
  read.limits = {&clock, /*deadline=*/0, /*io_timeout=*/9};
  const std::string late = "Operation timed out: a read took longer than ReadOptions::io_timeout";
  EXPECT_EQ(Find(*piece, NumberedKey(0), read), late);
  EXPECT_EQ(Peek(*piece, NumberedKey(0), read), late);
  EXPECT_EQ(Seek(*piece, NumberedKey(0), read), late);
  BlockSet blocks;
  blocks.Want(Ref(*piece), 0);
  blocks.Load(read);
  BlockRef ref;
  EXPECT_EQ(Take(&blocks, *piece, 0, &ref), late);
  read.limits.io_timeout = 10;
  EXPECT_EQ(Find(*piece, NumberedKey(0), read), value_);
}

// --- references ---

TEST_F(BlockLoaderTest, ReferencesSurviveMovesToThemselvesAndEmptyOnesPinNothing) {
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  BlockRef ref;
  ASSERT_OK(piece->resident()->GetBlock({}, 0, &ref));
  BlockRef& same = ref;
  ref = std::move(same);
  ASSERT_TRUE(ref);
  EXPECT_GT(ref.block().count(), 1u);
  ref.Reset();
  rocksdb::Cleanable pin;
  ref.MoveInto(&pin);
  EXPECT_FALSE(ref);
}

TEST_F(BlockLoaderTest, BlocksOnTheirWayOutOfTheCacheCannotBePinned) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  Build(NumberedRecords(100));
  const auto piece = OpenPiece(meta_);
  EXPECT_EQ(Find(*piece, NumberedKey(0)), value_);
  const BlockLoader& loader = piece->resident()->loader();
  const EpochGuard guard;
  LoadedBlock* const peeked = loader.Peek(meta_.file_id, meta_.extent.offset);
  ASSERT_NE(peeked, nullptr);
  BlockRef ref;
  EXPECT_TRUE(loader.Pin(peeked, &ref));
  ref.Reset();
  loader.Erase(meta_.file_id, meta_.extent.offset);
  EXPECT_FALSE(loader.Pin(peeked, &ref));
  EXPECT_FALSE(ref);
}

// --- caches that are not ours alone ---

TEST_F(BlockLoaderTest, BlocksComeBackFromASecondaryCacheUnlessDamaged) {
  const auto secondary = std::make_shared<GreedySecondaryCache>();
  rocksdb::LRUCacheOptions cache;
  cache.capacity = 4 << 10;
  cache.num_shard_bits = 0;
  cache.secondary_cache = secondary;
  options_.block_cache = rocksdb::NewLRUCache(cache);
  Build(NumberedRecords(400));
  const auto piece = OpenPiece(meta_);
  const auto read_all = [&] {
    for (uint64_t i = 0; i < 400; ++i) ASSERT_EQ(Find(*piece, NumberedKey(i * 2)), value_) << i;
  };
  read_all();
  ASSERT_GT(secondary->map.size(), 5u);
  EXPECT_EQ(secondary->greed,
            std::set<std::string>{"Invalid argument: secondary cache asks for bytes behind a data block"});
  // A block that Peek does not find may be in the cache: reads of one record use a lookup.
  EXPECT_EQ(Peek(*piece, NumberedKey(0)), "(undecided)");
  ASSERT_OK(fs_.TruncateFile(PathOf(1), meta_.extent.offset));
  EXPECT_EQ(Find(*piece, NumberedKey(0)), value_);
  EXPECT_OK(secondary->created);
  // Damaged ones are read from the file.
  Build(NumberedRecords(400));
  const auto other = OpenPiece(meta_);
  const auto all = [&] {
    for (uint64_t i = 0; i < 400; ++i) ASSERT_EQ(Find(*other, NumberedKey(i * 2)), value_) << i;
  };
  all();
  secondary->damaged = true;
  all();
  EXPECT_EQ(secondary->created.ToString(), "Corruption: secondary cache returned a damaged data block");
}

TEST_F(BlockLoaderTest, ACacheOfTheUsersMakeServesPointReadsAndWalks) {
  options_.block_cache = std::make_shared<UsersCache>(1 << 20);
  Build(NumberedRecords(400));
  const auto piece = OpenPiece(meta_);
  EXPECT_EQ(Peek(*piece, NumberedKey(0)), "(undecided)");
  EXPECT_EQ(Find(*piece, NumberedKey(0)), value_);
  SeekCounter seeks;
  seeks.expected_bytes = 1000;
  BlockReadOptions read;
  read.seeks = &seeks;
  for (const uint32_t from_cache : {0u, 1u}) {
    seeks.from_cache = 0;
    auto iter = piece->NewIterator(read);
    const std::string target = IKey(NumberedKey(100), kMaxSequenceNumber);
    const Slice key(target);
    iter->PrefetchSeek(&key);
    iter->Seek(key);
    uint64_t n = 50;
    for (; iter->Valid(); iter->Next(), ++n) ASSERT_EQ(ExtractUserKey(iter->key()), NumberedKey(n * 2));
    EXPECT_EQ(n, 400u);
    EXPECT_EQ(seeks.from_cache, from_cache);
  }
  auto backward = piece->NewIterator(read);
  uint64_t n = 400;
  for (backward->SeekToLast(); backward->Valid(); backward->Prev()) ASSERT_EQ(ExtractUserKey(backward->key()), NumberedKey(--n * 2));
  EXPECT_EQ(n, 0u);
}

TEST_F(BlockLoaderTest, AFullStrictCacheLeavesIndexesToTheirReaders) {
  options_.block_cache = rocksdb::NewLRUCache(100, 0, /*strict_capacity_limit=*/true);
  const auto statistics = rocksdb::CreateDBStatistics();
  options_.statistics = statistics.get();
  Build(NumberedRecords(100));
  const Piece piece(Context(), meta_, IndexMode::kPaged);
  EXPECT_EQ(Find(piece, NumberedKey(0)), value_);
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CACHE_ADD_FAILURES), 2u);  // the index and the block
  EXPECT_EQ(statistics->getTickerCount(rocksdb::BLOCK_CACHE_ADD), 0u);
}

TEST_F(BlockLoaderTest, NothingIsCountedForThreadsThatDoNotCount) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  Build(NumberedRecords(100));
  rocksdb::PerfContext* const perf = rocksdb::get_perf_context();
  for (const bool counts : {false, true}) {
    const Piece piece(Context(), meta_, IndexMode::kPaged);
    perf->Reset();
    rocksdb::SetPerfLevel(counts ? rocksdb::PerfLevel::kEnableCount : rocksdb::PerfLevel::kDisable);
    EXPECT_EQ(Find(piece, NumberedKey(50)), value_);  // reads the index
    EXPECT_EQ(Find(piece, NumberedKey(50)), value_);  // finds it in the cache
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    EXPECT_EQ(perf->index_block_read_count, counts ? 1u : 0u);
    EXPECT_EQ(perf->block_cache_index_hit_count, counts ? 1u : 0u);
    piece.EraseFromCache();
  }
}

TEST_F(BlockLoaderTest, APagedIndexKnowsKeysBehindTheLast) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  Build(NumberedRecords(100));
  const Piece piece(Context(), meta_, IndexMode::kPaged);
  EXPECT_EQ(Find(piece, "zzz"), "(absent)");
  EXPECT_EQ(Peek(piece, "zzz"), "(undecided)");  // no block: Find says so
}

}  // namespace
}  // namespace compassdb
