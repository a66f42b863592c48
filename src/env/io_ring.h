// SPDX-License-Identifier: Apache-2.0
// A queue of reads in the kernel: io_uring. Private to env/.
//
// Each thread that reads in batches has a ring of its own, made on first use.
// A batch keeps the ring that it began with, also when the thread ends or
// another thread goes on with the batch: hence the lock, which is free in the
// usual case.
//
// What the ring could not perform (an operation that the kernel does not know,
// a request cancelled because its thread ended, no memory for requests) it
// hands back as NotPerformed, to be done by pread.
//
// Thread safety: every function may be called by any thread. Lock order: mu_, then the lock around
// setting up and tearing down.
// Invariant: a read counts in its *outstanding from Queue until it is complete,
// and until then the ring may write to it and to its buffer.
#pragma once

#include <liburing.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "util/mutex.h"

namespace compassdb {

struct RingRead {
  int fd = -1;
  char* buffer = nullptr;
  size_t length = 0;
  uint64_t offset = 0;
  // Direct reads: a result that ends off this grid (a power of two) has met the end of the file.
  size_t grid = 1;
  size_t* outstanding = nullptr;

  // Set when complete: the bytes read (fewer than length: end of file), or an errno.
  size_t done = 0;
  int error = 0;
  // The caller reads what is missing behind `done` itself.
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

  // The read begins with the next Submit or Wait at the latest.
  void Queue(RingRead* read) EXCLUDES(mu_);
  void Submit() EXCLUDES(mu_);
  // Until *outstanding is 0.
  void Wait(const size_t* outstanding) EXCLUDES(mu_);

  // Tests only: false makes OfThread answer null, as in a container that forbids io_uring.
  static void TEST_Permit(bool permitted);

 private:
  IoRing() = default;
  static std::shared_ptr<IoRing> Create();
  void Begin(RingRead* read) REQUIRES(mu_);
  // Hands queued reads to the kernel and waits for `wait_for` completions.
  void Enter(unsigned wait_for) REQUIRES(mu_);
  void Reap() REQUIRES(mu_);
  void Complete(RingRead* read, int result) REQUIRES(mu_);
  void Finish(RingRead* read, int error) REQUIRES(mu_);
  void GiveUp(bool also_in_flight) REQUIRES(mu_);

  Mutex mu_;
  struct io_uring ring_ GUARDED_BY(mu_) = {};
  bool broken_ GUARDED_BY(mu_) = false;              // takes no reads any more
  std::deque<RingRead*> queued_ GUARDED_BY(mu_);     // not in the submission queue yet
  std::deque<RingRead*> prepared_ GUARDED_BY(mu_);   // in it, not taken by the kernel
  std::vector<RingRead*> flight_ GUARDED_BY(mu_);    // the kernel has them; any order
};

}  // namespace compassdb
