// SPDX-License-Identifier: Apache-2.0
// Databases whose compaction files are in several directories.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "rocksdb/listener.h"
#include "rocksdb/sst_file_manager.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::DbPath;

class PathsTest : public DbTest {
 protected:
  std::map<uint64_t, uint64_t> FilesIn(const std::string& dir) {
    std::vector<std::string> names;
    fs_->GetChildren(dir, &names).PermitUncheckedError();
    std::map<uint64_t, uint64_t> files;  // bytes by number
    for (const std::string& name : names) {
      uint64_t number = 0, bytes = 0;
      FileType type;
      if (!ParseFileName(name, &number, &type) || type != FileType::kPieceFile) continue;
      EXPECT_TRUE(fs_->GetFileSize(JoinPath(dir, name), &bytes).ok());
      if (bytes > 0) files[number] = bytes;  // or else it is a spare file
    }
    return files;
  }
  void Fill(int begin, int end, size_t bytes = 300) {
    Random random(static_cast<uint64_t>(begin) + 1);
    for (int i = begin; i < end; ++i) {
      std::string value(bytes, 'v');
      value[0] = static_cast<char>('a' + random.Uniform(26));
      ASSERT_TRUE(Put(Key(i), value).ok());
    }
  }
  void Settle() {
    rocksdb::WaitForCompactOptions wait;
    wait.flush = true;
    ASSERT_TRUE(db_->WaitForCompact(wait).ok());
  }
  // Once all has settled. By itself level 1 may end empty, or in a later path, which it had outgrown while compactions
  // were late.
  void FillLevel1() {
    ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
    Fill(0, 1000);
    Flush();
    std::vector<std::string> newest;
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const auto& file : files) {
      if (file.level == 0) newest.push_back(file.name);
    }
    ASSERT_FALSE(newest.empty());
    ASSERT_TRUE(db_->CompactFiles({}, newest, 1).ok());
  }
  // Of tables in `dir`, by level: bytes.
  std::map<int, uint64_t> LevelsIn(const std::string& dir) {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::map<int, uint64_t> levels;
    for (const auto& file : files) {
      EXPECT_EQ(file.db_path, file.directory);
      EXPECT_TRUE(fs_->FileExists(file.db_path + file.name).ok()) << file.db_path << file.name;
      if (file.db_path == dir) levels[file.level] += file.size;
    }
    return levels;
  }
};

TEST_F(PathsTest, DirectoriesWithFilesAreMadeDurable) {
  ASSERT_TRUE(rocksdb::CreateLoggerFromOptions(name_, options_, &options_.info_log).ok());
  OpenDb();
  ASSERT_TRUE(Put("k", "v", /*sync=*/true).ok());
  Crash();
  options_.info_log.reset();
  options_.create_if_missing = false;
  OpenDb();
  EXPECT_EQ(Get("k"), "v");
}

// As a job that was given up leaves them: their numbers are free again, but a power cut may bring them back.
TEST_F(PathsTest, DeletedFilesDoNotComeBackUnderLiveNumbers) {
  rocksdb::ColumnFamilyOptions a(options_), b(options_);
  a.cf_paths = {DbPath("/q", 1ull << 40)};
  b.cf_paths = {DbPath("/r", 1ull << 40)};
  options_.create_missing_column_families = true;
  const auto open = [&] {
    CloseDb();
    rocksdb::DB* db = nullptr;
    const Status s = rocksdb::DB::Open(options_, name_, {{"default", options_}, {"a", a}, {"b", b}}, &handles_, &db);
    db_.reset(db);
    ASSERT_TRUE(s.ok()) << s.ToString();
  };
  open();
  CloseDb();
  for (uint64_t n = 1; n < 200; ++n) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_->NewWritableFile(PieceFileName("/q", n), FileOptions(), &file).ok());
  }
  ASSERT_TRUE(fs_->SyncDir("/q").ok());
  for (uint64_t n = 1; n < 200; ++n) ASSERT_TRUE(fs_->DeleteFile(PieceFileName("/q", n)).ok());
  open();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[2], "k", "v").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[2]).ok());
  Crash();
  open();
  std::string value;
  ASSERT_TRUE(db_->Get(rocksdb::ReadOptions(), handles_[2], "k", &value).ok());
  EXPECT_EQ(value, "v");
}

// Tables and logs that are gone, and a CURRENT that is not, would be a damaged database.
TEST_F(PathsTest, DestroyedDatabasesDoNotComeBackInPart) {
  options_.db_paths = {DbPath("/tables", 1ull << 40)};
  options_.wal_dir = "/logs";
  OpenDb();
  Fill(0, 2000);
  Flush();
  CloseDb();
  bool cut = false;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (cut || op != FaultOp::kDelete || !path.ends_with(".ph")) return;
    cut = true;
    fs_->PowerCut(1, CutMode::kDropUnsynced);
  });
  EXPECT_FALSE(rocksdb::DestroyDB(name_, options_).ok());
  EXPECT_TRUE(cut);
  fs_->SetHook(nullptr);
  fs_->Restart();
  EXPECT_FALSE(fs_->FileExists(CurrentFileName(name_)).ok());
  EXPECT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
}

