// SPDX-License-Identifier: Apache-2.0
#include "env/io_ring.h"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "util/start_thread.h"

namespace compassdb {

namespace {

constexpr unsigned kEntries = 128;          // submission queue; completions: twice that
constexpr size_t kMaxInFlight = 256;        // never more than completions have room
constexpr size_t kMaxLength = 1u << 30;     // of one request to the kernel
constexpr uint32_t kMaxRetries = 8;

std::atomic<bool> permitted{true};  // tests
std::atomic<bool> absent{false};    // the kernel said so

// Held while a ring is set up or torn down. The kernel may map a new ring where
// another was unmapped, in system calls that ThreadSanitizer does not see: this
// orders the use of the one before the use of the other. Taken under mu_.
Mutex& MappingMutex() {
  static Mutex* const mu = RenewedInChildren(new Mutex);  // outlives the rings of exiting threads
  return *mu;
}

}  // namespace

bool RingTransfer::NotPerformed() const {
  switch (error) {
    case EINTR:
    case EAGAIN:
    case EINVAL:
    case ENOMEM:
    case ENOBUFS:
    case ECANCELED:
    case EOPNOTSUPP:
      return true;
    default:
      return false;
  }
}

void IoRing::TEST_Permit(bool value) { permitted.store(value, std::memory_order_relaxed); }

std::shared_ptr<IoRing> IoRing::OfThread() {
  struct Slot {
    std::shared_ptr<IoRing> ring;
    uint64_t process = 0;  // that tried to make it
  };
  thread_local Slot slot;
  if (absent.load(std::memory_order_relaxed) || !permitted.load(std::memory_order_relaxed) || ThreadsAreScarce()) {
    return nullptr;
  }
  // A child process must not touch the rings that it shares with its parent.
  const uint64_t process = CurrentProcess();
  if (slot.process != process) {
    slot.process = process;
    slot.ring = Create();
  } else if (slot.ring != nullptr) {
    MutexLock lock(&slot.ring->mu_);
    if (slot.ring->broken_) return nullptr;
  }
  return slot.ring;
}

std::shared_ptr<IoRing> IoRing::Create() {
  std::shared_ptr<IoRing> ring(new IoRing);
  MutexLock lock(&ring->mu_);
  MutexLock mapping(&MappingMutex());
  struct io_uring_params params = {};
  // Completions need not interrupt the thread: it asks for them.
  params.flags = IORING_SETUP_COOP_TASKRUN;
  int r = io_uring_queue_init_params(kEntries, &ring->ring_, &params);
  if (r == -EINVAL) {
    params = {};
    r = io_uring_queue_init_params(kEntries, &ring->ring_, &params);
  }
  ring->broken_ = r < 0;
  if (r == -ENOSYS || r == -EPERM || r == -EACCES || r == -EINVAL) absent.store(true);
  if (r < 0) return nullptr;
  // The plain read and write operations came with this feature.
  if ((params.features & IORING_FEAT_RW_CUR_POS) == 0) {
    io_uring_queue_exit(&ring->ring_);
    ring->broken_ = true;
    absent.store(true);
    return nullptr;
  }
  return ring;
}

IoRing::~IoRing() {
  if (process_.Inherited()) return;
  MutexLock lock(&mu_);
  MutexLock mapping(&MappingMutex());
  if (!broken_) io_uring_queue_exit(&ring_);
}

void IoRing::Queue(RingTransfer* transfer) {
  MutexLock lock(&mu_);
  ++*transfer->outstanding;
  if (broken_) return Finish(transfer, ECANCELED);
  queued_.push_back(transfer);
}

void IoRing::Submit() {
  MutexLock lock(&mu_);
  if (!queued_.empty() || !prepared_.empty()) Enter(0);
  Reap();
}

void IoRing::Wait(const size_t* outstanding) {
  MutexLock lock(&mu_);
  Reap();
  while (*outstanding > 0) {
    Enter(static_cast<unsigned>(*outstanding));
    Reap();
  }
}

void IoRing::Begin(RingTransfer* transfer) {
  struct io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  char* const buffer = transfer->buffer + transfer->done;
  const auto length =
      static_cast<unsigned>(std::min(transfer->length - transfer->done, kMaxLength));
  const uint64_t offset = transfer->offset + transfer->done;
  if (transfer->write) {
    io_uring_prep_write(sqe, transfer->fd, buffer, length, offset);
  } else {
    io_uring_prep_read(sqe, transfer->fd, buffer, length, offset);
  }
  io_uring_sqe_set_data(sqe, transfer);
  prepared_.push_back(transfer);
}

void IoRing::Enter(unsigned wait_for) {
  if (broken_) return;  // no completion will come
  while (!queued_.empty() && io_uring_sq_space_left(&ring_) > 0 &&
         prepared_.size() + flight_.size() < kMaxInFlight) {
    Begin(queued_.front());
    queued_.pop_front();
  }
  wait_for = std::min<unsigned>(wait_for, static_cast<unsigned>(prepared_.size() + flight_.size()));
  const int r = io_uring_submit_and_wait(&ring_, wait_for);
  if (r >= 0) {
    for (int i = 0; i < r && !prepared_.empty(); ++i) {
      RingTransfer* const transfer = prepared_.front();
      prepared_.pop_front();
      transfer->place = static_cast<uint32_t>(flight_.size());
      flight_.push_back(transfer);
    }
    return;
  }
  if (r == -EINTR) return;
  // The kernel lacks room for requests or completions: running ones will make room.
  const bool busy = r == -EAGAIN || r == -EBUSY || r == -ENOMEM;
  if (!busy) return GiveUp(/*also_in_flight=*/true);
  if (flight_.empty()) return GiveUp(/*also_in_flight=*/false);
  struct io_uring_cqe* cqe = nullptr;
  const int waited = io_uring_wait_cqe(&ring_, &cqe);
  if (waited < 0 && waited != -EINTR && waited != -EAGAIN) GiveUp(/*also_in_flight=*/true);
}

void IoRing::Reap() {
  if (broken_) return;
  struct io_uring_cqe* cqe = nullptr;
  while (!broken_ && io_uring_peek_cqe(&ring_, &cqe) == 0 && cqe != nullptr) {
    auto* const transfer = static_cast<RingTransfer*>(io_uring_cqe_get_data(cqe));
    const int result = cqe->res;
    io_uring_cqe_seen(&ring_, cqe);
    Complete(transfer, result);
  }
}

void IoRing::Complete(RingTransfer* transfer, int result) {
  flight_[transfer->place] = flight_.back();
  flight_[transfer->place]->place = transfer->place;
  flight_.pop_back();
  if (result > 0) {
    transfer->done += static_cast<size_t>(result);
    const bool ended = !transfer->write && (transfer->done & (transfer->grid - 1)) != 0;
    if (transfer->done < transfer->length && !ended) {
      queued_.push_back(transfer);  // short: continue behind it
      return;
    }
  } else if ((result == -EINTR || result == -EAGAIN) && ++transfer->retries < kMaxRetries) {
    queued_.push_back(transfer);
    return;
  }
  Finish(transfer, result < 0 ? -result : 0);
}

void IoRing::Finish(RingTransfer* transfer, int error) {
  transfer->error = error;
  --*transfer->outstanding;
}

// The ring cannot be used any longer. Transfers that the kernel never took fail
// at once. Those in flight fail only if waiting is impossible because the
// descriptor is closed, which ends them.
void IoRing::GiveUp(bool also_in_flight) {
  while (!also_in_flight && !flight_.empty()) {
    struct io_uring_cqe* cqe = nullptr;
    const int r = io_uring_wait_cqe(&ring_, &cqe);
    if (r == 0) {
      Reap();
    } else if (r != -EINTR && r != -EAGAIN) {
      also_in_flight = true;
    }
  }
  io_uring_queue_exit(&ring_);
  broken_ = true;
  for (auto* list : {&queued_, &prepared_}) {
    for (RingTransfer* transfer : *list) Finish(transfer, ECANCELED);
    list->clear();
  }
  for (RingTransfer* transfer : flight_) Finish(transfer, ECANCELED);
  flight_.clear();
}

}  // namespace compassdb
