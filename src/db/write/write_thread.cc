// SPDX-License-Identifier: Apache-2.0
#include "db/write/write_thread.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace compassdb {
namespace {

// How often a waiting writer checks its state before it yields, and then sleeps. A sleep and a wake
// cost more than a small group's whole work.
constexpr int kSpins = 200;
constexpr int kMaxSlowYields = 3;
// One failure costs the credit of this number of successes.
constexpr int kFailedYield = 4;
constexpr int kMaxCredit = 64;
// One in this number of waits without credit tries nevertheless.
constexpr uint32_t kSample = 256;

uint64_t Now() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

inline void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void WriteThread::CheckInvariants() const {
  if constexpr (!kChecked) return;
  mu_.AssertHeld();
  for (const Writer* w : queue_) {
    const State state = w->state.load(std::memory_order_relaxed);
    COMPASSDB_INVARIANT((w == queue_.front()) == (state == State::kLeader), "the writer at the front leads, no other");
    COMPASSDB_INVARIANT(state != State::kDone, "a writer that is done has left the queue");
    COMPASSDB_INVARIANT(state != State::kInsert || w->leader == queue_.front(), "an inserter follows the leader");
    COMPASSDB_INVARIANT(w->blocked == (w->wake != nullptr), "a writer that sleeps can be woken");
    COMPASSDB_INVARIANT(!stalled_ || w == queue_.front() || w->exclusive || !w->no_slowdown,
                        "a write without slowdown does not wait for a stall");
  }
}

template <typename Done>
bool WriteThread::AwaitYielding(const Done& done) const {
  uint64_t now = Now();
  const uint64_t end = now + options_.max_yield_nanos;
  for (int slow = 0; now < end && slow < kMaxSlowYields;) {
    std::this_thread::yield();
    if (done()) return true;
    const uint64_t then = std::exchange(now, Now());
    if (now - then >= options_.slow_yield_nanos) ++slow;
  }
  return false;
}

template <typename Done>
bool WriteThread::AwaitAwake(const Done& done) {
  for (int i = 0; i < kSpins; ++i) {
    if (done()) return true;
    CpuRelax();
  }
  if (options_.max_yield_nanos == 0) return false;
  thread_local uint32_t waits = 0;
  const int credit = yield_credit_.load(std::memory_order_relaxed);
  if (credit < 0 && ++waits % kSample != 0) return false;
  const bool paid = AwaitYielding(done);
  yield_credit_.store(std::clamp(credit + (paid ? 1 : -kFailedYield), -kMaxCredit, kMaxCredit),
                      std::memory_order_relaxed);
  return paid;
}

WriteThread::State WriteThread::Await(Writer* w, State not_this) {
  const auto done = [&] { return w->state.load(std::memory_order_acquire) != not_this; };
  if (AwaitAwake(done)) return w->state.load(std::memory_order_acquire);
  MutexLock lock(&mu_);
  CondVar wake(&mu_);
  w->wake = &wake;
  w->blocked = true;
  while (w->state.load(std::memory_order_acquire) == not_this) wake.Wait();
  w->blocked = false;
  w->wake = nullptr;
  return w->state.load(std::memory_order_acquire);
}

// The store of the state is the last access to a writer that spins: from then
// on its thread may destroy it. A sleeping one needs the mutex to return.
void WriteThread::Wake(Writer* w, State state) {
  CondVar* wake = w->blocked ? w->wake : nullptr;
  w->state.store(state, std::memory_order_release);
  if (wake != nullptr) wake->Signal();
}

WriteThread::State WriteThread::Join(Writer* w) {
  const State state = Queue(w);
  if (state == State::kLeader) front_.Set();
  return state;
}

WriteThread::State WriteThread::Queue(Writer* w) {
  {
    MutexLock lock(&mu_);
    if (stalled_ && w->no_slowdown) {
      w->status = Status::Incomplete("Write stall");
      return State::kDone;
    }
    queue_.push_back(w);
    const bool leads = queue_.front() == w;
    if (leads) w->state.store(State::kLeader, std::memory_order_relaxed);
    CheckInvariants();
    if (leads) return State::kLeader;
  }
  return Await(w, State::kWaiting);
}

std::vector<WriteThread::Writer*> WriteThread::BuildGroup(Writer* leader) {
  AssertAtFront();
  // A small leader does not wait for a large group.
  const size_t small = options_.max_group_bytes / 8;
  const size_t limit = leader->bytes <= small ? leader->bytes + small : options_.max_group_bytes;
  std::vector<Writer*> group{leader};
  size_t bytes = leader->bytes;
  if (leader->check != nullptr) return group;
  MutexLock lock(&mu_);
  COMPASSDB_INVARIANT(leader == queue_.front(), "the writer at the front builds the group");
  for (auto it = std::next(queue_.begin()); it != queue_.end(); ++it) {
    Writer* w = *it;
    if (w->exclusive || w->check != nullptr || w->disable_wal != leader->disable_wal ||
        w->no_slowdown != leader->no_slowdown || w->low_pri != leader->low_pri ||
        (w->sync && !leader->sync) || bytes + w->bytes > limit) {
      break;
    }
    bytes += w->bytes;
    group.push_back(w);
  }
  return group;
}

void WriteThread::StartParallelInsert(const std::vector<Writer*>& group,
                                      std::atomic<int>* running) {
  AssertAtFront();
  running->store(static_cast<int>(group.size()), std::memory_order_relaxed);
  MutexLock lock(&mu_);
  for (Writer* w : group) {
    w->running = running;
    w->leader = group.front();
    if (w != group.front()) Wake(w, State::kInsert);
  }
}

void WriteThread::AwaitInserts(Writer* leader, std::atomic<int>* running) {
  if (running->fetch_sub(1, std::memory_order_acq_rel) == 1) return;
  if (AwaitAwake([&] { return running->load(std::memory_order_acquire) == 0; })) return;
  MutexLock lock(&mu_);
  CondVar wake(&mu_);
  leader->wake = &wake;
  leader->blocked = true;
  while (running->load(std::memory_order_acquire) != 0) wake.Wait();
  leader->blocked = false;
  leader->wake = nullptr;
}

void WriteThread::CompleteInsert(Writer* w) {
  {
    // Under the mutex: the leader's group may not end while it is touched here.
    MutexLock lock(&mu_);
    Writer* leader = w->leader;
    if (w->running->fetch_sub(1, std::memory_order_acq_rel) == 1 && leader->blocked) {
      leader->wake->Signal();
    }
  }
  Await(w, State::kInsert);
}

void WriteThread::ExitGroup(std::span<Writer* const> group) {
  MutexLock lock(&mu_);
  COMPASSDB_INVARIANT(group.size() <= queue_.size() && std::equal(group.begin(), group.end(), queue_.begin()),
                      "a group is the front of the queue");
  front_.Clear();
  for (size_t i = 0; i < group.size(); ++i) queue_.pop_front();
  for (size_t i = 1; i < group.size(); ++i) Wake(group[i], State::kDone);
  if (!queue_.empty()) Wake(queue_.front(), State::kLeader);
  CheckInvariants();
}

void WriteThread::EnterExclusive(Writer* w) {
  w->exclusive = true;
  Join(w);
}

void WriteThread::ExitExclusive(Writer* w) { ExitGroup({&w, 1}); }

void WriteThread::BeginStall() {
  AssertAtFront();
  MutexLock lock(&mu_);
  stalled_ = true;
  for (auto it = std::next(queue_.begin()); it != queue_.end();) {
    Writer* w = *it;
    if (!w->no_slowdown || w->exclusive) {
      ++it;
      continue;
    }
    it = queue_.erase(it);
    w->status = Status::Incomplete("Write stall");
    Wake(w, State::kDone);
  }
  CheckInvariants();
}

void WriteThread::EndStall() {
  AssertAtFront();
  MutexLock lock(&mu_);
  stalled_ = false;
}

}  // namespace compassdb
