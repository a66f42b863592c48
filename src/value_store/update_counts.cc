// SPDX-License-Identifier: Apache-2.0
#include "value_store/update_counts.h"

#include <algorithm>
#include <array>
#include <bit>

namespace compassdb {

void UpdateCounts::Reserve(uint64_t keys) {
  const uint64_t wanted = std::bit_floor(std::clamp(keys, kMinSlots, kMaxSlots));
  const Table* const now = current_.load(std::memory_order_acquire);
  if (now != nullptr && now->counts.size() >= wanted) return;
  MutexLock lock(&mu_);
  const Table* const old = tables_.empty() ? nullptr : tables_.back().get();
  if (old != nullptr && old->counts.size() >= wanted) return;
  auto table = std::make_unique<Table>(static_cast<uint32_t>(std::countr_zero(wanted)));
  if (old != nullptr) {
    const uint32_t shift = table->bits - old->bits;
    for (size_t i = 0; i < table->counts.size(); ++i) {
      table->counts[i] = old->counts[i >> shift].load(std::memory_order_relaxed);
    }
    table->updates = old->updates.load(std::memory_order_relaxed);
    table->hot_from = old->hot_from.load(std::memory_order_relaxed);
  }
  current_.store(table.get(), std::memory_order_release);
  tables_.push_back(std::move(table));
}

void UpdateCounts::Add(uint64_t h1) {
  Table* const table = current_.load(std::memory_order_acquire);
  if (table == nullptr) return;
  std::atomic<uint8_t>& count = table->counts[h1 >> (64 - table->bits)];
  // Two at once may count as one.
  const uint8_t before = count.load(std::memory_order_relaxed);
  if (before < UINT8_MAX) count.store(before + 1, std::memory_order_relaxed);
  if (table->updates.fetch_add(1, std::memory_order_relaxed) + 1 >= table->counts.size()) {
    Halve(table);
  }
}

void UpdateCounts::Halve(Table* table) {
  MutexLock lock(&mu_);
  if (table->updates.load(std::memory_order_relaxed) < table->counts.size()) return;  // just done
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
  // Until the next time counts lie between half of these and these.
  table->hot_from.store(std::max<uint32_t>((from * 3 + 3) / 4, 2), std::memory_order_relaxed);
}

bool UpdateCounts::Hot(uint64_t h1) const {
  const Table* const table = current_.load(std::memory_order_acquire);
  return table != nullptr && table->counts[h1 >> (64 - table->bits)].load(std::memory_order_relaxed) >=
                                 table->hot_from.load(std::memory_order_relaxed);
}

size_t UpdateCounts::MemoryBytes() const {
  MutexLock lock(&mu_);
  size_t bytes = 0;
  for (const auto& table : tables_) bytes += table->counts.size();
  return bytes;
}

}  // namespace compassdb
