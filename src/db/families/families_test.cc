// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "db/testing/db_test_util.h"
#include "db/testing/null_handle_test_util.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/options_util.h"

namespace compassdb {
namespace {

class FamiliesTest : public DbTest {
 protected:
  Status PutIn(int family, const std::string& key, const std::string& value) {
    return db_->Put(rocksdb::WriteOptions(), handles_[family], key, value);
  }
};

TEST_F(FamiliesTest, RefusesNullHandles) {
  OpenDb();
  ExpectNullHandlesRefused(db_.get());
}

TEST_F(FamiliesTest, CreateListReopen) {
  families_ = {"default"};
  OpenDb();
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "one", &handle).ok());
  handles_.push_back(handle);
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "one", &handle).IsInvalidArgument());
  ASSERT_TRUE(PutIn(1, "k", "v").ok());
  EXPECT_EQ(GetIn(0, "k"), "NOT_FOUND");
  EXPECT_EQ(GetIn(1, "k"), "v");
  CloseDb();
  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options_, name_, &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"default", "one"}));

  Status s = TryOpen();  // "one" is not opened
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("one"), std::string::npos);
  families_ = {"default", "one", "two"};
  s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  options_.create_missing_column_families = true;
  OpenDb();
  EXPECT_EQ(GetIn(1, "k"), "v");
  EXPECT_EQ(handles_[2]->GetName(), "two");
}

TEST_F(FamiliesTest, DropTakesEffectAndHandlesStayReadable) {
  families_ = {"default", "one"};
  options_.create_missing_column_families = true;
  OpenDb();
  ASSERT_TRUE(PutIn(1, "k", "v").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[1]).ok());
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions(), handles_[1]));
  ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
  EXPECT_TRUE(db_->DropColumnFamily(handles_[1]).IsInvalidArgument());
  EXPECT_TRUE(db_->DropColumnFamily(handles_[0]).IsInvalidArgument());
  EXPECT_EQ(GetIn(1, "k"), "v");
  EXPECT_TRUE(PutIn(1, "k", "w").IsInvalidArgument());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value().ToString(), "v");
  it.reset();
  CloseDb();
  families_ = {"default"};
  OpenDb();
}

// Otherwise an open with the stored options would request a dropped family.
TEST_F(FamiliesTest, StoredOptionsForgetWhatWasDroppedBeforeOneThatCannotBe) {
  families_ = {"default", "one", "two"};
  options_.create_missing_column_families = true;
  OpenDb();
  const Status s = db_->DropColumnFamilies({handles_[1], handles_[0], handles_[2]});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  rocksdb::DBOptions stored;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ASSERT_TRUE(rocksdb::LoadLatestOptions(name_, env_.get(), &stored, &families).ok());
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[1].name, "two");
}

TEST_F(FamiliesTest, NameComesBackEmptyAfterDrop) {
  families_ = {"default", "one"};
  options_.create_missing_column_families = true;
  OpenDb();
  ASSERT_TRUE(PutIn(1, "k", "old").ok());
  ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
  rocksdb::ColumnFamilyHandle* again = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "one", &again).ok());
  handles_.push_back(again);
  EXPECT_EQ(GetIn(2, "k"), "NOT_FOUND");
  EXPECT_NE(handles_[1]->GetID(), handles_[2]->GetID());
  Crash(CutMode::kKeepUnsynced);
  OpenDb();
  EXPECT_EQ(GetIn(1, "k"), "NOT_FOUND");
}

TEST_F(FamiliesTest, BatchesAreAtomicAcrossFamiliesWhenOneIsFlushed) {
  families_ = {"default", "one"};
  options_.create_missing_column_families = true;
  OpenDb();
  for (int i = 0; i < 50; ++i) {
    rocksdb::WriteBatch batch;
    batch.Put(handles_[0], Key(i), "v");
    batch.Put(handles_[1], Key(i), "v");
    ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
  }
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[0]).ok());
  Crash();
  OpenDb();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(GetIn(0, Key(i)), "v") << i;
    EXPECT_EQ(GetIn(1, Key(i)), "v") << i;
  }
}

