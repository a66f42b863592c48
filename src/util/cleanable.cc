// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/cleanable.h"

#include <atomic>
#include <cassert>
#include <utility>

namespace ROCKSDB_NAMESPACE {

Cleanable::Cleanable(Cleanable&& other) noexcept : cleanup_(other.cleanup_) {
  other.cleanup_ = Cleanup();
}

Cleanable& Cleanable::operator=(Cleanable&& other) noexcept {
  if (this != &other) {
    DoCleanup();
    cleanup_ = std::exchange(other.cleanup_, Cleanup());
  }
  return *this;
}

void Cleanable::RunCleanups() {
  cleanup_.function(cleanup_.arg1, cleanup_.arg2);
  for (Cleanup* c = cleanup_.next; c != nullptr;) {
    c->function(c->arg1, c->arg2);
    delete std::exchange(c, c->next);
  }
}

void Cleanable::RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
  assert(function != nullptr);
  if (cleanup_.function == nullptr) {
    cleanup_.function = function;
    cleanup_.arg1 = arg1;
    cleanup_.arg2 = arg2;
  } else {
    cleanup_.next = new Cleanup{function, arg1, arg2, cleanup_.next};
  }
}

void Cleanable::RegisterCleanup(Cleanup* c) {
  if (cleanup_.function == nullptr) {
    cleanup_ = *c;
    cleanup_.next = nullptr;
    delete c;
  } else {
    c->next = cleanup_.next;
    cleanup_.next = c;
  }
}

void Cleanable::DelegateCleanupsTo(Cleanable* other) {
  assert(other != nullptr && other != this);
  if (cleanup_.function == nullptr) return;
  if (other->cleanup_.function == nullptr) {
    other->cleanup_ = cleanup_;
  } else {
    other->RegisterCleanup(cleanup_.function, cleanup_.arg1, cleanup_.arg2);
    for (Cleanup* c = cleanup_.next; c != nullptr;) {
      Cleanup* next = c->next;
      other->RegisterCleanup(c);
      c = next;
    }
  }
  cleanup_ = Cleanup();
}

struct SharedCleanablePtr::Impl : public Cleanable {
  std::atomic<unsigned> references{1};

  static void Unref(void* impl, void* /*unused*/) { static_cast<Impl*>(impl)->Unref(); }
  void Ref() { references.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

SharedCleanablePtr::SharedCleanablePtr(const SharedCleanablePtr& from) : ptr_(from.ptr_) {
  if (ptr_ != nullptr) ptr_->Ref();
}

SharedCleanablePtr::SharedCleanablePtr(SharedCleanablePtr&& from) noexcept
    : ptr_(std::exchange(from.ptr_, nullptr)) {}

SharedCleanablePtr& SharedCleanablePtr::operator=(const SharedCleanablePtr& from) {
  return *this = SharedCleanablePtr(from);
}

SharedCleanablePtr& SharedCleanablePtr::operator=(SharedCleanablePtr&& from) noexcept {
  if (this != &from) {
    Reset();
    ptr_ = std::exchange(from.ptr_, nullptr);
  }
  return *this;
}

SharedCleanablePtr::~SharedCleanablePtr() { Reset(); }

void SharedCleanablePtr::Allocate() {
  Reset();
  ptr_ = new Impl();
}

void SharedCleanablePtr::Reset() {
  if (ptr_ != nullptr) std::exchange(ptr_, nullptr)->Unref();
}

Cleanable& SharedCleanablePtr::operator*() {
  assert(ptr_ != nullptr);
  return *ptr_;
}

Cleanable* SharedCleanablePtr::operator->() {
  assert(ptr_ != nullptr);
  return ptr_;
}

Cleanable* SharedCleanablePtr::get() { return ptr_; }

void SharedCleanablePtr::RegisterCopyWith(Cleanable* target) {
  if (ptr_ == nullptr) return;
  ptr_->Ref();
  target->RegisterCleanup(&Impl::Unref, ptr_, nullptr);
}

void SharedCleanablePtr::MoveAsCleanupTo(Cleanable* target) {
  if (ptr_ == nullptr) return;
  target->RegisterCleanup(&Impl::Unref, std::exchange(ptr_, nullptr), nullptr);
}

}  // namespace ROCKSDB_NAMESPACE
