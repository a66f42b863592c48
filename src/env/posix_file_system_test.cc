// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "env/aligned_reads.h"
#include "env/env_test_util.h"
#include "env/sim/memory_file_system.h"
#include "rocksdb/iostats_context.h"
#include "util/random.h"

namespace compassdb {
namespace {

// The contract of FileSystem, on each implementation.
class FileSystemTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "posix") {
      fs_ = PosixFileSystem();
      dir_ = NewTestPath();
    } else {
      fs_ = &memory_;
      dir_ = "/test";
    }
    ASSERT_TRUE(fs_->CreateDir(dir_).ok());
  }
  void TearDown() override { RemoveTree(dir_); }
  void RemoveTree(const std::string& dir) {
    std::vector<std::string> names;
    if (!fs_->GetChildren(dir, &names).ok()) return;
    for (const std::string& name : names) {
      if (!fs_->DeleteFile(dir + "/" + name).ok()) RemoveTree(dir + "/" + name);
    }
    EXPECT_TRUE(fs_->DeleteDir(dir).ok());
  }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void Write(const std::string& name, const std::string& data) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_->NewWritableFile(Path(name), FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(data).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  std::string Contents(const std::string& name) {
    std::string data;
    Status s = ReadFileToString(fs_, Path(name), &data);
    return s.ok() ? data : s.ToString();
  }

  MemoryFileSystem memory_;
  FileSystem* fs_ = nullptr;
  std::string dir_;
};

TEST_P(FileSystemTest, AppendsOfAllSizesReadBack) {
  Random random(1);
  std::string expected;
  std::unique_ptr<WritableFile> file;
  FileOptions options;
  options.bytes_per_sync = 100000;
  options.preallocate = 256 << 10;
  ASSERT_TRUE(fs_->NewWritableFile(Path("f"), options, &file).ok());
  for (int i = 0; i < 200; ++i) {
    const std::string piece = random.Bytes(random.Skewed(17));
    ASSERT_TRUE(file->Append(piece).ok());
    expected += piece;
    ASSERT_EQ(file->Size(), expected.size());
    if (random.OneIn(20)) {
      ASSERT_TRUE(file->Flush().ok());
      ASSERT_EQ(Contents("f"), expected);
    }
    if (random.OneIn(40)) {
      ASSERT_TRUE(file->Sync().ok());
    }
  }
  ASSERT_TRUE(file->Close().ok());
  EXPECT_FALSE(file->Append("late").ok());
  EXPECT_EQ(Contents("f"), expected);
  uint64_t size;
  ASSERT_TRUE(fs_->GetFileSize(Path("f"), &size).ok());
  EXPECT_EQ(size, expected.size());

  std::unique_ptr<RandomAccessFile> reader;
  ASSERT_TRUE(fs_->NewRandomAccessFile(Path("f"), FileOptions(), &reader).ok());
  std::string scratch(1 << 17, '\0');
  for (int i = 0; i < 300; ++i) {
    const uint64_t offset = random.Uniform(expected.size() + 100);
    const size_t n = random.Skewed(16);
    Slice result;
    ASSERT_TRUE(reader->Read(offset, n, &result, scratch.data()).ok());
    const std::string want =
        offset < expected.size() ? expected.substr(offset, n) : std::string();
    ASSERT_EQ(result, want);
  }
  std::vector<std::string> buffers(20, std::string(5000, '\0'));
  std::vector<ReadRequest> requests(20);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].offset = random.Uniform(expected.size());
    requests[i].length = random.Uniform(5000);
    requests[i].scratch = buffers[i].data();
  }
  reader->MultiRead(requests.data(), requests.size());
  for (const ReadRequest& r : requests) {
    ASSERT_TRUE(r.status.ok()) << r.status.ToString();
    EXPECT_EQ(r.result, expected.substr(r.offset, r.length));
  }
}

