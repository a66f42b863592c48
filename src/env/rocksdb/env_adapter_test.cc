// SPDX-License-Identifier: Apache-2.0
#include "env/rocksdb/env_adapter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <tuple>

#include "env/sim/fault_injection_file_system.h"

namespace compassdb {
namespace {

using rocksdb::Env;
using rocksdb::EnvOptions;

TEST(EnvAdapter, DefaultEnvWrapsPosix) {
  EXPECT_EQ(FileSystemOfEnv(Env::Default()).get(), PosixFileSystem());
  EXPECT_EQ(ThreadPoolsOfEnv(Env::Default()), DefaultThreadPools());
  EXPECT_STREQ(Env::Default()->Name(), "DefaultEnv");
}

TEST(EnvAdapter, MemEnvKeepsFilesToItself) {
  std::unique_ptr<Env> env(rocksdb::NewMemEnv(Env::Default()));
  ASSERT_TRUE(env->CreateDir("/d").ok());
  EXPECT_FALSE(env->CreateDir("/d").ok());
  EXPECT_TRUE(env->CreateDirIfMissing("/d").ok());
  ASSERT_TRUE(rocksdb::WriteStringToFile(env.get(), "hello", "/d/f", true).ok());
  std::string data;
  ASSERT_TRUE(rocksdb::ReadFileToString(env.get(), "/d/f", &data).ok());
  EXPECT_EQ(data, "hello");
  EXPECT_TRUE(Env::Default()->FileExists("/d/f").IsNotFound());
  std::vector<Env::FileAttributes> attributes;
  ASSERT_TRUE(env->GetChildrenFileAttributes("/d", &attributes).ok());
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].size_bytes, 5u);
  std::vector<std::string> names;
  EXPECT_TRUE(env->GetChildren("/missing", &names).IsNotFound());
  EXPECT_TRUE(Env::Default()->GetChildren("/d/missing", &names).IsNotFound());
  EXPECT_TRUE(env->GetChildrenFileAttributes("/missing", &attributes).IsNotFound());
  attributes.clear();
  bool is_dir = false;
  EXPECT_TRUE(env->IsDirectory("/d", &is_dir).ok() && is_dir);
  EXPECT_TRUE(env->IsDirectory("/d/f", &is_dir).ok() && !is_dir);
  rocksdb::FileLock *lock = nullptr, *second = nullptr;
  ASSERT_TRUE(env->LockFile("/d/LOCK", &lock).ok());
  EXPECT_TRUE(env->LockFile("/d/LOCK", &second).IsIOError());
  EXPECT_TRUE(env->UnlockFile(lock).ok());
}

// A file that is read in parts. If the second fails, nothing of the first is lost.
TEST(EnvAdapter, AnErrorBehindAShortReadKeepsWhatWasRead) {
  class Parts final : public rocksdb::SequentialFile {
   public:
    Status Read(size_t, rocksdb::Slice* result, char* scratch) override {
      if (++reads_ == 2) return Status::Corruption("half a segment");
      *result = rocksdb::Slice(scratch, 3);
      memcpy(scratch, reads_ == 1 ? "one" : "two", 3);
      return Status::OK();
    }
    Status Skip(uint64_t) override { return Status::OK(); }

   private:
    int reads_ = 0;
  };
  class PartsEnv final : public rocksdb::EnvWrapper {
   public:
    using EnvWrapper::EnvWrapper;
    Status NewSequentialFile(const std::string&, std::unique_ptr<rocksdb::SequentialFile>* file,
                             const EnvOptions&) override {
      *file = std::make_unique<Parts>();
      return Status::OK();
    }
  };
  PartsEnv env(Env::Default());
  std::unique_ptr<SequentialFile> file;
  ASSERT_TRUE(FileSystemOfEnv(&env)->NewSequentialFile("/f", &file).ok());
  char scratch[100];
  Slice bytes;
  EXPECT_TRUE(file->Read(100, &bytes, scratch).IsCorruption());
  EXPECT_EQ(bytes, "one");
  ASSERT_TRUE(file->Read(3, &bytes, scratch).ok());
  EXPECT_EQ(bytes, "two");
}