TEST_F(PathsTest, NewerDataIsInEarlierPaths) {
  options_.db_paths = {DbPath("/fast", 2 << 20), DbPath("/slow", 1ull << 40)};
  OpenDb();
  EXPECT_EQ(db_->GetDBOptions().db_paths.size(), 2u);
  EXPECT_EQ(db_->GetOptions().cf_paths[1].path, "/slow");
  for (int round = 0; round < 4; ++round) Fill(round * 8000, round * 8000 + 12000);
  Settle();
  FillLevel1();
  const std::string all = Scan();
  const auto fast = LevelsIn("/fast"), slow = LevelsIn("/slow");
  EXPECT_GT(fast.count(1), 0u);
  EXPECT_FALSE(slow.empty());
  uint64_t fast_bytes = 0, slow_bytes = 0;
  for (const auto& [level, bytes] : fast) fast_bytes += bytes;
  for (const auto& [level, bytes] : slow) {
    slow_bytes += bytes;
    EXPECT_GE(level, 1);
  }
  EXPECT_LE(fast_bytes, 4u << 20);
  EXPECT_GT(slow_bytes, fast_bytes);
  EXPECT_TRUE(FilesIn(name_).empty());

  Fill(100, 110);
  Flush();
  EXPECT_GT(LevelsIn("/fast").count(0), 0u);
  options_.disable_auto_compactions = true;  // or files go while they are listed
  Crash();
  OpenDb();
  EXPECT_NE(Scan(), "");
  CloseDb();
  // Every file is still where it was, and only there.
  OpenDb();
  for (const auto& [number, bytes] : FilesIn("/fast")) EXPECT_EQ(FilesIn("/slow").count(number), 0u);
  EXPECT_EQ(Scan().size(), all.size());
}

TEST_F(PathsTest, AllOfThePathsMayBeInUse) {
  options_.db_paths = {DbPath("/1", 512 << 10), DbPath("/2", 2600 << 10), DbPath("/3", 1)};
  OpenDb();
  for (int round = 0; round < 6; ++round) Fill(round * 5000, round * 5000 + 10000);
  Settle();
  FillLevel1();
  // What the paths' targets leave over is in the last.
  EXPECT_GT(LevelsIn("/2").count(1), 0u);
  EXPECT_GT(LevelsIn("/3").count(2), 0u);
  const std::string all = Scan();
  OpenDb();
  EXPECT_EQ(Scan(), all);
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(PathsTest, LeftoversGoAndTheirNumbersAreNotUsedAgain) {
  options_.db_paths = {DbPath("/a", 1 << 30), DbPath("/b", 1 << 30)};
  for (const bool existing : {false, true}) {
    if (existing) {
      OpenDb();
      Fill(0, 100);  // stays in the log: the next opening flushes
    }
    CloseDb();
    ASSERT_TRUE(fs_->CreateDir("/b").ok() || existing);
    SetFile("/b/000500.ph", existing ? "CmpsPhF1half a file" : "half a file");
    OpenDb();
    EXPECT_EQ(FilesIn("/b").empty(), existing) << "a database deletes its own leftovers only";
    ASSERT_TRUE(Put("x", "y").ok());
    ASSERT_TRUE(db_->Flush({}).ok());
    for (const auto& [number, bytes] : FilesIn("/a")) EXPECT_GT(number, 500u);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    EXPECT_EQ(fs_->DeleteFile("/b/000500.ph").ok(), !existing) << "nor does DestroyDB delete others'";
  }
}

TEST_F(PathsTest, FamiliesHavePathsOfTheirOwn) {
  options_.db_paths = {DbPath("/a", 1 << 30)};
  OpenDb();
  rocksdb::ColumnFamilyOptions own(options_);
  own.cf_paths = {DbPath("/own/1", 400 << 10), DbPath("/own/2", 1 << 30)};
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(own, "own", &handle).ok());
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(db_->Put({}, handle, Key(i), std::string(300, 'x')).ok());
  }
  Settle();
  EXPECT_FALSE(FilesIn("/own/2").empty());
  EXPECT_TRUE(FilesIn("/a").empty());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  CloseDb();

  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options_, name_, &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"default", "own"}));
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {{"default", options_}, {"own", own}};
  rocksdb::DB* db = nullptr;
  // The default family alone, for reading: the other's files do not matter.
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(options_, name_, &db).ok());
  delete db;
  ASSERT_TRUE(rocksdb::DB::Open(options_, name_, families, &handles_, &db).ok());
  db_.reset(db);
  EXPECT_EQ(GetIn(1, Key(9999)).size(), 300u);
  ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handles_[1]).ok());
  handles_.pop_back();
  CloseDb();
  EXPECT_TRUE(FilesIn("/own/1").empty());
  EXPECT_TRUE(FilesIn("/own/2").empty());
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_, families).ok());
  for (const char* dir : {"/a", "/own/1", "/own/2", "/db"}) {
    EXPECT_FALSE(fs_->FileExists(dir).ok()) << dir;
  }
}

