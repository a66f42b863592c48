// SPDX-License-Identifier: Apache-2.0
#include "db/families/family_manager.h"

#include <gtest/gtest.h>

#include "compassdb/table.h"
#include "db/families/options_files.h"
#include "env/sim/fault_injection_file_system.h"
#include "rocksdb/listener.h"

namespace compassdb {
namespace {

class HandleListener final : public rocksdb::EventListener {
 public:
  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    deleted.push_back(handle->GetName());
  }
  std::vector<std::string> deleted;
};

// The manager with what it needs, and nothing else of a database.
class FamilyManagerTest : public ::testing::Test, protected FamilyObserver, protected BackgroundErrors,
                          protected BackgroundWork {
 protected:
  FamilyManagerTest() {
    EXPECT_TRUE(fs_->CreateDir("/db").ok());
    stores_.fs = fs_.get();
    stores_.clock = config_.clock;
    stores_.files = &tables_;
    stores_.ledger = &ledger_;
    stores_.hasher = KeyHasher(7);
    stores_.new_number = [this] { return commits_.NewNumber(); };
    stores_.oldest_snapshot = [] { return kMaxSequenceNumber; };
    front_.last_sequence = 11;
    EXPECT_TRUE(front_.logs.StartFirst(WalHeader(), "id").ok());
    std::shared_ptr<ColumnFamily> family;
    EXPECT_TRUE(factory_.Make(0, "default", options_, &family).ok());
    EXPECT_TRUE(family->store()->Open().ok());
    ReadStateGarbage garbage(&space_);
    MutexLock lock(&mu_);
    family->InstallReadState(garbage.list());
    families_.Add(family);
    EXPECT_TRUE(commits_.Rotate().ok());
  }
  ~FamilyManagerTest() override {
    scheduler_.Shutdown();
    manager_.Close();
    EXPECT_TRUE(front_.logs.Close().ok());
  }
  void FamilyChanged(const std::shared_ptr<ColumnFamily>& family) override { changed_.push_back(family->name()); }
  Status FamiliesChanged() override { return options_files_.Write(); }
  void SetBackgroundError(const Status& error, rocksdb::BackgroundErrorReason reason) override {
    errors_.Set(error, reason).PermitUncheckedError();
  }
  void WriteRefused() override {}
  void MaybeSchedule() override {}
  void AwaitBackground(std::chrono::milliseconds) override {}
  int FlushesRunning() const override { return 0; }
  int CompactionsRunning() const override { return 0; }

  static DbConfig MakeConfig(const std::shared_ptr<FileSystem>& fs,
                             const std::shared_ptr<rocksdb::EventListener>& listener) {
    DbConfig config;
    config.name = config.wal_dir = "/db";
    config.table_paths.push_back({"/db", UINT64_MAX});
    config.owned_fs = fs;
    config.fs = fs.get();
    config.clock = SystemClock();
    config.options.listeners = {listener};
    return config;
  }

  const std::shared_ptr<FaultInjectionFileSystem> fs_ = std::make_shared<FaultInjectionFileSystem>();
  const std::shared_ptr<HandleListener> listener_ = std::make_shared<HandleListener>();
  const rocksdb::ColumnFamilyOptions options_;
  DbConfig config_ = MakeConfig(fs_, listener_);
  StoreContext stores_;
  FileCache tables_{fs_.get(), "/db", FileOptions(), 0};
  ExtentLedger ledger_{fs_.get(), &tables_, 0};
  Mutex mu_;
  ColumnFamilySet families_;
  ManifestState manifest_state_{&mu_, families_, ledger_, front_};
  CommitQueue commits_{fs_.get(), "/db", UINT64_MAX, &mu_, manifest_state_};
  WriteFront front_{config_, [this] { return commits_.NewNumber(); }};
  ErrorHandler errors_;
  Scheduler scheduler_;
  const Listeners listeners_{config_.options.listeners};
  const EventLog event_log_{nullptr, config_.clock};
  SpaceReclaimer space_{config_,    /*read_only=*/false, {tables_, ledger_, commits_, front_.logs}, &mu_,
                        scheduler_, *this,               {event_log_, listeners_}};
  SnapshotList snapshots_{&front_.last_sequence, &mu_, this};
  FamilyFactory factory_{config_, /*ownership=*/nullptr, stores_, snapshots_, space_, &mu_};
  OptionsFiles options_files_{config_, /*ownership=*/nullptr, &mu_, families_, commits_, ledger_};
  FamilyHandles handles_{config_, listeners_, space_};
  FamilyManager manager_{config_,   &mu_,     front_,   errors_, commits_, manifest_state_,
                         families_, factory_, handles_, space_,  *this,    *this};
  std::vector<std::string> changed_;
};

TEST_F(FamilyManagerTest, ANewFamilyHasTheNextIdAndNoOlderRecords) {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(manager_.Create(options_, "one", &handle).ok());
  EXPECT_EQ(handle->GetID(), 1u);
  {
    MutexLock lock(&mu_);
    const MemTables& memtables = families_.ByName("one")->memtables();
    EXPECT_EQ(memtables.earliest_sequence(), 11u);
    EXPECT_EQ(memtables.log_number(), front_.logs.current_number());
  }
  EXPECT_EQ(changed_, std::vector<std::string>{"one"});
  EXPECT_GT(options_files_.number(), 0u);
  // An id is not used twice.
  ASSERT_TRUE(manager_.Drop({handle}).ok());
  ASSERT_TRUE(handles_.Destroy(handle).ok());
  ASSERT_TRUE(manager_.Create(options_, "one", &handle).ok());
  EXPECT_EQ(handle->GetID(), 2u);
  ASSERT_TRUE(handles_.Destroy(handle).ok());
}

TEST_F(FamilyManagerTest, AFamilyThatCannotBeCommittedIsNone) {
  fs_->FailAll(FaultOp::kSync, "MANIFEST", Status::IOError("injected"));
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(manager_.Create(options_, "one", &handle).IsIOError());
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(families_.ByName("one"), nullptr);
  EXPECT_TRUE(errors_.writes_refused());
  fs_->ClearFaults();
  EXPECT_TRUE(manager_.Create(options_, "two", &handle).IsIOError());
}

TEST_F(FamilyManagerTest, TheFirstThatCannotBeDroppedEndsTheCall) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  ASSERT_TRUE(manager_.Create({{"one", options_}, {"two", options_}}, &handles).ok());
  handles_.MakeDefault(families_.ById(0));
  EXPECT_TRUE(manager_.Drop({handles[0], handles_.default_handle(), handles[1]}).IsInvalidArgument());
  EXPECT_EQ(families_.ByName("one"), nullptr);
  EXPECT_NE(families_.ByName("two"), nullptr);
  EXPECT_TRUE(manager_.Drop({handles[0]}).IsInvalidArgument());  // it is dropped already
  for (auto* handle : handles) ASSERT_TRUE(handles_.Destroy(handle).ok());
}

