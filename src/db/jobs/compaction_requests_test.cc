// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <future>
#include <new>
#include <thread>

#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/experimental.h"
#include "rocksdb/listener.h"
#include "rocksdb/utilities/table_properties_collectors.h"

namespace compassdb {
namespace {

using rocksdb::Slice;

class CompactionRequestsTest : public DbTest {
 protected:
  // Keys [first, last) in tables of level 1 or deeper.
  void Load(int first, int last, const std::string& value) {
    for (int i = first; i < last; ++i) ASSERT_TRUE(Put(Key(i), value + std::string(100, 'x')).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }
  int TablesAt(int level) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &value));
    return std::stoi(value);
  }
  std::vector<rocksdb::LiveFileMetaData> Tables() {
    std::vector<rocksdb::LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    return tables;
  }
  static bool Survived(const std::string& value) { return value != "NOT_FOUND"; }
};

TEST_F(CompactionRequestsTest, EnablingManualCompactionFirstAllowsOneDisabling) {
  OpenDb();
  db_->EnableManualCompaction();
  db_->DisableManualCompaction();
  for (int i = 0; i < 2; ++i) {
    Load(0, 10, std::to_string(i));
    Compact();
    EXPECT_EQ(TablesAt(0), 0);
    db_->DisableManualCompaction();
    EXPECT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr)
                    .IsManualCompactionPaused());
    db_->EnableManualCompaction();
  }
}

// Sets a flag when a compaction begins, and keeps what it ended with.
class CancelAtBegin final : public rocksdb::EventListener {
 public:
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { flag = true; }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    ended = info.status;
  }
  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo&) override { ++parts; }
  std::atomic<bool> flag{false};
  std::atomic<int> parts{0};
  Status ended;
};

TEST_F(CompactionRequestsTest, ACanceledCompactionEndsAsPaused) {
  const auto listener = std::make_shared<CancelAtBegin>();
  options_.listeners.push_back(listener);
  options_.disable_auto_compactions = true;
  options_.write_buffer_size = 8 << 20;
  OpenDb();
  for (int i = 0; i < 2; ++i) Load(0, 5000, std::to_string(i));
  rocksdb::CompactRangeOptions compact;
  compact.canceled = &listener->flag;
  Status s = db_->CompactRange(compact, nullptr, nullptr);
  EXPECT_TRUE(s.IsManualCompactionPaused()) << s.ToString();
  EXPECT_TRUE(listener->ended.IsManualCompactionPaused()) << listener->ended.ToString();
  EXPECT_EQ(TablesAt(0), 2);
  ASSERT_TRUE(Put("unflushed", "1").ok());
  s = db_->CompactRange(compact, nullptr, nullptr);
  EXPECT_TRUE(s.IsManualCompactionPaused()) << s.ToString();
  EXPECT_EQ(TablesAt(0), 2);
}

TEST_F(CompactionRequestsTest, TablesWithoutAKeyInTheRangeStay) {
  options_.disable_auto_compactions = true;
  OpenDb();
  Load(0, 10, "v");
  const std::string from = Key(3) + "x", to = Key(3) + "y", key = Key(4);
  const Slice begin(from), between(to), end(key);
  ASSERT_TRUE(db_->CompactRange({}, &begin, &between).ok());
  EXPECT_EQ(TablesAt(0), 1);
  ASSERT_TRUE(db_->CompactRange({}, &begin, &end).ok());
  EXPECT_EQ(TablesAt(0), 0);
}

TEST_F(CompactionRequestsTest, ARequestMayHaveItsOwnNumberOfThreads) {
  const auto listener = std::make_shared<CancelAtBegin>();
  options_.listeners.push_back(listener);
  options_.disable_auto_compactions = true;
  options_.write_buffer_size = 8 << 20;
  options_.target_file_size_base = 16 << 10;
  options_.max_subcompactions = 3;
  OpenDb();
  Load(0, 5000, "a");
  Compact();
  for (const int threads : {0, 1, 2}) {
    Load(0, 5000, std::to_string(threads));
    listener->parts = 0;
    rocksdb::CompactRangeOptions compact;
    compact.max_subcompactions = static_cast<uint32_t>(threads);
    ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
    EXPECT_EQ(listener->parts, threads == 0 ? 3 : threads);
  }
}

