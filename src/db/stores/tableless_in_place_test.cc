// SPDX-License-Identifier: Apache-2.0
// A table-less family whose device never tears a page (tableless_atomic_page_writes): pages are written without a
// journal, and a flush that ends anywhere leaves nothing lost, nothing twice and nothing miscounted.
#include <atomic>
#include <map>
#include <thread>

#include "compassdb/repair.h"
#include "compassdb/table.h"
#include "db/testing/model_test_util.h"
#include "format/file_names.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/convenience.h"
#include "util/random.h"

namespace compassdb {
namespace {

constexpr int kKeys = 120;

class TablelessInPlaceTest : public ModelTest {
 protected:
  TablelessInPlaceTest() {
    piece_.store = StoreKind::kTableless;
    piece_.tableless_sections = 2;
    piece_.tableless_pages = 16;
    piece_.tableless_max_overflow_percent = 90;
    piece_.tableless_atomic_page_writes = true;
    UsePieces();
    options_.merge_operator = std::make_shared<AppendOperator>();
    options_.max_bgerror_resume_count = 0;
    fs_->memory()->SetAtomicWrites(4096);
  }
  void UsePieces() { options_.table_factory.reset(NewPieceTableFactory(piece_)); }
  static std::string Value(int i, size_t size) {
    std::string value = std::to_string(i) + ":";
    while (value.size() < size) value += static_cast<char>('a' + (i + value.size()) % 26);
    return value;
  }
  uint64_t Unjournaled() { return IntProperty("compassdb.tableless-unjournaled-pages"); }
  void Verify() {
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
  }

  void Start() {
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    model_.clear();
    OpenDb();
    for (int i = 0; i < kKeys; ++i) PutIt(i, Value(i, i % 10 == 0 ? 900 : 100));
    Flush();
    Compact();
  }
  void PutIt(int i, const std::string& value) {
    ASSERT_TRUE(Put(Key(i), value).ok());
    model_[Key(i)] = value;
  }
  void MergeIt(int i, const std::string& operand) {
    ASSERT_TRUE(db_->Merge({}, Key(i), operand).ok());
    std::string& value = model_[Key(i)];
    value += (value.empty() ? "" : ",") + operand;
  }
  // Of everything: overwrites of other sizes, new keys, operands with and without a base, deletions, ranges, records
  // that go to the overflow store and come back.
  void Change() {
    for (int i = 0; i < kKeys; i += 3) PutIt(i, Value(i + 1000, i % 2 == 0 ? 60 : 150));
    for (int i = 1; i < kKeys; i += 9) MergeIt(i, "op");
    for (int i = kKeys; i < kKeys + 30; ++i) PutIt(i, Value(i, 80));
    for (int i = kKeys + 25; i < kKeys + 35; ++i) MergeIt(i, "new");
    for (int i = 2; i < kKeys; i += 12) {
      ASSERT_TRUE(db_->Delete({}, Key(i)).ok());
      model_.erase(Key(i));
    }
    ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(70), Key(76)).ok());
    model_.erase(model_.lower_bound(Key(70)), model_.lower_bound(Key(76)));
    MergeIt(71, "behind");
    for (int i = 4; i < kKeys; i += 24) PutIt(i, Value(i, 5000));
    for (int i = 10; i < kKeys; i += 40) MergeIt(i, Value(i, 3500));
  }
  void Check() {
    std::string all;
    for (int i = 0; i < kKeys + 40; ++i) {
      const auto found = model_.find(Key(i));
      ASSERT_EQ(Get(Key(i)), found == model_.end() ? "NOT_FOUND" : found->second) << i;
    }
    for (const auto& [key, value] : model_) all += (all.empty() ? "" : ",") + key + "=" + value;
    ASSERT_EQ(Scan(), all);
    Verify();
  }
  PieceTableOptions piece_;
  std::map<std::string, std::string> model_;
};

