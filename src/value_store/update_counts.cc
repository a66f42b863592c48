// SPDX-License-Identifier: Apache-2.0
#include "value_store/update_counts.h"

#include <algorithm>
#include <array>
#include <bit>

namespace compassdb {

UpdateCounts::~UpdateCounts() {
  Table* const table = current_.load();
  if (table != nullptr && charge_ != nullptr) charge_->Subtract(table->counts.size());
  delete table;
}

std::unique_ptr<UpdateCounts::Table> UpdateCounts::Grown(const Table* old, uint64_t slots) {
  auto table = std::make_unique<Table>(static_cast<uint32_t>(std::countr_zero(slots)));
  if (old == nullptr) return table;
  const uint32_t shift = table->bits - old->bits;
  for (size_t i = 0; i < table->counts.size(); ++i) {
    table->counts[i] = old->counts[i >> shift].load(std::memory_order_relaxed);
  }
  table->updates = old->updates.load(std::memory_order_relaxed);
  table->hot_from = old->hot_from.load(std::memory_order_relaxed);
  return table;
}

void UpdateCounts::Reserve(uint64_t keys) {
  const uint64_t wanted = std::bit_floor(std::clamp(keys, kMinSlots, kMaxSlots));
  std::vector<RetireList::Object> due;
  MutexLock lock(&mu_);
  Table* const old = current_.load();
  if (old == nullptr || old->counts.size() < wanted) {
    std::unique_ptr<Table> grown = Grown(old, wanted);
    retired_.Reserve();
    current_.store(grown.release());
    if (charge_ != nullptr) {
      charge_->Add(wanted);
      if (old != nullptr) charge_->Subtract(old->counts.size());  // destroyed with its last reader
    }
    if (old != nullptr) retired_.Add(old, [](void* table) { delete static_cast<Table*>(table); }, old->counts.size());
  }
  retired_.Collect(&due);
  RetireList::Free(due);
}

void UpdateCounts::Add(uint64_t h1) {
  Table* full = nullptr;
  {
    const EpochGuard guard;
    Table* const table = current_.load();
    if (table == nullptr) return;
    std::atomic<uint8_t>& count = table->counts[h1 >> (64 - table->bits)];
    // Two concurrent updates may count as one.
    const uint8_t before = count.load(std::memory_order_relaxed);
    if (before < UINT8_MAX) count.store(before + 1, std::memory_order_relaxed);
    if (table->updates.fetch_add(1, std::memory_order_relaxed) + 1 >= table->counts.size()) full = table;
  }
  if (full != nullptr) Halve(full);
}

// Does nothing if that was done, or the table was replaced, in between.
void UpdateCounts::Halve(Table* table) {
  MutexLock lock(&mu_);
  if (table != current_.load() || table->updates.load(std::memory_order_relaxed) < table->counts.size()) return;
  table->updates.store(0, std::memory_order_relaxed);
  std::array<uint64_t, 256> slots{};
  for (std::atomic<uint8_t>& count : table->counts) {
    const uint8_t before = count.load(std::memory_order_relaxed);
    count.store(before / 2, std::memory_order_relaxed);
    ++slots[before];
  }
  uint32_t from = 255;
  uint64_t above = slots[from];
  while (from > 1 && above + slots[from - 1] <= table->counts.size() / kHotShare) {
    above += slots[--from];
  }
  // Until the next halving, counts are between half of these and these.
  table->hot_from.store(std::max<uint32_t>((from * 3 + 3) / 4, 2), std::memory_order_relaxed);
}

bool UpdateCounts::Hot(uint64_t h1) const {
  const EpochGuard guard;
  const Table* const table = current_.load();
  return table != nullptr && table->counts[h1 >> (64 - table->bits)].load(std::memory_order_relaxed) >=
                                 table->hot_from.load(std::memory_order_relaxed);
}

size_t UpdateCounts::MemoryBytes() const {
  MutexLock lock(&mu_);
  const Table* const table = current_.load();
  return (table == nullptr ? 0 : table->counts.size()) + retired_.bytes();
}

}  // namespace compassdb