TEST_F(CompactionRequestsTest, ATableThatACollectorMarkedLeavesLevel0) {
  options_.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(10, 5));
  OpenDb();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), Key(i)).ok());
  ASSERT_TRUE(Put(Key(20), "v").ok());
  Flush();
  ASSERT_TRUE(db_->WaitForCompact({}).ok());
  EXPECT_EQ(TablesAt(0), 0);
  ASSERT_EQ(Tables().size(), 1u);
  EXPECT_EQ(Tables()[0].num_deletions, 0u);
}

TEST_F(CompactionRequestsTest, DropTakesWholeTablesInsideOnly) {
  options_.target_file_size_base = 32 << 10;
  OpenDb();
  Load(0, 3000, "a");
  Compact();
  const auto before = Tables();
  ASSERT_GT(before.size(), 4u);
  const std::string begin = Key(500), end = Key(2500);
  const Slice b(begin), e(end);
  ASSERT_TRUE(
      rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &b, &e, true).ok());
  EXPECT_LT(Tables().size(), before.size());
  std::vector<bool> there;
  for (int i = 0; i < 3000; ++i) there.push_back(Survived(Get(Key(i))));
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(there[i]) << i;
  for (int i = 2501; i < 3000; ++i) EXPECT_TRUE(there[i]) << i;
  // Exactly the keys of the tables that lay inside are gone.
  for (const auto& table : before) {
    const bool inside = table.smallestkey >= begin && table.largestkey <= end;
    for (int i = 0; i < 3000; ++i) {
      if (Key(i) >= table.smallestkey && Key(i) <= table.largestkey) {
        EXPECT_EQ(there[i], !inside) << i;
      }
    }
  }
  CloseDb();
  OpenDb();
  for (int i = 0; i < 3000; i += 7) EXPECT_EQ(Survived(Get(Key(i))), there[i]) << i;
  ASSERT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(CompactionRequestsTest, DropLeavesLevel0AndRespectsTheEnd) {
  options_.disable_auto_compactions = true;
  OpenDb();
  Load(0, 10, "a");
  Compact();
  ASSERT_EQ(TablesAt(1), 1);
  Load(0, 10, "b");
  const std::string last = Key(9);
  const Slice e(last);
  auto* family = db_->DefaultColumnFamily();
  ASSERT_TRUE(rocksdb::DeleteFilesInRange(db_.get(), family, nullptr, &e, false).ok());
  EXPECT_EQ(TablesAt(1), 1);
  ASSERT_TRUE(rocksdb::DeleteFilesInRange(db_.get(), family, nullptr, &e, true).ok());
  EXPECT_EQ(TablesAt(1), 0);
  EXPECT_EQ(TablesAt(0), 1);
  EXPECT_EQ(Get(Key(3))[0], 'b');
  rocksdb::RangePtr all[2] = {{nullptr, nullptr}, {nullptr, nullptr}};
  ASSERT_TRUE(rocksdb::DeleteFilesInRanges(db_.get(), family, all, 2).ok());
  EXPECT_EQ(Get(Key(3))[0], 'b');
}

TEST_F(CompactionRequestsTest, DroppedSpaceIsFreedAndIteratorsKeepTheirView) {
  OpenDb();
  Load(0, 2000, "a");
  Compact();
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  it->SeekToFirst();
  ASSERT_TRUE(
      rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), "");
  int n = 0;
  for (; it->Valid(); it->Next()) ++n;
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(n, 2000);
  it.reset();
  EXPECT_EQ(IntProperty("rocksdb.total-sst-files-size"), 0u);
  Load(0, 10, "b");  // the next purge
  std::vector<std::string> names;
  ASSERT_TRUE(env_->GetChildren(name_, &names).ok());
  EXPECT_EQ(std::count_if(names.begin(), names.end(),
                          [this](const std::string& name) {
                            uint64_t bytes = 0;  // 0: a spare file
                            return name.ends_with(".ph") &&
                                   env_->GetFileSize(name_ + "/" + name, &bytes).ok() && bytes > 0;
                          }),
            1);
}