TEST_F(TablelessInPlaceTest, PagesGoWithoutAJournal) {
  Start();
  EXPECT_EQ(Unjournaled(), 0u);  // the first flush makes the pages
  fs_->ResetCounts();
  for (int i = 0; i < kKeys; i += 3) PutIt(i, Value(i + 1, 100));
  Flush();
  // Some of the 16 pages are rewritten elsewhere: which keys share one differs by database.
  const uint64_t first = Unjournaled();
  EXPECT_GT(first, 7u);
  ASSERT_TRUE(db_->WaitForCompact({}).ok());
  EXPECT_EQ(IntProperty("compassdb.tableless-pending-pages"), 0u);
  Check();
  Change();
  Flush();
  EXPECT_GT(Unjournaled(), first + 3);
  Check();
  Compact();
  Check();
  OpenDb();
  Check();
}

TEST_F(TablelessInPlaceTest, TheOptionMayChangeBetweenOpenings) {
  Start();
  for (int round = 0; round < 6; ++round) {
    piece_.tableless_atomic_page_writes = round % 2 == 0;
    UsePieces();
    OpenDb();
    // A journal that waits is not overtaken by pages.
    ASSERT_TRUE(db_->DisableFileDeletions().ok());
    for (int i = round; i < kKeys; i += 7) MergeIt(i, "held");
    Flush();
    ASSERT_GT(IntProperty("compassdb.tableless-pending-pages"), 0u);
    EXPECT_EQ(Unjournaled(), 0u);
    if (round % 3 == 0) OpenDb();
    for (int i = 0; i < kKeys; i += 2) MergeIt(i, "then");
    Flush();
    Check();
    const std::string other = round % 2 == 0 ? "false" : "true";
    ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_atomic_page_writes", other}}).ok());
    ASSERT_TRUE(db_->EnableFileDeletions(true).ok());
    Compact();
    for (int i = 0; i < kKeys; i += 2) MergeIt(i, "last");
    Flush();
    if (round % 3 != 0) {
      EXPECT_EQ(Unjournaled() > 0, round % 2 == 1);
    }
    Check();
  }
}

// The device's promise is for pages of the option's size, for any size of the family's pages.
TEST_F(TablelessInPlaceTest, PagesLargerThanThePromiseHaveJournals) {
  piece_.tableless_page_bytes = 8192;
  UsePieces();
  fs_->memory()->SetAtomicWrites(8192);
  Start();
  for (const uint32_t promised : {8192, 4096, 16384}) {
    piece_.tableless_page_bytes = promised;
    UsePieces();
    OpenDb();
    for (int i = 0; i < kKeys; i += 2) PutIt(i, Value(i + static_cast<int>(promised), 100));
    Flush();
    EXPECT_EQ(Unjournaled() > 0, promised >= 8192) << promised;
    Compact();
    Check();
  }
}

// Where there is more to a page than its records.
TEST_F(TablelessInPlaceTest, WhatNeedsAJournalHasOne) {
  Start();
  const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
  const auto before = model_;
  for (int i = 0; i < kKeys; i += 3) PutIt(i, Value(i + 1, 100));
  Flush();
  EXPECT_EQ(Unjournaled(), 0u);
  for (const auto& [key, value] : before) ASSERT_EQ(Get(key, snapshot), value);
  db_->ReleaseSnapshot(snapshot);
  Compact();
  Check();

  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db_->Put(unlogged, Key(1), "unlogged").ok());
  model_[Key(1)] = "unlogged";
  for (int i = 0; i < kKeys; i += 3) PutIt(i, Value(i + 2, 100));
  Flush();
  EXPECT_EQ(Unjournaled(), 0u);
  Check();

  class Nothing : public rocksdb::CompactionFilter {
    bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return false; }
    const char* Name() const override { return "Nothing"; }
  } filter;
  options_.compaction_filter = &filter;
  OpenDb();
  for (int i = 0; i < kKeys; i += 3) PutIt(i, Value(i + 3, 100));
  Flush();
  EXPECT_EQ(Unjournaled(), 0u);
  Check();
  options_.compaction_filter = nullptr;
  OpenDb();
  Compact();
  for (int i = 0; i < kKeys; i += 3) PutIt(i, Value(i + 4, 100));
  Flush();
  EXPECT_GT(Unjournaled(), 0u);
  Check();
}

