// SPDX-License-Identifier: Apache-2.0
//
// Presets: named points in the engine's design space (docs/design/layouts.md), for those who do not want to
// set options one by one.
//
//   rocksdb::Options options;
//   rocksdb::Status s = compassdb::ApplyPreset(compassdb::Preset::kReadMostly, &options);
//
// A preset sets what is particular to the engine's tables (compassdb/table.h), and of a column family's
// options max_write_buffer_number, min_write_buffer_number_to_merge and
// level0_file_num_compaction_trigger (kHashKv also those named there). It leaves the rest as it is, the block cache and the sizes
// of memtables, tables and levels among it; what is set after it wins. A database may be opened with another preset at any
// time: what is there is read as before, and new tables take the new form.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace compassdb {

enum class Preset {
  // "default": seven levels, up to 16 pieces per table. As an Options object that was not changed.
  kDefault,
  // "read-mostly", the paper's one level (4.4.1): several memtables at a time merge straight into the
  // tables of one level, up to 64 pieces each. The least bytes written of all presets, for up to twice
  // the space of the live data, and one table to ask for any key. Memtables take up to 8 times write_buffer_size.
  kReadMostly,
  // "update-heavy", the paper's single tier (4.4.2): two pieces per table, collected early. The least
  // space and the cheapest reads, scans above all, while everything is overwritten often; for
  // more bytes written.
  kUpdateHeavy,
  // "compass-paper": the layout of the CompassDB paper (4.2): records in slot order, tables
  // indexed by CPHash. To compare with;
  // DataOrder::kHash needs less memory and fills blocks better.
  kCompassPaper,
  // "hash-range", the paper's 3.4: the default's levels, cut by a hash of the key. For updates and point
  // reads, whatever the distribution of keys; an iterator merges all tables. Needs a comparator for which
  // keys of different bytes are different.
  kHashRange,
  // "hash-kv" (HashKV): values of 192 bytes or more go to a value store of their own, grouped by the
  // hash of the key, hot and cold apart (enable_blob_files, min_blob_size, enable_blob_garbage_collection,
  // value_hot_cold). The least bytes written for large values that are updated; a read of such a value
  // costs one read more, a scan one per value. Garbage up to value_reserve_percent stays in idle times, too
  // (value_idle_reserve_percent is off): what is copied then may be overwritten soon after, for more bytes written.
  // Eight flushes wait on level 0 for each merge (level0_file_num_compaction_trigger), whose tables have no values.
  kHashKv,
  // "bolt-sorted", for families that are nearly only scanned: sorted tables of 1 MB, found by filters and
  // separators, leveled as in LevelDB, many to a file, compacted in groups of up to 64 MB (BoLT). No index over
  // hashes is built; point reads ask one filter per level. With point_index=perfect_hash set behind the preset the tables are
  // the same, with directories. Memtables go to disk two at a time and take up to 4 times write_buffer_size.
  // Groups of 128 MB (group_compaction_bytes) would save a fifth of the syncs and no bytes: 35 instead of 44 syncs
  // per GB loaded in records of 1 KB with memtables of 64 MB.
  kBoltSorted,
  // "tableless" (KallaxDB): pages found by the hash of the key, for storage that compresses transparently
  // (btrfs or ZFS with compression, computational SSDs). Nearly no index in memory, one disk read for a
  // key; more bytes written, which are half zeros. Only for new families.
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