TEST_F(CompactionRequestsTest, SuggestedRangeMovesDown) {
  options_.level0_file_num_compaction_trigger = 8;
  OpenDb();
  Load(0, 100, "a");
  Compact();
  Load(0, 10, "b");
  ASSERT_EQ(TablesAt(0), 1);
  const std::string far = Key(5000);
  const Slice none(far);
  ASSERT_TRUE(rocksdb::experimental::SuggestCompactRange(db_.get(), &none, nullptr).ok());
  ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
  EXPECT_EQ(TablesAt(0), 1);
  ASSERT_TRUE(rocksdb::experimental::SuggestCompactRange(db_.get(), nullptr, nullptr).ok());
  ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
  EXPECT_EQ(TablesAt(0), 0);
  EXPECT_EQ(Get(Key(3))[0], 'b');
}

TEST_F(CompactionRequestsTest, PromoteMovesDisjointTables) {
  options_.disable_auto_compactions = true;
  OpenDb();
  Load(0, 10, "a");
  Load(10, 20, "b");
  EXPECT_TRUE(rocksdb::experimental::PromoteL0(db_.get(), db_->DefaultColumnFamily(), 0)
                  .IsInvalidArgument());
  EXPECT_TRUE(rocksdb::experimental::PromoteL0(db_.get(), db_->DefaultColumnFamily(), 7)
                  .IsInvalidArgument());
  ASSERT_TRUE(rocksdb::experimental::PromoteL0(db_.get(), db_->DefaultColumnFamily(), 3).ok());
  EXPECT_EQ(TablesAt(0), 0);
  EXPECT_EQ(TablesAt(3), 2);
  Load(15, 30, "c");
  Load(25, 40, "d");
  EXPECT_TRUE(rocksdb::experimental::PromoteL0(db_.get(), db_->DefaultColumnFamily(), 2)
                  .IsInvalidArgument());  // they overlap
  EXPECT_TRUE(rocksdb::experimental::PromoteL0(db_.get(), db_->DefaultColumnFamily(), 4)
                  .IsInvalidArgument());  // level 3 is in the way
  CloseDb();
  OpenDb();
  EXPECT_EQ(TablesAt(3), 2);
  EXPECT_EQ(Get(Key(17))[0], 'c');
  EXPECT_EQ(Get(Key(12))[0], 'b');
}

TEST_F(CompactionRequestsTest, ChangeLevelMovesToTheTarget) {
  OpenDb();
  Load(0, 100, "a");
  rocksdb::CompactRangeOptions compact;
  compact.change_level = true;
  compact.target_level = 7;
  EXPECT_TRUE(db_->CompactRange(compact, nullptr, nullptr).IsInvalidArgument());
  compact.target_level = 5;
  ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  EXPECT_EQ(TablesAt(5), 1);
  compact.target_level = -1;  // as far up as there is room
  ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  EXPECT_EQ(TablesAt(1), 1);
  EXPECT_EQ(Get(Key(42))[0], 'a');
}

TEST_F(CompactionRequestsTest, CompactFilesTakesTheNamedTablesDown) {
  options_.disable_auto_compactions = true;
  OpenDb();
  Load(0, 50, "a");
  Load(50, 100, "b");
  std::vector<std::string> names;
  for (const auto& table : Tables()) names.push_back(table.name);
  rocksdb::CompactionOptions compact;
  EXPECT_TRUE(db_->CompactFiles(compact, {}, 1).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(compact, {"/999999.ph"}, 1).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(compact, {"nonsense"}, 1).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(compact, names, 7).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(compact, names, 0).IsNotSupported());
  std::vector<std::string> outputs;
  rocksdb::CompactionJobInfo info;
  ASSERT_TRUE(db_->CompactFiles(compact, names, 3, -1, &outputs, &info).ok());
  EXPECT_EQ(TablesAt(0), 0);
  EXPECT_GE(TablesAt(3), 1);
  EXPECT_EQ(info.output_level, 3);
  EXPECT_FALSE(info.input_files.empty());
  EXPECT_GT(info.stats.total_output_bytes, 100 * 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Get(Key(i))[0], i < 50 ? 'a' : 'b');
  names.clear();
  for (const auto& table : Tables()) names.push_back(table.name);
  EXPECT_TRUE(db_->CompactFiles(compact, names, 1).IsInvalidArgument());  // upward
  outputs.clear();
  ASSERT_TRUE(db_->CompactFiles(compact, names, 3, -1, &outputs).ok());   // rewritten in place
  EXPECT_FALSE(outputs.empty());
  EXPECT_EQ(Get(Key(42))[0], 'a');
}

