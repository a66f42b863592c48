// SPDX-License-Identifier: Apache-2.0
#include "env/observed_file_system.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "env/env_test_util.h"
#include "env/read_batch.h"
#include "env/sim/memory_file_system.h"

namespace compassdb {
namespace {

using Kind = FileOperation::Kind;

class Recorder : public FileObserver {
 public:
  struct Operation {
    Kind kind;
    uint64_t offset, length;
    bool ok;
    bool operator==(const Operation&) const = default;
  };
  void Done(const FileOperation& o) override {
    EXPECT_GE(o.end, o.begin.time);
    const std::lock_guard<std::mutex> lock(mu);
    operations.push_back({o.kind, o.offset, o.length, o.status.ok()});
    path = o.path;
  }
  std::vector<Operation> Take() {
    const std::lock_guard<std::mutex> lock(mu);
    return std::exchange(operations, {});
  }
  std::mutex mu;
  std::vector<Operation> operations;
  std::string path;
};

class ObservedFileSystemTest : public ::testing::Test {
 protected:
  static bool Wanted(const std::string& path) { return path.ends_with(".observed"); }
  std::shared_ptr<FileSystem> Observe(std::shared_ptr<FileSystem> base) {
    return NewObservedFileSystem(std::move(base), recorder_, {Wanted, Wanted});
  }
  using All = std::vector<Recorder::Operation>;
  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  const std::shared_ptr<FileSystem> fs_ = Observe(std::make_shared<MemoryFileSystem>());
};

TEST_F(ObservedFileSystemTest, ReportsWrittenFiles) {
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs_->NewWritableFile("/a.observed", FileOptions(), &file).ok());
  ASSERT_TRUE(file->Append("abc").ok());
  ASSERT_TRUE(file->Append("defgh").ok());
  ASSERT_TRUE(file->Flush().ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(recorder_->Take(), (All{{Kind::kAppend, 0, 3, true},
                                    {Kind::kAppend, 3, 5, true},
                                    {Kind::kFlush, 0, 0, true},
                                    {Kind::kSync, 0, 0, true},
                                    {Kind::kClose, 0, 0, true}}));
  EXPECT_EQ(recorder_->path, "/a.observed");
  ASSERT_TRUE(fs_->TruncateFile("/a.observed", 2).ok());
  EXPECT_EQ(recorder_->Take(), (All{{Kind::kTruncate, 2, 0, true}}));
}

TEST_F(ObservedFileSystemTest, ReportsReadsOfEverySort) {
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), "/a.observed", "0123456789").ok());
  recorder_->Take();
  std::unique_ptr<RandomAccessFile> file;
  ASSERT_TRUE(fs_->NewRandomAccessFile("/a.observed", FileOptions(), &file).ok());
  char scratch[16], other[16];
  Slice result;
  ASSERT_TRUE(file->Read(2, 3, &result, scratch).ok());
  ASSERT_TRUE(file->ReadWithin(8, 5, &result, scratch).ok());
  EXPECT_EQ(recorder_->Take(), (All{{Kind::kRead, 2, 3, true}, {Kind::kRead, 8, 2, true}}));
  ReadRequest requests[2];
  requests[0] = {1, 2, scratch, {}, {}};
  requests[1] = {5, 4, other, {}, {}};
  const All both{{Kind::kRead, 1, 2, true}, {Kind::kRead, 5, 4, true}};
  file->MultiRead(requests, 2);
  EXPECT_EQ(recorder_->Take(), both);
  ReadBatch batch;
  file->AddReads(requests, 2, &batch);
  EXPECT_TRUE(recorder_->Take().empty());
  batch.Wait();
  EXPECT_EQ(recorder_->Take(), both);
  EXPECT_EQ(requests[1].result, "5678");
  file->AddReads(requests, 2, &batch);
  batch.Abandon();
  EXPECT_TRUE(recorder_->Take().empty());
  std::unique_ptr<SequentialFile> sequential;
  ASSERT_TRUE(fs_->NewSequentialFile("/a.observed", &sequential).ok());
  ASSERT_TRUE(sequential->Skip(3).ok());
  ASSERT_TRUE(sequential->Read(4, &result, scratch).ok());
  ASSERT_TRUE(sequential->Read(4, &result, scratch).ok());
  EXPECT_EQ(recorder_->Take(), (All{{Kind::kRead, 3, 4, true}, {Kind::kRead, 7, 3, true}}));
}

TEST_F(ObservedFileSystemTest, ReportsFilesWrittenInPlace) {
  std::unique_ptr<PageFile> file;
  ASSERT_TRUE(fs_->NewPageFile("/a.observed", FileOptions(), true, &file).ok());
  ASSERT_TRUE(file->Truncate(100).ok());
  ASSERT_TRUE(file->Write(10, "abc").ok());
  WriteRequest request{20, "de", {}};
  file->MultiWrite(&request, 1);
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(recorder_->Take(), (All{{Kind::kTruncate, 100, 0, true},
                                    {Kind::kWriteInPlace, 10, 3, true},
                                    {Kind::kWriteInPlace, 20, 2, true},
                                    {Kind::kSync, 0, 0, true},
                                    {Kind::kClose, 0, 0, true}}));
}

TEST_F(ObservedFileSystemTest, OtherFilesAreNotReported) {
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), "/b", "0123456789").ok());
  std::string data;
  ASSERT_TRUE(ReadFileToString(fs_.get(), "/b", &data).ok());
  EXPECT_TRUE(recorder_->Take().empty());
}

// The operating system's files begin write-back by themselves.
TEST_F(ObservedFileSystemTest, ReportsWriteBack) {
  const std::string path = NewTestPath() + ".observed";
  const auto fs = Observe(std::shared_ptr<FileSystem>(PosixFileSystem(), [](FileSystem*) {}));
  FileOptions options;
  options.bytes_per_sync = 100000;
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs->NewWritableFile(path, options, &file).ok());
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(file->Append(std::string(10000, 'x')).ok());
  ASSERT_TRUE(file->Close().ok());
  uint64_t synced = 0;
  for (const Recorder::Operation& o : recorder_->Take()) {
    if (o.kind != Kind::kRangeSync) continue;
    EXPECT_EQ(o.offset, synced);
    synced += o.length;
  }
  EXPECT_GE(synced, 200000u);
  EXPECT_LE(synced, 300000u);
  ASSERT_TRUE(fs->DeleteFile(path).ok());
}

}  // namespace
}  // namespace compassdb
