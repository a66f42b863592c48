// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace compassdb {

// What a repair found in the stores of a database, and what it did.
struct SalvageReport {
  uint64_t tables = 0;            // stay as they are
  uint64_t rewritten_tables = 0;  // rewritten with what can be read
  uint64_t lost_tables = 0;       // nothing of them can be read
  uint64_t lost_records = 0;      // as far as it is known
  uint64_t lost_bytes = 0;        // of data blocks, as stored
  uint64_t lost_range_deletions = 0;
  uint64_t lost_values = 0;  // separated ones that tables name
  uint64_t lost_pages = 0;   // of table-less families: pages, images, overflow records, files of them

  bool Lost() const {
    return lost_tables + lost_records + lost_bytes + lost_range_deletions + lost_values + lost_pages != 0;
  }
};

}  // namespace compassdb
