// SPDX-License-Identifier: Apache-2.0
// The rules of docs/design/rules.md on tables of pieces, one by one.
#include "table/tph.h"

#include <map>

#include "table/piece/block_set.h"
#include "table/table_test_util.h"

namespace compassdb {
namespace {

// Joins operands by commas.
class CommaOperator : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "test.Comma"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    *result = existing != nullptr ? existing->ToString() + "," + value.ToString() : value.ToString();
    return true;
  }
};

class TphTest : public TableTest {
 protected:
  void AddPiece(std::vector<TestRecord> records, std::vector<RangeTombstone> tombstones = {}) {
    PieceMeta piece;
    PieceHashes hashes;
    ASSERT_OK(BuildPiece(records, tombstones, &piece, &hashes));
    meta_.pieces.push_back({std::make_shared<const PieceMeta>(piece), 0});
    for (const TestRecord& r : records) records_.push_back(r);
    for (const RangeTombstone& t : tombstones) tombstones_.push_back(t);
  }

  // The directory as a compaction would make it: each key's newest record.
  void Open() {
    ASSERT_OK(TryOpen());
    ASSERT_OK(tph_->Verify());
  }
  Status TryOpen() {
    std::vector<std::shared_ptr<Piece>> pieces;
    std::map<std::string, std::pair<SequenceNumber, DirectoryEntry>> newest;
    for (size_t p = 0; p < meta_.pieces.size(); ++p) {
      pieces.push_back(OpenPiece(*meta_.pieces[p].meta));
      auto iter = pieces[p]->NewIterator(BlockReadOptions());
      PieceHashes hashes;
      Status s = pieces[p]->ReadHashes(&hashes);
      if (!s.ok()) return s;
      size_t k = 0;
      std::string last;
      bool first = true;
      for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
        const std::string key = ExtractUserKey(iter->key()).ToString();
        if (!first && build_.comparator->Compare(key, last) == 0) continue;
        first = false;
        last = key;
        const DirectoryEntry entry{hashes.h1[k], hashes.h2[k], static_cast<uint32_t>(p)};
        ++k;
        auto& slot = newest[key];
        if (slot.first == 0 || slot.first < ExtractSequence(iter->key())) {
          slot = {ExtractSequence(iter->key()), entry};
        }
      }
    }
    std::vector<DirectoryEntry> entries;
    for (auto& [key, entry] : newest) entries.push_back(entry.second);
    std::sort(entries.begin(), entries.end(), [](const DirectoryEntry& a, const DirectoryEntry& b) {
      return a.h1 < b.h1;
    });
    if (tweak_) tweak_(&entries);
    std::string bytes;
    EXPECT_TRUE(BuildDirectory(entries, pieces.size(), kBottomFingerprints, {.seed = 3}, &bytes));
    const uint64_t number = ++last_number_;
    std::unique_ptr<CompactionFileWriter> file;
    Status s =
        CompactionFileWriter::Create(&fs_, PathOf(number), number, number, FileOptions(), &file);
    if (s.ok()) s = WriteDirectory(file.get(), bytes, &meta_.directory);
    if (s.ok()) s = file->Finish();
    meta_.directory_file_id = number;
    meta_.num_keys = entries.size();
    return s.ok() ? Reopen(pieces) : s;
  }

  // Opens tph_ and loads it.
  Status Reopen(const std::vector<std::shared_ptr<Piece>>& pieces) {
    Status s = Tph::Open(Context(), meta_, pieces, IndexMode::kResident, &tph_);
    return s.ok() ? tph_->Load() : s;
  }

  // "(absent)" stands for NotFound.
  std::string Get(const std::string& key, SequenceNumber snapshot = kMaxSequenceNumber) {
    rocksdb::PinnableSlice value;
    GetContext ctx(key, snapshot, &merge_, &value);
    Status s = tph_->Get(BlockReadOptions(), key, build_.hasher(key), &ctx);
    if (s.ok()) s = ctx.Finish();
    if (s.IsNotFound()) return "(absent)";
    return s.ok() ? value.ToString() : s.ToString();
  }

  // The same from the records as they were added.
  std::string Expect(const std::string& key, SequenceNumber snapshot) const {
    SequenceNumber cover = 0;
    for (const RangeTombstone& t : tombstones_) {
      if (t.sequence <= snapshot && t.start <= key && key < t.end) {
        cover = std::max(cover, t.sequence);
      }
    }
    std::map<SequenceNumber, const TestRecord*, std::greater<>> versions;
    for (const TestRecord& r : records_) {
      if (r.key == key && r.seq <= snapshot && r.seq > cover) versions[r.seq] = &r;
    }
    std::string operands;
    bool any = false;
    for (const auto& [seq, r] : versions) {
      if (r->type == kTypeDeletion || r->type == kTypeSingleDeletion) break;
      operands = any ? r->value + "," + operands : r->value;
      any = true;
      if (r->type == kTypeValue) break;
    }
    return any ? operands : "(absent)";
  }

  TphMeta meta_;
  std::shared_ptr<Tph> tph_;
  CommaOperator merge_;
  std::vector<TestRecord> records_;
  std::vector<RangeTombstone> tombstones_;
  std::function<void(std::vector<DirectoryEntry>*)> tweak_;
};

