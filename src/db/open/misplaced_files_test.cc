// SPDX-License-Identifier: Apache-2.0
// A directory, or an unreadable file, in the place of a database's file. No call waits for it, the
// error names it, and RepairDB does what can be done.
#include "db/testing/db_test_util.h"
#include "env/env_test_util.h"
#include "format/file_names.h"
#include "rocksdb/utilities/options_util.h"

namespace compassdb {
namespace {

class MisplacedFilesTest : public testing::Test {
 protected:
  MisplacedFilesTest() : dir_(NewTestPath()) {
    options_.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    EXPECT_TRUE(rocksdb::DB::Open(options_, dir_, &db).ok());
    EXPECT_TRUE(db->Put({}, "a", "1").ok());
    EXPECT_TRUE(db->Flush({}).ok());
    EXPECT_TRUE(db->Put({}, "b", "2").ok());
    EXPECT_TRUE(db->Close().ok());
    delete db;
    options_.create_if_missing = false;
  }
  ~MisplacedFilesTest() override {
    EXPECT_TRUE(RemoveTree(dir_));
  }
  bool RemoveTree(const std::string& dir) {
    std::vector<std::string> names;
    if (!fs_->GetChildren(dir, &names).ok()) return false;
    for (const std::string& name : names) {
      if (!fs_->DeleteFile(JoinPath(dir, name)).ok()) RemoveTree(JoinPath(dir, name));
    }
    return fs_->DeleteDir(dir).ok();
  }
  std::string FileOf(FileType type) {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(dir_, &names).ok());
    for (const std::string& name : names) {
      uint64_t number = 0, bytes = 0;
      FileType found;
      if (!ParseFileName(name, &number, &found) || found != type) continue;
      if (fs_->GetFileSize(JoinPath(dir_, name), &bytes).ok() && bytes > 0) return JoinPath(dir_, name);
    }
    return "";
  }
  Status Open(bool read_only) {
    rocksdb::DB* db = nullptr;
    Status s = read_only ? rocksdb::DB::OpenForReadOnly(options_, dir_, &db) : rocksdb::DB::Open(options_, dir_, &db);
    if (s.ok()) s = db->VerifyChecksum();
    all_.clear();
    if (s.ok()) {
      std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}));
      for (it->SeekToFirst(); it->Valid(); it->Next()) all_ += it->key().ToString() + it->value().ToString();
    }
    delete db;
    return s;
  }
  void ExpectNamed(const Status& s, const std::string& path, const std::string& what) {
    EXPECT_FALSE(s.ok());
    EXPECT_NE(s.ToString().find(path), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find(what), std::string::npos) << s.ToString();
  }

  FileSystem* const fs_ = PosixFileSystem();
  const std::string dir_;
  rocksdb::Options options_;
  std::string all_;
};

TEST_F(MisplacedFilesTest, AFifo) {
  for (const FileType type : {FileType::kCurrent, FileType::kManifest, FileType::kPieceFile, FileType::kWal}) {
    const std::string path = FileOf(type);
    SCOPED_TRACE(path);
    ASSERT_TRUE(fs_->RenameFile(path, dir_ + "/aside").ok());
    ASSERT_TRUE(MakeFifo(path));
    ExpectNamed(Open(true), path, type == FileType::kPieceFile ? "" : "it is a FIFO");
    ExpectNamed(Open(false), path, type == FileType::kPieceFile ? "" : "it is a FIFO");
    const Status s = rocksdb::RepairDB(dir_, options_);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    ExpectNamed(s, path, "it is a FIFO");
    ASSERT_TRUE(fs_->RenameFile(dir_ + "/aside", path).ok());
  }
  const std::string path = FileOf(FileType::kOptions);
  ASSERT_TRUE(fs_->DeleteFile(path).ok());
  ASSERT_TRUE(MakeFifo(path));
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ExpectNamed(rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), dir_, &options, &families), path, "it is a FIFO");
  ASSERT_TRUE(fs_->DeleteFile(path).ok());
  EXPECT_TRUE(Open(false).ok());
  EXPECT_EQ(all_, "a1b2");
}

TEST_F(MisplacedFilesTest, ADirectoryIsMovedToLost) {
  for (const FileType type : {FileType::kCurrent, FileType::kManifest, FileType::kWal, FileType::kPieceFile}) {
    const std::string path = FileOf(type);
    SCOPED_TRACE(path);
    ASSERT_TRUE(fs_->DeleteFile(path).ok());
    ASSERT_TRUE(fs_->CreateDir(path).ok());
    ExpectNamed(Open(true), path, "it is a directory");
    ExpectNamed(Open(false), path, "it is a directory");
    const Status s = rocksdb::RepairDB(dir_, options_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::vector<std::string> inside;
    EXPECT_TRUE(fs_->GetChildren(dir_ + "/lost" + path.substr(dir_.size()), &inside).ok());
    ASSERT_TRUE(Open(false).ok());
    if (type == FileType::kWal || type == FileType::kPieceFile) continue;
    EXPECT_EQ(all_, "a1b2");
  }
}

}  // namespace
}  // namespace compassdb
