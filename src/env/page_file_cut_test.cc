// SPDX-License-Identifier: Apache-2.0
// The state of files that are written in place after a power cut or an injected fault.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "env/sim/fault_injection_file_system.h"

namespace compassdb {
namespace {

constexpr size_t kPage = 4096;
const std::string kOld(kPage, 'o');
const std::string kNew(kPage, 'n');
const std::string kZero(kPage, '\0');

class PageFileCutTest : public testing::Test {
 protected:
  // A file with this number of old pages, all durable.
  std::unique_ptr<PageFile> Create(size_t pages) {
    std::unique_ptr<PageFile> file = Open(/*create=*/true);
    for (size_t i = 0; i < pages; ++i) EXPECT_TRUE(file->Write(i * kPage, kOld).ok());
    EXPECT_TRUE(file->Sync().ok());
    EXPECT_TRUE(fs_.SyncDir("/").ok());
    return file;
  }
  std::unique_ptr<PageFile> Open(bool create) {
    std::unique_ptr<PageFile> file;
    Status s = fs_.NewPageFile("/f", FileOptions(), create, &file);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return file;
  }
  std::string Contents(const std::string& path = "/f") {
    std::string data;
    Status s = ReadFileToString(&fs_, path, &data);
    return s.ok() ? data : s.ToString();
  }
  std::string AfterCut(uint64_t seed, CutMode mode) {
    fs_.PowerCut(seed, mode);
    fs_.Restart();
    return Contents();
  }
  FaultInjectionFileSystem fs_;
};

TEST_F(PageFileCutTest, UnsyncedWritesAreDroppedOrKept) {
  auto file = Create(3);
  ASSERT_TRUE(file->Write(kPage, kNew).ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Write(0, kNew).ok());
  ASSERT_TRUE(file->Write(4 * kPage, kNew).ok());
  EXPECT_EQ(AfterCut(1, CutMode::kDropUnsynced), kOld + kNew + kOld);
  EXPECT_TRUE(file->Write(0, kNew).IsIOError()) << "open during the cut";

  file = Open(/*create=*/false);
  ASSERT_TRUE(file->Write(0, kNew).ok());
  ASSERT_TRUE(file->Write(4 * kPage, kNew).ok());
  EXPECT_EQ(AfterCut(1, CutMode::kKeepUnsynced), kNew + kNew + kOld + kZero + kNew);
  // The state after a cut is durable.
  EXPECT_EQ(AfterCut(1, CutMode::kDropUnsynced), kNew + kNew + kOld + kZero + kNew);
}

// By pages, single pages are never torn; every set of them survives in some cut.
TEST_F(PageFileCutTest, SinglePagesSurviveInAnyCombination) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto file = Create(4);
    for (const uint64_t page : {3, 0, 2}) ASSERT_TRUE(file->Write(page * kPage, kNew).ok());
    const std::string data = AfterCut(seed, CutMode::kTornPages);
    ASSERT_EQ(data.size(), 4 * kPage);
    std::string shape;
    for (size_t page = 0; page < 4; ++page) {
      const std::string bytes = data.substr(page * kPage, kPage);
      ASSERT_TRUE(bytes == kOld || bytes == kNew);
      shape.push_back(bytes[0]);
    }
    EXPECT_EQ(shape[1], 'o');
    seen.insert(shape);
  }
  EXPECT_EQ(seen.size(), 8u);
}

TEST_F(PageFileCutTest, LongWritesAreTornAtPages) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto file = Create(4);
    // From the middle of the first page to the middle of the last.
    ASSERT_TRUE(file->Write(kPage / 2, std::string(3 * kPage, 'n')).ok());
    const std::string data = AfterCut(seed, CutMode::kTornPages);
    ASSERT_EQ(data.size(), 4 * kPage);
    EXPECT_EQ(data.front(), 'o');
    EXPECT_EQ(data.back(), 'o');
    std::string shape;
    for (size_t page = 0; page < 4; ++page) {
      const size_t begin = page * kPage + (page == 0 ? kPage / 2 : 0);
      const size_t end = (page + 1) * kPage - (page == 3 ? kPage / 2 : 0);
      for (size_t i = begin; i < end; ++i) ASSERT_EQ(data[i], data[begin]);
      shape.push_back(data[begin]);
    }
    seen.insert(shape);
  }
  EXPECT_EQ(seen.size(), 16u);
}