TEST_F(PathsTest, CompactionsUseTheGivenPath) {
  options_.disable_auto_compactions = true;
  options_.db_paths = {DbPath("/a", 1 << 30), DbPath("/b", 1 << 30)};
  OpenDb();
  Fill(0, 1000);
  ASSERT_TRUE(db_->Flush({}).ok());
  rocksdb::CompactRangeOptions compact;
  compact.target_path_id = 2;
  Status s = db_->CompactRange(compact, nullptr, nullptr);
  EXPECT_EQ(s.ToString(), "Invalid argument: Invalid target path ID");
  compact.target_path_id = 1;
  ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  EXPECT_TRUE(FilesIn("/a").empty());
  ASSERT_EQ(FilesIn("/b").size(), 1u);

  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::vector<std::string> inputs, outputs;
  for (const auto& file : files) inputs.push_back(file.name);
  EXPECT_TRUE(db_->CompactFiles({}, inputs, 2, 2).IsInvalidArgument());
  rocksdb::CompactionJobInfo info;
  ASSERT_TRUE(db_->CompactFiles({}, inputs, 2, 0, &outputs, &info).ok());
  EXPECT_TRUE(FilesIn("/b").empty());
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0], PieceFileName("/a", FilesIn("/a").begin()->first));
  EXPECT_EQ(info.output_files, outputs);
  ASSERT_FALSE(info.input_files.empty());
  EXPECT_EQ(ParentOf(info.input_files[0]), "/b");
  ASSERT_TRUE(db_->CompactFiles({}, {outputs[0]}, 3).ok());  // by itself: by the levels' sizes
}

class Names : public rocksdb::EventListener {
 public:
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    std::lock_guard<std::mutex> lock(mu);
    created.insert(info.file_path);
  }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    std::lock_guard<std::mutex> lock(mu);
    deleted.insert(info.file_path);
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    std::lock_guard<std::mutex> lock(mu);
    compacted.insert(info.input_files.begin(), info.input_files.end());
    compacted.insert(info.output_files.begin(), info.output_files.end());
  }
  std::mutex mu;
  std::set<std::string> created, deleted, compacted;
};

TEST_F(PathsTest, ListenersAndSpaceManagersGetTheTrueNames) {
  auto names = std::make_shared<Names>();
  options_.listeners = {names};
  options_.sst_file_manager.reset(rocksdb::NewSstFileManager(env_.get()));
  options_.db_paths = {DbPath("/a", 300 << 10), DbPath("/b", 1 << 30)};
  OpenDb();
  for (int round = 0; round < 4; ++round) Fill(0, 5000);
  Settle();
  {
    std::lock_guard<std::mutex> lock(names->mu);
    std::set<std::string> there;
    for (const char* dir : {"/a", "/b"}) {
      for (const auto& [number, bytes] : FilesIn(dir)) there.insert(PieceFileName(dir, number));
    }
    for (const std::string& name : names->deleted) EXPECT_EQ(names->created.count(name), 1u) << name;
    for (const std::string& name : names->compacted) EXPECT_EQ(names->created.count(name), 1u) << name;
    EXPECT_FALSE(names->deleted.empty());
    std::set<std::string> tracked;
    for (const auto& [name, bytes] : options_.sst_file_manager->GetTrackedFiles()) tracked.insert(name);
    EXPECT_EQ(tracked, there);
  }
  OpenDb();
  EXPECT_GT(options_.sst_file_manager->GetTotalSize(), 0u);
  CloseDb();
  EXPECT_EQ(options_.sst_file_manager->GetTotalSize(), 0u);
}

TEST_F(PathsTest, CopiesKnowTheDirectories) {
  options_.db_paths = {DbPath("/a", 300 << 10), DbPath("/b", 1 << 30)};
  OpenDb();
  Fill(0, 10000);
  Settle();
  Fill(0, 10);
  std::vector<rocksdb::LiveFileStorageInfo> files;
  ASSERT_TRUE(db_->GetLiveFilesStorageInfo({}, &files).ok());
  std::set<std::string> dirs;
  for (const auto& file : files) {
    if (file.file_type != rocksdb::kTableFile) continue;
    dirs.insert(file.directory);
    EXPECT_TRUE(fs_->FileExists(file.directory + "/" + file.relative_filename).ok());
  }
  EXPECT_EQ(dirs, (std::set<std::string>{"/a", "/b"}));
}