void ExpectReadWithin(const RandomAccessFile& file, const std::string& expected, uint64_t offset,
                      size_t n) {
  const size_t alignment = file.ReadAlignment();
  AlignedBuffer room;
  char* const begin = room.Reserve(alignment, n + 2 * alignment);
  ASSERT_NE(begin, nullptr);
  Slice result;
  ASSERT_TRUE(file.ReadWithin(offset, n, &result, begin).ok());
  EXPECT_EQ(result, offset < expected.size() ? expected.substr(offset, n) : "");
  if (result.empty()) return;
  EXPECT_GE(result.data(), begin);
  EXPECT_LE(result.data() + result.size(), begin + n + 2 * alignment);
}

TEST_P(FileSystemTest, ReadsLieWithinTheirRoom) {
  Random random(3);
  const std::string expected = random.Bytes(50000);
  ASSERT_TRUE(WriteFileAtomically(fs_, Path("w"), expected).ok());
  std::unique_ptr<RandomAccessFile> reader;
  ASSERT_TRUE(fs_->NewRandomAccessFile(Path("w"), FileOptions(), &reader).ok());
  for (int i = 0; i < 100; ++i) {
    ExpectReadWithin(*reader, expected, random.Uniform(expected.size() + 100), random.Skewed(15));
  }
}

TEST_P(FileSystemTest, DirectFilesReadBack) {
  Random random(2);
  FileOptions direct;
  direct.direct = true;
  std::unique_ptr<WritableFile> file;
  Status s = fs_->NewWritableFile(Path("d"), direct, &file);
  if (s.IsNotSupported()) GTEST_SKIP() << s.ToString();
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::string expected;
  const auto append = [&](size_t n) {
    const std::string piece = random.Bytes(n);
    ASSERT_TRUE(file->Append(piece).ok());
    expected += piece;
  };
  for (int i = 0; i < 60; ++i) {
    append(random.Skewed(18));
    if (random.OneIn(4)) {
      ASSERT_TRUE((random.OneIn(2) ? file->Sync() : file->Flush()).ok());
      ASSERT_EQ(Contents("d"), expected);
    }
  }
  ASSERT_TRUE(file->Close().ok());
  ASSERT_TRUE(fs_->ReopenWritableFile(Path("d"), direct, &file).ok());
  ASSERT_EQ(file->Size(), expected.size());
  append(5000);
  append(3);
  ASSERT_TRUE(file->Close().ok());
  ASSERT_EQ(Contents("d"), expected);
  std::unique_ptr<RandomAccessFile> reader;
  ASSERT_TRUE(fs_->NewRandomAccessFile(Path("d"), direct, &reader).ok());
  std::string scratch(1 << 16, '\0');
  for (int i = 0; i < 200; ++i) {
    const uint64_t offset = random.Uniform(expected.size());
    const size_t n = random.Skewed(15);
    Slice result;
    ASSERT_TRUE(reader->Read(offset, n, &result, scratch.data()).ok());
    ASSERT_EQ(result, expected.substr(offset, n));
    ExpectReadWithin(*reader, expected, offset, n);
  }
  ExpectReadWithin(*reader, expected, expected.size() - 10, 20);
  ExpectReadWithin(*reader, expected, expected.size() + 9000, 10);
  Slice result;
  ASSERT_TRUE(reader->Read(expected.size() + 9000, 10, &result, scratch.data()).ok());
  EXPECT_TRUE(result.empty());
}

