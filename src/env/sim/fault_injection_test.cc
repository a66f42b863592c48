// SPDX-License-Identifier: Apache-2.0
#include "env/sim/fault_injection_file_system.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <set>
#include <thread>

namespace compassdb {
namespace {

class FaultInjectionTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/db").ok());
    ASSERT_TRUE(fs_.SyncDir("/").ok());
  }
  std::unique_ptr<WritableFile> Create(const std::string& path) {
    std::unique_ptr<WritableFile> file;
    Status s = fs_.NewWritableFile(path, FileOptions(), &file);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return file;
  }
  // A file whose name and data are durable.
  void WriteDurably(const std::string& path, const std::string& data) {
    auto file = Create(path);
    ASSERT_TRUE(file->Append(data).ok());
    ASSERT_TRUE(file->Sync().ok());
    ASSERT_TRUE(fs_.SyncDir("/db").ok());
  }
  std::string Contents(const std::string& path) {
    std::string data;
    Status s = ReadFileToString(&fs_, path, &data);
    return s.ok() ? data : "missing";
  }
  void CutAndRestart(uint64_t seed, CutMode mode) {
    fs_.PowerCut(seed, mode);
    fs_.Restart();
  }
  FaultInjectionFileSystem fs_;
};

TEST_F(FaultInjectionTest, UnsyncedDataIsLostSyncedDataStays) {
  auto file = Create("/db/f");
  ASSERT_TRUE(fs_.SyncDir("/db").ok());
  ASSERT_TRUE(file->Append("synced").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Append(" lost").ok());
  EXPECT_EQ(Contents("/db/f"), "synced lost");
  CutAndRestart(1, CutMode::kDropUnsynced);
  EXPECT_EQ(Contents("/db/f"), "synced");
}

TEST_F(FaultInjectionTest, KeepUnsyncedKeepsAll) {
  auto file = Create("/db/f");
  ASSERT_TRUE(file->Append("everything").ok());
  CutAndRestart(1, CutMode::kKeepUnsynced);
  EXPECT_EQ(Contents("/db/f"), "everything");
}

TEST_F(FaultInjectionTest, TornAppendsKeepEveryPossiblePrefix) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    WriteDurably("/db/f", "ab");
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.ReopenWritableFile("/db/f", FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append("cde").ok());
    CutAndRestart(seed, CutMode::kTornBytes);
    seen.insert(Contents("/db/f"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"ab", "abc", "abcd", "abcde"}));
}

TEST_F(FaultInjectionTest, TornPagesAreWholeOrZero) {
  bool zero = false, shorter = false;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    WriteDurably("/db/f", std::string(100, 'a'));
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.ReopenWritableFile("/db/f", FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(std::string(20000, 'b')).ok());
    CutAndRestart(seed, CutMode::kTornPages);
    const std::string data = Contents("/db/f");
    ASSERT_GE(data.size(), 100u);
    ASSERT_EQ(data.substr(0, 100), std::string(100, 'a')) << "durable bytes changed";
    for (size_t page = 0; page < data.size(); page += 4096) {
      const std::string in_page = data.substr(page, 4096);
      const size_t from = page == 0 ? 100 : 0;
      for (size_t i = from; i < in_page.size(); ++i) ASSERT_EQ(in_page[i], in_page.back());
      zero |= in_page.back() == '\0';
    }
    shorter |= data.size() < 20100;
  }
  EXPECT_TRUE(zero);
  EXPECT_TRUE(shorter);
}

TEST_F(FaultInjectionTest, NamesNeedADirectorySync) {
  auto file = Create("/db/f");
  ASSERT_TRUE(file->Append("data").ok());
  ASSERT_TRUE(file->Sync().ok());
  CutAndRestart(1, CutMode::kDropUnsynced);
  EXPECT_EQ(Contents("/db/f"), "missing");
}