TEST_F(TphTest, OnePieceFastPath) {
  std::vector<TestRecord> records;
  for (uint64_t i = 0; i < 2000; ++i) {
    records.push_back({NumberedKey(i), i + 1, i % 10 == 3 ? kTypeDeletion : kTypeValue,
                       i % 10 == 3 ? "" : "v" + std::to_string(i)});
  }
  AddPiece(records);
  Open();
  for (uint64_t i = 0; i < 2000; ++i) {
    EXPECT_EQ(Get(NumberedKey(i)), i % 10 == 3 ? "(absent)" : "v" + std::to_string(i));
    EXPECT_EQ(Get(NumberedKey(i) + "x"), "(absent)");
  }
}

TEST_F(TphTest, Rule1SlotHintIsTooNewForTheSnapshotSoPiecesAreSearched) {
  AddPiece({{"a", 10, kTypeValue, "a10"}, {"b", 11, kTypeValue, "b11"}});
  AddPiece({{"a", 20, kTypeValue, "a20"}, {"a", 15, kTypeValue, "a15"}});
  Open();
  EXPECT_EQ(Get("a"), "a20");
  EXPECT_EQ(Get("a", 19), "a15");
  EXPECT_EQ(Get("a", 14), "a10");
  EXPECT_EQ(Get("a", 9), "(absent)");
  EXPECT_EQ(Get("b", 10), "(absent)");
}

TEST_F(TphTest, PiecesThatAreNewerThanTheSnapshotAreNotRead) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  const auto statistics = rocksdb::CreateDBStatistics();
  options_.statistics = statistics.get();
  AddPiece({{"a", 10, kTypeValue, "a10"}});
  AddPiece({{"a", 20, kTypeValue, "a20"}});
  Open();
  // Blocks that are not in the cache.
  const auto reads = [&](const std::function<void()>& read) {
    for (const auto& piece : tph_->pieces()) piece->EraseFromCache();
    statistics->Reset();
    read();
    return statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  };
  EXPECT_EQ(reads([&] { EXPECT_EQ(Get("a"), "a20"); }), 1u);
  EXPECT_EQ(reads([&] { EXPECT_EQ(Get("a", 19), "a10"); }), 1u);
  EXPECT_EQ(reads([&] { EXPECT_EQ(Get("a", 9), "(absent)"); }), 0u);

  const auto begin = [&](SequenceNumber snapshot) {
    rocksdb::PinnableSlice value;
    GetContext ctx("a", snapshot, &merge_, &value);
    const KeyHash hash = build_.hasher("a");
    DirectoryProbe probe(tph_->resident_directory(), hash);
    probe.FindSlot(hash);
    BlockSet blocks;
    EXPECT_EQ(tph_->BeginGet({}, "a", hash, probe, &ctx, &blocks), Tph::Begun::kGoOn);
    blocks.Load({});
  };
  EXPECT_EQ(reads([&] { begin(kMaxSequenceNumber); }), 1u);
  EXPECT_EQ(reads([&] { begin(19); }), 0u);
}

