// SPDX-License-Identifier: Apache-2.0
// A queue of reads and writes in the kernel: io_uring. Private to env/.
//
// Each thread that reads or writes in batches has a ring of its own, created at first
// use. A batch keeps the ring with which it began, also if the thread ends or
// another thread continues the batch: hence the lock, which is free in the
// usual case.
//
// The ring returns requests that it could not perform as NotPerformed (an
// operation that the kernel does not know, a request cancelled because its thread
// ended, no memory for requests). pread or pwrite then performs them.
//
// Thread safety: every function may be called by any thread. Lock order: mu_, then the lock around
// setting up and tearing down.
// Invariant: a transfer counts in its *outstanding from Queue until it is complete,
// and until then the ring may write to it and use its buffer.
#pragma once

#include <liburing.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

struct RingTransfer {
  int fd = -1;
  bool write = false;
  char* buffer = nullptr;  // a write only reads it
  size_t length = 0;
  uint64_t offset = 0;
  // Direct reads: a result that ends off this grid (a power of two) has met the end of the file.
  size_t grid = 1;
  size_t* outstanding = nullptr;

  // Set when complete: the bytes transferred, or an errno. A read of fewer than length has met the
  // end of the file; for a write of fewer, pwrite will return the error.
  size_t done = 0;
  int error = 0;
  // The caller transfers what is missing behind `done` itself.
  bool NotPerformed() const;

 private:
  friend class IoRing;
  uint32_t place = 0;  // in flight_
  uint32_t retries = 0;
};

class IoRing {
 public:
  // The calling thread's ring; null if the kernel has no io_uring or does not permit it.
  static std::shared_ptr<IoRing> OfThread();

  ~IoRing();
  IoRing(const IoRing&) = delete;
  IoRing& operator=(const IoRing&) = delete;

  // The transfer begins with the next Submit or Wait at the latest.
  void Queue(RingTransfer* transfer) EXCLUDES(mu_);
  void Submit() EXCLUDES(mu_);
  // Until *outstanding is 0.
  void Wait(const size_t* outstanding) EXCLUDES(mu_);

  // Tests only: false makes OfThread answer null, as in a container that forbids io_uring.
  static void TEST_Permit(bool permitted);

 private:
  IoRing() = default;
  static std::shared_ptr<IoRing> Create();
  void Begin(RingTransfer* transfer) REQUIRES(mu_);
  // Submits queued transfers to the kernel and waits for `wait_for` completions.
  void Enter(unsigned wait_for) REQUIRES(mu_);
  void Reap() REQUIRES(mu_);
  void Complete(RingTransfer* transfer, int result) REQUIRES(mu_);
  void Finish(RingTransfer* transfer, int error) REQUIRES(mu_);
  void GiveUp(bool also_in_flight) REQUIRES(mu_);

  const ProcessMark process_;
  Mutex mu_;
  struct io_uring ring_ GUARDED_BY(mu_) = {};
  bool broken_ GUARDED_BY(mu_) = false;              // takes no more transfers
  std::deque<RingTransfer*> queued_ GUARDED_BY(mu_);     // not in the submission queue yet
  std::deque<RingTransfer*> prepared_ GUARDED_BY(mu_);   // in it, not taken by the kernel
  std::vector<RingTransfer*> flight_ GUARDED_BY(mu_);    // the kernel has them; any order
};

}  // namespace compassdb
