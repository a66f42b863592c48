// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb {

// The options of a table-less store (compassdb/table.h).
struct PageOptions {
  bool enabled = false;
  uint32_t sections = 16;      // of a new store
  uint32_t page_bytes = 4096;  // likewise
  uint64_t pages = 0;          // of all sections; 0: chosen by the data
  uint32_t fill_percent = 50;  // of pages after a rehash
  uint32_t max_overflow_percent = 3;  // of the bytes; above, a section gets more pages
  uint32_t min_fill_percent = 15;     // below, it gets fewer
  bool key_store = true;
  bool atomic_page_writes = false;  // the device never tears a page: images need no journal
  bool memtable_as_log_index = false;
  uint32_t rehash_threads = 1;
  uint32_t rehash_batch = 16;  // pages read at a time
  uint32_t write_threads = 2;  // of a flush, over the sections

  bool operator==(const PageOptions&) const = default;
};

}  // namespace compassdb