TEST(EnvAdapter, BackgroundJobsRunAndUnschedule) {
  Env* env = Env::Default();
  std::atomic<int> runs{0};
  for (int i = 0; i < 20; ++i) {
    env->Schedule([](void* arg) { ++*static_cast<std::atomic<int>*>(arg); }, &runs,
                  i % 2 ? Env::LOW : Env::HIGH, &runs);
  }
  DefaultThreadPools()->WaitForIdle(&runs);
  EXPECT_EQ(runs, 20);
  env->StartThread([](void* arg) { ++*static_cast<std::atomic<int>*>(arg); }, &runs);
  env->WaitForJoin();
  EXPECT_EQ(runs, 21);
}

// A user's own Env: every call reaches its virtual functions.
class CountingEnv : public rocksdb::EnvWrapper {
 public:
  explicit CountingEnv(Env* base) : rocksdb::EnvWrapper(base) {}
  Status NewWritableFile(const std::string& f, std::unique_ptr<rocksdb::WritableFile>* r,
                         const EnvOptions& options) override {
    ++created;
    return EnvWrapper::NewWritableFile(f, r, options);
  }
  Status DeleteFile(const std::string& f) override {
    return Status::IOError("refused");  // without the name of the file
  }
  int created = 0;
};

TEST(EnvAdapter, ForeignEnvIsUsedThroughItsFunctions) {
  auto memory = std::make_shared<FaultInjectionFileSystem>();
  const auto base = NewEnvForFileSystem(memory);
  CountingEnv env(base.get());
  const std::shared_ptr<FileSystem> fs = FileSystemOfEnv(&env);
  ASSERT_TRUE(fs->CreateDir("/a/b").ok());
  ASSERT_TRUE(WriteFileAtomically(fs.get(), "/a/b/f", "content").ok());
  EXPECT_EQ(env.created, 1);
  std::string data;
  ASSERT_TRUE(ReadFileToString(fs.get(), "/a/b/f", &data).ok());
  EXPECT_EQ(data, "content");
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs->ReopenWritableFile("/a/b/f", FileOptions(), &file).ok());
  EXPECT_EQ(file->Size(), 7u);
  ASSERT_TRUE(file->Append("+").ok() && file->Sync().ok() && file->Close().ok());
  std::unique_ptr<RandomAccessFile> reader;
  ASSERT_TRUE(fs->NewRandomAccessFile("/a/b/f", FileOptions(), &reader).ok());
  char scratch[8];
  Slice result;
  ASSERT_TRUE(reader->Read(5, 8, &result, scratch).ok());
  EXPECT_EQ(result, "nt+");
  EXPECT_TRUE(fs->PunchHole("/a/b/f", 0, 4096).IsNotSupported());
  ASSERT_TRUE(fs->ReuseWritableFile("/a/b/g", "/a/b/f", FileOptions(), &file).ok());
  EXPECT_EQ(file->Size(), 0u);
  ASSERT_TRUE(file->Append("CON").ok() && file->Close().ok());
  ASSERT_TRUE(ReadFileToString(fs.get(), "/a/b/g", &data).ok());
  EXPECT_EQ(data, "CONtent+");
  ASSERT_TRUE(fs->RenameFile("/a/b/g", "/a/b/f").ok());
  Status s = fs->DeleteFile("/a/b/f");
  EXPECT_TRUE(s.IsIOError());
  EXPECT_NE(s.ToString().find("/a/b/f"), std::string::npos) << s.ToString();
  memory->FailAll(FaultOp::kSync, "f2", Status::NoSpace("injected"));
  ASSERT_TRUE(fs->NewWritableFile("/a/b/f2", FileOptions(), &file).ok());
  EXPECT_TRUE(file->Sync().IsNoSpace());
  EXPECT_TRUE(file->Append("x").IsNoSpace()) << "written to after a failure";
}

// NewWritableFile would empty it.
TEST(EnvAdapter, AFileThatMayExistIsNotCreatedAgain) {
  auto memory = std::make_shared<FaultInjectionFileSystem>();
  const auto base = NewEnvForFileSystem(memory);
  CountingEnv env(base.get());
  const std::shared_ptr<FileSystem> fs = FileSystemOfEnv(&env);
  ASSERT_TRUE(WriteFileAtomically(fs.get(), "/f", "content").ok());
  memory->FailNth(FaultOp::kStat, 1, "/f", Status::IOError("injected"));
  std::unique_ptr<WritableFile> file;
  const Status s = fs->ReopenWritableFile("/f", FileOptions(), &file);
  EXPECT_TRUE(s.IsIOError());
  EXPECT_NE(s.ToString().find("/f"), std::string::npos) << s.ToString();
  std::string data;
  ASSERT_TRUE(ReadFileToString(fs.get(), "/f", &data).ok());
  EXPECT_EQ(data, "content");
  ASSERT_TRUE(fs->ReopenWritableFile("/new", FileOptions(), &file).ok());
  EXPECT_EQ(file->Size(), 0u);
}

