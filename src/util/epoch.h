// SPDX-License-Identifier: Apache-2.0
// Epoch-based reclamation: memory that readers reach without a lock and
// without a reference is freed only when no reader can still use it.
//
//   reader:  { EpochGuard guard; p = shared.load(seq_cst); ... use *p ... }
//   writer:  shared.store(other, seq_cst); retired.Add(p, &Free);
//
// A guard costs one store to memory that only its thread writes. An object found
// under a guard is valid until the guard ends, no longer.
//
// Thread safety: guards are free of locks. The owner of a RetireList guards it
// with a lock.
// Invariants:
//  - An object is unlinked (by a sequentially consistent store) before it is
//    added, and readers load the links sequentially consistently. So a guard
//    which Collect does not see can no longer reach the object.
//  - An object stamped s is freed only when every running guard began with an
//    epoch above s. A guard that began with a stale epoch only delays that.
// Guards nest; they should be short: no I/O and no waiting within one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/checked.h"

namespace compassdb {

class EpochGuard {
 public:
  EpochGuard() : slot_(ThreadSlot()), outermost_(slot_->load(std::memory_order_relaxed) == 0) {
    if (outermost_) {
      slot_->store(global_.load(std::memory_order_acquire), std::memory_order_seq_cst);
    }
  }
  ~EpochGuard() {
    if (outermost_) slot_->store(0, std::memory_order_release);
  }
  // Checked: the thread has none. Called before I/O.
  static void AssertNone() {
    COMPASSDB_INVARIANT(mine_ == nullptr || mine_->load(std::memory_order_relaxed) == 0, "no I/O under an epoch guard");
  }

  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  friend class RetireList;
  using Slot = std::atomic<uint64_t>;  // the epoch of the thread's outermost guard; 0: none

  static Slot* ThreadSlot() {
    Slot* slot = mine_;
    return slot != nullptr ? slot : Register();
  }
  static Slot* Register();
  // The least epoch among running guards; UINT64_MAX if there are none.
  static uint64_t Oldest();

  // In a child of fork(): guards of threads that it does not have.
  static void ForgetOtherThreads(void*);

  static std::atomic<uint64_t> global_;
  static constinit thread_local Slot* mine_;

  Slot* const slot_;
  const bool outermost_;
};

class RetireList {
 public:
  using FreeFn = void (*)(void*);

  RetireList() = default;
  // The owner is being destroyed: there may be no reader.
  ~RetireList();
  RetireList(const RetireList&) = delete;
  RetireList& operator=(const RetireList&) = delete;

  // Memory for the next Add, which then needs none.
  void Reserve() { objects_.reserve(objects_.size() + 1); }
  // `object` has been unlinked; free(object) is called once it has no readers.
  void Add(void* object, FreeFn free, size_t bytes);
  // Pending objects and bytes.
  size_t count() const { return objects_.size(); }
  size_t bytes() const { return bytes_; }

  struct Object {
    void* object;
    FreeFn free;
    size_t bytes;
    uint64_t stamp;
  };
  // Removes objects that no reader can reach. The caller frees them,
  // with or without its lock.
  void Collect(std::vector<Object>* due);
  static void Free(const std::vector<Object>& due) {
    for (const Object& o : due) o.free(o.object);
  }

 private:
  std::vector<Object> objects_;  // stamps ascend
  size_t bytes_ = 0;
};

}  // namespace compassdb
