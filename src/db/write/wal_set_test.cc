// SPDX-License-Identifier: Apache-2.0
#include "db/write/wal_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <utility>

#include "batch/write_batch_internal.h"
#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"

namespace compassdb {
namespace {

// Runs out of memory wherever a file is made.
class NoMemoryForFiles final : public FaultInjectionFileSystem {
 public:
  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override {
    if (exhausted) throw std::bad_alloc();
    return FaultInjectionFileSystem::NewWritableFile(path, options, file);
  }
  bool exhausted = false;
};

class WalSetTest : public ::testing::TestWithParam<size_t> {
 protected:
  static WalSet::Options OptionsOf() {
    WalSet::Options options;
    options.recycle = GetParam();
    return options;
  }
  static rocksdb::WriteBatch FirstBatch() {
    rocksdb::WriteBatch batch;
    EXPECT_TRUE(batch.Put("key", "value").ok());
    WriteBatchInternal::SetSequence(&batch, 1);
    return batch;
  }
};

TEST_P(WalSetTest, ALogForWhichThereIsNoMemoryIsNone) {
  NoMemoryForFiles fs;
  ASSERT_TRUE(fs.CreateDir("/wal").ok());
  uint64_t numbers = 0;
  WalSet logs(&fs, "/wal", OptionsOf(), [&numbers] { return ++numbers; }, nullptr);
  ASSERT_TRUE(logs.StartFirst(WalHeader(), "id").ok());
  const std::string batch(12, '\0');
  ASSERT_TRUE(logs.Append(batch, /*sync=*/true).ok());
  const uint64_t first = logs.current_number();
  fs.exhausted = true;
  EXPECT_TRUE(logs.Start(/*give_up_failed=*/false).IsMemoryLimit());
  EXPECT_EQ(logs.current_number(), first);
  // A second attempt, as DB::Resume makes it, finds the log that was the current one.
  EXPECT_TRUE(logs.Start(/*give_up_failed=*/true).IsMemoryLimit());
  fs.exhausted = false;
  Status s = logs.Append(batch, /*sync=*/true);
  EXPECT_TRUE(s.ok()) << s.ToString();
  s = logs.Start(/*give_up_failed=*/true);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_NE(logs.current_number(), first);
  s = logs.Append(batch, /*sync=*/true);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(logs.Close().ok());
}

TEST_P(WalSetTest, NoMarkOfASyncWhileAnAbandonedLogMayBeNeeded) {
  for (const bool needed : {true, false}) {
    FaultInjectionFileSystem fs;
    ASSERT_TRUE(fs.CreateDir("/wal").ok());
    uint64_t numbers = 0;
    WalSet logs(&fs, "/wal", OptionsOf(), [&numbers] { return ++numbers; }, nullptr);
    ASSERT_TRUE(logs.StartFirst(WalHeader(), "id").ok());
    const rocksdb::WriteBatch batch = FirstBatch();
    const Slice record = WriteBatchInternal::Contents(&batch);
    ASSERT_TRUE(logs.Append(record, /*sync=*/true).ok());
    const uint64_t first = logs.current_number();
    ASSERT_TRUE(logs.Append(record, /*sync=*/false).ok());
    fs.FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
    EXPECT_TRUE(logs.Append(record, /*sync=*/false).IsIOError());
    ASSERT_TRUE(logs.Start(/*give_up_failed=*/true).ok());
    // As with prepared sections, before all families are flushed.
    ASSERT_TRUE(logs.Append(record, /*sync=*/false).ok());
    ASSERT_TRUE(logs.SyncUnrecorded().ok());
    if (!needed) logs.NoneGivenUpIsNeeded();
    // Nor where the next attempt begins another one.
    ASSERT_TRUE(logs.Start(/*give_up_failed=*/true).ok());
    ASSERT_TRUE(logs.Append(record, /*sync=*/false).ok());
    EXPECT_TRUE(logs.SyncClosed().ok());
    EXPECT_EQ(logs.Sync().ok(), !needed);
    EXPECT_EQ(logs.Close().ok(), !needed);
    const uint64_t known = needed ? first : logs.current_number();
    EXPECT_EQ(logs.synced().number, known);
    EXPECT_EQ(ReadSyncedMark(&fs, "/wal").log.number, known);
  }
}

// It ends only if the append does not wait for the sync.
TEST_P(WalSetTest, RecordsAreAppendedWhileAClosedLogIsSynced) {
  FaultInjectionFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("/wal").ok());
  std::atomic<uint64_t> numbers{0};
  WalSet logs(&fs, "/wal", OptionsOf(), [&numbers] { return ++numbers; }, nullptr);
  ASSERT_TRUE(logs.StartFirst(WalHeader(), "id").ok());
  const rocksdb::WriteBatch batch = FirstBatch();
  const Slice record = WriteBatchInternal::Contents(&batch);
  ASSERT_TRUE(logs.Append(record, /*sync=*/false).ok());
  const std::string first = WalFileName("/wal", logs.current_number());
  ASSERT_TRUE(logs.Start(/*give_up_failed=*/false).ok());
  std::thread synced;
  bool met = false;
  fs.SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kSync || path != first || std::exchange(met, true)) return;
    std::thread([&] { EXPECT_TRUE(logs.Append(record, /*sync=*/false).ok()); }).join();
    // A synced one waits: it must not be durable before the first log is.
    synced = std::thread([&] { EXPECT_TRUE(logs.Append(record, /*sync=*/true).ok()); });
    EXPECT_LT(logs.synced().number, logs.current_number());
  });
  EXPECT_TRUE(logs.SyncClosed().ok());
  ASSERT_TRUE(met);
  synced.join();
  fs.SetHook(nullptr);
  EXPECT_EQ(logs.synced().number, logs.current_number());
  EXPECT_EQ(logs.TakeBelow(logs.current_number()).size() + logs.Spares().size(), 1u);
  EXPECT_TRUE(logs.Close().ok());
}

INSTANTIATE_TEST_SUITE_P(Recycled, WalSetTest, ::testing::Values(0, 2));

}  // namespace
}  // namespace compassdb