TEST_F(CompactionRequestsTest, WaitForCompactWaitsFlushesAndTimesOut) {
  OpenDb();
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'x')).ok());
    rocksdb::FlushOptions flush;
    flush.wait = false;
    ASSERT_TRUE(db_->Flush(flush).ok());
  }
  ASSERT_TRUE(Put("more", "v").ok());
  rocksdb::WaitForCompactOptions wait;
  wait.flush = true;
  ASSERT_TRUE(db_->WaitForCompact(wait).ok());
  EXPECT_EQ(IntProperty("rocksdb.cur-size-all-mem-tables") > 0, true);
  EXPECT_EQ(IntProperty("rocksdb.num-entries-active-mem-table"), 0u);
  EXPECT_EQ(IntProperty("rocksdb.compaction-pending"), 0u);
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  wait = rocksdb::WaitForCompactOptions();
  wait.abort_on_pause = true;
  EXPECT_TRUE(db_->WaitForCompact(wait).IsAborted());
  wait.abort_on_pause = false;
  wait.timeout = std::chrono::milliseconds(1);
  EXPECT_TRUE(db_->WaitForCompact(wait).IsTimedOut());
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
  wait.timeout = std::chrono::microseconds::zero();
  wait.close_db = true;
  ASSERT_TRUE(db_->WaitForCompact(wait).ok());
}

// As in RocksDB: one that is begun while work is paused runs, if it has nothing to flush.
TEST_F(CompactionRequestsTest, PausingAwaitsManualCompactions) {
  class Slow : public rocksdb::CompactionFilter {
   public:
    bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
      if (!passed.exchange(true)) {
        begun.set_value();
        gate.get_future().wait();
      }
      return false;
    }
    const char* Name() const override { return "Slow"; }
    mutable std::atomic<bool> passed{false};
    mutable std::promise<void> begun, gate;
  } filter;
  options_.disable_auto_compactions = true;
  options_.compaction_filter = &filter;
  OpenDb();
  for (int i = 0; i < 3; ++i) Load(0, 1, "v");
  ASSERT_EQ(TablesAt(0), 3);
  auto compacted = std::async(std::launch::async, [this] { return db_->CompactRange({}, nullptr, nullptr); });
  filter.begun.get_future().wait();
  auto paused = std::async(std::launch::async, [this] { return db_->PauseBackgroundWork(); });
  EXPECT_EQ(paused.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  filter.gate.set_value();
  ASSERT_TRUE(paused.get().ok());
  ASSERT_TRUE(compacted.get().ok());
  EXPECT_EQ(TablesAt(0), 0);
  ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
}

TEST_F(CompactionRequestsTest, WaitForCompactReturnsAnErrorThatStopsCompactions) {
  options_.disable_auto_compactions = true;
  options_.max_bgerror_resume_count = 0;
  options_.bgerror_resume_retry_interval = 1000;
  options_.level0_file_num_compaction_trigger = 2;
  OpenDb();
  for (int i = 0; i < 4; ++i) Load(0, 10, "v");
  fs_->FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
  ASSERT_TRUE(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}).ok());
  rocksdb::WaitForCompactOptions wait;
  wait.timeout = std::chrono::seconds(5);
  const Status s = db_->WaitForCompact(wait);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_EQ(s.severity(), Status::kSoftError);
  fs_->ClearFaults();
  ASSERT_TRUE(db_->Resume().ok());
  ASSERT_TRUE(db_->WaitForCompact(wait).ok());
  EXPECT_EQ(TablesAt(0), 0);
}