TEST_F(FamiliesTest, AtomicFlushWithoutLog) {
  families_ = {"default", "one"};
  options_.create_missing_column_families = true;
  options_.atomic_flush = true;
  OpenDb();
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  for (int i = 0; i < 50; ++i) {
    rocksdb::WriteBatch batch;
    batch.Put(handles_[0], Key(i), "v");
    batch.Put(handles_[1], Key(i), "v");
    ASSERT_TRUE(db_->Write(write, &batch).ok());
  }
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_).ok());
  Crash();
  OpenDb();
  EXPECT_EQ(GetIn(0, Key(7)), "v");
  EXPECT_EQ(GetIn(1, Key(7)), "v");
}

TEST_F(FamiliesTest, TotalWalSizeFlushesTheFamilyThatHoldsTheOldestLog) {
  families_ = {"default", "idle"};
  options_.create_missing_column_families = true;
  options_.max_total_wal_size = 256 << 10;
  OpenDb();
  ASSERT_TRUE(PutIn(1, "k", "v").ok());
  for (int i = 0; i < 1500; ++i) ASSERT_TRUE(PutIn(0, Key(i), std::string(500, 'v')).ok());
  rocksdb::VectorLogPtr logs;
  ASSERT_TRUE(db_->GetSortedWalFiles(logs).ok());
  uint64_t bytes = 0;
  for (const auto& log : logs) bytes += log->SizeFileBytes();
  EXPECT_LT(bytes, 700u << 10);
  uint64_t entries = 1;
  ASSERT_TRUE(db_->GetIntProperty(handles_[1], "rocksdb.num-entries-active-mem-table", &entries));
  EXPECT_EQ(entries, 0u);
  EXPECT_EQ(GetIn(1, "k"), "v");
}

// A sealed memtable that waits for another one must not keep its log without end.
TEST_F(FamiliesTest, TotalWalSizeFlushesAMemTableThatWaitsForAnother) {
  families_ = {"default", "idle"};
  options_.create_missing_column_families = true;
  options_.max_total_wal_size = 256 << 10;
  options_.max_write_buffer_number = 4;
  options_.min_write_buffer_number_to_merge = 2;
  OpenDb();
  const auto sealed = [this] {
    uint64_t n = 99;
    EXPECT_TRUE(db_->GetIntProperty(handles_[1], "rocksdb.num-immutable-mem-table", &n));
    return n;
  };
  for (int i = 0; sealed() == 0 && i < 1000; ++i) {
    ASSERT_TRUE(PutIn(1, Key(i), std::string(500, 'v')).ok());
  }
  ASSERT_EQ(sealed(), 1u);
  for (int i = 0; i < 1500; ++i) ASSERT_TRUE(PutIn(0, Key(i), std::string(500, 'v')).ok());
  for (int i = 0; sealed() > 0 && i < 10000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sealed(), 0u);
  EXPECT_EQ(GetIn(1, Key(0)), std::string(500, 'v'));
}

TEST_F(FamiliesTest, MissingFamilyInABatch) {
  families_ = {"default", "one"};
  options_.create_missing_column_families = true;
  OpenDb();
  rocksdb::WriteBatch batch;
  batch.Put(handles_[0], "a", "1");
  batch.Put(handles_[1], "b", "2");
  ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
  EXPECT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ(GetIn(0, "a"), "NOT_FOUND");
  rocksdb::WriteOptions ignore;
  ignore.ignore_missing_column_families = true;
  EXPECT_TRUE(db_->Write(ignore, &batch).ok());
  EXPECT_EQ(GetIn(0, "a"), "1");
}

TEST_F(FamiliesTest, SetOptionsNamesWhatItCannotChange) {
  OpenDb();
  EXPECT_TRUE(db_->SetOptions({{"write_buffer_size", "131072"}}).ok());
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 131072u);
  Status s = db_->SetOptions({{"no_such_option", "1"}});
  EXPECT_FALSE(s.ok());
  EXPECT_NE(s.ToString().find("no_such_option"), std::string::npos) << s.ToString();
}

