// SPDX-License-Identifier: Apache-2.0
// What a process inherits from its parent by fork(), and must leave alone.
//
// A child has a copy of the parent's memory and descriptors, but none of its threads. An object
// that writes files, takes locks or waits for threads belongs to the process that made it. It
// has a ProcessMark, its methods return InheritedStatus() in a child, and `delete` does nothing
// there (COMPASSDB_DELETED_BY_ITS_PROCESS). AtForks makes objects that databases share usable for
// databases of the child.
//
// The number of the present process is in memory that the kernel wipes at a fork
// (env/fork_watch.cc), so a child that ran no fork handlers is also noticed.
//
// Thread safety: all of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "rocksdb/status.h"

namespace compassdb {

namespace process_internal {
// Points to the present process's number; 0: a child that has not been noticed yet.
extern constinit std::atomic<uint64_t>* number;
}  // namespace process_internal

// Never 0, and differs from those of the processes that this one descends from.
uint64_t CurrentProcess();

class ProcessMark {
 public:
  ProcessMark() : made_in_(CurrentProcess()) {}
  // Another process created the mark.
  bool Inherited() const {
    return process_internal::number->load(std::memory_order_relaxed) != made_in_;
  }

 private:
  const uint64_t made_in_;
};

// The result of a method of an inherited object.
rocksdb::Status InheritedStatus();

// Called around each fork, by the thread that forks. Null: nothing.
struct ForkCalls {
  // Takes leaf locks, so that the data that they guard is whole in the child.
  void (*before)(void* object) = nullptr;
  void (*in_parent)(void* object) = nullptr;
  // Locks are renewed, not released: a child that runs no fork handlers did not take them.
  void (*in_child)(void* object) = nullptr;
};

class AtForks {
 public:
  AtForks(void* object, ForkCalls calls);
  ~AtForks();
  AtForks(const AtForks&) = delete;
  AtForks& operator=(const AtForks&) = delete;

 private:
  friend void BeforeFork();
  friend void AfterForkInParent();
  friend void EnterChild();
  void* const object_;
  const ForkCalls calls_;
  AtForks* next_;
  AtForks* previous_ = nullptr;
};

// For the system's fork handlers (env/fork_watch.cc).
void BeforeFork();
void AfterForkInParent();
void EnterChild();
// Sets the address of the number.
void KeepProcessNumberIn(std::atomic<uint64_t>* place);

// Memory that a child never frees. Leak checkers find it.
void KeepInherited(void* memory);

// A new T in the place of an inherited one, which is not destroyed.
template <class T>
void RenewInherited(T* object) {
  void* const was = ::operator new(sizeof(T));
  memcpy(was, static_cast<const void*>(object), sizeof(T));
  KeepInherited(was);
  new (object) T();
}

// Each child begins with a new one in the place of `object`, which is never destroyed.
template <class T>
T* RenewedInChildren(T* object) {
  ForkCalls calls;
  calls.in_child = [](void* inherited) { RenewInherited(static_cast<T*>(inherited)); };
  new AtForks(object, calls);
  return object;
}

template <class T>
void DeleteInItsProcess(T* object, const ProcessMark& mark) {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  if (mark.Inherited()) return KeepInherited(object);
  object->~T();
  ::operator delete(object);
}

// In the public part of a final class with a virtual destructor: `delete` of an inherited object
// does nothing. `mark` is a member, or an expression of members.
#define COMPASSDB_DELETED_BY_ITS_PROCESS(Class, mark)                    \
  static void operator delete(Class* object, std::destroying_delete_t) { \
    compassdb::DeleteInItsProcess(object, object->mark);                 \
  }                                                                      \
  /* for a constructor that throws */                                    \
  static void operator delete(void* memory) { ::operator delete(memory); }

}  // namespace compassdb