TEST_F(TphTest, MergeOperandsAcrossPieces) {
  AddPiece({{"k", 1, kTypeValue, "base"}, {"m", 2, kTypeMerge, "m2"}});
  AddPiece({{"k", 5, kTypeMerge, "k5"}, {"k", 4, kTypeMerge, "k4"}});
  AddPiece({{"k", 9, kTypeMerge, "k9"}, {"m", 8, kTypeMerge, "m8"}});
  Open();
  EXPECT_EQ(Get("k"), "base,k4,k5,k9");
  EXPECT_EQ(Get("k", 4), "base,k4");
  EXPECT_EQ(Get("m"), "m2,m8");
  EXPECT_EQ(Get("m", 1), "(absent)");
}

TEST_F(TphTest, TombstoneOfANewerPieceCoversOlderRecords) {
  AddPiece({{"b", 5, kTypeValue, "b5"}, {"d", 6, kTypeValue, "d6"}, {"z", 1, kTypeValue, "z1"}});
  AddPiece({{"c", 12, kTypeValue, "c12"}}, {{"a", "m", 10}});
  Open();
  EXPECT_EQ(Get("b"), "(absent)");
  EXPECT_EQ(Get("b", 9), "b5");
  EXPECT_EQ(Get("c"), "c12");
  EXPECT_EQ(Get("d", 10), "(absent)");
  EXPECT_EQ(Get("z"), "z1");
}

TEST_F(TphTest, CoverageDependsOnSequenceNotOnAgeOfThePiece) {
  // The older piece has the tombstone, the newer piece a record from before it.
  AddPiece({{"q", 30, kTypeValue, "q30"}}, {{"a", "z", 20}});
  AddPiece({{"b", 15, kTypeValue, "b15"}, {"c", 25, kTypeValue, "c25"}});
  Open();
  EXPECT_EQ(Get("b"), "(absent)");
  EXPECT_EQ(Get("b", 19), "b15");
  EXPECT_EQ(Get("c"), "c25");
}

TEST_F(TphTest, PiecesOutOfSequenceOrder) {
  AddPiece({{"k", 50, kTypeValue, "k50"}, {"k", 10, kTypeValue, "k10"}});
  AddPiece({{"k", 30, kTypeMerge, "k30"}, {"k", 20, kTypeDeletion, ""}});
  AddPiece({{"k", 60, kTypeMerge, "k60"}, {"k", 40, kTypeMerge, "k40"}});
  Open();
  EXPECT_EQ(Get("k"), "k50,k60");
  EXPECT_EQ(Get("k", 49), "k30,k40");
  EXPECT_EQ(Get("k", 29), "(absent)");
  EXPECT_EQ(Get("k", 19), "k10");
}

TEST_F(TphTest, KeysOfOneHashAreAllFound) {
  TEST_SetKeyHashMask(0x3);  // four 64-bit hashes for all keys
  std::vector<TestRecord> old_records, new_records;
  for (uint64_t i = 0; i < 200; ++i) {
    old_records.push_back({NumberedKey(i), i + 1, kTypeValue, "old" + std::to_string(i)});
    if (i % 3 == 0) {
      new_records.push_back({NumberedKey(i), i + 1000, kTypeValue, "new" + std::to_string(i)});
    }
  }
  AddPiece(old_records);
  AddPiece(new_records);
  Open();
  EXPECT_TRUE(tph_->resident_directory()->IsAmbiguous(0));
  for (uint64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(Get(NumberedKey(i)), (i % 3 == 0 ? "new" : "old") + std::to_string(i));
    EXPECT_EQ(Get(NumberedKey(i) + "x"), "(absent)");
  }
}