TEST_F(FaultInjectionTest, DirectoryItselfNeedsASyncOfItsParent) {
  ASSERT_TRUE(fs_.CreateDir("/new/inner").ok());
  auto file = Create("/new/inner/f");
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(fs_.SyncDir("/new/inner").ok());
  ASSERT_TRUE(fs_.SyncDir("/new").ok());
  CutAndRestart(1, CutMode::kDropUnsynced);
  EXPECT_TRUE(fs_.FileExists("/new").IsNotFound());
}

TEST_F(FaultInjectionTest, RenameIsAtomicAndUndoneUnlessSynced) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    WriteDurably("/db/CURRENT", "old");
    WriteDurably("/db/tmp", "new");
    ASSERT_TRUE(fs_.RenameFile("/db/tmp", "/db/CURRENT").ok());
    CutAndRestart(seed, CutMode::kTornBytes);
    const std::string state = Contents("/db/CURRENT") + "/" + Contents("/db/tmp");
    seen.insert(state);
    if (fs_.FileExists("/db/tmp").ok()) {
      ASSERT_TRUE(fs_.DeleteFile("/db/tmp").ok());
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old/new", "new/missing"}));
  WriteDurably("/db/tmp", "newest");
  ASSERT_TRUE(fs_.RenameFile("/db/tmp", "/db/CURRENT").ok());
  ASSERT_TRUE(fs_.SyncDir("/db").ok());
  CutAndRestart(1, CutMode::kDropUnsynced);
  EXPECT_EQ(Contents("/db/CURRENT"), "newest");
}

TEST_F(FaultInjectionTest, DeletionsComeBackInJournalOrderOrInAny) {
  bool disordered = false;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (const char* name : {"/db/1", "/db/2", "/db/3"}) WriteDurably(name, "x");
    for (const char* name : {"/db/1", "/db/2", "/db/3"}) ASSERT_TRUE(fs_.DeleteFile(name).ok());
    const CutMode mode = seed % 2 == 0 ? CutMode::kTornBytes : CutMode::kRandom;
    CutAndRestart(seed, mode);
    const bool one = fs_.FileExists("/db/1").ok(), two = fs_.FileExists("/db/2").ok(),
               three = fs_.FileExists("/db/3").ok();
    const bool ordered = one <= two && two <= three;
    EXPECT_TRUE(ordered || mode == CutMode::kRandom) << "a later deletion outlived an earlier one";
    disordered |= !ordered;
  }
  EXPECT_TRUE(disordered);
}

TEST_F(FaultInjectionTest, TruncationOfDurableDataMayBeUndone) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    WriteDurably("/db/f", "durable");
    auto file = Create("/db/f");  // truncates
    ASSERT_TRUE(file->Append("n").ok());
    CutAndRestart(seed, CutMode::kTornBytes);
    seen.insert(Contents("/db/f"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"durable", "", "n"}));
}

TEST_F(FaultInjectionTest, HolesAreDurableAtOnce) {
  WriteDurably("/db/f", std::string(8192, 'x'));
  ASSERT_TRUE(fs_.PunchHole("/db/f", 0, 4096).ok());
  CutAndRestart(1, CutMode::kDropUnsynced);
  EXPECT_EQ(Contents("/db/f"), std::string(4096, '\0') + std::string(4096, 'x'));
  EXPECT_EQ(fs_.memory()->AllocatedBytes(), 4096u);
}

TEST_F(FaultInjectionTest, HandlesAndLocksDieWithThePower) {
  WriteDurably("/db/f", "data");
  auto writer = Create("/db/g");
  std::unique_ptr<RandomAccessFile> reader;
  ASSERT_TRUE(fs_.NewRandomAccessFile("/db/f", FileOptions(), &reader).ok());
  std::unique_ptr<FileLock> old_lock, new_lock;
  ASSERT_TRUE(fs_.LockFile("/db/LOCK", &old_lock).ok());
  ASSERT_TRUE(fs_.SyncDir("/db").ok());
  fs_.PowerCut(1, CutMode::kDropUnsynced);
  EXPECT_TRUE(fs_.IsDown());
  char scratch[8];
  Slice result;
  EXPECT_TRUE(reader->Read(0, 4, &result, scratch).IsIOError());
  EXPECT_TRUE(writer->Append("x").IsIOError());
  EXPECT_TRUE(writer->Sync().IsIOError());
  EXPECT_TRUE(fs_.FileExists("/db/f").IsIOError());
  fs_.Restart();
  EXPECT_TRUE(writer->Append("x").IsIOError()) << "a handle from before the cut works again";
  ASSERT_TRUE(fs_.LockFile("/db/LOCK", &new_lock).ok());
  old_lock.reset();  // must not release the new one
  std::unique_ptr<FileLock> third;
  EXPECT_FALSE(fs_.LockFile("/db/LOCK", &third).ok());
}