TEST_P(FileSystemTest, ReusedFilesAreWrittenOver) {
  for (bool direct : {false, true}) {
    for (uint64_t preallocate : {0, 64 << 10}) {
      for (size_t size : {0, 1, 4095, 4096, 4097, 9000, 10000, 10001, 200000}) {
        const std::string old(10000, 'o');
        Write("old", old);
        FileOptions options;
        options.direct = direct;
        options.preallocate = preallocate;
        options.bytes_per_sync = 4096;
        std::unique_ptr<WritableFile> file;
        Status s = fs_->ReuseWritableFile(Path("new"), Path("old"), options, &file);
        if (s.IsNotSupported()) return;
        ASSERT_TRUE(s.ok()) << s.ToString();
        EXPECT_TRUE(fs_->FileExists(Path("old")).IsNotFound());
        EXPECT_EQ(file->Size(), 0u);
        EXPECT_EQ(Contents("new"), old);
        std::string written;
        while (written.size() < size) {
          const std::string part(std::min<size_t>(size - written.size(), 3333), 'n');
          ASSERT_TRUE(file->Append(part).ok());
          ASSERT_TRUE(file->Flush().ok());
          written += part;
          EXPECT_EQ(file->Size(), written.size());
        }
        ASSERT_TRUE(file->Sync().ok());
        ASSERT_TRUE(file->Close().ok());
        const std::string data = Contents("new");
        EXPECT_EQ(data.size(), std::max(old.size(), size)) << direct << " " << preallocate;
        EXPECT_EQ(data.substr(0, size), written);
        if (!direct && size < old.size()) {
          EXPECT_EQ(data.substr(size), old.substr(size));
        }
        // A direct file's last page is padded with zeros.
        const size_t page = (size + 4095) / 4096 * 4096;
        if (direct && page < old.size()) {
          EXPECT_EQ(data.substr(page), old.substr(page));
        }
      }
    }
  }
  std::unique_ptr<WritableFile> file;
  Status s = fs_->ReuseWritableFile(Path("new"), Path("missing"), FileOptions(), &file);
  EXPECT_NE(s.ToString().find(Path("missing")), std::string::npos) << s.ToString();
}

TEST_P(FileSystemTest, ErrorsNameThePath) {
  std::unique_ptr<SequentialFile> sequential;
  std::unique_ptr<RandomAccessFile> random_access;
  std::unique_ptr<WritableFile> writable;
  std::vector<std::string> names;
  uint64_t n;
  const std::string missing = Path("no/such");
  for (const Status& s :
       {fs_->NewSequentialFile(missing, &sequential),
        fs_->NewRandomAccessFile(missing, FileOptions(), &random_access),
        fs_->NewWritableFile(missing, FileOptions(), &writable),
        fs_->GetFileSize(missing, &n), fs_->GetModificationTime(missing, &n),
        fs_->GetLinkCount(missing, &n), fs_->GetChildren(missing, &names),
        fs_->DeleteFile(missing), fs_->DeleteDir(missing), fs_->RenameFile(missing, Path("x")),
        fs_->LinkFile(missing, Path("x")), fs_->TruncateFile(missing, 3), fs_->SyncDir(missing),
        fs_->PunchHole(missing, 0, 4096)}) {
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(s.ToString().find(missing), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find("While "), std::string::npos) << s.ToString();
  }
  EXPECT_TRUE(fs_->FileExists(missing).IsNotFound());
}