TEST_F(TphTest, RandomTablesAgreeWithTheModel) {
  Random rnd(11);
  for (int round = 0; round < 40; ++round) {
    meta_ = TphMeta();
    records_.clear();
    tombstones_.clear();
    TEST_SetKeyHashMask(round % 4 == 0 ? 0xf : UINT64_MAX);
    build_.block_size = 64 + rnd.Uniform(500);
    // None, one that holds everything, one that is full at once.
    options_.block_cache =
        round % 3 == 0 ? nullptr : rocksdb::NewLRUCache(round % 3 == 1 ? 64 << 10 : 5 << 10, 0);
    SequenceNumber seq = 0;
    std::vector<std::vector<TestRecord>> pieces(1 + rnd.Uniform(5));
    std::vector<std::vector<RangeTombstone>> tombstones(pieces.size());
    for (int i = 0; i < 400; ++i) {
      ++seq;
      const size_t p = rnd.Uniform(pieces.size());
      if (rnd.OneIn(60)) {
        std::string a = rnd.Text(1), b = rnd.Text(1);
        if (b < a) std::swap(a, b);
        tombstones[p].push_back({a, b + "~", seq});
        continue;
      }
      constexpr ValueType kTypes[] = {kTypeValue, kTypeValue, kTypeMerge, kTypeDeletion};
      const ValueType type = kTypes[rnd.Uniform(4)];
      pieces[p].push_back({rnd.Text(1 + rnd.Uniform(2)), seq, type,
                           type == kTypeDeletion ? "" : "v" + std::to_string(seq)});
    }
    for (size_t p = 0; p < pieces.size(); ++p) AddPiece(pieces[p], tombstones[p]);
    Open();
    if (HasFatalFailure()) return;
    for (int probe = 0; probe < 600; ++probe) {
      // One in two of few, so that some are wanted again soon.
      const std::string key = rnd.OneIn(2) ? rnd.Text(1) : rnd.Text(1 + rnd.Uniform(2));
      const SequenceNumber snapshot = rnd.OneIn(2) ? kMaxSequenceNumber : rnd.Uniform(seq + 2);
      ASSERT_EQ(Get(key, snapshot), Expect(key, snapshot)) << key << " at " << snapshot;
    }
    auto iter = tph_->NewIterator(BlockReadOptions());
    Sort(&records_);
    size_t at = 0;
    for (iter->SeekToFirst(); iter->Valid(); iter->Next(), ++at) {
      ASSERT_EQ(iter->key().ToString(), IKey(records_[at].key, records_[at].seq, records_[at].type));
    }
    ASSERT_OK(iter->status());
    EXPECT_EQ(at, records_.size());
  }
}

TEST_F(TphTest, ComparatorWithEqualKeysOfDifferentBytes) {
  NoCaseComparator no_case;
  UseComparator(&no_case);
  AddPiece({{"Apple", 1, kTypeValue, "a1"}, {"pear", 2, kTypeValue, "p2"}});
  AddPiece({{"APPLE", 5, kTypeValue, "a5"}});
  ASSERT_OK(TryOpen());
  EXPECT_EQ(Get("apple"), "a5");
  EXPECT_EQ(Get("apple", 4), "a1");
  EXPECT_EQ(Get("PEAR"), "p2");
  EXPECT_EQ(Get("plum"), "(absent)");
}

TEST_F(TphTest, TombstonesAlone) {
  AddPiece({}, {{"a", "c", 9}});
  Open();
  GetContext ctx("b", kMaxSequenceNumber, nullptr, nullptr);
  ASSERT_OK(tph_->Get(BlockReadOptions(), "b", build_.hasher("b"), &ctx));
  EXPECT_EQ(ctx.covering_tombstone(), 9u);
  EXPECT_FALSE(ctx.done());
  auto iter = tph_->NewIterator(BlockReadOptions());
  iter->SeekToFirst();
  EXPECT_FALSE(iter->Valid());
}

