// SPDX-License-Identifier: Apache-2.0
// The places of a run's values, in memory: made from the run's places section (value_format.h), which is checked once.
// Numbers are stored as differences, sizes as their difference to the least one, in as few bits as possible: none if
// all are equal. That is about 1.5 bytes per value if values were written one after the other.
//
// Thread safety: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rocksdb/slice.h"
#include "table/directory/index_memory.h"

namespace compassdb {

// The place of a record in its run.
struct ValuePlace {
  uint32_t offset = 0;
  uint32_t size = 0;
};

class PlaceIndex {
 public:
  // `section` is without its checksum. Null if it is malformed: it lists other than `values`
  // records, their numbers do not ascend, they take more than `records_bytes`, or it would take 4 GiB.
  static std::unique_ptr<PlaceIndex> Make(const rocksdb::Slice& section, uint64_t values, uint64_t records_bytes);
  bool Find(uint64_t number, ValuePlace* place) const;
  size_t MemoryBytes() const;

 private:
  PlaceIndex() = default;
  const char* sample(uint32_t i) const;
  uint32_t Above(uint32_t value) const;  // its size, above the least; size_bits_ > 0

  // Samples (number:u64 offset:u32 position:u32, of every 64th value), sizes in bits, a spare word, differences.
  std::unique_ptr<char[]> data_;
  uint32_t bytes_ = 0;
  uint32_t values_ = 0;
  uint32_t least_size_ = 0;
  uint32_t differences_ = 0;  // where they begin
  uint8_t size_bits_ = 0;
};

inline IndexMemory MemoryOf(const PlaceIndex& places) {
  IndexMemory memory;
  memory.values = places.MemoryBytes();
  return memory;
}

}  // namespace compassdb
