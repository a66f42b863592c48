// SPDX-License-Identifier: Apache-2.0
// The parts of a database, without an opener and a DBImpl around them.
#include "db/engine.h"

#include <gtest/gtest.h>

#include "db/families/column_family_handle.h"
#include "env/sim/fault_injection_file_system.h"

namespace compassdb {
namespace {

class EngineTest : public ::testing::Test {
 protected:
  // A new database, as an opener makes it.
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/db").ok());
    DatabaseState& state = engine_.state;
    state.manifest_state.SetIdentity("id", /*hash_seed=*/77);
    state.stores.hasher = KeyHasher(77);
    std::shared_ptr<ColumnFamily> family;
    ASSERT_TRUE(engine_.family_factory.Make(0, rocksdb::kDefaultColumnFamilyName, {}, &family).ok());
    ASSERT_TRUE(family->store()->Open().ok());
    ASSERT_TRUE(state.front.logs.StartFirst(WalHeader(), "id").ok());
    {
      ReadStateGarbage garbage(&engine_.space);
      MutexLock lock(&state.mu);
      state.families.Add(family);
      family->memtables().BeginAt(state.front.logs.current_number(), /*earliest_sequence=*/0);
      family->InstallReadState(garbage.list());
      ASSERT_TRUE(state.commits.Rotate().ok());
    }
    engine_.family_handles.MakeDefault(family);
    engine_.Start(/*db=*/nullptr);
  }

  DbConfig Config() {
    DbConfig config;
    config.name = config.wal_dir = "/db";
    config.table_paths.push_back({"/db", UINT64_MAX});
    config.fs = &fs_;
    config.clock = SystemClock();
    return config;
  }
  rocksdb::ColumnFamilyHandle* family() { return engine_.family_handles.default_handle(); }
  Status Put(const Slice& key, const Slice& value) { return engine_.write_path.Put({}, family(), key, value); }
  std::string Get(const Slice& key) {
    PinnableSlice value;
    const Status s = engine_.reader.Get({}, family(), key, &value, /*timestamp=*/nullptr);
    return s.ok() ? value.ToString() : s.ToString();
  }
  uint64_t TableBytes() {
    uint64_t bytes = 0;
    EXPECT_TRUE(engine_.reports.GetIntProperty(FamilyOf(family()), "rocksdb.live-sst-files-size", &bytes));
    return bytes;
  }

  FaultInjectionFileSystem fs_;
  Engine engine_{Config()};
};

TEST_F(EngineTest, PartsWriteFlushAndReadWithoutADBImpl) {
  EXPECT_TRUE(Put("a", "1").ok());
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(TableBytes(), 0u);
  EXPECT_TRUE(engine_.flusher.Flush(engine_.state.families.All(), {}, rocksdb::FlushReason::kTest).ok());
  EXPECT_GT(TableBytes(), 0u);
  EXPECT_TRUE(Put("b", "2").ok());
  EXPECT_EQ(Get("a") + Get("b"), "12");
  EXPECT_TRUE(engine_.Close().ok());
  EXPECT_TRUE(engine_.Close().ok());  // the second time it does nothing
}

TEST_F(EngineTest, AnErrorOfTheLogRefusesWritesUntilResume) {
  fs_.FailNth(FaultOp::kWrite, 1, ".log", Status::IOError("injected"));
  EXPECT_TRUE(Put("a", "1").IsIOError());
  EXPECT_TRUE(Put("a", "1").IsIOError());
  EXPECT_TRUE(engine_.resumer.Resume().ok());
  EXPECT_TRUE(Put("a", "2").ok());
  EXPECT_EQ(Get("a"), "2");
}

}  // namespace
}  // namespace compassdb