TEST_F(TphTest, VerifyFindsAStaleSlot) {
  AddPiece({{"a", 1, kTypeValue, "a1"}, {"b", 2, kTypeValue, "b2"}});
  AddPiece({{"a", 5, kTypeValue, "a5"}});
  tweak_ = [](std::vector<DirectoryEntry>* entries) {
    for (DirectoryEntry& e : *entries) e.piece = 0;
  };
  ASSERT_OK(TryOpen());
  const Status s = tph_->Verify();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find("'a'"), std::string::npos) << s.ToString();
}

TEST_F(TphTest, VerifyFindsMissingAndSuperfluousSlots) {
  std::vector<TestRecord> records;
  for (uint64_t i = 0; i < 50; ++i) records.push_back({NumberedKey(i), i + 1, kTypeValue, "v"});
  AddPiece(records);
  tweak_ = [](std::vector<DirectoryEntry>* entries) { entries->pop_back(); };
  ASSERT_OK(TryOpen());
  EXPECT_TRUE(tph_->Verify().IsCorruption());
  tweak_ = [](std::vector<DirectoryEntry>* entries) {
    entries->push_back({UINT64_MAX, 1, 0});
  };
  ASSERT_OK(TryOpen());
  EXPECT_TRUE(tph_->Verify().IsCorruption());
}

TEST_F(TphTest, DirectoryOfOtherPiecesIsCorruption) {
  AddPiece({{"a", 1, kTypeValue, "a1"}});
  ASSERT_OK(TryOpen());
  AddPiece({{"b", 2, kTypeValue, "b2"}});
  std::vector<std::shared_ptr<Piece>> pieces;
  for (const TphPiece& p : meta_.pieces) pieces.push_back(OpenPiece(*p.meta));
  EXPECT_TRUE(Reopen(pieces).IsCorruption());
  pieces.pop_back();
  EXPECT_TRUE(Reopen(pieces).IsInvalidArgument());
}

TEST_F(TphTest, DamagedBlockIsAnErrorNotAbsence) {
  std::vector<TestRecord> records;
  for (uint64_t i = 0; i < 100; ++i) records.push_back({NumberedKey(i), i + 1, kTypeValue, "v"});
  AddPiece(records);
  Open();
  const Extent& extent = meta_.pieces[0].meta->extent;
  std::string bytes = ReadFile(extent.file_number);
  for (uint64_t i = 0; i < meta_.pieces[0].meta->data_bytes; ++i) bytes[extent.offset + i] ^= 0x55;
  WriteFile(extent.file_number, bytes);
  NewFileCache();
  ASSERT_OK(Reopen({OpenPiece(*meta_.pieces[0].meta)}));
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_NE(Get(NumberedKey(i)).find("Corruption"), std::string::npos);
  }
}

TEST_F(TphTest, ATableOfNothingHasNoKeysAndVerifies) {
  for (const bool filters : {false, true}) {
    options_.filters = filters;
    ASSERT_OK(Reopen({}));
    EXPECT_OK(tph_->Verify());
    EXPECT_EQ(tph_->resident_directory()->num_keys(), 0u);
    EXPECT_EQ(Get("a"), "(absent)");
    ASSERT_OK(Reopen({}));
    EXPECT_EQ(tph_->resident_directory(), nullptr);
    EXPECT_EQ(Get("a"), "(absent)");  // the directory is made when it is first asked
  }
}

TEST_F(TphTest, VerifyFindsKeysOutsideOfTheTablesHashRange) {
  AddPiece({{"a", 1, kTypeValue, "a1"}});
  Open();
  const uint32_t key = SearchKey(build_.hasher("a"));
  meta_.search = {key, key};
  ASSERT_OK(Reopen({OpenPiece(*meta_.pieces[0].meta)}));
  EXPECT_OK(tph_->Verify());
  meta_.search = {0, key - 1};
  ASSERT_OK(Reopen({OpenPiece(*meta_.pieces[0].meta)}));
  const Status s = tph_->Verify();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find("key 'a' is outside the table's range of hashes"), std::string::npos) << s.ToString();
}