TEST_F(PageFileCutTest, PagesAreTornAtBytesAndTheOldOnesFollow) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    auto file = Create(2);
    ASSERT_TRUE(file->Write(kPage, kNew).ok());
    const std::string data = AfterCut(seed, CutMode::kTornBytes);
    ASSERT_EQ(data.size(), 2 * kPage);
    const size_t tear = std::min(data.find_first_not_of('n', kPage), data.size());
    ASSERT_EQ(data, kOld + std::string(tear - kPage, 'n') + std::string(2 * kPage - tear, 'o'));
    ++seen[tear == kPage ? "dropped" : tear == 2 * kPage ? "kept" : "torn"];
  }
  EXPECT_GT(seen["dropped"], 50);
  EXPECT_GT(seen["kept"], 50);
  EXPECT_GT(seen["torn"], 50);
}

// The older of two writes may be there without the newer one, and where both are, the newer shows.
TEST_F(PageFileCutTest, WritesToOnePlace) {
  std::set<char> seen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto file = Create(1);
    ASSERT_TRUE(file->Write(0, std::string(kPage, '1')).ok());
    ASSERT_TRUE(file->Write(0, std::string(kPage, '2')).ok());
    seen.insert(AfterCut(seed, CutMode::kTornPages)[0]);
  }
  EXPECT_EQ(seen, (std::set<char>{'o', '1', '2'}));
}

TEST_F(PageFileCutTest, SyncedWritesAlwaysSurvive) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto file = Create(4);
    std::vector<WriteRequest> requests(4);
    for (size_t i = 0; i < 4; ++i) {
      requests[i].offset = (3 - i) * kPage;
      requests[i].data = kNew;
    }
    file->MultiWrite(requests.data(), requests.size());
    ASSERT_TRUE(file->Sync().ok());
    ASSERT_TRUE(file->Write(2 * kPage, kOld).ok());
    const std::string data = AfterCut(seed, CutMode::kRandom);
    ASSERT_EQ(data.substr(0, 2 * kPage) + data.substr(3 * kPage), kNew + kNew + kNew);
  }
}

// A lost change of size takes along what was written behind it.
TEST_F(PageFileCutTest, SizesChangeInOrder) {
  std::set<std::string> grown, shrunk;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto file = Create(1);
    ASSERT_TRUE(file->Write(0, kNew).ok());  // its durable state is kept from here on
    ASSERT_TRUE(file->Sync().ok());
    ASSERT_TRUE(file->Truncate(3 * kPage).ok());
    ASSERT_TRUE(file->Write(kPage, kNew).ok());
    grown.insert(AfterCut(seed, CutMode::kTornPages));

    file = Create(3);
    ASSERT_TRUE(file->Truncate(kPage).ok());
    ASSERT_TRUE(file->Truncate(2 * kPage).ok());
    ASSERT_TRUE(file->Write(kPage, kNew).ok());
    shrunk.insert(AfterCut(seed, CutMode::kTornPages));
  }
  EXPECT_EQ(grown, (std::set<std::string>{kNew, kNew + kZero + kZero, kNew + kNew + kZero}));
  EXPECT_EQ(shrunk, (std::set<std::string>{kOld + kOld + kOld, kOld, kOld + kZero, kOld + kNew}));
}

TEST_F(PageFileCutTest, HolesAreDurableAtOnce) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto file = Create(2);
    ASSERT_TRUE(file->Write(0, kNew).ok());
    ASSERT_TRUE(fs_.PunchHole("/f", 0, kPage).ok());
    EXPECT_EQ(AfterCut(seed, CutMode::kRandom), kZero + kOld);
  }
}