TEST_F(FamiliesTest, OptionsChangedAtTheSameTimeAllChange) {
  OpenDb();
  for (int round = 1; round <= 200; ++round) {
    const std::string number = std::to_string(100 + round);
    std::thread other([&] { EXPECT_TRUE(db_->SetOptions({{"max_sequential_skip_in_iterations", number}}).ok()); });
    EXPECT_TRUE(db_->SetOptions({{"level0_slowdown_writes_trigger", number}}).ok());
    other.join();
    const rocksdb::Options now = db_->GetOptions();
    ASSERT_EQ(now.max_sequential_skip_in_iterations, 100u + round);
    ASSERT_EQ(now.level0_slowdown_writes_trigger, 100 + round);
  }
}

TEST_F(FamiliesTest, ChangedShapeOfTablesAndLevelsIsFollowed) {
  options_.target_file_size_base = 1 << 20;
  OpenDb();
  const auto load = [this] {
    for (int i = 0; i < 4000; ++i) {
      ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), Key(i), std::string(100, 'x')).ok());
    }
    rocksdb::CompactRangeOptions compact;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  };
  load();
  const auto mean_bytes = [this] {
    std::vector<rocksdb::LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    uint64_t bytes = 0;
    for (const auto& table : tables) bytes += table.size;
    return bytes / tables.size();
  };
  const uint64_t before = mean_bytes();
  ASSERT_TRUE(db_->SetOptions({{"target_file_size_base", "32768"},
                               {"level0_file_num_compaction_trigger", "2"},
                               {"max_bytes_for_level_base", "100000"},
                               {"ttl", "1000000"},
                               {"block_based_table_factory", "{block_size=1024;}"}})
                  .ok());
  load();
  EXPECT_LT(mean_bytes(), before * 2 / 3);
  EXPECT_EQ(db_->GetOptions().target_file_size_base, 32768u);
  rocksdb::TablePropertiesCollection tables;
  ASSERT_TRUE(db_->GetPropertiesOfAllTables(&tables).ok());
  uint64_t blocks = 0, bytes = 0;
  for (const auto& [name, properties] : tables) {
    blocks += properties->num_data_blocks;
    bytes += properties->data_size;
  }
  EXPECT_LT(bytes / blocks, 1500u);
  ASSERT_TRUE(db_->SetOptions({{"compression", "kLZ4Compression"}}).ok());
  load();
  tables.clear();
  ASSERT_TRUE(db_->GetPropertiesOfAllTables(&tables).ok());
  uint64_t compressed = 0;
  for (const auto& [name, properties] : tables) compressed += properties->data_size;
  EXPECT_LT(compressed, bytes / 2);
  EXPECT_TRUE(db_->SetOptions({{"num_levels", "3"}}).IsInvalidArgument());
}

TEST_F(FamiliesTest, ChangedDatabaseOptionsAreKept) {
  OpenDb();
  ASSERT_TRUE(db_->SetDBOptions({{"max_open_files", "20"},
                                 {"max_subcompactions", "3"},
                                 {"bytes_per_sync", "65536"},
                                 {"wal_bytes_per_sync", "32768"},
                                 {"avoid_flush_during_shutdown", "true"},
                                 {"stats_dump_period_sec", "7"}})
                  .ok());
  const rocksdb::DBOptions now = db_->GetDBOptions();
  EXPECT_EQ(now.max_open_files, 20);
  EXPECT_EQ(now.max_subcompactions, 3u);
  EXPECT_EQ(now.bytes_per_sync, 65536u);
  EXPECT_EQ(now.wal_bytes_per_sync, 32768u);
  EXPECT_EQ(now.stats_dump_period_sec, 7u);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), Key(i), std::string(100, 'x')).ok());
  }
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_NE(Get(Key(7)), "NOT_FOUND");
  EXPECT_FALSE(db_->SetDBOptions({{"wal_dir", "/elsewhere"}}).ok());
}