// One error of a look into a directory makes no file missing, and nothing is given up for it.
TEST_F(PathsTest, AnErrorOfALookIsNoAnswer) {
  options_.db_paths = {DbPath("/a", 1 << 30), DbPath("/b", 1 << 30)};
  OpenDb();
  ASSERT_TRUE(Put("k", "v").ok());
  ASSERT_TRUE(db_->Flush({}).ok());
  CloseDb();
  for (const bool repair : {false, true}) {
    for (uint64_t n = 1;; ++n) {
      const uint64_t before = fs_->faults_injected();
      fs_->FailNth(FaultOp::kStat, n, ".ph", Status::IOError("injected"));
      const Status s = repair ? rocksdb::RepairDB(name_, options_) : TryOpen();
      CloseDb();
      const bool met = fs_->faults_injected() != before;
      fs_->ClearFaults();
      EXPECT_TRUE(s.ok() || s.IsIOError()) << n << ": " << s.ToString();
      OpenDb();
      ASSERT_EQ(Get("k"), "v") << n;
      CloseDb();
      if (!met) break;
    }
  }
}

TEST_F(PathsTest, APathWithoutNameIsRefused) {
  options_.db_paths = {DbPath("", 1)};
  EXPECT_TRUE(TryOpen().IsPathNotFound());
  options_.db_paths.clear();
  OpenDb();
  rocksdb::ColumnFamilyOptions own(options_);
  own.cf_paths = {DbPath("", 1)};
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db_->CreateColumnFamily(own, "own", &handle).IsPathNotFound());
}

TEST_F(PathsTest, FilesOfAPathWithoutLinksAreHeldOpenBySecondaries) {
  options_.db_paths = {DbPath("/a", 300 << 10), DbPath("/b", 1 << 30)};
  OpenDb();
  Fill(0, 10000);
  Settle();
  fs_->FailAll(FaultOp::kLink, "/b/", Status::IOError("another device"));
  rocksdb::Options options = options_;
  options.max_open_files = -1;
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenAsSecondary(options, name_, "/second", &opened).ok());
  const std::unique_ptr<rocksdb::DB> second(opened);
  const auto scan = [&] {
    std::unique_ptr<rocksdb::Iterator> it(second->NewIterator({}));
    size_t n = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++n;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return n;
  };
  EXPECT_EQ(scan(), 10000u);
  Fill(5000, 12000);
  rocksdb::CompactRangeOptions compact;
  compact.target_path_id = 1;
  ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  ASSERT_TRUE(second->TryCatchUpWithPrimary().ok());
  EXPECT_EQ(scan(), 12000u);
  // Nothing that the secondary gave back was the primary's.
  EXPECT_TRUE(db_->VerifyChecksum().ok());
  OpenDb();
  EXPECT_EQ(Get(Key(11999)).size(), 300u);
}

TEST_F(PathsTest, CrashesLeaveNoFileBehindInAnyPath) {
  options_.db_paths = {DbPath("/a", 300 << 10), DbPath("/b", 1 << 30)};
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    OpenDb();
    std::atomic<uint64_t> syncs{0};
    std::atomic<bool> cut{false};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op == FaultOp::kSync && path.ends_with(".ph") && ++syncs == seed) cut = true;
    });
    int last = 0;
    for (int i = 0; i < 4000 && !cut; ++i) {
      if (!Put(Key(i), std::to_string(seed) + std::string(300, 'v'), /*sync=*/i % 50 == 0).ok()) break;
      last = i - i % 50;
    }
    Crash(CutMode::kDropUnsynced, seed);
    fs_->SetHook(nullptr);
    OpenDb();
    for (int i = 0; i <= last; i += 50) {
      ASSERT_EQ(Get(Key(i)).substr(0, 2), (std::to_string(seed) + "v").substr(0, 2)) << seed << " " << i;
    }
    ASSERT_TRUE(db_->PauseBackgroundWork().ok());
    ASSERT_TRUE(db_->EnableFileDeletions(/*force=*/true).ok());  // frees what may be freed
    std::vector<std::string> live;
    uint64_t manifest = 0;
    ASSERT_TRUE(db_->GetLiveFiles(live, &manifest, /*flush_memtable=*/false).ok());
    for (const char* dir : {"/a", "/b"}) {
      for (const auto& [number, bytes] : FilesIn(dir)) {
        const std::string name = "/" + PieceFileName("", number);
        EXPECT_EQ(std::count(live.begin(), live.end(), name), 1) << dir << name;
      }
    }
    ASSERT_TRUE(db_->ContinueBackgroundWork().ok());
  }
}

}  // namespace
}  // namespace compassdb
