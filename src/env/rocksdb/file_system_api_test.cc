// SPDX-License-Identifier: Apache-2.0
// rocksdb::FileSystem and SystemClock: the default ones, those of Envs, and an Env
// made of a user's file system.
#include <gtest/gtest.h>

#include <map>

#include "env/rocksdb/composite_env.h"
#include "env/rocksdb/env_adapter.h"
#include "rocksdb/config_options.h"
#include "rocksdb/file_system.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/system_clock.h"

namespace compassdb {
namespace {

using rocksdb::Env;
using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// A user's file system: counts appended and read bytes, and refuses one name.
class UserFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "UserFileSystem"; }

  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> base, uint64_t* appended)
        : FSWritableFileOwnerWrapper(std::move(base)), appended_(appended) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                    IODebugContext* dbg) override {
      *appended_ += data.size();
      return FSWritableFileOwnerWrapper::Append(data, options, dbg);
    }

   private:
    uint64_t* const appended_;
  };

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext* dbg) override {
    if (path.find("refused") != std::string::npos) {
      IOStatus s = IOStatus::NoSpace("the user's file system is full", path);
      s.SetRetryable(true);
      return s;
    }
    std::unique_ptr<rocksdb::FSWritableFile> base;
    IOStatus s = target()->NewWritableFile(path, options, &base, dbg);
    if (s.ok()) *result = std::make_unique<File>(std::move(base), &appended);
    return s;
  }

  uint64_t appended = 0;
};

TEST(FileSystemApi, DefaultsAreOnesOfTheDefaultEnv) {
  EXPECT_EQ(rocksdb::FileSystem::Default(), Env::Default()->GetFileSystem());
  EXPECT_EQ(rocksdb::SystemClock::Default(), Env::Default()->GetSystemClock());
  EXPECT_STREQ(rocksdb::FileSystem::Default()->Name(), "DefaultFileSystem");
  EXPECT_STREQ(rocksdb::SystemClock::Default()->Name(), "DefaultClock");
  const uint64_t before = Env::Default()->NowMicros();
  EXPECT_GE(rocksdb::SystemClock::Default()->NowMicros(), before);
}

TEST(FileSystemApi, EnvsHaveFileSystems) {
  std::unique_ptr<Env> env(rocksdb::NewMemEnv(Env::Default()));
  rocksdb::FileSystem* fs = env->GetFileSystem().get();
  ASSERT_TRUE(fs->CreateDir("/d", IOOptions(), nullptr).ok());
  ASSERT_TRUE(rocksdb::WriteStringToFile(fs, "hello", "/d/f", true).ok());
  std::string data;
  ASSERT_TRUE(rocksdb::ReadFileToString(env.get(), "/d/f", &data).ok());
  EXPECT_EQ(data, "hello");
  ASSERT_TRUE(rocksdb::ReadFileToString(fs, "/d/f", &data).ok());
  EXPECT_EQ(data, "hello");
  EXPECT_TRUE(fs->FileExists("/d/g", IOOptions(), nullptr).IsNotFound());

  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  ASSERT_TRUE(fs->NewRandomAccessFile("/d/f", FileOptions(), &file, nullptr).ok());
  char scratch[2][8];
  rocksdb::FSReadRequest reads[2];
  for (size_t i = 0; i < 2; ++i) {
    reads[i].offset = 3 * i;
    reads[i].len = 2;
    reads[i].scratch = scratch[i];
  }
  ASSERT_TRUE(file->MultiRead(reads, 2, IOOptions(), nullptr).ok());
  EXPECT_EQ(reads[0].result.ToString() + reads[1].result.ToString(), "helo");
  std::unique_ptr<rocksdb::FSDirectory> dir;
  ASSERT_TRUE(fs->NewDirectory("/d", IOOptions(), &dir, nullptr).ok());
  EXPECT_TRUE(dir->Fsync(IOOptions(), nullptr).ok());
  std::vector<rocksdb::FileAttributes> found;
  ASSERT_TRUE(fs->GetChildrenFileAttributes("/d", IOOptions(), &found, nullptr).ok());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].size_bytes, 5u);
}