TEST_F(PageFileCutTest, AppendsToAFileWrittenInPlace) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto file = Create(1);
    ASSERT_TRUE(file->Write(0, kNew).ok());
    ASSERT_TRUE(file->Sync().ok());
    std::unique_ptr<WritableFile> log;
    ASSERT_TRUE(fs_.ReopenWritableFile("/f", FileOptions(), &log).ok());
    ASSERT_TRUE(log->Append("abc").ok() && log->Append("def").ok());
    const std::string data = AfterCut(seed, CutMode::kTornBytes);
    ASSERT_EQ(data, kNew + std::string("abcdef").substr(0, data.size() - kPage));
  }
}

// A reused file is torn as one that is written in place; its new name is lost like others.
TEST_F(PageFileCutTest, ReusedFilesAreTornOverTheirOldPages) {
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Create(2)->Close().PermitUncheckedError();
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.ReuseWritableFile("/g", "/f", FileOptions(), &file).ok());
    ASSERT_TRUE(fs_.SyncDir("/").ok());
    ASSERT_TRUE(file->Append(kNew).ok() && file->Append(kNew).ok() && file->Append(kNew).ok());
    fs_.PowerCut(seed, CutMode::kTornPages);
    fs_.Restart();
    const std::string data = Contents("/g");
    for (size_t at = 0; at < data.size(); at += kPage) {
      const std::string page = data.substr(at, kPage);
      EXPECT_TRUE(page == kNew || (at < 2 * kPage && page == kOld)) << seed << " " << at;
    }
    seen.insert(data);
  }
  EXPECT_EQ(seen.size(), 8u);
  std::unique_ptr<WritableFile> file;
  Create(1)->Close().PermitUncheckedError();
  ASSERT_TRUE(fs_.ReuseWritableFile("/h", "/f", FileOptions(), &file).ok());
  ASSERT_TRUE(file->Append(kNew).ok() && file->Sync().ok());
  EXPECT_EQ(AfterCut(1, CutMode::kDropUnsynced), kNew) << "under the old name";
}

TEST_F(PageFileCutTest, ClonesAreDurableOnceSynced) {
  auto file = Create(1);
  ASSERT_TRUE(file->Write(0, kNew).ok());
  ASSERT_TRUE(fs_.CloneFile("/f", "/g").ok());
  EXPECT_EQ(Contents("/g"), kNew);
  AfterCut(1, CutMode::kDropUnsynced);
  EXPECT_TRUE(fs_.FileExists("/g").IsNotFound());
  ASSERT_TRUE(fs_.CloneFile("/f", "/g").ok());
  ASSERT_TRUE(fs_.SyncDir("/").ok());
  std::unique_ptr<PageFile> clone;
  ASSERT_TRUE(fs_.NewPageFile("/g", FileOptions(), /*create=*/false, &clone).ok());
  ASSERT_TRUE(clone->Sync().ok());
  EXPECT_EQ(AfterCut(1, CutMode::kDropUnsynced), kOld);
  EXPECT_EQ(Contents("/g"), kOld);
}

TEST_F(PageFileCutTest, SameSeedSameOutcome) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::string outcome[2];
    for (std::string& data : outcome) {
      auto file = Create(20);
      for (uint64_t page = 0; page < 20; ++page) ASSERT_TRUE(file->Write(page * kPage, kNew).ok());
      data = AfterCut(seed, CutMode::kTornBytes);
    }
    ASSERT_TRUE(outcome[0] == outcome[1]);
    outcomes.insert(outcome[0]);
  }
  EXPECT_EQ(outcomes.size(), 10u);
}