TEST_F(TphTest, SlotsMayNameAnyPieceWithTheNewestRecordAndNoOther) {
  AddPiece({{"a", 5, kTypeValue, "a5"}, {"b", 1, kTypeValue, "b1"}});
  AddPiece({{"a", 5, kTypeValue, "a5"}});
  tweak_ = [&](std::vector<DirectoryEntry>* entries) {
    for (DirectoryEntry& e : *entries) e.piece = e.h1 == build_.hasher("a").h1 ? 1 : 0;
  };
  ASSERT_OK(TryOpen());
  EXPECT_OK(tph_->Verify());
  tweak_ = [](std::vector<DirectoryEntry>* entries) {
    for (DirectoryEntry& e : *entries) e.piece = 1;
  };
  ASSERT_OK(TryOpen());
  const Status s = tph_->Verify();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find("key 'b': its slot names piece 1, its newest record (sequence 1) is in piece 0"),
            std::string::npos)
      << s.ToString();
}

TEST_F(TphTest, ACopyOfARecordCountsOnce) {
  AddPiece({{"k", 1, kTypeValue, "base"}, {"k", 5, kTypeMerge, "k5"}});
  AddPiece({{"k", 5, kTypeMerge, "k5"}, {"k", 7, kTypeMerge, "k7"}});
  Open();
  EXPECT_EQ(Get("k"), "base,k5,k7");
}

TEST_F(TphTest, VersionsInADamagedBlockAreAnError) {
  std::vector<TestRecord> records;
  for (SequenceNumber seq = 1; seq <= 300; ++seq) records.push_back({"k", seq, kTypeMerge, "m" + std::to_string(seq)});
  AddPiece(records);
  Open();
  const PieceMeta& meta = *meta_.pieces[0].meta;
  std::string bytes = ReadFile(meta.extent.file_number);
  bytes[meta.extent.offset + meta.data_bytes / 2] ^= 1;
  WriteFile(meta.extent.file_number, bytes);
  ASSERT_OK(Reopen({OpenPiece(meta)}));
  EXPECT_NE(Get("k").find("checksum mismatch"), std::string::npos);
  EXPECT_NE(Get("k").find("Corruption"), std::string::npos);
}

TEST_F(TphTest, CacheOnlyReadsSayWhatIsMissing) {
  AddPiece({{"a", 1, kTypeValue, "a1"}});
  AddPiece({{"a", 2, kTypeValue, "a2"}}, {{"b", "c", 3}});
  meta_.num_keys = 1;  // and no directory
  BlockReadOptions cached;
  cached.cache_only = true;
  const auto get = [&](const std::string& key) {
    rocksdb::PinnableSlice value;
    GetContext ctx(key, kMaxSequenceNumber, &merge_, &value);
    return tph_->Get(cached, key, build_.hasher(key), &ctx).ToString();
  };
  const auto open = [&](IndexMode mode) {
    std::vector<std::shared_ptr<Piece>> pieces;
    for (const TphPiece& p : meta_.pieces) pieces.push_back(std::make_shared<Piece>(Context(), *p.meta, mode));
    ASSERT_OK(Tph::Open(Context(), meta_, pieces, mode, &tph_));
  };
  const std::string no_index = "Result incomplete: index is not in memory, and no file may be read";
  open(IndexMode::kResident);
  EXPECT_EQ(get("a"), no_index);  // the tombstones
  open(IndexMode::kPaged);
  ASSERT_OK(tph_->Load());
  EXPECT_EQ(get("a"), no_index);  // the newer piece
  open(IndexMode::kResident);
  ASSERT_OK(tph_->Load());
  EXPECT_EQ(get("a"), "Result incomplete: data block is not in the block cache, and no file may be read");
}