// A compaction that cannot even be chosen holds nothing up afterwards.
TEST_F(CompactionRequestsTest, CompactRangeWithoutMemory) {
  class Failing : public rocksdb::Comparator {
   public:
    int Compare(const Slice& a, const Slice& b) const override {
      if (armed() > 0 && --armed() == 0) throw std::bad_alloc();
      return rocksdb::BytewiseComparator()->Compare(a, b);
    }
    const char* Name() const override { return "Failing"; }
    void FindShortestSeparator(std::string*, const Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
    static int& armed() {  // of this thread, where manual compactions are chosen
      static thread_local int left = 0;
      return left;
    }
  } comparator;
  options_.comparator = &comparator;
  options_.disable_auto_compactions = true;
  OpenDb();
  for (int i = 0; i < 3; ++i) Load(0, 10, "v");
  const std::string key = Key(5);
  const Slice begin(key);
  Failing::armed() = 4;  // after the three tables whose level is requested
  const Status s = db_->CompactRange({}, &begin, nullptr);
  Failing::armed() = 0;
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  db_->DisableManualCompaction();
  db_->EnableManualCompaction();
  ASSERT_TRUE(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}).ok());
  for (int i = 0; i < 3; ++i) Load(0, 10, "w");
  ASSERT_TRUE(db_->WaitForCompact({}).ok());
  EXPECT_LT(TablesAt(0), options_.level0_file_num_compaction_trigger);
  ASSERT_TRUE(db_->CompactRange({}, &begin, nullptr).ok());
}

// A flush that waits in the pool behind another database's job does not begin while work is paused.
TEST_F(CompactionRequestsTest, QueuedFlushesDoNotBeginWhilePaused) {
  OpenDb();
  struct Gate {
    std::atomic<bool> open{false}, passed{false};
    static void Pass(void* gate) {
      auto* const g = static_cast<Gate*>(gate);
      while (!g->open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      g->passed = true;
    }
  };
  std::vector<Gate> gates(static_cast<size_t>(options_.env->GetBackgroundThreads(rocksdb::Env::HIGH)));
  for (Gate& gate : gates) options_.env->Schedule(&Gate::Pass, &gate, rocksdb::Env::HIGH);
  ASSERT_TRUE(Put("a", "1").ok());
  rocksdb::FlushOptions flush;
  flush.wait = false;
  ASSERT_TRUE(db_->Flush(flush).ok());
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());
  std::atomic<bool> behind{false};
  for (Gate& gate : gates) gate.open = true;
  const auto after = [](void* done) { *static_cast<std::atomic<bool>*>(done) = true; };
  for (const Gate& gate : gates) {
    while (!gate.passed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  options_.env->Schedule(after, &behind, rocksdb::Env::HIGH);
  while (!behind) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(IntProperty("rocksdb.num-immutable-mem-table"), 1u);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
  ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
  EXPECT_EQ(IntProperty("rocksdb.num-immutable-mem-table"), 0u);
}

TEST_F(CompactionRequestsTest, RequestsConcurrentWithWritesLoseNothingOutside) {
  options_.target_file_size_base = 16 << 10;
  options_.write_buffer_size = 32 << 10;
  OpenDb();
  std::atomic<bool> stop{false};
  std::thread requests([&] {
    const std::string begin = Key(1000), end = Key(1999);
    const Slice b(begin), e(end);
    while (!stop) {
      rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &b, &e).PermitUncheckedError();
      rocksdb::experimental::SuggestCompactRange(db_.get(), nullptr, nullptr).PermitUncheckedError();
    }
  });
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3000; ++i) {
      ASSERT_TRUE(Put(Key(i), std::to_string(round) + std::string(60, 'x')).ok());
    }
  }
  stop = true;
  requests.join();
  for (int i = 0; i < 3000; ++i) {
    if (i < 1000 || i > 1999) {
      EXPECT_EQ(Get(Key(i))[0], '2') << i;
    }
  }
  ASSERT_TRUE(db_->VerifyChecksum().ok());
}