TEST_F(FaultInjectionTest, NthCallFailsOnceAndOnlyThere) {
  fs_.FailNth(FaultOp::kSync, 2, "MANIFEST", Status::IOError("injected"));
  auto manifest = Create("/db/MANIFEST-000001"), wal = Create("/db/000002.log");
  EXPECT_TRUE(wal->Sync().ok());
  EXPECT_TRUE(manifest->Sync().ok());
  EXPECT_TRUE(wal->Sync().ok());
  Status s = manifest->Sync();
  EXPECT_TRUE(s.IsIOError());
  EXPECT_NE(s.ToString().find("MANIFEST-000001"), std::string::npos) << s.ToString();
  EXPECT_TRUE(manifest->Sync().ok());
  EXPECT_EQ(fs_.Count(FaultOp::kSync), 5u);
  EXPECT_EQ(fs_.faults_injected(), 1u);
}

TEST_F(FaultInjectionTest, FullDiskTearsTheWriteAndKeepsItsSubcode) {
  fs_.FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
  auto file = Create("/db/1.ph");
  Status s = file->Append("12345678");
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_NE(s.ToString().find("/db/1.ph"), std::string::npos);
  EXPECT_EQ(Contents("/db/1.ph"), "1234");
  fs_.ClearFaults();
  EXPECT_TRUE(file->Append("x").ok());
}

TEST_F(FaultInjectionTest, EveryKindOfCallCanFail) {
  const Status injected = Status::IOError("injected");
  WriteDurably("/db/f", "x");
  const auto fails = [&](FaultOp op, auto call) {
    fs_.FailNth(op, 1, "/db", injected);
    EXPECT_TRUE(call().IsIOError()) << FaultOpName(op);
    EXPECT_FALSE(call().IsIOError() && op != FaultOp::kClose) << FaultOpName(op);
  };
  std::unique_ptr<WritableFile> w;
  std::unique_ptr<SequentialFile> r;
  std::vector<std::string> names;
  uint64_t n;
  char scratch[4];
  Slice result;
  fails(FaultOp::kCreate, [&] { return fs_.NewWritableFile("/db/g", FileOptions(), &w); });
  fails(FaultOp::kOpen, [&] { return fs_.NewSequentialFile("/db/f", &r); });
  fails(FaultOp::kRead, [&] { return r->Read(4, &result, scratch); });
  fails(FaultOp::kWrite, [&] { return w->Append("x"); });
  fails(FaultOp::kFlush, [&] { return w->Flush(); });
  fails(FaultOp::kClose, [&] { return w->Close(); });
  fails(FaultOp::kDirSync, [&] { return fs_.SyncDir("/db"); });
  fails(FaultOp::kLink, [&] { return fs_.LinkFile("/db/f", "/db/h"); });
  fails(FaultOp::kRename, [&] { return fs_.RenameFile("/db/h", "/db/i"); });
  fails(FaultOp::kTruncate, [&] { return fs_.TruncateFile("/db/i", 0); });
  fails(FaultOp::kPunch, [&] { return fs_.PunchHole("/db/f", 0, 1); });
  fails(FaultOp::kDelete, [&] { return fs_.DeleteFile("/db/i"); });
  fails(FaultOp::kCreateDir, [&] { return fs_.CreateDir("/db/dir"); });
  fails(FaultOp::kDeleteDir, [&] { return fs_.DeleteDir("/db/dir"); });
  fails(FaultOp::kList, [&] { return fs_.GetChildren("/db", &names); });
  fails(FaultOp::kStat, [&] { return fs_.GetFileSize("/db/f", &n); });
  std::unique_ptr<FileLock> lock;
  fails(FaultOp::kLock, [&] { return fs_.LockFile("/db/LOCK", &lock); });
}

