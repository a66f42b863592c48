// SPDX-License-Identifier: Apache-2.0
// Batches of reads on every kind of file: the kernel's ring, without it, direct,
// in memory, with faults, and through a user's Env.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "env/aligned_reads.h"
#include "env/env_test_util.h"
#include "env/io_ring.h"
#include "env/read_ahead.h"
#include "env/read_batch.h"
#include "env/sim/fault_injection_file_system.h"
#include "util/random.h"

namespace compassdb {
namespace {

class MultiReadTest : public BackendTest {
 protected:
  void SetUp() override {
    faults_ = GetParam().posix ? std::make_shared<FaultInjectionFileSystem>(PosixFileSystem())
                               : std::make_shared<FaultInjectionFileSystem>();
    SetUpOver(faults_);
    if (IsSkipped() || HasFatalFailure()) return;
    Random random(3);
    for (int i = 0; i < kFiles; ++i) {
      data_[i] = random.Bytes(300000 + random.Uniform(9000));
      const std::string path = Path("f" + std::to_string(i));
      std::unique_ptr<WritableFile> file;
      ASSERT_TRUE(fs_->NewWritableFile(path, FileOptions(), &file).ok());
      ASSERT_TRUE(file->Append(data_[i]).ok() && file->Sync().ok() && file->Close().ok());
      Status s = fs_->NewRandomAccessFile(path, options_, &files_[i]);
      if (s.IsNotSupported()) GTEST_SKIP() << s.ToString();
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
  }
  void TearDown() override {
    faults_->ClearFaults();
    BackendTest::TearDown();
  }

  // Random reads of file i, some beyond its end, some neighbours, some equal.
  struct Reads {
    std::vector<ReadRequest> requests;
    std::vector<std::unique_ptr<char[]>> buffers;
  };
  Reads Make(int i, size_t n, Random* random) {
    Reads reads;
    uint64_t last_end = 0;
    for (size_t k = 0; k < n; ++k) {
      ReadRequest r;
      r.offset = random->OneIn(3) ? last_end : random->Uniform(data_[i].size() + 5000);
      r.length = random->OneIn(10) ? 0 : random->Skewed(14);
      if (random->OneIn(8)) {
        r.offset &= ~uint64_t{4095};
        r.length = 8192;
      }
      last_end = r.offset + r.length;
      // Sometimes on the grid, so that the bytes go straight into it.
      reads.buffers.emplace_back(new char[r.length + 4096]);
      r.scratch = reads.buffers.back().get();
      if (random->OneIn(2)) {
        r.scratch = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(r.scratch) + 4095) &
                                            ~uintptr_t{4095});
      }
      reads.requests.push_back(r);
    }
    return reads;
  }
  void Check(int i, const ReadRequest& r) const {
    ASSERT_TRUE(r.status.ok()) << r.status.ToString();
    const std::string want = r.offset < data_[i].size() ? data_[i].substr(r.offset, r.length) : "";
    ASSERT_TRUE(r.result == want) << r.offset << "+" << r.length << ": " << r.result.size();
    if (!want.empty()) {
      EXPECT_EQ(r.result.data(), r.scratch);
    }
  }

