// SPDX-License-Identifier: Apache-2.0
// Files written in place, on every kind of file system: the kernel's ring, without it, direct, in
// memory, with faults, and through a user's Env.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <thread>

#include "env/aligned_reads.h"
#include "env/env_test_util.h"
#include "env/read_batch.h"
#include "env/sim/fault_injection_file_system.h"
#include "util/random.h"

namespace compassdb {
namespace {

constexpr size_t kPage = 4096;

class PageFileTest : public BackendTest {
 protected:
  void SetUp() override {
    SetUpOver(GetParam().posix ? std::shared_ptr<FileSystem>(PosixFileSystem(), [](FileSystem*) {})
                               : std::make_shared<FaultInjectionFileSystem>());
    if (IsSkipped() || HasFatalFailure()) return;
    std::unique_ptr<PageFile> file;
    if (fs_->NewPageFile(Path("probe"), options_, /*create=*/true, &file).IsNotSupported()) {
      GTEST_SKIP() << "no direct files here";
    }
  }
  std::unique_ptr<PageFile> Open(const std::string& name, bool create) {
    std::unique_ptr<PageFile> file;
    Status s = fs_->NewPageFile(Path(name), options_, create, &file);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return file;
  }
  std::string Contents(const std::string& name) {
    std::string data;
    Status s = ReadFileToString(fs_.get(), Path(name), &data);
    return s.ok() ? data : s.ToString();
  }
};

std::string ReadPage(const PageFile& file, uint64_t page) {
  std::string scratch(kPage, '?');
  Slice result;
  Status s = file.Read(page * kPage, kPage, &result, scratch.data());
  return s.ok() ? result.ToString() : s.ToString();
}

// The page's number, over and over, in a way that depends on the last writer.
std::string PageOf(uint64_t page, uint64_t version) {
  return Random(page * 1000 + version).Bytes(kPage);
}

// Writes all pages of `own` in batches of many sizes; some from aligned memory.
void OverwriteInBatches(PageFile* file, const std::vector<uint64_t>& own, uint64_t version,
                        Random* random) {
  for (size_t at = 0; at < own.size();) {
    const size_t n = std::min<size_t>(own.size() - at, 1 + random->Skewed(9));
    std::vector<WriteRequest> requests(n);
    AlignedBuffer aligned;
    char* const memory = aligned.Reserve(kPage, n * kPage + 1) + random->Uniform(2);
    for (size_t i = 0; i < n; ++i) {
      memcpy(memory + i * kPage, PageOf(own[at + i], version).data(), kPage);
      requests[i].offset = own[at + i] * kPage;
      requests[i].data = Slice(memory + i * kPage, kPage);
    }
    file->MultiWrite(requests.data(), n);
    for (const WriteRequest& r : requests) ASSERT_TRUE(r.status.ok()) << r.status.ToString();
    at += n;
  }
}

TEST_P(PageFileTest, BatchesOfManyThreadsReadBack) {
  constexpr uint64_t kPages = 1000;
  constexpr size_t kThreads = 4;
  constexpr uint64_t kVersions = 3;
  const auto file = Open("f", /*create=*/true);
  ASSERT_TRUE(file->Truncate(kPages * kPage).ok());
  Random random(1);
  std::vector<std::vector<uint64_t>> own(kThreads);
  for (uint64_t page = 0; page < kPages; ++page) {
    if (page % 7 != 0) own[random.Uniform(kThreads)].push_back(page);  // the others stay holes
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&file, &own, t] {
      Random order(t);
      std::vector<uint64_t> pages = own[t];
      for (uint64_t version = 1; version <= kVersions; ++version) {
        std::shuffle(pages.begin(), pages.end(), order);
        OverwriteInBatches(file.get(), pages, version, &order);
        ASSERT_TRUE(file->Sync().ok());
        ASSERT_EQ(ReadPage(*file, pages[0]), PageOf(pages[0], version));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t page = 0; page < kPages; ++page) {
    const std::string want = page % 7 == 0 ? std::string(kPage, '\0') : PageOf(page, kVersions);
    ASSERT_TRUE(ReadPage(*file, page) == want) << page;
  }
  // And in one batch of reads, as from any other file.
  std::vector<ReadRequest> reads(kPages);
  AlignedBuffer memory;
  char* const scratch = memory.Reserve(kPage, kPages * kPage);
  for (uint64_t page = 0; page < kPages; ++page) {
    reads[page].offset = page * kPage;
    reads[page].length = kPage;
    reads[page].scratch = scratch + page * kPage;
  }
  ReadBatch batch;
  file->AddReads(reads.data(), reads.size(), &batch);
  batch.Wait();
  for (uint64_t page = 1; page < kPages; page += 7) {
    ASSERT_TRUE(reads[page].status.ok());
    ASSERT_TRUE(reads[page].result == PageOf(page, kVersions)) << page;
  }
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(ReadPage(*Open("f", /*create=*/false), 8), PageOf(8, kVersions));
}

TEST_P(PageFileTest, SizesAndHoles) {
  auto file = Open("f", /*create=*/true);
  ASSERT_TRUE(file->Truncate(100 * kPage).ok());
  uint64_t size = 0;
  ASSERT_TRUE(fs_->GetFileSize(Path("f"), &size).ok());
  EXPECT_EQ(size, 100 * kPage);
  EXPECT_EQ(ReadPage(*file, 99), std::string(kPage, '\0'));
  EXPECT_EQ(ReadPage(*file, 100), "");
  // Writes reach beyond the end, and leave zeros between.
  ASSERT_TRUE(file->Write(101 * kPage, PageOf(101, 1)).ok());
  EXPECT_EQ(ReadPage(*file, 100), std::string(kPage, '\0'));
  EXPECT_EQ(ReadPage(*file, 101), PageOf(101, 1));
  ASSERT_TRUE(file->Truncate(101 * kPage).ok());
  ASSERT_TRUE(file->Truncate(102 * kPage).ok());
  EXPECT_EQ(ReadPage(*file, 101), std::string(kPage, '\0'));
  // Opened again as it was; emptied where it is to be created.
  ASSERT_TRUE(file->Write(0, PageOf(0, 1)).ok());
  ASSERT_TRUE(file->Sync().ok() && file->Close().ok());
  file = Open("f", /*create=*/false);
  EXPECT_EQ(ReadPage(*file, 0), PageOf(0, 1));
  EXPECT_EQ(Contents("f").size(), 102 * kPage);
  file = Open("f", /*create=*/true);
  EXPECT_EQ(Contents("f"), "");
}

TEST_P(PageFileTest, HolesTakeNoSpace) {
  const auto file = Open("f", /*create=*/true);
  ASSERT_TRUE(file->Truncate(64 << 20).ok());
  ASSERT_TRUE(file->Write(32 << 20, PageOf(1, 1)).ok());
  ASSERT_TRUE(file->Sync().ok());
  if (GetParam().posix) {
    struct stat st;
    ASSERT_EQ(stat(Path("f").c_str(), &st), 0);
    EXPECT_LE(st.st_blocks * 512, 1 << 20);
  } else if (auto* faults = dynamic_cast<FaultInjectionFileSystem*>(fs_.get())) {
    EXPECT_EQ(faults->memory()->AllocatedBytes(), kPage);
    ASSERT_TRUE(faults->PunchHole(Path("f"), 32 << 20, kPage).ok());
    EXPECT_EQ(faults->memory()->AllocatedBytes(), 0u);
  }
}

TEST_P(PageFileTest, DirectFilesWantWholePages) {
  const auto file = Open("f", /*create=*/true);
  const std::string data(3 * kPage, 'x');
  WriteRequest requests[3];
  requests[0].data = Slice(data.data(), 100);
  requests[1].offset = 5 * kPage;
  requests[1].data = Slice(data.data() + 1, 2 * kPage);
  requests[2].offset = 10 * kPage + 512;
  requests[2].data = Slice(data.data(), kPage);
  file->MultiWrite(requests, 3);
  for (const WriteRequest* r : {&requests[0], &requests[2]}) {
    EXPECT_EQ(r->status.ok(), !options_.direct);
    if (!options_.direct) continue;
    EXPECT_TRUE(r->status.IsInvalidArgument()) << r->status.ToString();
    EXPECT_NE(r->status.ToString().find(Path("f")), std::string::npos) << r->status.ToString();
  }
  EXPECT_TRUE(requests[1].status.ok()) << requests[1].status.ToString();
  EXPECT_EQ(ReadPage(*file, 6), std::string(kPage, 'x'));
  EXPECT_TRUE(file->Write(0, Slice()).ok());
}

TEST_P(PageFileTest, ErrorsNameThePath) {
  std::unique_ptr<PageFile> file;
  for (const bool create : {false, true}) {
    Status s = fs_->NewPageFile(Path("no/such"), options_, create, &file);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(s.ToString().find(Path("no/such")), std::string::npos) << s.ToString();
  }
  EXPECT_FALSE(fs_->NewPageFile(Path("missing"), options_, /*create=*/false, &file).ok());
  file = Open("f", /*create=*/true);
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(file->Close().ok());
  std::vector<WriteRequest> requests(2);
  file->MultiWrite(requests.data(), requests.size());
  for (const Status& s : {file->Write(0, PageOf(0, 0)), file->Sync(), file->Truncate(0),
                          requests[0].status, requests[1].status}) {
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(s.ToString().find(Path("f")), std::string::npos) << s.ToString();
  }
}

TEST_P(PageFileTest, ClonesAreCopiesOrNotSupported) {
  auto file = Open("f", /*create=*/true);
  ASSERT_TRUE(file->Write(kPage, PageOf(1, 1)).ok() && file->Sync().ok());
  Status s = fs_->CloneFile(Path("f"), Path("clone"));
  if (s.IsNotSupported()) {
    EXPECT_NE(s.ToString().find(Path("f")), std::string::npos) << s.ToString();
    EXPECT_TRUE(fs_->FileExists(Path("clone")).IsNotFound());
    return;
  }
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(file->Write(kPage, PageOf(1, 2)).ok());
  EXPECT_EQ(Contents("clone"), std::string(kPage, '\0') + PageOf(1, 1));
  ASSERT_TRUE(Open("clone", /*create=*/false)->Write(0, PageOf(0, 1)).ok());
  EXPECT_EQ(Contents("f"), std::string(kPage, '\0') + PageOf(1, 2));
  s = fs_->CloneFile(Path("f"), Path("clone"));
  EXPECT_TRUE(s.IsIOError()) << "there is a file of this name";
  EXPECT_TRUE(fs_->CloneFile(Path("missing"), Path("other")).IsIOError());
}

INSTANTIATE_TEST_SUITE_P(
    All, PageFileTest,
    testing::Values(Backend{"buffered", true, true, false, false},
                    Backend{"direct_ring", true, true, true, false},
                    Backend{"direct_pwrite", true, false, true, false},
                    Backend{"memory", false, true, false, false},
                    Backend{"memory_direct", false, true, true, false},
                    Backend{"posix_env", true, true, false, true},
                    Backend{"memory_env", false, true, false, true}),
    NameOfBackend);

}  // namespace
}  // namespace compassdb
