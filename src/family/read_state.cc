// SPDX-License-Identifier: Apache-2.0
#include "family/read_state.h"

namespace compassdb {

size_t ReadStateHolder::ThreadSlot() {
  static std::atomic<size_t> next{0};
  static thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed) % kSlots;
  return mine;
}

ReadStateHolder::~ReadStateHolder() {
  for (Slot& slot : slots_) {
    if (ReadState* state = slot.state.exchange(nullptr)) state->Unref();
  }
  ReadState* current = nullptr;
  {
    MutexLock lock(&mu_);
    std::swap(current, current_);
  }
  if (current != nullptr) current->Unref();
}

void ReadStateHolder::Install(ReadState* state, std::vector<ReadState*>* garbage) {
  {
    MutexLock lock(&mu_);
    state->number = number_.load(std::memory_order_relaxed) + 1;
    if (current_ != nullptr) garbage->push_back(current_);
    current_ = state;
    number_.store(state->number, std::memory_order_seq_cst);
  }
  for (Slot& slot : slots_) {
    if (ReadState* parked = slot.state.exchange(nullptr, std::memory_order_seq_cst)) {
      garbage->push_back(parked);
    }
  }
}

ReadState* ReadStateHolder::Take() {
  Slot& slot = slots_[ThreadSlot()];
  ReadState* state = slot.state.exchange(nullptr, std::memory_order_acquire);
  if (state != nullptr) {
    if (state->number == number_.load(std::memory_order_acquire)) return state;
    Release(state);
  }
  return Acquire();
}

void ReadStateHolder::Return(ReadState* state) {
  // After parking, this thread has no reference: the state may be destroyed at any time.
  const uint64_t number = state->number;
  if (number == number_.load(std::memory_order_acquire)) {
    Slot& slot = slots_[ThreadSlot()];
    ReadState* expected = nullptr;
    if (slot.state.compare_exchange_strong(expected, state, std::memory_order_seq_cst)) {
      // An Install between the check and the parking has swept past this slot
      // already: take the reference out again (if the sweep did not).
      if (number == number_.load(std::memory_order_seq_cst)) return;
      expected = state;
      if (!slot.state.compare_exchange_strong(expected, nullptr, std::memory_order_seq_cst)) {
        return;
      }
    }
  }
  Release(state);
}

std::shared_ptr<const StoreView> ReadStateHolder::ViewOf(const ReadState& state) {
  return {state.view.get(), [this, number = state.number, view = state.view](const StoreView*) mutable {
            view.reset();
            if (number != number_.load(std::memory_order_acquire) && listener_ != nullptr) {
              listener_->StatesReleased();
            }
          }};
}

std::shared_ptr<const StoreView> ReadStateHolder::View() { return ViewOf(*ReadStatePin(this)); }

ReadState* ReadStateHolder::Acquire() {
  MutexLock lock(&mu_);
  current_->Ref();
  return current_;
}

}  // namespace compassdb
