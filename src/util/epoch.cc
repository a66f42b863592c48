// SPDX-License-Identifier: Apache-2.0
#include "util/epoch.h"

#include <algorithm>

#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

namespace {

struct alignas(64) PaddedSlot {
  std::atomic<uint64_t> epoch{0};
  PaddedSlot* next = nullptr;  // of all slots ever made; never changes once published
  bool taken = true;           // by a living thread; guarded by SlotMutex()
};

// Slots are never freed: threads that end leave theirs to threads that begin.
std::atomic<PaddedSlot*> all_slots{nullptr};

Mutex& SlotMutex() {
  static auto* const mu = RenewedInChildren(new Mutex);  // outlives the threads
  return *mu;
}

PaddedSlot* TakeSlot() {
  MutexLock lock(&SlotMutex());
  for (PaddedSlot* s = all_slots.load(std::memory_order_relaxed); s != nullptr; s = s->next) {
    if (!s->taken) {
      s->taken = true;
      return s;
    }
  }
  auto* const slot = new PaddedSlot;
  slot->next = all_slots.load(std::memory_order_relaxed);
  all_slots.store(slot, std::memory_order_seq_cst);
  return slot;
}

}  // namespace

std::atomic<uint64_t> EpochGuard::global_{1};
constinit thread_local EpochGuard::Slot* EpochGuard::mine_ = nullptr;

void EpochGuard::ForgetOtherThreads(void*) {
  for (PaddedSlot* s = all_slots.load(std::memory_order_relaxed); s != nullptr; s = s->next) {
    if (&s->epoch == mine_) continue;
    s->epoch.store(0, std::memory_order_relaxed);
    s->taken = false;
  }
}

EpochGuard::Slot* EpochGuard::Register() {
  static const auto* const forks =
      new AtForks(nullptr, ForkCalls{.in_child = &EpochGuard::ForgetOtherThreads});
  (void)forks;
  // Releases the slot when the thread ends.
  struct Owner {
    PaddedSlot* const slot = TakeSlot();
    bool* const gone;
    explicit Owner(bool* g) : gone(g) {}
    ~Owner() {
      mine_ = nullptr;
      *gone = true;
      MutexLock lock(&SlotMutex());
      slot->taken = false;
    }
  };
  static constinit thread_local bool gone = false;
  // A guard in the destructor of a thread-local object, after this one's: that slot stays taken.
  if (gone) return mine_ = &TakeSlot()->epoch;
  static thread_local Owner owner(&gone);
  return mine_ = &owner.slot->epoch;
}

uint64_t EpochGuard::Oldest() {
  uint64_t oldest = UINT64_MAX;
  for (const PaddedSlot* s = all_slots.load(std::memory_order_seq_cst); s != nullptr; s = s->next) {
    const uint64_t epoch = s->epoch.load(std::memory_order_seq_cst);
    if (epoch != 0) oldest = std::min(oldest, epoch);
  }
  return oldest;
}

RetireList::~RetireList() { Free(objects_); }

void RetireList::Add(void* object, FreeFn free, size_t bytes) {
  const uint64_t stamp = EpochGuard::global_.fetch_add(1, std::memory_order_seq_cst);
  objects_.push_back({object, free, bytes, stamp});
  bytes_ += bytes;
}

void RetireList::Collect(std::vector<Object>* due) {
  if (objects_.empty()) return;
  const uint64_t oldest = EpochGuard::Oldest();
  auto end = objects_.begin();
  for (; end != objects_.end() && end->stamp < oldest; ++end) bytes_ -= end->bytes;
  due->insert(due->end(), objects_.begin(), end);
  objects_.erase(objects_.begin(), end);
}

// Made when the program is loaded, so that no fork happens while Register runs.
[[maybe_unused]] static const bool guard_made_early = [] {
  const EpochGuard guard;
  return true;
}();

}  // namespace compassdb
