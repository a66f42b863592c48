// SPDX-License-Identifier: Apache-2.0
// A preset of the engine with small sizes. CompassDB only.
#pragma once

#include <cstdlib>

#include "compassdb/preset.h"
#include "compassdb/table.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace compassdb_test {

// Sizes scaled down (memtables, tables and levels to 64 KiB and less); then the preset.
inline rocksdb::Options SmallOptions(compassdb::Preset preset) {
  rocksdb::Options options;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 16 << 10;
  options.max_bytes_for_level_base = 64 << 10;
  options.level0_file_num_compaction_trigger = 2;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 1 << 10;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  if (!compassdb::ApplyPreset(preset, &options).ok()) abort();
  auto* const pieces = options.table_factory->GetOptions<compassdb::PieceTableOptions>();
  pieces->tableless_sections = 2;
  pieces->value_group_bytes = 512;  // what is tolerated of garbage goes with it
  options.max_write_buffer_number = 4;
  options.min_write_buffer_number_to_merge = 1;
  return options;
}

}  // namespace compassdb_test