class CutTest : public TablelessInPlaceTest, public ::testing::WithParamInterface<int> {
 protected:
  // Cuts the power before the n-th change of the disk by the flush. False: the flush made fewer.
  bool FlushUntil(uint64_t n, CutMode mode) {
    std::atomic<uint64_t> changes{0};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op != FaultOp::kWrite && op != FaultOp::kSync) return;
      if (path.find("LOG") != std::string::npos) return;
      if (++changes == n) fs_->PowerCut(n * 7919 + static_cast<uint64_t>(GetParam()), mode);
    });
    const Status s = db_->Flush(rocksdb::FlushOptions());
    const bool cut = changes.load() >= n;
    fs_->SetHook(nullptr);
    EXPECT_TRUE(s.ok() || fs_->IsDown()) << s.ToString();
    return cut;
  }
};

// At every write and sync of a flush, with whole pages lost or kept at random: logged records exist once.
TEST_P(CutTest, AnywhereInAFlush) {
  piece_.tableless_key_store = GetParam() % 4 != 3;
  UsePieces();
  int cuts = 0, kept = 0;
  const auto check = [this] {
    if (piece_.tableless_key_store) return Check();
    for (int i = 0; i < kKeys + 40; ++i) {
      const auto found = model_.find(Key(i));
      ASSERT_EQ(Get(Key(i)), found == model_.end() ? "NOT_FOUND" : found->second) << i;
    }
    Verify();
  };
  for (uint64_t n = 1;; ++n) {
    SCOPED_TRACE("cut before change " + std::to_string(n));
    Start();
    Change();
    ASSERT_TRUE(db_->SyncWAL().ok());
    if (!FlushUntil(n, n % 3 == 0 ? CutMode::kKeepUnsynced : n % 3 == 1 ? CutMode::kTornBytes : CutMode::kTornPages)) {
      break;
    }
    ++cuts;
    CloseDb();
    fs_->Restart();
    // Read only, then kept in memtables, then flushed; the last way also with another number of pages.
    rocksdb::DB* reader = nullptr;
    Status s = rocksdb::DB::OpenForReadOnly(options_, name_, &reader);
    ASSERT_TRUE(s.ok()) << s.ToString();
    db_.reset(reader);
    check();
    if (HasFatalFailure()) return;
    CloseDb();
    options_.avoid_flush_during_recovery = (n + static_cast<uint64_t>(GetParam())) % 2 == 0;
    piece_.tableless_pages = n % 5 == 0 ? 40 : 16;
    UsePieces();
    OpenDb();
    kept += options_.avoid_flush_during_recovery ? 1 : 0;
    check();
    if (HasFatalFailure()) return;
    for (int i = 0; i < kKeys; i += 11) MergeIt(i, "again");
    check();
    if (n % 5 == 0) Compact();
    Flush();
    check();
    OpenDb();
    check();
    if (HasFatalFailure()) return;
    options_.avoid_flush_during_recovery = false;
    piece_.tableless_pages = 16;
    UsePieces();
  }
  EXPECT_GT(cuts, 15);
  EXPECT_GT(kept, 5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CutTest, ::testing::Range(0, 8));

// Once pages are torn after all, it is found. (Which are, depends on the threads in the background.)
TEST_F(TablelessInPlaceTest, TornPagesAreDamage) {
  fs_->memory()->SetAtomicWrites(0);
  int damaged = 0;
  for (uint64_t seed = 1; seed <= 12 || (seed <= 300 && damaged == 0); ++seed) {
    Start();
    for (int i = 0; i < kKeys; ++i) PutIt(i, Value(i + 1, 100));
    std::atomic<int> writes{0};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op == FaultOp::kSync && path.find(".pages") != std::string::npos && ++writes == 2) {
        fs_->PowerCut(seed, CutMode::kTornBytes);
      }
    });
    EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions()).ok());
    fs_->SetHook(nullptr);
    CloseDb();
    fs_->Restart();
    Status s = TryOpen();
    if (s.ok()) s = db_->VerifyChecksum();
    damaged += s.IsCorruption() ? 1 : 0;
    EXPECT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
  }
  EXPECT_GT(damaged, 0);
}