// A user's own Env with one file that it writes in place itself, by one call at a time.
class InPlaceEnv : public rocksdb::EnvWrapper {
 public:
  using rocksdb::EnvWrapper::EnvWrapper;

  class File : public rocksdb::RandomRWFile {
   public:
    explicit File(InPlaceEnv* env) : env_(env) {}
    Status Write(uint64_t offset, const Slice& data) override {
      EXPECT_EQ(env_->calls++, 0) << "concurrent calls";
      env_->data.replace(offset, data.size(), data.ToString());
      --env_->calls;
      return Status::OK();
    }
    // Not into the scratch.
    Status Read(uint64_t offset, size_t n, Slice* result, char*) const override {
      EXPECT_EQ(env_->calls++, 0) << "concurrent calls";
      *result = Slice(env_->data.data() + offset, std::min(n, env_->data.size() - offset));
      --env_->calls;
      return Status::OK();
    }
    Status Flush() override { return Status::OK(); }
    Status Sync() override { return env_->sync_result; }
    Status Close() override { return Status::OK(); }

   private:
    InPlaceEnv* const env_;
  };

  Status NewRandomRWFile(const std::string& path, std::unique_ptr<rocksdb::RandomRWFile>* result,
                         const EnvOptions& options) override {
    if (path != "/mine") return rocksdb::Env::NewRandomRWFile(path, result, options);
    *result = std::make_unique<File>(this);
    return Status::OK();
  }

  std::string data = std::string(1000, '.');
  std::atomic<int> calls{0};
  Status sync_result;
};

TEST(EnvAdapter, FilesOfAUsersEnvAreWrittenInPlace) {
  std::unique_ptr<Env> base(rocksdb::NewMemEnv(Env::Default()));
  InPlaceEnv env(base.get());
  const std::shared_ptr<FileSystem> fs = FileSystemOfEnv(&env);
  std::unique_ptr<PageFile> file;
  ASSERT_TRUE(fs->NewPageFile("/mine", FileOptions(), /*create=*/false, &file).ok());
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&file, t] {
      const std::string own(10, static_cast<char>('a' + t));
      for (uint64_t at = t * 10; at < 1000; at += 40) {
        ASSERT_TRUE(file->Write(at, own).ok());
        char scratch[10];
        Slice result;
        ASSERT_TRUE(file->Read(at, 10, &result, scratch).ok());
        ASSERT_EQ(result, own);
        ASSERT_EQ(result.data(), scratch);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(env.data.substr(960), std::string(10, 'a') + std::string(10, 'b') +
                                      std::string(10, 'c') + std::string(10, 'd'));
  env.sync_result = Status::IOError("torn cable");
  Status s = file->Sync();
  EXPECT_TRUE(s.IsIOError());
  EXPECT_NE(s.ToString().find("/mine"), std::string::npos) << s.ToString();
  env.sync_result = Status::OK();
  EXPECT_TRUE(file->Sync().IsIOError()) << "what the failed one lost is not known";
  EXPECT_TRUE(file->Write(0, "x").IsIOError());
}

TEST(EnvAdapter, AnEnvWithoutFilesWrittenInPlaceSaysSo) {
  std::unique_ptr<Env> base(rocksdb::NewMemEnv(Env::Default()));
  InPlaceEnv env(base.get());
  const std::shared_ptr<FileSystem> fs = FileSystemOfEnv(&env);
  ASSERT_TRUE(rocksdb::WriteStringToFile(&env, "precious", "/old", false).ok());
  FileOptions direct;
  direct.direct = true;
  std::unique_ptr<PageFile> file;
  for (const auto& [path, options, create] :
       {std::tuple("/old", FileOptions(), false), std::tuple("/old", FileOptions(), true),
        std::tuple("/new", FileOptions(), true), std::tuple("/mine", direct, false)}) {
    Status s = fs->NewPageFile(path, options, create, &file);
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_NE(s.ToString().find(path), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find(env.Name()), std::string::npos) << s.ToString();
  }
  std::string data;
  ASSERT_TRUE(rocksdb::ReadFileToString(&env, "/old", &data).ok());
  EXPECT_EQ(data, "precious");
  EXPECT_TRUE(env.FileExists("/new").IsNotFound());
  EXPECT_TRUE(fs->CloneFile("/old", "/new").IsNotSupported());
}

// Batches reach the MultiRead of a user's own file, ascending as its contract says.
class BatchFile : public rocksdb::RandomAccessFile {
 public:
  explicit BatchFile(int* calls) : calls_(calls) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    for (size_t i = 0; i < n; ++i) scratch[i] = static_cast<char>(offset + i);
    *result = Slice(scratch, n);
    return Status::OK();
  }
  Status MultiRead(rocksdb::ReadRequest* requests, size_t n) override {
    ++*calls_;
    for (size_t i = 1; i < n; ++i) EXPECT_LE(requests[i - 1].offset, requests[i].offset);
    if (*calls_ == 2) return Status::TimedOut("the whole batch");
    rocksdb::RandomAccessFile::MultiRead(requests, n).PermitUncheckedError();
    requests[0].status = Status::IOError("torn cable");
    return Status::OK();
  }

 private:
  int* const calls_;
};