// Data that is written and deleted by ranges: deleted records must not stay, on any level.
TEST_F(CompactionRequestsTest, RangeDeletedRecordsGiveTheirSpaceBack) {
  const PieceTableOptions layouts[] = {{},
                                       {.data_order = DataOrder::kHash},
                                       {.partition = Partition::kHashRange},
                                       {.one_level = true}};
  for (int layout = 0; layout < 4; ++layout) {
    SCOPED_TRACE(layout);
    options_.table_factory.reset(NewPieceTableFactory(layouts[layout]));
    OpenDb();
    constexpr int kRound = 2000;
    const uint64_t round_bytes = kRound * 110;
    for (int round = 0; round < 16; ++round) {
      for (int i = round * kRound; i < (round + 1) * kRound; ++i) ASSERT_TRUE(Put(Key(i), std::string(100, 'v')).ok());
      if (round >= 2) {
        ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key((round - 2) * kRound), Key((round - 1) * kRound)).ok());
      }
      if (round % 5 != 4) continue;
      ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
      EXPECT_LT(IntProperty("rocksdb.live-sst-files-size"), 4 * round_bytes) << round;
      EXPECT_LT(IntProperty("rocksdb.estimate-num-keys"), 4u * kRound) << round;
    }
    EXPECT_EQ(Get(Key(14 * kRound - 1)), "NOT_FOUND");
    EXPECT_NE(Get(Key(14 * kRound)), "NOT_FOUND");
    // A snapshot sees keys that are deleted later.
    const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
    ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(0), Key(100 * kRound)).ok());
    ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
    EXPECT_NE(Get(Key(15 * kRound), snapshot), "NOT_FOUND");
    EXPECT_EQ(Get(Key(15 * kRound)), "NOT_FOUND");
    db_->ReleaseSnapshot(snapshot);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// Removes values that begin with "gone", and remembers what it was asked, and for which reasons.
class AskedFilters : public rocksdb::CompactionFilterFactory {
 public:
  class Filter : public rocksdb::CompactionFilter {
   public:
    explicit Filter(AskedFilters* owner) : owner_(owner) {}
    const char* Name() const override { return "AskedFilter"; }
    Decision FilterV2(int, const Slice&, ValueType, const Slice& value, std::string*, std::string*) const override {
      owner_->values.push_back(value.ToString());
      return value.starts_with("gone") ? Decision::kRemove : Decision::kKeep;
    }

   private:
    AskedFilters* const owner_;
  };
  const char* Name() const override { return "AskedFilters"; }
  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override {
    reasons.push_back(reason);
    return reason == wanted;
  }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(const rocksdb::CompactionFilter::Context& context) override {
    EXPECT_EQ(context.reason, wanted);
    return std::make_unique<Filter>(this);
  }
  rocksdb::TableFileCreationReason wanted = rocksdb::TableFileCreationReason::kCompaction;
  mutable std::vector<rocksdb::TableFileCreationReason> reasons;
  std::vector<std::string> values;
};

TEST_F(CompactionRequestsTest, WhatRecoveryFlushesIsFilteredForThatReason) {
  using Reason = rocksdb::TableFileCreationReason;
  auto filters = std::make_shared<AskedFilters>();
  for (const Reason wanted : {Reason::kFlush, Reason::kRecovery}) {
    options_.compaction_filter_factory = nullptr;
    OpenDb();
    ASSERT_TRUE(Put("a", "gone").ok());
    CloseDb();
    filters->wanted = wanted;
    filters->reasons.clear();
    options_.compaction_filter_factory = filters;
    options_.avoid_flush_during_recovery = false;
    OpenDb();
    EXPECT_EQ(filters->reasons, std::vector<Reason>{Reason::kRecovery});
    EXPECT_EQ(Get("a"), wanted == Reason::kRecovery ? "NOT_FOUND" : "gone");
    CloseDb();
  }
}

// A forced compaction does not rewrite data that it has moved down from level 0.
TEST_F(CompactionRequestsTest, ForcedCompactionsAskOnce) {
  auto filters = std::make_shared<AskedFilters>();
  options_.compaction_filter_factory = filters;
  options_.disable_auto_compactions = true;
  OpenDb();
  for (const char* value : {"first", "second"}) {
    ASSERT_TRUE(Put(value, value).ok());
    Flush();
  }
  ASSERT_EQ(TablesAt(0), 2);
  Compact(/*force=*/true);
  EXPECT_EQ(filters->values, (std::vector<std::string>{"first", "second"}));
  filters->values.clear();
  Compact(/*force=*/true);
  EXPECT_EQ(filters->values, (std::vector<std::string>{"first", "second"}));
}

}  // namespace
}  // namespace compassdb
