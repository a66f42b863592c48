// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_table.h"

#include <cassert>
#include <memory>

namespace compassdb {

CacheTable::~CacheTable() { FreeArray(Current()); }

CacheTable::Array* CacheTable::NewArray(uint32_t shift) {
  const size_t slots = size_t{1} << (64 - shift);
  std::unique_ptr<Array> array(new Array{shift, slots - 1, nullptr});
  array->slots = new Slot[slots];
  return array.release();
}

void CacheTable::FreeArray(void* array) {
  auto* const a = static_cast<Array*>(array);
  delete[] a->slots;
  delete a;
}

void CacheTable::Put(Array* array, CacheEntry* entry) {
  size_t i = array->Home(entry->hash);
  while (array->slots[i].entry.load(std::memory_order_relaxed) != nullptr) i = array->Next(i);
  array->slots[i].hash.store(entry->hash, std::memory_order_relaxed);
  array->slots[i].entry.store(entry, std::memory_order_seq_cst);
}

void CacheTable::Grow(RetireList* retired) {
  Array* const array = Current();
  retired->Reserve();
  Array* const bigger = NewArray(array->shift - 1);
  for (size_t i = 0; i <= array->mask; ++i) {
    CacheEntry* const e = array->slots[i].entry.load(std::memory_order_relaxed);
    if (e != nullptr) Put(bigger, e);
  }
  const size_t bytes = slots() * sizeof(Slot);
  array_.store(bigger, std::memory_order_seq_cst);
  retired->Add(array, &FreeArray, bytes);
}

void CacheTable::Insert(CacheEntry* entry) {
  assert(!Full());
  Put(Current(), entry);
  ++entries_;
}

void CacheTable::Erase(const CacheEntry* entry) {
  Array* const array = Current();
  Slot* const slots = array->slots;
  size_t gap = array->Home(entry->hash);
  while (slots[gap].entry.load(std::memory_order_relaxed) != entry) gap = array->Next(gap);
  // Later entries that may be in the gap move there, and leave another gap.
  for (size_t i = array->Next(gap);; i = array->Next(i)) {
    CacheEntry* const next = slots[i].entry.load(std::memory_order_relaxed);
    if (next == nullptr) break;
    const size_t from_home = (i - array->Home(next->hash)) & array->mask;
    if (from_home < ((i - gap) & array->mask)) continue;
    slots[gap].hash.store(next->hash, std::memory_order_relaxed);
    slots[gap].entry.store(next, std::memory_order_seq_cst);
    gap = i;
  }
  slots[gap].entry.store(nullptr, std::memory_order_seq_cst);
  --entries_;
}

}  // namespace compassdb
