// SPDX-License-Identifier: Apache-2.0
#include "db/write/wal_set.h"

#include <gtest/gtest.h>

#include <new>

#include "batch/write_batch_internal.h"
#include "env/sim/fault_injection_file_system.h"

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

class WalSetTest : public ::testing::TestWithParam<size_t> {};

TEST_P(WalSetTest, ALogForWhichThereIsNoMemoryIsNone) {
  NoMemoryForFiles fs;
  ASSERT_TRUE(fs.CreateDir("/wal").ok());
  uint64_t numbers = 0;
  WalSet::Options options;
  options.recycle = GetParam();
  WalSet logs(&fs, "/wal", options, [&numbers] { return ++numbers; }, nullptr);
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
    WalSet::Options options;
    options.recycle = GetParam();
    WalSet logs(&fs, "/wal", options, [&numbers] { return ++numbers; }, nullptr);
    ASSERT_TRUE(logs.StartFirst(WalHeader(), "id").ok());
    rocksdb::WriteBatch batch;
    ASSERT_TRUE(batch.Put("key", "value").ok());
    WriteBatchInternal::SetSequence(&batch, 1);
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

INSTANTIATE_TEST_SUITE_P(Recycled, WalSetTest, ::testing::Values(0, 2));

}  // namespace
}  // namespace compassdb
