// SPDX-License-Identifier: Apache-2.0
//
// Presets: named sets of options for one workload each (docs/design/layouts.md), instead of single
// options.
//
//   rocksdb::Options options;
//   rocksdb::Status s = compassdb::ApplyPreset(compassdb::Preset::kReadMostly, &options);
//
// A preset sets the engine's own table options (compassdb/table.h), and of a column family's options
// max_write_buffer_number, min_write_buffer_number_to_merge and
// level0_file_num_compaction_trigger (kHashKv also those named there). It does not change other options, such as
// the block cache and the sizes of memtables, tables and levels. Options that are set after it win. A database may be
// opened with another preset at any time: existing tables are read as before, and new ones have the new form.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace compassdb {

enum class Preset {
  // "default": seven levels, up to 16 pieces per table. The options of a new Options object.
  kDefault,
  // "read-mostly", the paper's one level (4.4.1): several memtables at a time merge straight into the
  // tables of one level, up to 64 pieces each. The least bytes written of all presets, for up to twice
  // the space of the live data. One table per key. Memtables take up to 8 times write_buffer_size.
  kReadMostly,
  // "update-heavy", the paper's single tier (4.4.2): two pieces per table, collected early. The least
  // space and the cheapest reads, especially scans, if everything is overwritten often. More bytes
  // are written.
  kUpdateHeavy,
  // "compass-paper": the system of the CompassDB paper: levels cut by hash (3.4), records in slot order
  // (4.2), CPHash for every perfect hash function (3.1), up to 16 pieces, no consolidation by scans. For
  // comparisons: DataOrder::kHash needs less memory and fills blocks better. Needs a comparator for which
  // keys of different bytes are different.
  kCompassPaper,
  // "hash-range", the paper's 3.4: the default's levels, cut by a hash of the key. For updates and point
  // reads with any distribution of keys. An iterator merges all tables. Needs a comparator for which
  // keys of different bytes are different.
  kHashRange,
  // "hash-kv" (HashKV): values of 192 bytes or more are in a value store, grouped by the hash of the
  // key, hot and cold ones separated (enable_blob_files, min_blob_size, enable_blob_garbage_collection,
  // value_hot_cold). The least bytes written for large values that are updated. A read of such a value
  // costs one more read, a scan one per value. Garbage up to value_reserve_percent also stays in idle times
  // (value_idle_reserve_percent is off): values that are copied then may be overwritten soon after.
  // Level 0 collects eight flushes for each merge (level0_file_num_compaction_trigger), without values.
  kHashKv,
  // "bolt-sorted", for families that are mostly scanned: sorted tables of 1 MB with filters and separators,
  // leveled as in LevelDB, many in one file, compacted in groups of up to 64 MB (BoLT). Most data is on the last
  // level (level_compaction_dynamic_level_bytes), so dead data is bounded. There is no index over
  // hashes; point reads check one filter per level. With point_index=perfect_hash set after the preset the tables are
  // the same, with directories. Memtables are flushed two at a time and take up to 4 times write_buffer_size.
  // Groups of 128 MB (group_compaction_bytes) would save a fifth of the syncs and no bytes: 35 instead of 44 syncs
  // per GB loaded in records of 1 KB with memtables of 64 MB.
  kBoltSorted,
  // "tableless" (KallaxDB): pages found by the hash of the key, for storage that compresses transparently
  // (btrfs or ZFS with compression, computational SSDs). Nearly no index in memory, one disk read per
  // key. More bytes are written, half of them zeros. Only for new families.
  kTableless,
};

// All presets, and the text form of each.
std::vector<Preset> AllPresets();
std::string PresetName(Preset preset);
// InvalidArgument, with the known names, if there is none of that name.
rocksdb::Status PresetFromName(const std::string& name, Preset* preset);

// NotSupported if the family's table factory is a class of the application.
rocksdb::Status ApplyPreset(Preset preset, rocksdb::ColumnFamilyOptions* options);

}  // namespace compassdb
