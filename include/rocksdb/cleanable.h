// SPDX-License-Identifier: Apache-2.0
//
// A list of actions to run when an object is destroyed, and their transfer to another object.
// Iterators and pinned values hold blocks of the engine this way.
//
// Thread safety: none for Cleanable; SharedCleanablePtr counts references atomically, each instance
// itself belongs to one thread at a time.

#pragma once

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

class Cleanable {
 public:
  Cleanable() = default;
  // Runs the cleanups.
  ~Cleanable() { DoCleanup(); }

  Cleanable(Cleanable&) = delete;
  Cleanable& operator=(Cleanable&) = delete;

  // The cleanups move along; the source is left without any.
  Cleanable(Cleanable&&) noexcept;
  Cleanable& operator=(Cleanable&&) noexcept;

  using CleanupFunction = void (*)(void* arg1, void* arg2);

  // Adds an action. The first needs no allocation. The order in which several run is not specified.
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2);

  // Hands every action over to *other, which must not be null, and keeps none.
  void DelegateCleanupsTo(Cleanable* other);

  // Runs the cleanups now and forgets them.
  void Reset() {
    DoCleanup();
    cleanup_ = Cleanup();
  }

  bool HasCleanups() { return cleanup_.function != nullptr; }

 protected:
  struct Cleanup {
    CleanupFunction function = nullptr;  // null: the list is empty (head only)
    void* arg1 = nullptr;
    void* arg2 = nullptr;
    Cleanup* next = nullptr;
  };

  // Head of the list, stored in place; the others are on the heap.
  Cleanup cleanup_;

  // Takes ownership of a heap-allocated *c.
  void RegisterCleanup(Cleanup* c);

 private:
  void DoCleanup() {
    if (cleanup_.function != nullptr) RunCleanups();
  }
  void RunCleanups();
};

// A reference-counted Cleanable: its actions run with the release of the last reference. A holder may be
// another Cleanable, which is how one block is shared by several pinned values.
class SharedCleanablePtr {
 public:
  // Empty.
  SharedCleanablePtr() {}
  SharedCleanablePtr(const SharedCleanablePtr& from);
  SharedCleanablePtr(SharedCleanablePtr&& from) noexcept;
  SharedCleanablePtr& operator=(const SharedCleanablePtr& from);
  SharedCleanablePtr& operator=(SharedCleanablePtr&& from) noexcept;
  ~SharedCleanablePtr();

  // Lets go of the present one, if any, and makes a new one with a count of one.
  void Allocate();
  // Lets go; empty afterwards.
  void Reset();

  // REQUIRES for the first two: not empty. get() is null if empty.
  Cleanable& operator*();
  Cleanable* operator->();
  Cleanable* get();

  // Adds a cleanup to *target that holds one more reference. No effect if empty.
  void RegisterCopyWith(Cleanable* target);

  // The same with the reference of this object, which is empty afterwards.
  void MoveAsCleanupTo(Cleanable* target);

 private:
  struct Impl;
  Impl* ptr_ = nullptr;
};

}  // namespace ROCKSDB_NAMESPACE
