// SPDX-License-Identifier: Apache-2.0
// The memory of indexes by use: the objects and the overhead of malloc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace compassdb {

// Bytes.
struct IndexMemory {
  uint64_t perfect_hash = 0;
  uint64_t fingerprints = 0;
  uint64_t pieces = 0;  // piece numbers in directory slots
  uint64_t separators = 0;
  uint64_t block_offsets = 0;
  uint64_t filters = 0;
  uint64_t values = 0;  // places of separated values
  uint64_t overflow = 0;  // places of the records that their pages of a table-less store cannot hold
  uint64_t other = 0;  // objects, metadata, key bounds, range tombstones, overhead of malloc
  uint64_t total() const {
    return perfect_hash + fingerprints + pieces + separators + block_offsets + filters + values +
           overflow + other;
  }
};

// The sum over all parts that are loaded. Thread safe.
class IndexUsage {
 public:
  void Add(const IndexMemory& m) { Change(m, 1); }
  void Subtract(const IndexMemory& m) { Change(m, UINT64_MAX); }
  IndexMemory Get() const {
    IndexMemory m;
    m.perfect_hash = perfect_hash_.load(std::memory_order_relaxed);
    m.fingerprints = fingerprints_.load(std::memory_order_relaxed);
    m.pieces = pieces_.load(std::memory_order_relaxed);
    m.separators = separators_.load(std::memory_order_relaxed);
    m.block_offsets = block_offsets_.load(std::memory_order_relaxed);
    m.filters = filters_.load(std::memory_order_relaxed);
    m.values = values_.load(std::memory_order_relaxed);
    m.overflow = overflow_.load(std::memory_order_relaxed);
    m.other = other_.load(std::memory_order_relaxed);
    return m;
  }

 private:
  void Change(const IndexMemory& m, uint64_t sign) {
    perfect_hash_.fetch_add(m.perfect_hash * sign, std::memory_order_relaxed);
    fingerprints_.fetch_add(m.fingerprints * sign, std::memory_order_relaxed);
    pieces_.fetch_add(m.pieces * sign, std::memory_order_relaxed);
    separators_.fetch_add(m.separators * sign, std::memory_order_relaxed);
    block_offsets_.fetch_add(m.block_offsets * sign, std::memory_order_relaxed);
    filters_.fetch_add(m.filters * sign, std::memory_order_relaxed);
    values_.fetch_add(m.values * sign, std::memory_order_relaxed);
    overflow_.fetch_add(m.overflow * sign, std::memory_order_relaxed);
    other_.fetch_add(m.other * sign, std::memory_order_relaxed);
  }
  std::atomic<uint64_t> perfect_hash_{0}, fingerprints_{0}, pieces_{0}, separators_{0},
      block_offsets_{0}, filters_{0}, values_{0}, overflow_{0}, other_{0};
};

}  // namespace compassdb
