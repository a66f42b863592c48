// SPDX-License-Identifier: Apache-2.0
// A layout of the engine with small sizes. CompassDB only.
#pragma once

#include <string>

#include "compassdb/table.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "support/layout.h"
#include "support/random.h"
#include "support/tuning.h"

namespace compassdb_test {

// Sizes scaled down (memtables, tables and levels to 64 KiB and less); then the layout, of Layouts().
inline rocksdb::Options SmallOptions(const std::string& layout) {
  rocksdb::Options options;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 16 << 10;
  options.max_bytes_for_level_base = 64 << 10;
  options.level0_file_num_compaction_trigger = 2;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 1 << 10;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  ApplyFullSizeLayout(layout, &options);
  auto* pieces = options.table_factory->GetOptions<compassdb::PieceTableOptions>();
  for (uint64_t seed = 1; pieces == nullptr; ++seed) {  // "tuned": always the same
    Random random(seed);
    options.table_factory.reset(NewTunedTableFactory(&random, table));
    pieces = options.table_factory->GetOptions<compassdb::PieceTableOptions>();
  }
  pieces->tableless_sections = 2;
  pieces->memtable_as_log_index = true;
  pieces->value_group_bytes = 512;  // the tolerated garbage depends on it
  pieces->punch_bytes_per_second = 0;  // a life is shorter than what the rate waits
  options.max_write_buffer_number = 4;
  options.min_write_buffer_number_to_merge = 1;
  return options;
}

}  // namespace compassdb_test