TEST_F(FamilyManagerTest, ListenersHearOfTheEndOfHandles) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  ASSERT_TRUE(manager_.Create({{"one", options_}}, &handles).ok());
  handles_.MakeDefault(families_.ById(0));
  EXPECT_TRUE(handles_.Destroy(handles_.default_handle()).IsInvalidArgument());
  delete handles[0];
  EXPECT_EQ(listener_->deleted, std::vector<std::string>{"one"});
  manager_.Close();
  EXPECT_EQ(listener_->deleted, (std::vector<std::string>{"one", "default"}));
}

TEST_F(FamilyManagerTest, ASecondaryCannotFollowPagesWrittenInPlace) {
  PieceTableOptions pages;
  pages.store = StoreKind::kTableless;
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(NewPieceTableFactory(pages));
  factory_.FollowPrimary();
  std::shared_ptr<ColumnFamily> family;
  EXPECT_TRUE(factory_.Make(1, "pages", options, &family).IsNotSupported());
}

TEST_F(FamilyManagerTest, AnOptionsFileThatCannotBeWrittenCountsOnDemand) {
  fs_->FailAll(FaultOp::kCreate, "OPTIONS", Status::IOError("injected"));
  EXPECT_TRUE(options_files_.Write().ok());
  EXPECT_EQ(options_files_.number(), 0u);
  config_.options.fail_if_options_file_error = true;
  EXPECT_TRUE(options_files_.Write().IsIOError());
}

}  // namespace
}  // namespace compassdb
