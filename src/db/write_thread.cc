// SPDX-License-Identifier: Apache-2.0
#include "db/write_thread.h"

#include <algorithm>
#include <thread>

namespace compassdb {
namespace {

// How often a waiting writer looks before it goes to sleep. A sleep and a wake
// cost about as much as a small group's whole work.
constexpr int kSpins = 200;

inline void CpuRelax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

WriteThread::State WriteThread::Await(Writer* w, State not_this) {
  for (int i = 0; i < kSpins; ++i) {
    const State state = w->state.load(std::memory_order_acquire);
    if (state != not_this) return state;
    CpuRelax();
  }
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
// on its thread may destroy it. One that sleeps needs our mutex to get away.
void WriteThread::Wake(Writer* w, State state) {
  CondVar* wake = w->blocked ? w->wake : nullptr;
  w->state.store(state, std::memory_order_release);
  if (wake != nullptr) wake->Signal();
}

WriteThread::State WriteThread::Join(Writer* w) {
  {
    MutexLock lock(&mu_);
    if (stalled_ && w->no_slowdown) {
      w->status = Status::Incomplete("Write stall");
      return State::kDone;
    }
    queue_.push_back(w);
    if (queue_.front() == w) {
      w->state.store(State::kLeader, std::memory_order_relaxed);
      return State::kLeader;
    }
  }
  return Await(w, State::kWaiting);
}

std::vector<WriteThread::Writer*> WriteThread::BuildGroup(Writer* leader) {
  // A small leader is not made to wait for a large group.
  const size_t small = max_group_bytes_ / 8;
  const size_t limit = leader->bytes <= small ? leader->bytes + small : max_group_bytes_;
  std::vector<Writer*> group{leader};
  size_t bytes = leader->bytes;
  if (leader->check != nullptr) return group;
  MutexLock lock(&mu_);
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
  for (int i = 0; i < kSpins; ++i) {
    if (running->load(std::memory_order_acquire) == 0) return;
    CpuRelax();
  }
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

void WriteThread::ExitGroup(const std::vector<Writer*>& group) {
  MutexLock lock(&mu_);
  for (size_t i = 0; i < group.size(); ++i) queue_.pop_front();
  for (size_t i = 1; i < group.size(); ++i) Wake(group[i], State::kDone);
  if (!queue_.empty()) Wake(queue_.front(), State::kLeader);
}

void WriteThread::EnterExclusive(Writer* w) {
  w->exclusive = true;
  Join(w);
}

void WriteThread::ExitExclusive(Writer* w) { ExitGroup({w}); }

void WriteThread::BeginStall() {
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
}

void WriteThread::EndStall() {
  MutexLock lock(&mu_);
  stalled_ = false;
}

}  // namespace compassdb
