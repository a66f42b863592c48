// SPDX-License-Identifier: Apache-2.0
// Positional reads, of one file or of several, that go on at the same time.
//
//   ReadBatch batch;
//   a->AddReads(requests_of_a, n, &batch);
//   b->AddReads(requests_of_b, m, &batch);
//   batch.Submit();   // they are under way; leave it out to wait at once
//   ...
//   batch.Wait();     // every request has its result and status
//
// With io_uring (env/io_ring.h) the kernel performs them side by side. Where it
// is not to be had, and for files that are not the operating system's, Wait
// performs them by MultiRead.
//
// Thread safety: one thread at a time; which one may change between calls.
// Ownership: files, requests and their scratch belong to the caller and must
// stay until Wait or Abandon has returned; the destructor abandons.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace compassdb {

class IoRing;

class ReadBatch {
 public:
  // The reads that one file adds.
  class Part {
   public:
    virtual ~Part() = default;
    // Called at most once, when the ring owes nothing: all requests get their results.
    virtual void Finish() = 0;
  };

  ReadBatch() = default;
  ~ReadBatch() { Abandon(); }
  ReadBatch(const ReadBatch&) = delete;
  ReadBatch& operator=(const ReadBatch&) = delete;

  // Begins what was added and is not under way yet.
  void Submit();
  // Completes everything; the batch is empty afterwards and may be used again.
  void Wait();
  // Empties the batch without results: when it returns nothing is under way any more.
  void Abandon();
  bool empty() const { return parts_.empty(); }

  // For files: what Wait finishes.
  void Add(std::unique_ptr<Part> part) { parts_.push_back(std::move(part)); }
  // The ring that all parts use: the one of the thread that adds the first read. Null
  // where there is no io_uring.
  IoRing* ring();
  // How many reads the ring still owes to this batch; the ring counts it down.
  size_t* outstanding() { return &outstanding_; }

 private:
  std::vector<std::unique_ptr<Part>> parts_;
  std::shared_ptr<IoRing> ring_;
  size_t outstanding_ = 0;
};

}  // namespace compassdb