TEST_F(FaultInjectionTest, IgnoredSyncIsTheCanary) {
  fs_.IgnoreSync("f");
  auto file = Create("/db/f");
  ASSERT_TRUE(fs_.SyncDir("/db").ok());
  ASSERT_TRUE(file->Append("promised").ok());
  ASSERT_TRUE(file->Sync().ok());
  CutAndRestart(1, CutMode::kDropUnsynced);
  EXPECT_EQ(Contents("/db/f"), "");
}

TEST_F(FaultInjectionTest, HookCanCutAtAnyOperation) {
  auto file = Create("/db/f");
  ASSERT_TRUE(fs_.SyncDir("/db").ok());
  int syncs = 0;
  fs_.SetHook([&](FaultOp op, const std::string&) {
    if (op == FaultOp::kSync && ++syncs == 3) fs_.PowerCut(1, CutMode::kDropUnsynced);
  });
  std::string acknowledged;
  for (char c = 'a'; c <= 'z'; ++c) {
    if (!file->Append(std::string(1, c)).ok() || !file->Sync().ok()) break;
    acknowledged.push_back(c);
  }
  EXPECT_EQ(acknowledged, "ab");
  fs_.SetHook(nullptr);
  fs_.Restart();
  EXPECT_EQ(Contents("/db/f"), "ab");
}

// So its variables may be destroyed.
TEST_F(FaultInjectionTest, AHookHasEndedWhenAnotherIsSet) {
  std::latch begun(1);
  bool ended = false;
  fs_.SetHook([&](FaultOp, const std::string&) {
    begun.count_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
  });
  std::thread other([&] { EXPECT_TRUE(fs_.SyncDir("/db").ok()); });
  begun.wait();
  fs_.SetHook(nullptr);
  EXPECT_TRUE(ended);
  other.join();
}

TEST_F(FaultInjectionTest, SameSeedSameOutcome) {
  const auto run = [](uint64_t seed) {
    FaultInjectionFileSystem fs;
    std::string outcome;
    for (int i = 0; i < 10; ++i) {
      std::unique_ptr<WritableFile> file;
      const std::string path = "/" + std::to_string(i);
      EXPECT_TRUE(fs.NewWritableFile(path, FileOptions(), &file).ok());
      EXPECT_TRUE(file->Append(std::string(50, 'x')).ok());
    }
    fs.PowerCut(seed, CutMode::kRandom);
    fs.Restart();
    for (int i = 0; i < 10; ++i) {
      uint64_t size = 0;
      const bool there = fs.GetFileSize("/" + std::to_string(i), &size).ok();
      outcome += there ? std::to_string(size) + " " : "- ";
    }
    return outcome;
  };
  EXPECT_EQ(run(7), run(7));
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < 20; ++seed) outcomes.insert(run(seed));
  EXPECT_GT(outcomes.size(), 5u);
}

TEST_F(FaultInjectionTest, AcknowledgedSyncsOfManyThreadsSurviveACut) {
  constexpr int kThreads = 4;
  std::vector<std::unique_ptr<WritableFile>> files;
  for (int t = 0; t < kThreads; ++t) files.push_back(Create("/db/" + std::to_string(t)));
  ASSERT_TRUE(fs_.SyncDir("/db").ok());
  std::vector<size_t> acknowledged(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      while (files[t]->Append("x").ok() && files[t]->Sync().ok()) ++acknowledged[t];
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  fs_.PowerCut(1, CutMode::kDropUnsynced);
  for (auto& thread : threads) thread.join();
  fs_.Restart();
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(Contents("/db/" + std::to_string(t)).size(), acknowledged[t]);
  }
}

}  // namespace
}  // namespace compassdb