class BatchEnv : public rocksdb::EnvWrapper {
 public:
  using rocksdb::EnvWrapper::EnvWrapper;
  Status NewRandomAccessFile(const std::string&, std::unique_ptr<rocksdb::RandomAccessFile>* r,
                             const EnvOptions&) override {
    *r = std::make_unique<BatchFile>(&calls);
    return Status::OK();
  }
  int calls = 0;
};

TEST(EnvAdapter, BatchesReachTheUsersMultiRead) {
  BatchEnv env(Env::Default());
  const std::shared_ptr<FileSystem> fs = FileSystemOfEnv(&env);
  std::unique_ptr<RandomAccessFile> file;
  ASSERT_TRUE(fs->NewRandomAccessFile("/some/file", FileOptions(), &file).ok());
  char scratch[3][4];
  std::vector<ReadRequest> requests = {{70, 4, scratch[0], Slice(), Status()},
                                       {10, 4, scratch[1], Slice(), Status()},
                                       {30, 4, scratch[2], Slice(), Status()}};
  file->MultiRead(requests.data(), requests.size());
  EXPECT_EQ(env.calls, 1);
  EXPECT_EQ(requests[0].result, Slice("FGHI"));
  EXPECT_TRUE(requests[1].status.IsIOError());
  EXPECT_NE(requests[1].status.ToString().find("/some/file"), std::string::npos);
  EXPECT_TRUE(requests[2].status.ok());
  file->MultiRead(requests.data(), requests.size());
  for (const ReadRequest& r : requests) {
    EXPECT_FALSE(r.status.ok());
    EXPECT_TRUE(r.result.empty());
  }
}

TEST(EnvAdapter, LoggerWritesLinesOfItsLevelAndAbove) {
  std::unique_ptr<Env> env(rocksdb::NewMemEnv(nullptr));
  std::shared_ptr<rocksdb::Logger> logger;
  ASSERT_TRUE(env->NewLogger("/LOG", &logger).ok());
  rocksdb::Info(logger, "number %d", 7);
  rocksdb::Warn(logger, "careful");
  rocksdb::Debug(logger, "invisible");
  rocksdb::Header(logger, "head %s", std::string(3000, 'x').c_str());
  rocksdb::Info(static_cast<rocksdb::Logger*>(nullptr), "discarded");
  const size_t size = logger->GetLogFileSize();
  ASSERT_TRUE(logger->Close().ok());
  std::string data;
  ASSERT_TRUE(rocksdb::ReadFileToString(env.get(), "/LOG", &data).ok());
  EXPECT_EQ(data.size(), size);
  EXPECT_NE(data.find(" number 7\n"), std::string::npos);
  EXPECT_NE(data.find("[WARN] careful\n"), std::string::npos);
  EXPECT_EQ(data.find("invisible"), std::string::npos);
  EXPECT_NE(data.find(std::string(3000, 'x') + "\n"), std::string::npos);
}

TEST(EnvAdapter, UniqueIdsAreUuids) {
  const std::string a = Env::Default()->GenerateUniqueId();
  EXPECT_EQ(a.size(), 36u);
  EXPECT_EQ(a[14], '4');
  EXPECT_NE(a, Env::Default()->GenerateUniqueId());
}

}  // namespace
}  // namespace compassdb