// A write or a sync fails: what the memtables have is read, and the next try succeeds.
TEST_F(TablelessInPlaceTest, FailedWritesAreTriedAgain) {
  for (int at = 0; at < 12; ++at) {
    SCOPED_TRACE(at);
    Start();
    Change();
    const FaultOp op = at % 2 == 0 ? FaultOp::kWrite : FaultOp::kSync;
    const Status error = at % 3 == 0 ? Status::NoSpace("injected") : Status::IOError("injected");
    // The writes of pages, the syncs of the log, of the manifest and of the pages.
    if (at < 8) {
      fs_->FailNth(op, 1 + at / 4, ".pages", error);
    } else {
      fs_->FailNth(op, 1 + at / 11, at < 10 ? "MANIFEST" : ".log", error);
    }
    const Status s = db_->Flush(rocksdb::FlushOptions());
    fs_->ClearFaults();
    EXPECT_TRUE(!s.ok() || at >= 10);
    Check();
    if (HasFatalFailure()) return;
    db_->Resume().PermitUncheckedError();
    if (at % 2 == 0) {
      // A rehash that comes before the flush is repeated counts what the pages are ahead.
      ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "50"}}).ok());
    }
    for (int i = 0; i < kKeys; i += 5) MergeIt(i, "after");
    Flush();
    Check();
    Compact();
    Check();
    // What the failed sync left in the kernel's hands is not trusted.
    Crash(CutMode::kDropUnsynced);
    OpenDb();
    Check();
    if (HasFatalFailure()) return;
    ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "16"}}).ok());
  }
}

// A flush deleted keys of a range from pages, failed before its commit, and is repeated in parts. The database now has
// no key store. The part with the range, which is not the first, must still find those keys.
TEST_F(TablelessInPlaceTest, RangesInDoubtFindTheirKeysWhenTheKeyStoreIsDropped) {
  options_.write_buffer_size = 1 << 20;
  Start();
  // Two memtables full, of few pages.
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 3; ++i) PutIt(i, Value(i + round, 100));
  }
  ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(40), Key(60)).ok());
  model_.erase(model_.lower_bound(Key(40)), model_.lower_bound(Key(60)));
  fs_->FailAll(FaultOp::kSync, ".pages", Status::IOError("killed"));
  EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_GT(Unjournaled(), 0u);
  CloseDb();
  fs_->ClearFaults();
  piece_.tableless_key_store = false;
  UsePieces();
  options_.write_buffer_size = 32 << 10;
  OpenDb();
  Flush();
  Verify();
  for (int i = 0; i < kKeys; ++i) {
    const auto found = model_.find(Key(i));
    ASSERT_EQ(Get(Key(i)), found == model_.end() ? "NOT_FOUND" : found->second) << i;
  }
  piece_.tableless_key_store = true;
  UsePieces();
  OpenDb();
  Check();
}

// A key store is rebuilt from pages. A killed process had written some of them without a sync, so a power cut restores
// their old contents. The log has the new contents, and markers must not hide that.
TEST_F(TablelessInPlaceTest, MarkersAreNoNewerThanWhatIsCommitted) {
  piece_.tableless_key_store = false;
  UsePieces();
  options_.avoid_flush_during_recovery = true;
  Start();
  for (int i = 0; i < kKeys; i += 3) PutIt(i, Value(i + 1, 100));
  for (int i = kKeys; i < kKeys + 30; ++i) PutIt(i, Value(i, 80));
  fs_->FailAll(FaultOp::kSync, ".pages", Status::IOError("killed"));
  EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions()).ok());
  CloseDb();
  fs_->ClearFaults();
  piece_.tableless_key_store = true;
  UsePieces();
  OpenDb();
  Check();
  Crash(CutMode::kDropUnsynced);
  OpenDb();
  Check();
  Flush();
  Check();
}