class TphBeginTest : public TphTest {
 protected:
  Tph::Begun Begin(const std::string& key, const BlockReadOptions& read = {}) {
    rocksdb::PinnableSlice value;
    GetContext ctx(key, kMaxSequenceNumber, &merge_, &value);
    const KeyHash hash = build_.hasher(key);
    DirectoryProbe probe(tph_->resident_directory(), hash);
    probe.FindSlot(hash);
    BlockSet blocks;
    const Tph::Begun begun = tph_->BeginGet(read, key, hash, probe, &ctx, &blocks);
    if (begun == Tph::Begun::kFed) {
      EXPECT_OK(ctx.Finish());
    }
    return begun;
  }
  void OpenWithoutDirectory(IndexMode mode = IndexMode::kResident) {
    meta_.num_keys = 1;
    std::vector<std::shared_ptr<Piece>> pieces;
    for (const TphPiece& p : meta_.pieces) pieces.push_back(std::make_shared<Piece>(Context(), *p.meta, mode));
    ASSERT_OK(Tph::Open(Context(), meta_, pieces, mode, &tph_));
  }
};

TEST_F(TphBeginTest, WithADirectory) {
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  AddPiece({{"a", 1, kTypeValue, "a1"}});
  AddPiece({{"b", 2, kTypeValue, "b2"}}, {{"x", "z", 3}});
  Open();
  for (const auto& piece : tph_->pieces()) piece->EraseFromCache();
  EXPECT_EQ(Begin("c"), Tph::Begun::kAbsent);
  EXPECT_EQ(Begin("a"), Tph::Begun::kGoOn);
  EXPECT_EQ(Get("a"), "a1");
  EXPECT_EQ(Begin("a"), Tph::Begun::kFed);
  // There are no tombstones, and none may be read.
  std::vector<std::shared_ptr<Piece>> pieces;
  for (const TphPiece& p : meta_.pieces) pieces.push_back(OpenPiece(*p.meta));
  ASSERT_OK(Tph::Open(Context(), meta_, pieces, IndexMode::kResident, &tph_));
  BlockReadOptions cached;
  cached.cache_only = true;
  EXPECT_EQ(Begin("a", cached), Tph::Begun::kGoOn);
  EXPECT_EQ(Begin("c"), Tph::Begun::kAbsent);
}

TEST_F(TphBeginTest, TheDirectoryIsMissingAndMayNotBeRead) {
  AddPiece({{"a", 1, kTypeValue, "a1"}});
  Open();
  ASSERT_OK(Tph::Open(Context(), meta_, {OpenPiece(*meta_.pieces[0].meta)}, IndexMode::kResident, &tph_));
  BlockReadOptions cached;
  cached.cache_only = true;
  EXPECT_EQ(Begin("nowhere", cached), Tph::Begun::kGoOn);
  EXPECT_EQ(Begin("nowhere"), Tph::Begun::kAbsent);
}

TEST_F(TphBeginTest, WithoutADirectoryOnePieceIsAskedAndSeveralAreNot) {
  FilterOptions filter;
  filter.new_bits = [](const FilterPlace&) { return NewBloomBuilder(20000); };
  options_.filters = true;
  options_.block_cache = rocksdb::NewLRUCache(1 << 20);
  build_.filter = &filter;
  AddPiece({{"a", 1, kTypeValue, "a1"}});
  OpenWithoutDirectory();
  EXPECT_EQ(Begin("c"), Tph::Begun::kAbsent);  // says the filter
  EXPECT_EQ(Begin("a"), Tph::Begun::kGoOn);
  EXPECT_EQ(Get("a"), "a1");
  EXPECT_EQ(Begin("a"), Tph::Begun::kFed);
  // The filter and the index cannot be asked.
  OpenWithoutDirectory(IndexMode::kPaged);
  BlockReadOptions cached;
  cached.cache_only = true;
  EXPECT_EQ(Begin("c", cached), Tph::Begun::kGoOn);
  AddPiece({{"a", 2, kTypeValue, "a2"}});
  OpenWithoutDirectory();
  EXPECT_EQ(Begin("c"), Tph::Begun::kGoOn);
  EXPECT_EQ(Get("a"), "a2");
}

}  // namespace
}  // namespace compassdb