  static constexpr int kFiles = 3;
  std::shared_ptr<FaultInjectionFileSystem> faults_;
  std::string data_[kFiles];
  std::unique_ptr<RandomAccessFile> files_[kFiles];
};

TEST_P(MultiReadTest, OneFile) {
  Random random(4);
  for (size_t n : {0, 1, 2, 7, 33, 128, 700}) {
    Reads reads = Make(0, n, &random);
    files_[0]->MultiRead(reads.requests.data(), n);
    for (const ReadRequest& r : reads.requests) Check(0, r);
  }
}

TEST_P(MultiReadTest, SeveralFilesInOneBatch) {
  Random random(5);
  ReadBatch batch;
  for (int round = 0; round < 20; ++round) {
    Reads reads[kFiles];
    for (int i = 0; i < kFiles; ++i) {
      reads[i] = Make(i, random.Uniform(40), &random);
      files_[i]->AddReads(reads[i].requests.data(), reads[i].requests.size(), &batch);
      if (random.OneIn(2)) batch.Submit();
    }
    batch.Wait();
    EXPECT_TRUE(batch.empty());
    for (int i = 0; i < kFiles; ++i) {
      for (const ReadRequest& r : reads[i].requests) Check(i, r);
    }
  }
}

TEST_P(MultiReadTest, FaultsHitSingleRequestsAndNameTheFile) {
  Random random(6);
  Reads reads = Make(1, 12, &random);
  faults_->ResetCounts();
  faults_->FailNth(FaultOp::kRead, 5, "f1", Status::IOError("injected"));
  files_[1]->MultiRead(reads.requests.data(), 12);
  int failed = 0;
  for (const ReadRequest& r : reads.requests) {
    if (r.status.ok()) {
      Check(1, r);
      continue;
    }
    ++failed;
    EXPECT_TRUE(r.status.IsIOError());
    EXPECT_NE(r.status.ToString().find(Path("f1")), std::string::npos) << r.status.ToString();
    EXPECT_TRUE(r.result.empty());
  }
  EXPECT_GE(failed, 1);  // merged requests of a user's Env fail together
  faults_->FailAll(FaultOp::kRead, "f1", Status::IOError("injected"));
  files_[1]->MultiRead(reads.requests.data(), 12);
  for (const ReadRequest& r : reads.requests) EXPECT_TRUE(r.status.IsIOError());
  ReadBatch batch;
  files_[1]->AddReads(reads.requests.data(), 12, &batch);
  batch.Wait();
  for (const ReadRequest& r : reads.requests) EXPECT_TRUE(r.status.IsIOError());
}

TEST_P(MultiReadTest, BatchesMoveBetweenThreads) {
  Random random(7);
  for (int round = 0; round < 10; ++round) {
    ReadBatch batch;
    Reads first = Make(0, 20, &random), second = Make(1, 20, &random);
    std::thread([&] {
      files_[0]->AddReads(first.requests.data(), 20, &batch);
      batch.Submit();
    }).join();  // the thread that owns the ring is gone
    files_[1]->AddReads(second.requests.data(), 20, &batch);
    batch.Wait();
    for (const ReadRequest& r : first.requests) Check(0, r);
    for (const ReadRequest& r : second.requests) Check(1, r);
  }
}

TEST_P(MultiReadTest, ThreadsReadConcurrently) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      Random random(100 + t);
      for (int round = 0; round < 20; ++round) {
        Reads reads = Make(round % kFiles, 30, &random);
        files_[round % kFiles]->MultiRead(reads.requests.data(), 30);
        for (const ReadRequest& r : reads.requests) Check(round % kFiles, r);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST_P(MultiReadTest, ReadAheadServesWindows) {
  ReadAhead ahead;
  EXPECT_FALSE(ahead.Covers(0, 1));
  const size_t window = 16384, block = 1024;
  ahead.Start(files_[2].get(), 0, window);
  std::string got;
  for (uint64_t at = 0; at < data_[2].size(); at += block) {
    if (at % window == 0) {
      ASSERT_TRUE(ahead.Covers(at, block));
      EXPECT_TRUE(ahead.under_way());
    }
    Slice bytes;
    ASSERT_TRUE(ahead.Get(at, block, &bytes).ok());
    if (at % window == 0) {
      EXPECT_FALSE(ahead.under_way());
      ahead.Start(files_[2].get(), at + window, at + 2 * window);
      EXPECT_TRUE(ahead.Covers(at + window, window));
    }
    got.append(bytes.data(), bytes.size());  // still there although the next was begun
  }
  EXPECT_TRUE(got == data_[2]);
  EXPECT_FALSE(ahead.Covers(0, 1));
  // An error is reported once; then the bytes may be read again.
  faults_->FailNth(FaultOp::kRead, 1, "f2", Status::IOError("injected"));
  ahead.Start(files_[2].get(), 50, 80);
  Slice bytes;
  EXPECT_TRUE(ahead.Get(60, 5, &bytes).IsIOError());
  EXPECT_FALSE(ahead.Covers(60, 5));
  ahead.Start(files_[2].get(), 50, 80);
  ahead.Start(files_[2].get(), 50070, 50090);  // the first is given up
  EXPECT_FALSE(ahead.Covers(60, 5));
  ASSERT_TRUE(ahead.Get(50075, 5, &bytes).ok());
  EXPECT_EQ(bytes, data_[2].substr(50075, 5));
  ahead.Start(files_[2].get(), 100, 200);
  ahead.Drop();
  EXPECT_FALSE(ahead.Covers(100, 1));
  // Two objects wait together; what is read at once is the only window.
  ReadAhead other;
  {
    ReadBatch batch;
    ahead.Start(files_[2].get(), 9000, 9100, &batch);
    other.Start(files_[1].get(), 70000, 90000, &batch);
    batch.Wait();
  }
  ASSERT_TRUE(ahead.Get(9050, 50, &bytes).ok());
  EXPECT_EQ(bytes, data_[2].substr(9050, 50));
  ASSERT_TRUE(other.Get(80000, 10000, &bytes).ok());
  EXPECT_TRUE(bytes == data_[1].substr(80000, 10000));
  other.Start(files_[1].get(), 100000, 110000);
  ASSERT_TRUE(other.Read(files_[1].get(), 20000, 25000).ok());
  ASSERT_TRUE(other.Covers(20000, 5000));
  EXPECT_FALSE(other.Covers(80000, 1) || other.Covers(100000, 1));
  ASSERT_TRUE(other.Get(24999, 1, &bytes).ok());
  EXPECT_EQ(bytes, data_[1].substr(24999, 1));
  faults_->FailNth(FaultOp::kRead, 1, "f1", Status::IOError("injected"));
  EXPECT_TRUE(other.Read(files_[1].get(), 20000, 25000).IsIOError());
  EXPECT_FALSE(other.Covers(20000, 1));
  ahead.Start(files_[2].get(), 100, 200);  // destroyed while under way
}

INSTANTIATE_TEST_SUITE_P(
    Backends, MultiReadTest,
    testing::Values(Backend{"ring", true, true, false, false},
                    Backend{"ring_direct", true, true, true, false},
                    Backend{"pread", true, false, false, false},
                    Backend{"pread_direct", true, false, true, false},
                    Backend{"memory", false, false, false, false},
                    Backend{"env", false, false, false, true},
                    Backend{"env_ring", true, true, false, true}),
    NameOfBackend);

// A child process makes a ring of its own instead of using its parent's.
TEST(IoRingTest, ChildProcessesDoNotShareRings) {
  std::shared_ptr<IoRing> ring = IoRing::OfThread();
  if (ring == nullptr) GTEST_SKIP() << "no io_uring here";
  EXPECT_EQ(ring, IoRing::OfThread());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::shared_ptr<IoRing> own = IoRing::OfThread();
    _exit(own != nullptr && own != ring ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(IoRingTest, ErrorsOfTheKernelArriveAndLeaveTheRingUsable) {
  std::shared_ptr<IoRing> ring = IoRing::OfThread();
  if (ring == nullptr) GTEST_SKIP() << "no io_uring here";
  size_t outstanding = 0;
  char buffer[16];
  std::vector<RingTransfer> reads(300);
  for (RingTransfer& r : reads) {
    r.fd = -1;
    r.buffer = buffer;
    r.length = sizeof(buffer);
    r.outstanding = &outstanding;
    ring->Queue(&r);
  }
  ring->Wait(&outstanding);
  for (const RingTransfer& r : reads) {
    EXPECT_EQ(r.error, EBADF);
    EXPECT_FALSE(r.NotPerformed());
    EXPECT_EQ(r.done, 0u);
  }
  EXPECT_EQ(ring, IoRing::OfThread());
}

TEST(AlignedReadsTest, NeighboursShareASpan) {
  char a[100], b[5000], c[100];
  ReadRequest requests[] = {{9000, 100, c, Slice(), Status()},
                            {100, 100, a, Slice(), Status()},
                            {300, 5000, b, Slice(), Status()}};
  AlignedReads reads("file", 4096, requests, 3);
  ASSERT_TRUE(reads.ok());
  ASSERT_EQ(reads.spans().size(), 1u);  // 0..8191 and 8192..12287 touch
  EXPECT_EQ(reads.spans()[0].offset, 0u);
  EXPECT_EQ(reads.spans()[0].length, 12288u);
  for (size_t i = 0; i < 12288; ++i) reads.spans()[0].buffer[i] = static_cast<char>(i % 251);
  reads.spans()[0].got = 9050;  // the file ends here
  reads.Deliver();
  EXPECT_EQ(requests[0].result.size(), 50u);
  EXPECT_EQ(requests[0].result[0], static_cast<char>(9000 % 251));
  EXPECT_EQ(requests[1].result.size(), 100u);
  EXPECT_EQ(requests[2].result[4999], static_cast<char>(5299 % 251));
  AlignedReads apart("file", 1, requests, 3);
  ASSERT_EQ(apart.spans().size(), 3u);
  EXPECT_EQ(apart.spans()[2].buffer, c);
}

}  // namespace
}  // namespace compassdb