// A page that is read while it is being written.
TEST_F(TablelessInPlaceTest, ReadersMeetPagesInFlight) {
  piece_.tableless_sections = 1;
  piece_.tableless_pages = 1;
  UsePieces();
  CloseDb();
  OpenDb();
  for (int i = 0; i < 20; ++i) PutIt(i, Value(i, 50));
  Flush();
  Compact();
  PutIt(3, "new");
  MergeIt(4, "merged");
  std::atomic<int> met{0};
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kWrite || path.find(".pages") == std::string::npos || met.exchange(1) != 0) return;
    std::unique_ptr<PageFile> file;
    ASSERT_TRUE(fs_->memory()->NewPageFile(path, FileOptions(), /*create=*/false, &file).ok());
    ASSERT_TRUE(file->Write(0, std::string(2048, 'x')).ok());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(Get(Key(i)), model_[Key(i)]);
    std::string all;
    for (const auto& [key, value] : model_) all += (all.empty() ? "" : ",") + key + "=" + value;
    EXPECT_EQ(Scan(), all);
    EXPECT_EQ(Get("nothing"), "NOT_FOUND");
    EXPECT_TRUE(db_->VerifyChecksum().ok());
  });
  Flush();
  fs_->SetHook(nullptr);
  EXPECT_EQ(met, 1);
  Verify();
}

TEST_F(TablelessInPlaceTest, ReadersWritersAndRehashes) {
  piece_.tableless_pages = 64;
  UsePieces();
  options_.max_background_jobs = 4;
  options_.write_buffer_size = 16 << 10;
  OpenDb();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int round = 0; round < 300; ++round) {
      for (int i = 0; i < 60; ++i) {
        // Both in one batch: they are equal in every state.
        rocksdb::WriteBatch batch;
        const int n = (round * 7 + i * 13) % 400;
        const std::string value = Value(round * 1000 + i, 40 + static_cast<size_t>(n) % 200);
        if (round % 5 == 4) {
          ASSERT_TRUE(batch.Delete("a" + Key(n)).ok());
          ASSERT_TRUE(batch.Delete("b" + Key(n)).ok());
        } else if (round % 5 == 3) {
          ASSERT_TRUE(batch.Merge("a" + Key(n), "m").ok());
          ASSERT_TRUE(batch.Merge("b" + Key(n), "m").ok());
        } else {
          ASSERT_TRUE(batch.Put("a" + Key(n), value).ok());
          ASSERT_TRUE(batch.Put("b" + Key(n), value).ok());
        }
        ASSERT_TRUE(db_->Write({}, &batch).ok());
      }
      if (round % 40 == 20) {
        ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", round % 80 == 20 ? "200" : "40"}}).ok());
      }
    }
    done.store(true);
  });
  const auto check = [](rocksdb::DB* db) {
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}));
    std::map<std::string, std::string> a, b;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      (it->key()[0] == 'a' ? a : b)[it->key().ToString().substr(1)] = it->value().ToString();
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(a, b);
    const Status s = db->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
  };
  std::thread points([&] {
    Random rnd(7);
    while (!done.load()) {
      const std::string key = Key(static_cast<int>(rnd.Uniform(400)));
      const rocksdb::Snapshot* const snapshot = rnd.OneIn(20) ? db_->GetSnapshot() : nullptr;
      if (snapshot != nullptr) {
        EXPECT_EQ(Get("a" + key, snapshot), Get("b" + key, snapshot));
        db_->ReleaseSnapshot(snapshot);
      } else {
        const std::string value = Get("a" + key);
        EXPECT_TRUE(value == "NOT_FOUND" || value.find(':') != std::string::npos || value[0] == 'm') << value;
      }
    }
  });
  while (!done.load()) check(db_.get());
  writer.join();
  points.join();
  EXPECT_GT(Unjournaled(), 100u);
  check(db_.get());
}

// An opening that only reads, from before a flush, or from between its writes of pages and its commit.
TEST_F(TablelessInPlaceTest, ReadOnlyNextToAPrimary) {
  for (const bool between : {false, true}) {
    Start();
    const auto before = model_;
    std::unique_ptr<rocksdb::DB> reader;
    const auto open = [&] {
      rocksdb::DB* opened = nullptr;
      const Status s = rocksdb::DB::OpenForReadOnly(options_, name_, &opened);
      ASSERT_TRUE(s.ok()) << s.ToString();
      reader.reset(opened);
    };
    if (!between) open();
    Change();
    // Two threads write sections.
    std::atomic<bool> due{between};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op == FaultOp::kSync && path.find(".pages") != std::string::npos && due.exchange(false)) open();
    });
    Flush();
    fs_->SetHook(nullptr);
    ASSERT_NE(reader, nullptr);
    const auto& seen = between ? model_ : before;
    const auto compare = [&] {
      int kept = 0;
      for (int i = 0; i < kKeys + 40; ++i) {
        std::string value = "NOT_FOUND";
        const Status s = reader->Get({}, Key(i), &value);
        if (s.IsTryAgain()) continue;
        ++kept;
        ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
        const auto found = seen.find(Key(i));
        ASSERT_EQ(value, found == seen.end() ? "NOT_FOUND" : found->second) << i;
      }
      EXPECT_GT(kept, 5);
    };
    compare();
    if (HasFatalFailure()) return;
    Compact();
    compare();
    if (HasFatalFailure()) return;
  }
}

