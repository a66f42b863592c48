// SPDX-License-Identifier: Apache-2.0
#include "util/process.h"

namespace compassdb {

namespace {

struct ForkHandler {
  void (*in_child)(void* object);
  void* object;
  ForkHandler* next;
};
struct KeptMemory {
  void* memory;
  KeptMemory* next;
};

template <class Node>
void PushFront(std::atomic<Node*>* list, Node* node) {
  node->next = list->load(std::memory_order_relaxed);
  while (!list->compare_exchange_weak(node->next, node, std::memory_order_acq_rel)) {
  }
}

constinit std::atomic<uint64_t> last_number{1};  // of this process and those it descends from
constinit std::atomic<uint64_t> unwatched_number{1};
constinit std::atomic<ForkHandler*> fork_handlers{nullptr};
constinit std::atomic<KeptMemory*> kept_memory{nullptr};

}  // namespace

constinit std::atomic<uint64_t>* process_internal::number = &unwatched_number;

uint64_t CurrentProcess() {
  const uint64_t number = process_internal::number->load(std::memory_order_relaxed);
  if (number != 0) return number;
  EnterChild();
  return process_internal::number->load(std::memory_order_relaxed);
}

rocksdb::Status InheritedStatus() {
  CurrentProcess();  // a child that ran no fork handlers gives up its parent's locks
  return rocksdb::Status::InvalidArgument(
      "opened before fork(): a child process cannot use what its parent has open",
      "open it in the child");
}

bool OnFork(void (*in_child)(void* object), void* object) {
  PushFront(&fork_handlers, new ForkHandler{in_child, object, nullptr});
  return true;
}

void EnterChild() {
  const uint64_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  process_internal::number->store(number, std::memory_order_relaxed);
  for (ForkHandler* h = fork_handlers.load(std::memory_order_acquire); h != nullptr; h = h->next) {
    h->in_child(h->object);
  }
}

void KeepProcessNumberIn(std::atomic<uint64_t>* place) {
  place->store(process_internal::number->load(std::memory_order_relaxed), std::memory_order_relaxed);
  process_internal::number = place;
}

void KeepInherited(void* memory) {
  PushFront(&kept_memory, new KeptMemory{memory, nullptr});
}

}  // namespace compassdb