TEST_P(FileSystemTest, NamesLinksAndDirectories) {
  Write("a", "one");
  Write("b", "two");
  ASSERT_TRUE(fs_->RenameFile(Path("a"), Path("b")).ok());
  EXPECT_TRUE(fs_->FileExists(Path("a")).IsNotFound());
  EXPECT_EQ(Contents("b"), "one");
  ASSERT_TRUE(fs_->LinkFile(Path("b"), Path("c")).ok());
  EXPECT_FALSE(fs_->LinkFile(Path("b"), Path("c")).ok());
  uint64_t links;
  ASSERT_TRUE(fs_->GetLinkCount(Path("b"), &links).ok());
  EXPECT_EQ(links, 2u);
  ASSERT_TRUE(fs_->DeleteFile(Path("b")).ok());
  EXPECT_EQ(Contents("c"), "one");
  ASSERT_TRUE(fs_->GetLinkCount(Path("c"), &links).ok());
  EXPECT_EQ(links, 1u);
  ASSERT_TRUE(fs_->CreateDir(Path("x/y/z")).ok());
  ASSERT_TRUE(fs_->CreateDir(Path("x/y/z")).ok());
  Write("x/y/z/f", "deep");
  EXPECT_FALSE(fs_->DeleteDir(Path("x")).ok());
  ASSERT_TRUE(fs_->RenameFile(Path("x/y"), Path("moved")).ok());
  EXPECT_EQ(Contents("moved/z/f"), "deep");
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren(dir_, &names).ok());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"c", "moved", "x"}));
  ASSERT_TRUE(fs_->TruncateFile(Path("c"), 2).ok());
  EXPECT_EQ(Contents("c"), "on");
  EXPECT_TRUE(fs_->SyncDir(dir_).ok());
  EXPECT_FALSE(fs_->CreateDir(Path("c")).ok());
  uint64_t free_bytes = 0;
  EXPECT_TRUE(fs_->GetFreeSpace(dir_, &free_bytes).ok());
  EXPECT_GT(free_bytes, 0u);
}

TEST_P(FileSystemTest, DeletedFileStaysReadableWhileOpen) {
  Write("f", "still here");
  std::unique_ptr<RandomAccessFile> reader;
  ASSERT_TRUE(fs_->NewRandomAccessFile(Path("f"), FileOptions(), &reader).ok());
  ASSERT_TRUE(fs_->DeleteFile(Path("f")).ok());
  char scratch[20];
  Slice result;
  ASSERT_TRUE(reader->Read(0, 20, &result, scratch).ok());
  EXPECT_EQ(result, "still here");
}

TEST_P(FileSystemTest, PunchedPagesReadAsZerosAndSizeStays) {
  Write("f", std::string(3 * 4096, 'x'));
  Status s = fs_->PunchHole(Path("f"), 4096, 4096);
  if (s.IsNotSupported()) GTEST_SKIP() << s.ToString();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Contents("f"),
            std::string(4096, 'x') + std::string(4096, '\0') + std::string(4096, 'x'));
}

TEST_P(FileSystemTest, SecondLockIsRefusedUntilTheFirstIsReleased) {
  std::unique_ptr<FileLock> first, second;
  ASSERT_TRUE(fs_->LockFile(Path("LOCK"), &first).ok());
  Status s = fs_->LockFile(Path("LOCK"), &second);
  EXPECT_TRUE(s.IsIOError());
  EXPECT_NE(s.ToString().find(Path("LOCK")), std::string::npos);
  EXPECT_NE(s.ToString().find("lock hold by current process"), std::string::npos);
  first.reset();
  EXPECT_TRUE(fs_->LockFile(Path("LOCK"), &second).ok());
}

TEST_P(FileSystemTest, WhatIsNoFileIsNotOpened) {
  ASSERT_TRUE(fs_->CreateDir(Path("directory")).ok());
  std::vector<std::string> names = {"directory"};
  if (fs_ != &memory_) {
    ASSERT_TRUE(MakeFifo(Path("fifo")));
    names.push_back("fifo");
  }
  for (const std::string& name : names) {
    std::unique_ptr<SequentialFile> sequential;
    std::unique_ptr<RandomAccessFile> random;
    const Status first = fs_->NewSequentialFile(Path(name), &sequential);
    const Status second = fs_->NewRandomAccessFile(Path(name), FileOptions(), &random);
    for (const Status& s : {first, second}) {
      EXPECT_TRUE(s.IsIOError()) << name << ": " << s.ToString();
      EXPECT_NE(s.ToString().find(Path(name)), std::string::npos) << s.ToString();
    }
    if (fs_ != &memory_) {
      EXPECT_NE(first.ToString().find(name), std::string::npos) << first.ToString();
    }
  }
  if (fs_ != &memory_) {
    ASSERT_TRUE(fs_->DeleteFile(Path("fifo")).ok());
  }
  ASSERT_TRUE(fs_->DeleteDir(Path("directory")).ok());
}

