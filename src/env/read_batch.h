// SPDX-License-Identifier: Apache-2.0
// Concurrent positional reads of one file or of several.
//
//   ReadBatch batch;
//   a->AddReads(requests_of_a, n, &batch);
//   b->AddReads(requests_of_b, m, &batch);
//   batch.Submit();   // begins them; leave it out to wait at once
//   ...
//   batch.Wait();     // every request has its result and status
//
// With io_uring (env/io_ring.h) the kernel performs them concurrently. Without
// it, and for files that are not the operating system's, Wait performs them by
// MultiRead.
//
// Thread safety: one thread at a time; which one may change between calls.
// Ownership: files, requests and their scratch belong to the caller and must
// stay valid until Wait or Abandon has returned; the destructor abandons.
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
    // Called at most once, after all of the ring's reads: sets all results.
    virtual void Finish() = 0;
  };

  ReadBatch() = default;
  ~ReadBatch() { Abandon(); }
  ReadBatch(const ReadBatch&) = delete;
  ReadBatch& operator=(const ReadBatch&) = delete;

  // Begins added reads that are not running yet.
  void Submit();
  // Completes everything; the batch is empty afterwards and may be used again.
  void Wait();
  // Empties the batch without results: when it returns, no read is running.
  void Abandon();
  bool empty() const { return parts_.empty(); }

  // For files: what Wait finishes.
  void Add(std::unique_ptr<Part> part) { parts_.push_back(std::move(part)); }
  // The ring that all parts use: the one of the thread that adds the first read. Null
  // where there is no io_uring.
  IoRing* ring();
  // The number of this batch's reads that are still in the ring; the ring counts it down.
  size_t* outstanding() { return &outstanding_; }

 private:
  std::vector<std::unique_ptr<Part>> parts_;
  std::shared_ptr<IoRing> ring_;
  size_t outstanding_ = 0;
};

}  // namespace compassdb
