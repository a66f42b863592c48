// SPDX-License-Identifier: Apache-2.0
// The hash table of a cache shard: open addressing, linear probing, whole
// hashes next to the pointers, so that a probe touches no entry but the one
// that it searches.
//
// Thread safety: Find may be called under an EpochGuard at any time. All else
// needs the shard's lock; under it Find is exact. Without the lock it may miss
// an entry that is being moved to fill a gap: call it again with the lock.
// Invariants: no gap between an entry's home and its slot; never more than
// five eighths full; slots and arrays are changed by sequentially consistent
// stores (util/epoch.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cache/cache_entry.h"
#include "util/epoch.h"

namespace compassdb {

class CacheTable {
 public:
  CacheTable() : array_(NewArray(kFirstShift)) {}
  ~CacheTable();
  CacheTable(const CacheTable&) = delete;
  CacheTable& operator=(const CacheTable&) = delete;

  CacheEntry* Find(const Slice& key, uint64_t hash) const {
    const Array* const array = array_.load(std::memory_order_seq_cst);
    for (size_t i = array->Home(hash);; i = array->Next(i)) {
      const Slot& slot = array->slots[i];
      CacheEntry* const entry = slot.entry.load(std::memory_order_seq_cst);
      if (entry == nullptr) return nullptr;
      if (slot.hash.load(std::memory_order_relaxed) != hash) continue;
      PrefetchBehind(entry);
      if (entry->hash == hash && entry->key() == key) return entry;
    }
  }
  // Prefetches the slot with which Find(key, hash) begins.
  void Prefetch(uint64_t hash) const {
    const Array* const array = array_.load(std::memory_order_seq_cst);
    __builtin_prefetch(&array->slots[array->Home(hash)]);
  }

  // The same for the entry that Find(key, hash) searches, by the whole hash; useless
  // unless the slot is in the processor's cache.
  void PrefetchEntry(uint64_t hash) const {
    const Array* const array = array_.load(std::memory_order_seq_cst);
    for (size_t i = array->Home(hash);; i = array->Next(i)) {
      const CacheEntry* const entry = array->slots[i].entry.load(std::memory_order_relaxed);
      if (entry == nullptr) return;
      if (array->slots[i].hash.load(std::memory_order_relaxed) != hash) continue;
      __builtin_prefetch(entry);
      return PrefetchBehind(entry);
    }
  }

  // One more entry needs a larger table.
  bool Full() const { return (entries_ + 1) * 8 > slots() * 5; }
  // To twice the slots. Without memory (std::bad_alloc) it stays as it is.
  void Grow(RetireList* retired);
  // The key must not be in the table, which is not full.
  void Insert(CacheEntry* entry);
  void Erase(const CacheEntry* entry);  // which is in the table

  size_t entries() const { return entries_; }
  size_t slots() const { return Current()->mask + 1; }
  size_t HomeOf(uint64_t hash) const { return Current()->Home(hash); }
  // Calls f(entry) for all entries with homes in [begin, end).
  template <typename F>
  void ForEach(size_t begin, size_t end, F f) const {
    const Array* const array = Current();
    size_t i = begin;
    for (size_t seen = 0; seen <= array->mask; ++seen, i = array->Next(i)) {
      CacheEntry* const entry = array->slots[i].entry.load(std::memory_order_relaxed);
      if (entry == nullptr) {
        if (begin + seen >= end) return;
        continue;
      }
      const size_t home = array->Home(entry->hash);
      if (home >= begin && home < end) f(entry);
    }
  }

 private:
  struct Slot {
    std::atomic<uint64_t> hash{0};
    std::atomic<CacheEntry*> entry{nullptr};
  };
  struct Array {
    uint32_t shift;
    size_t mask;
    Slot* slots;
    size_t Home(uint64_t hash) const { return hash >> shift; }
    size_t Next(size_t i) const { return (i + 1) & mask; }
  };
  static constexpr uint32_t kFirstShift = 60;

  // The data after an embedded entry is read next: prefetches it with the entry's
  // own cache miss, not after it.
  static void PrefetchBehind(const CacheEntry* entry) {
    for (size_t line = 1; line <= 5; ++line) {
      __builtin_prefetch(reinterpret_cast<const char*>(entry) + 64 * line);
    }
  }

  static Array* NewArray(uint32_t shift);
  static void FreeArray(void* array);
  static void Put(Array* array, CacheEntry* entry);
  Array* Current() const { return array_.load(std::memory_order_relaxed); }

  std::atomic<Array*> array_;
  size_t entries_ = 0;
};

}  // namespace compassdb
