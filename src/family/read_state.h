// SPDX-License-Identifier: Apache-2.0
// What a reader of a column family works on: its memtables and the view of
// its store, bundled, immutable and reference counted.
//
// Pinning the current state takes no lock in the usual case: each thread parks
// one reference in one of 64 slots. A reader takes the reference out of its slot,
// checks that it is still the current state (a read-mostly number), works, and
// parks it again. More than 64 threads share slots. A reader that finds its slot
// empty takes a new reference under mu_.
//
// Thread safety: all of it. Invariants:
//  - A slot owns one reference to the state it holds. The thread that exchanges
//    a pointer out of a slot owns that reference.
//  - Install empties every slot, so that an old state is not kept alive by a
//    thread that never reads again. A reader under way at that moment drops
//    its reference when it finds its state outdated.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "memtable/memtable.h"
#include "store/store.h"
#include "util/mutex.h"

namespace compassdb {

struct ReadState {
  std::shared_ptr<MemTable> mem;
  std::vector<std::shared_ptr<MemTable>> immutables;  // newest first
  std::shared_ptr<const StoreView> view;
  uint64_t number = 0;

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  // The last one destroys the state, and with it perhaps the last view: may free extents
  // and memtables, so never with a lock held that those need. Returns whether it was the last.
  bool Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    delete this;
    return true;
  }

 private:
  std::atomic<int> refs_{1};
};

// Is notified when the last reference to a state is released: files may be free then. Called without locks.
class ReleaseListener {
 public:
  virtual void StatesReleased() = 0;

 protected:
  ~ReleaseListener() = default;
};

class ReadStateHolder {
 public:
  ReadStateHolder() = default;
  ~ReadStateHolder();
  ReadStateHolder(const ReadStateHolder&) = delete;
  ReadStateHolder& operator=(const ReadStateHolder&) = delete;

  // Is notified when a reader releases an outdated state or view, perhaps the last reference. Set before the first
  // reader.
  void SetListener(ReleaseListener* listener) { listener_ = listener; }

  // Makes `state` current; takes ownership of its reference. Old references are
  // appended to `garbage`, to be released once the caller holds no lock.
  void Install(ReadState* state, std::vector<ReadState*>* garbage);
  // Before it: Install allocates nothing then.
  static void MakeRoom(std::vector<ReadState*>* garbage) {
    garbage->reserve(garbage->size() + kSlots + 1);
  }

  // Pins the current state without lock in the common case; Return gives it back.
  ReadState* Take();
  void Return(ReadState* state);

  // A reference of its own, for long uses (iterators): ends with Release.
  ReadState* Acquire();
  void Release(ReadState* state) {
    if (state->Unref() && listener_ != nullptr) listener_->StatesReleased();
  }

  // The view alone, without the memtables: for what takes long, or outlives a pin. The holder must outlive it.
  std::shared_ptr<const StoreView> ViewOf(const ReadState& state);
  std::shared_ptr<const StoreView> View();

  uint64_t number() const { return number_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kSlots = 64;
  struct alignas(64) Slot {
    std::atomic<ReadState*> state{nullptr};
  };
  static size_t ThreadSlot();

  std::atomic<uint64_t> number_{0};
  std::array<Slot, kSlots> slots_;
  Mutex mu_;  // a leaf lock
  ReadState* current_ GUARDED_BY(mu_) = nullptr;
  ReleaseListener* listener_ = nullptr;
};

// Pins for a scope.
class ReadStatePin {
 public:
  explicit ReadStatePin(ReadStateHolder* holder) : holder_(holder), state_(holder->Take()) {}
  ~ReadStatePin() { holder_->Return(state_); }
  ReadStatePin(const ReadStatePin&) = delete;
  ReadStatePin& operator=(const ReadStatePin&) = delete;
  const ReadState* operator->() const { return state_; }
  const ReadState& operator*() const { return *state_; }

 private:
  ReadStateHolder* const holder_;
  ReadState* const state_;
};

// Releases old states when it goes out of scope: declare it before the lock. The listener is notified if this
// was the last reference: the job that replaced the state may have looked for free files before that.
class ReadStateGarbage {
 public:
  explicit ReadStateGarbage(ReleaseListener* listener) : listener_(listener) {}
  ~ReadStateGarbage() { Release(); }
  ReadStateGarbage(const ReadStateGarbage&) = delete;
  ReadStateGarbage& operator=(const ReadStateGarbage&) = delete;
  std::vector<ReadState*>* list() { return &states_; }
  void Release() {
    bool last = false;
    for (ReadState* state : states_) last = state->Unref() || last;
    states_.clear();
    if (last) listener_->StatesReleased();
  }

 private:
  ReleaseListener* const listener_;
  std::vector<ReadState*> states_;
};

}  // namespace compassdb