TEST(FileSystemApi, AnEnvOfAUsersFileSystem) {
  std::unique_ptr<Env> memory(rocksdb::NewMemEnv(Env::Default()));
  auto user = std::make_shared<UserFileSystem>(memory->GetFileSystem());
  std::unique_ptr<Env> env = rocksdb::NewCompositeEnv(user);
  EXPECT_EQ(env->GetFileSystem(), user);
  ASSERT_TRUE(env->CreateDirIfMissing("/u").ok());
  ASSERT_TRUE(rocksdb::WriteStringToFile(env.get(), "12345", "/u/f", false).ok());
  EXPECT_EQ(user->appended, 5u);
  EXPECT_TRUE(memory->FileExists("/u/f").ok());
  rocksdb::Status s = rocksdb::WriteStringToFile(env.get(), "x", "/u/refused", false);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();

  // The engine's view uses it, too.
  std::shared_ptr<FileSystem> engine = FileSystemOfEnv(env.get());
  ASSERT_TRUE(WriteFileAtomically(engine.get(), "/u/g", "abc").ok());
  EXPECT_EQ(user->appended, 8u);
  std::string data;
  ASSERT_TRUE(ReadFileToString(engine.get(), "/u/g", &data).ok());
  EXPECT_EQ(data, "abc");

  std::shared_ptr<rocksdb::Logger> log;
  ASSERT_TRUE(env->NewLogger("/u/LOG", &log).ok());
  rocksdb::Info(log, "a line for the log");
  rocksdb::LogFlush(log);
  ASSERT_TRUE(rocksdb::ReadFileToString(env.get(), "/u/LOG", &data).ok());
  EXPECT_NE(data.find("a line for the log"), std::string::npos);
}

TEST(FileSystemApi, TheDefaultFileSystemKeepsTheEnginesOwnFiles) {
  std::unique_ptr<Env> env = rocksdb::NewCompositeEnv(rocksdb::FileSystem::Default());
  EXPECT_EQ(FileSystemOfEnv(env.get()).get(), PosixFileSystem());
  auto wrapped = std::make_shared<UserFileSystem>(rocksdb::FileSystem::Default());
  std::unique_ptr<Env> other = rocksdb::NewCompositeEnv(wrapped);
  EXPECT_NE(FileSystemOfEnv(other.get()).get(), PosixFileSystem());
}

TEST(FileSystemApi, FilesAreWrittenInPlace) {
  std::unique_ptr<Env> memory(rocksdb::NewMemEnv(Env::Default()));
  rocksdb::FileSystem* fs = memory->GetFileSystem().get();
  std::unique_ptr<rocksdb::FSRandomRWFile> file;
  EXPECT_TRUE(fs->NewRandomRWFile("/f", FileOptions(), &file, nullptr).IsPathNotFound());
  ASSERT_TRUE(rocksdb::WriteStringToFile(fs, "0123456789", "/f", true).ok());
  ASSERT_TRUE(fs->NewRandomRWFile("/f", FileOptions(), &file, nullptr).ok());
  EXPECT_FALSE(file->use_direct_io());
  ASSERT_TRUE(file->Write(8, "abcd", IOOptions(), nullptr).ok());
  char scratch[16];
  rocksdb::Slice result;
  ASSERT_TRUE(file->Read(6, 16, IOOptions(), &result, scratch, nullptr).ok());
  EXPECT_EQ(result, "67abcd");
  EXPECT_TRUE(file->Flush(IOOptions(), nullptr).ok());
  EXPECT_TRUE(file->Sync(IOOptions(), nullptr).ok());
  EXPECT_TRUE(file->Fsync(IOOptions(), nullptr).ok());
  EXPECT_TRUE(file->Close(IOOptions(), nullptr).ok());
  EXPECT_FALSE(file->Read(6, 16, IOOptions(), &result, scratch, nullptr).ok());

  // Through an Env of a user's file system, and from there to the engine.
  auto user = std::make_shared<UserFileSystem>(memory->GetFileSystem());
  std::unique_ptr<Env> env = rocksdb::NewCompositeEnv(user);
  std::unique_ptr<PageFile> pages;
  ASSERT_TRUE(FileSystemOfEnv(env.get())
                  ->NewPageFile("/f", compassdb::FileOptions(), /*create=*/false, &pages)
                  .ok());
  ASSERT_TRUE(pages->Write(0, "xy").ok() && pages->Truncate(4).ok());
  std::string data;
  ASSERT_TRUE(rocksdb::ReadFileToString(memory.get(), "/f", &data).ok());
  EXPECT_EQ(data, "xy23");
}

TEST(FileSystemApi, TimedEnvCountsTime) {
  std::unique_ptr<Env> memory(rocksdb::NewMemEnv(Env::Default()));
  std::unique_ptr<Env> env(rocksdb::NewTimedEnv(memory.get()));
  rocksdb::get_perf_context()->Reset();
  ASSERT_TRUE(env->CreateDirIfMissing("/t").ok());
  EXPECT_EQ(rocksdb::get_perf_context()->env_create_dir_if_missing_nanos, 0u);
  rocksdb::SetPerfLevel(rocksdb::kEnableTime);
  EXPECT_TRUE(env->FileExists("/t/none").IsNotFound());
  EXPECT_TRUE(env->FileExists("/t/none").IsNotFound());
  rocksdb::SetPerfLevel(rocksdb::kDisable);
  EXPECT_GT(rocksdb::get_perf_context()->env_file_exists_nanos, 0u);
}

}  // namespace
}  // namespace compassdb
