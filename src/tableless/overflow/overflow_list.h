// SPDX-License-Identifier: Apache-2.0
// The list at the end of a run of the overflow store, from which an index is made without reading records
// (docs/formats/tableless.md).
//
//   list    := slot* name* trailer
//   slot    := hash:fixed64 size:fixed32 (section << 1 | removal):fixed32      of an entry, in their order
//   name    := run_id:fixed64 offset:fixed32                                   ascending
//   trailer := names:fixed64 crc:fixed32 magic:fixed64
//
// `crc` covers the file's id, the list's offset in the run, slots, names and their number.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/slice.h"

namespace compassdb {

using rocksdb::Slice;

struct OverflowPlace {
  uint32_t offset = 0;  // in the run
  uint32_t size = 0;    // of the entry
};

struct OverflowSlot {
  uint64_t hash = 0;  // KeyHash::h1
  OverflowPlace place;
  uint32_t section = 0;
  bool removal = false;
};

// Entries, by their run's id and their offset in it; ascending for searches.
using OverflowEntryNames = std::vector<std::pair<uint64_t, uint32_t>>;

struct OverflowList {
  std::vector<OverflowSlot> slots;
  // Entries of older runs whose keys have an entry in this run. Not all of them: an entry that was rewritten since
  // has another name.
  OverflowEntryNames replaced;
};

inline constexpr size_t kOverflowSlotBytes = 16;
inline constexpr size_t kOverflowListTrailer = 20;

// Slots follow each other from offset 0 on; the list is after the last one, at `offset`.
void AppendOverflowList(const OverflowList& list, uint64_t file_id, uint64_t offset, std::string* dst);
// The bytes of the list of a run of `count` entries and `length` bytes that ends in `trailer`; 0 if it does not.
uint64_t OverflowListBytes(const Slice& trailer, uint64_t count, uint64_t length);
// `bytes`: as many. False if they are damaged.
bool ParseOverflowList(const Slice& bytes, uint64_t count, uint64_t file_id, uint64_t offset, OverflowList* list);

}  // namespace compassdb