// A repair between the writes of pages and the flush's commit, also where the log is lost.
TEST_F(TablelessInPlaceTest, RepairInBetween) {
  for (const bool with_log : {true, false}) {
    Start();
    Change();
    ASSERT_TRUE(db_->SyncWAL().ok());
    std::atomic<int> syncs{0};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op == FaultOp::kSync && path.find(".pages") != std::string::npos && ++syncs == 2) {
        fs_->PowerCut(1, CutMode::kKeepUnsynced);
      }
    });
    EXPECT_FALSE(db_->Flush(rocksdb::FlushOptions()).ok());
    fs_->SetHook(nullptr);
    CloseDb();
    fs_->Restart();
    if (!with_log) {
      for (const std::string& log : FilesOf(FileType::kWal)) ASSERT_TRUE(fs_->DeleteFile(name_ + "/" + log).ok());
    }
    const Status s = rocksdb::RepairDB(name_, options_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    OpenDb();
    if (with_log) {
      Check();
    } else {
      // All ways of reading return the same records.
      std::string all;
      for (int i = 0; i < kKeys + 40; ++i) {
        const std::string value = Get(Key(i));
        if (value != "NOT_FOUND") all += (all.empty() ? "" : ",") + Key(i) + "=" + value;
      }
      EXPECT_EQ(Scan(), all);
      Verify();
    }
  }
}

// The option changes while it runs.
TEST_F(TablelessInPlaceTest, MatchesAMap) {
  for (int seed = 1; seed <= 6; ++seed) {
    piece_.tableless_pages = seed % 3 == 0 ? 0 : 64;
    piece_.tableless_max_overflow_percent = seed % 2 == 0 ? 3 : 60;
    UsePieces();
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    options_.write_buffer_size = 32 << 10;
    Run run;
    run.seed = static_cast<uint64_t>(seed) * 104729;
    run.keys = seed % 2 == 0 ? 400 : 3000;
    run.value = [](int step, Random* rnd) {
      return Value(step, rnd->OneIn(100) ? 5000 : rnd->OneIn(2) ? 20 + rnd->Uniform(60) : 100 + rnd->Uniform(500));
    };
    run.change_options = [this](Random* rnd) {
      return db_->SetOptions({{"table_factory.tableless_atomic_page_writes", rnd->OneIn(4) ? "false" : "true"}});
    };
    MatchAMap(run);
  }
}

TEST_F(TablelessInPlaceTest, CrashesLoseNothingThatWasSynced) {
  piece_.tableless_pages = 0;
  piece_.tableless_rehash_threads = 2;
  UsePieces();
  options_.write_buffer_size = 16 << 10;
  uint64_t unjournaled = 0;
  Run run;
  run.keys = 300;
  run.value = [](int i, Random* rnd) { return Value(i, rnd->OneIn(4) ? 20 : rnd->OneIn(40) ? 6000 : 600); };
  run.before_cut = [&](Random* rnd) {
    unjournaled += Unjournaled();
    if (rnd->OneIn(3)) return;
    const std::string pages = std::to_string(20 + rnd->Uniform(300));
    ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", pages}}).ok());
    std::this_thread::sleep_for(std::chrono::microseconds(rnd->Uniform(3000)));
  };
  for (run.seed = 1; run.seed <= 24; ++run.seed) {
    SurvivePowerCuts(run, {CutMode::kDropUnsynced, CutMode::kRandom, CutMode::kTornBytes, CutMode::kTornPages});
  }
  EXPECT_GT(unjournaled, 1000u);
}

}  // namespace
}  // namespace compassdb