TEST_P(FileSystemTest, WriteFileAtomicallyReplaces) {
  Write("CURRENT", "old");
  ASSERT_TRUE(WriteFileAtomically(fs_, Path("CURRENT"), "new").ok());
  EXPECT_EQ(Contents("CURRENT"), "new");
  std::vector<std::string> names;
  ASSERT_TRUE(fs_->GetChildren(dir_, &names).ok());
  EXPECT_EQ(names.size(), 1u);
}

// Two processes take the lock in turns, and delete the file before they release it, as DestroyDB does.
TEST(PosixLockTest, ALockOfADeletedFileIsNone) {
  FileSystem* const fs = PosixFileSystem();
  const std::string dir = NewTestPath(), path = dir + "/LOCK";
  ASSERT_TRUE(fs->CreateDir(dir).ok());
  auto* const inside = static_cast<std::atomic<int>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(inside, MAP_FAILED);
  const auto count_overlaps = [&] {
    int overlaps = 0;
    for (int locked = 0; locked < 3000;) {
      std::unique_ptr<FileLock> lock;
      if (!fs->LockFile(path, &lock).ok()) continue;
      ++locked;
      overlaps += inside->fetch_add(1) != 0 ? 1 : 0;
      inside->fetch_sub(1);
      fs->DeleteFile(path).PermitUncheckedError();
    }
    return overlaps;
  };
  const pid_t child = fork();
  if (child == 0) _exit(count_overlaps() == 0 ? 0 : 1);
  EXPECT_EQ(count_overlaps(), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(inside, 4096);
  EXPECT_TRUE(fs->DeleteDir(dir).ok());
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemTest, testing::Values("posix", "memory"));

TEST(PosixIoStatsTest, CountsBytesAndTimes) {
  FileSystem* const fs = PosixFileSystem();
  const std::string path = NewTestPath();
  rocksdb::IOStatsContext& io = *rocksdb::get_iostats_context();
  io.Reset();
  rocksdb::SetPerfLevel(rocksdb::kEnableTimeAndCPUTimeExceptForMutex);
  std::unique_ptr<WritableFile> file;
  FileOptions options;
  options.preallocate = 1 << 20;
  ASSERT_TRUE(fs->NewWritableFile(path, options, &file).ok());
  ASSERT_TRUE(file->Append(std::string(1000, 'x')).ok());
  EXPECT_EQ(io.bytes_written, 0u);  // in the file's buffer
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(io.bytes_written, 1000u);
  for (const uint64_t nanos : {io.open_nanos, io.allocate_nanos, io.write_nanos, io.cpu_write_nanos, io.fsync_nanos}) {
    EXPECT_GT(nanos, 0u);
  }
  std::unique_ptr<RandomAccessFile> reader;
  ASSERT_TRUE(fs->NewRandomAccessFile(path, FileOptions(), &reader).ok());
  char scratch[100];
  Slice result;
  ASSERT_TRUE(reader->Read(10, 100, &result, scratch).ok());
  EXPECT_EQ(io.bytes_read, 100u);
  EXPECT_GT(io.read_nanos, 0u);
  EXPECT_GT(io.cpu_read_nanos, 0u);

  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  io.Reset();
  ASSERT_TRUE(reader->Read(0, 50, &result, scratch).ok());
  EXPECT_EQ(io.bytes_read, 50u);
  EXPECT_EQ(io.read_nanos, 0u);
  io.disable_iostats = true;
  ASSERT_TRUE(reader->Read(0, 50, &result, scratch).ok());
  EXPECT_EQ(io.bytes_read, 50u);
  io.disable_iostats = false;
  io.Reset();
  ASSERT_TRUE(fs->DeleteFile(path).ok());
}

}  // namespace
}  // namespace compassdb