TEST_F(FamiliesTest, ADroppedFamilyIsNeitherFlushedNorChanged) {
  OpenDb();
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "one", &handle).ok());
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handle, "a", "1").ok());
  ASSERT_TRUE(db_->DropColumnFamily(handle).ok());
  EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions(), handle).IsColumnFamilyDropped());
  EXPECT_TRUE(db_->SetOptions(handle, {{"ttl", "1"}}).IsColumnFamilyDropped());
  std::string value;
  EXPECT_TRUE(db_->Get(rocksdb::ReadOptions(), handle, "a", &value).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
}

// When the last handle has been deleted, the files no longer exist, unless a job is to delete them.
TEST_F(FamiliesTest, FilesOfADroppedFamilyGoWithItsHandle) {
  for (const bool later : {false, true}) {
    options_.avoid_unnecessary_blocking_io = later;
    OpenDb();
    const auto tables = [this] {
      std::vector<std::string> names = FilesOf(FileType::kPieceFile);
      std::erase_if(names, [this](const std::string& name) {
        uint64_t bytes = 0;
        return fs_->GetFileSize(JoinPath(name_, name), &bytes).ok() && bytes == 0;  // a spare file
      });
      return names.size();
    };
    for (int i = 0; i < 20; ++i) {
      rocksdb::ColumnFamilyHandle* handle = nullptr;
      ASSERT_TRUE(db_->CreateColumnFamily(options_, "one", &handle).ok());
      ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handle, "a", std::string(100000, 'v')).ok());
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handle).ok());
      ASSERT_TRUE(db_->DropColumnFamily(handle).ok());
      EXPECT_EQ(tables(), 1u);
      std::string value;
      EXPECT_TRUE(db_->Get(rocksdb::ReadOptions(), handle, "a", &value).ok());
      delete handle;  // as C and Rust do
      for (int wait = 0; later && tables() > 0 && wait < 10000; ++wait) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      ASSERT_EQ(tables(), 0u) << i;
    }
  }
}

TEST_F(FamiliesTest, OptionsFileThatCannotBeWritten) {
  OpenDb();
  fs_->FailAll(FaultOp::kCreate, "OPTIONS", Status::IOError("injected"));
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  Status s = db_->CreateColumnFamily(options_, "one", &handle);
  EXPECT_TRUE(s.ok()) << s.ToString();
  ASSERT_NE(handle, nullptr);
  EXPECT_TRUE(db_->Put(rocksdb::WriteOptions(), handle, "a", "1").ok());
  EXPECT_TRUE(db_->SetOptions({{"write_buffer_size", "131072"}}).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
}

TEST_F(FamiliesTest, OptionsFileThatCannotBeWrittenIsAnErrorOnDemand) {
  options_.fail_if_options_file_error = true;
  OpenDb();
  fs_->FailAll(FaultOp::kCreate, "OPTIONS", Status::IOError("injected"));
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "one", &handle).IsIOError());
  EXPECT_EQ(handle, nullptr);
  fs_->ClearFaults();
  families_ = {"default", "one"};
  OpenDb();
  EXPECT_EQ(GetIn(1, "a"), "NOT_FOUND");
}

// An atomic flush takes the memtables of all families: a family that is dropped since is no error.
TEST_F(FamiliesTest, AFamilyThatIsDroppedDoesNotFailAnothersFlush) {
  for (const bool atomic : {true, false}) {
    SCOPED_TRACE(atomic);
    options_.atomic_flush = atomic;
    options_.create_missing_column_families = true;
    families_ = {"default", "other"};
    OpenDb();
    ASSERT_TRUE(db_->PauseBackgroundWork().ok());
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[1], "k", "v").ok());
    Status flushed;
    std::thread flusher([&] { flushed = db_->Flush(rocksdb::FlushOptions(), handles_[atomic ? 0 : 1]); });
    std::string sealed;
    for (int i = 0; i < 10000 && sealed != "1"; ++i) {
      ASSERT_TRUE(db_->GetProperty(handles_[1], "rocksdb.num-immutable-mem-table", &sealed));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(sealed, "1");
    EXPECT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
    flusher.join();
    EXPECT_EQ(flushed.IsColumnFamilyDropped(), !atomic) << flushed.ToString();
    EXPECT_EQ(flushed.ok(), atomic) << flushed.ToString();
    ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

}  // namespace
}  // namespace compassdb
