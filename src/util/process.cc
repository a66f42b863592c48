// SPDX-License-Identifier: Apache-2.0
#include "util/process.h"

#include "util/mutex.h"

namespace compassdb {

namespace {

struct KeptMemory {
  void* memory;
  KeptMemory* next;
};

constinit std::atomic<uint64_t> last_number{1};  // of this process and its ancestors
constinit std::atomic<uint64_t> unwatched_number{1};
constinit std::atomic<KeptMemory*> kept_memory{nullptr};

// Held while the process forks.
Mutex* ListMutex() {
  static auto* const mu = new Mutex;
  return mu;
}
constinit AtForks* first GUARDED_BY(ListMutex()) = nullptr;

}  // namespace

constinit std::atomic<uint64_t>* process_internal::number = &unwatched_number;

uint64_t CurrentProcess() {
  const uint64_t number = process_internal::number->load(std::memory_order_relaxed);
  if (number != 0) return number;
  EnterChild();
  return process_internal::number->load(std::memory_order_relaxed);
}

rocksdb::Status InheritedStatus() {
  CurrentProcess();  // a child that ran no fork handlers releases its parent's locks
  return rocksdb::Status::InvalidArgument(
      "opened before fork(): a child process cannot use what its parent has open",
      "open it in the child");
}

AtForks::AtForks(void* object, ForkCalls calls) : object_(object), calls_(calls) {
  MutexLock lock(ListMutex());
  next_ = first;
  if (next_ != nullptr) next_->previous_ = this;
  first = this;
}

AtForks::~AtForks() {
  MutexLock lock(ListMutex());
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : first) = next_;
}

void BeforeFork() NO_THREAD_SAFETY_ANALYSIS {
  ListMutex()->Lock();
  for (const AtForks* f = first; f != nullptr; f = f->next_) {
    if (f->calls_.before != nullptr) f->calls_.before(f->object_);
  }
}

void AfterForkInParent() NO_THREAD_SAFETY_ANALYSIS {
  for (const AtForks* f = first; f != nullptr; f = f->next_) {
    if (f->calls_.in_parent != nullptr) f->calls_.in_parent(f->object_);
  }
  ListMutex()->Unlock();
}

void EnterChild() NO_THREAD_SAFETY_ANALYSIS {
  const uint64_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  process_internal::number->store(number, std::memory_order_relaxed);
  RenewInherited(ListMutex());
  for (const AtForks* f = first; f != nullptr; f = f->next_) {
    if (f->calls_.in_child != nullptr) f->calls_.in_child(f->object_);
  }
}

void KeepProcessNumberIn(std::atomic<uint64_t>* place) {
  place->store(process_internal::number->load(std::memory_order_relaxed), std::memory_order_relaxed);
  process_internal::number = place;
}

void KeepInherited(void* memory) {
  auto* const kept = new KeptMemory{memory, kept_memory.load(std::memory_order_relaxed)};
  while (!kept_memory.compare_exchange_weak(kept->next, kept, std::memory_order_acq_rel)) {
  }
}

}  // namespace compassdb