TEST_F(PageFileCutTest, FaultsHitSingleWritesOfABatch) {
  auto file = Create(4);
  fs_.ResetCounts();
  fs_.FailNth(FaultOp::kWrite, 2, "/f", Status::NoSpace("injected"));
  std::vector<WriteRequest> requests(3);
  for (size_t i = 0; i < 3; ++i) {
    requests[i].offset = i * kPage;
    requests[i].data = kNew;
  }
  file->MultiWrite(requests.data(), requests.size());
  EXPECT_EQ(fs_.Count(FaultOp::kWrite), 3u);
  EXPECT_TRUE(requests[0].status.ok() && requests[2].status.ok());
  EXPECT_TRUE(requests[1].status.IsNoSpace()) << requests[1].status.ToString();
  const std::string half = kNew.substr(0, kPage / 2) + kOld.substr(kPage / 2);
  EXPECT_EQ(Contents(), kNew + half + kNew + kOld);
  // A failed sync makes nothing durable.
  fs_.FailNth(FaultOp::kSync, 1, "/f", Status::IOError("injected"));
  EXPECT_TRUE(file->Sync().IsIOError());
  fs_.FailAll(FaultOp::kTruncate, "/f", Status::IOError("injected"));
  EXPECT_TRUE(file->Truncate(0).IsIOError());
  fs_.FailAll(FaultOp::kClone, "/g", Status::IOError("injected"));
  EXPECT_TRUE(fs_.CloneFile("/f", "/g").IsIOError());
  EXPECT_TRUE(fs_.FileExists("/g").IsNotFound());
  fs_.FailAll(FaultOp::kRead, "/f", Status::IOError("injected"));
  char scratch[8];
  Slice result;
  EXPECT_TRUE(file->Read(0, 8, &result, scratch).IsIOError());
  fs_.FailAll(FaultOp::kCreate, "/g", Status::IOError("injected"));
  fs_.FailAll(FaultOp::kOpen, "/f", Status::IOError("injected"));
  std::unique_ptr<PageFile> other;
  EXPECT_TRUE(fs_.NewPageFile("/g", FileOptions(), /*create=*/true, &other).IsIOError());
  EXPECT_TRUE(fs_.NewPageFile("/f", FileOptions(), /*create=*/false, &other).IsIOError());
  fs_.ClearFaults();
  EXPECT_EQ(AfterCut(1, CutMode::kDropUnsynced), kOld + kOld + kOld + kOld);
}

TEST_F(PageFileCutTest, IgnoredSyncIsTheCanary) {
  auto file = Create(1);
  fs_.IgnoreSync("/f");
  ASSERT_TRUE(file->Write(0, kNew).ok() && file->Sync().ok());
  EXPECT_EQ(AfterCut(1, CutMode::kDropUnsynced), kOld);
}

TEST_F(PageFileCutTest, ThePowerFailsInTheMiddleOfABatch) {
  auto file = Create(4);
  int writes = 0;
  fs_.SetHook([&](FaultOp op, const std::string&) {
    if (op == FaultOp::kWrite && ++writes == 3) fs_.PowerCut(1, CutMode::kKeepUnsynced);
  });
  std::vector<WriteRequest> requests(4);
  for (size_t i = 0; i < 4; ++i) {
    requests[i].offset = i * kPage;
    requests[i].data = kNew;
  }
  file->MultiWrite(requests.data(), requests.size());
  EXPECT_TRUE(requests[1].status.ok());
  EXPECT_TRUE(requests[2].status.IsIOError());
  fs_.SetHook(nullptr);
  fs_.Restart();
  EXPECT_EQ(Contents(), kNew + kNew + kOld + kOld);
}

// A disk that writes blocks whole: each is old or new, for any requests.
TEST_F(PageFileCutTest, AtomicWritesTearBetweenBlocksOnly) {
  fs_.memory()->SetAtomicWrites(2 * kPage);
  std::set<std::string> outcomes;
  for (const CutMode mode : {CutMode::kTornBytes, CutMode::kTornPages}) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      auto file = Create(6);
      ASSERT_TRUE(file->Write(0, kNew + kNew + kNew + kNew).ok());
      const std::string after = AfterCut(seed, mode);
      ASSERT_EQ(after.size(), 6 * kPage);
      std::string found;
      for (size_t i = 0; i < 6; i += 2) {
        const std::string block = after.substr(i * kPage, 2 * kPage);
        ASSERT_TRUE(block == kOld + kOld || block == kNew + kNew) << i;
        found += block[0];
      }
      outcomes.insert(found);
    }
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"ooo", "noo", "ono", "nno"}));
  // Others are torn as ever.
  bool torn = false;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    auto file = Create(2);
    ASSERT_TRUE(file->Write(kPage, kNew).ok());
    const std::string after = AfterCut(seed, CutMode::kTornBytes);
    torn = torn || (after[kPage] == 'n' && after.back() == 'o');
  }
  EXPECT_TRUE(torn);
}

}  // namespace
}  // namespace compassdb
