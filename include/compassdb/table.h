// SPDX-License-Identifier: Apache-2.0
//
// Options of CompassDB's own table format, set like those of any RocksDB table factory:
//
//   options.table_factory.reset(compassdb::NewPieceTableFactory({.max_pieces = 8}));
//
// or in text: "table_factory={id=CompassTable;max_pieces=8}". Every accepted table factory means this
// format; this one has its own options. It also takes the options of the block based table, in text
// under the same names.

#pragma once

#include <cstdint>

#include "compassdb/data_order.h"
#include "compassdb/value_gc.h"
#include "rocksdb/table.h"

namespace compassdb {

// The perfect hash functions of a table's index. Both map every key to a slot of its own.
enum class PerfectHash : uint8_t {
  // One-byte pilots: the fastest to build and to query, 1.02 slots and 2.24 bits per key.
  kDefault = 0,
  // CPHash, the paper's: 1.1 slots and about 2.1 bits per key.
  kCpHash = 1,
};

// How the levels below level 0 are cut into tables.
enum class Partition : unsigned char {
  kKeyRange,
  // By a hash of the key (paper 3.4): each table overlaps only the few tables of the next level with
  // its range of hashes, so compactions of different subtrees are concurrent. For point reads and
  // updates: an iterator merges all tables of a level. Needs a comparator for which keys of different
  // bytes are different. Tables of an existing database change level by level.
  kHashRange,
};

// The index of point reads.
enum class PointIndex : uint8_t {
  // A perfect hash function over all keys of a table: one probe, one block.
  kPerfectHash = 0,
  // Each table's filter and separators, as in a classic sorted table (BoLT's, LevelDB's): there is no
  // index over hashes. For families that are mostly scanned. Tables are leveled.
  kFilter = 1,
};

// What keeps a column family's data. Chosen when the family is created.
enum class StoreKind : uint8_t {
  // Tables on levels.
  kLsm = 0,
  // Pages found by the hash of the key, with nearly no index in memory (KallaxDB). For storage that compresses
  // transparently: pages are about half full, the rest is zeros.
  kTableless = 1,
};

struct PieceTableOptions {
  static const char* kName() { return "CompassTableOptions"; }

  // Sorted runs (a base and its deltas) that a table may have before it is rewritten.
  // More pieces: less write amplification, more probes for a miss and more steps for an iterator.
  // 1 to 1024. Dynamically changeable.
  uint32_t max_pieces = 16;

  // A table is collected once its dead data exceeds this share of its live data, in percent. Lower:
  // smaller files, more rewriting. Dynamically changeable.
  uint32_t max_dead_percent = 46;

  // Dead bytes of files in use are punched out. If that is impossible (a checkpoint or backup has links
  // to the file, the file system cannot, the parts are too small), the live data of the worst files is
  // rewritten, and the files are deleted. The bound of dead bytes is this share of the database's live
  // bytes, in percent (and 1 MiB); three quarters of it for bytes that cannot be punched.
  // 0: no file is rewritten for that. Dynamically changeable.
  uint32_t max_dead_space_percent = 10;

  // How fast holes are punched, in bytes per second, by jobs with a thread of their own, never by a flush or a writer.
  // This is the rate for dead runs of 64 KiB and more. All from 16 KiB on are punched as fast as possible once dead
  // bytes exceed max_dead_space_percent, the disk has less than 256 MiB free (or less than the pending holes), or a
  // flush waits for space of separated values. The rate of the database's SstFileManager, if it has one, is used
  // instead. Families share files: this option and max_dead_space_percent of the default family count for holes.
  // 0: no limit. Dynamically changeable.
  uint64_t punch_bytes_per_second = 128 << 20;

  // Live data of a table, about: a growing table is split at four to eight times as much (with kHashRange
  // two to three times). 0: half of
  // target_file_size_base; with `leveled`, where no table grows, at most 1 MB.
  // All tables of a flush or compaction are in one file, which is synced
  // once. Dynamically changeable.
  uint64_t target_table_bytes = 0;

  // In text "perfect_hash" or "filter". With "filter", filters are those of filter_policy, or without
  // one Bloom filters of 10 bits per key. Tables of an existing database are read as they are; new ones have the new
  // form.
  PointIndex point_index = PointIndex::kPerfectHash;

  // Leveled compaction as in LevelDB and BoLT, with either point index. Always on with PointIndex::kFilter,
  // because tables of several pieces need a directory. Tables have one piece: a merge rewrites those that it
  // overlaps, max_pieces and max_dead_percent have no effect, and levels have their configured sizes
  // (max_bytes_for_level_base and so on). ColumnFamilyOptions::compaction_pri chooses the tables of a
  // full level that move down first: by default those that overlap least. A table that overlaps nothing
  // is not rewritten. Tables of an existing database are read as they are. Merges make leveled ones of them, or,
  // after a change to false, tables of several pieces.
  bool leveled = false;

  // A compaction of a full level takes this many bytes of tables, which need not be neighbours, and
  // writes the result with one sync. More: fewer syncs and longer jobs. 0: one table at a
  // time. On levels that are cut by hash it is always one table. Dynamically changeable.
  uint64_t group_compaction_bytes = 64ull << 20;

  // One level below level 0 (paper 4.4.1): memtables merge straight into the tables of that level, as
  // deltas; a run on level 0 is written only while the delta would be smaller than the directories
  // that its merge rewrites. Data of an existing database first moves to its deepest level.
  bool one_level = false;

  // Consolidation: scans are charged for each sorted run after the first. When their loss pays for it,
  // tables are rewritten into one piece in the background. A disk read pays for
  // this many bytes of rewriting, a block in the cache for a 32nd of it. More: consolidates
  // sooner. 0: never. Dynamically changeable.
  uint64_t scan_bytes_per_read = 16 << 10;

  // The order of records in new pieces: "key", "slot" or "hash".
  // Existing pieces stay as they are and are read; a table may have pieces of several
  // orders. Slot and hash order make point reads cheaper in memory (hash order the most) and scans
  // more expensive: each record of a scan may be in another block. They hold a piece in memory while it
  // is written. If the comparator takes different bytes for one key, the order is always by key.
  // Dynamically changeable.
  DataOrder data_order = DataOrder::kKey;

  // In text "default" or "cphash". For new tables; existing ones keep theirs.
  // Dynamically changeable.
  PerfectHash perfect_hash = PerfectHash::kDefault;

  // Threads that build the perfect hash function of one table, 1 to 64. More than one pays if
  // tables have a million keys or the function is CPHash. Dynamically changeable.
  uint32_t perfect_hash_threads = 1;

  Partition partition = Partition::kKeyRange;

  // --- Separated values: with ColumnFamilyOptions::enable_blob_files (HashKV) ---

  // Garbage that is allowed among them, in percent of the live bytes. More is collected if
  // enable_blob_garbage_collection is set. Dynamically changeable.
  uint32_t value_reserve_percent = 30;

  // The same once nothing was flushed for five seconds, if it is less than value_reserve_percent: garbage is
  // collected while there is time. Off by default (100), and in every preset: values that are copied in
  // an idle time and overwritten afterwards are bytes written for nothing. Dynamically changeable.
  uint32_t value_idle_reserve_percent = 100;

  // In text "greedy", "cost-benefit", "greedy-random", "random" or "oldest-first". Dynamically
  // changeable. After a change from "oldest-first" one collection copies all values, to make groups.
  ValueGcPolicy value_gc_policy = ValueGcPolicy::kGreedy;

  // The number of groups from which kGreedyRandom takes one (d in HashKV 3.3), at least 1. Dynamically changeable.
  uint32_t value_gc_choices = 8;

  // Values of keys that are updated often have segments of their own, and a collection takes the segments of
  // its group with the most garbage per copied byte (HashKV 3.4). With several db_paths the other segments are
  // in the last one. Half a byte to a byte of memory per value. Not with value_gc_policy=oldest-first.
  // Dynamically changeable.
  bool value_hot_cold = false;

  // The size of a segment group, about (HashKV's main segment), unless blob_file_size is less. There are 64 to 512
  // groups, or 16 if memtables are so small that a group's share of one is a few kilobytes. At
  // least 1 (0: InvalidArgument).
  // Dynamically changeable.
  uint64_t value_group_bytes = 64ull << 20;

  // --- The table-less store ---

  // In text "lsm" or "tableless". A family with tables cannot be opened as table-less, nor the
  // opposite. "tableless" needs a comparator without timestamps for which keys of different bytes are
  // different, and has no separated values. The options above are then those of the key store.
  StoreKind store = StoreKind::kLsm;

  // The number of files that share the hash space, 1 to 1024, and the size of a page, a multiple of 4096
  // up to 1 MiB. Both count when the family's first memtable is flushed.
  uint32_t tableless_sections = 16;
  uint32_t tableless_page_bytes = 4096;

  // Pages of all sections together, at most 2^36. 0: as many as the data needs, by rehashes. Otherwise
  // rehashes lead to this number. Dynamically changeable.
  uint64_t tableless_pages = 0;

  // The fill of pages after a rehash, in percent, at most: less if more than half of
  // tableless_max_overflow_percent is expected in the overflow store (docs/design/sizing.md). 5 to
  // 95. Dynamically changeable.
  uint32_t tableless_fill_percent = 50;
  // A section gets at least a quarter more pages once this share of its bytes is in the overflow store, and
  // fewer, if it has more than 64, once its pages are less full than the minimum. After growth pages are at least
  // a third above tableless_min_fill_percent. 0 to 100 each. Dynamically changeable.
  uint32_t tableless_max_overflow_percent = 3;
  uint32_t tableless_min_fill_percent = 15;

  // Keys are also kept in sorted tables, which iterators need. Without them iterators are NotSupported,
  // and a DeleteRange costs a pass over all pages.
  bool tableless_key_store = true;

  // True: the device and the file system write a page of tableless_page_bytes whole or not at all, also if the
  // power fails, the process dies or the write fails. Then a flush writes pages in place without a journal where
  // that is safe (docs/design/page-journal.md). The log is synced before, and kept until the pages are
  // durable. The option is not checked: if it is wrong, a power cut damages pages, which
  // nothing can repair. It holds for later flushes, and may differ between opens.
  // A family that was created with larger pages keeps journals. Dynamically changeable.
  bool tableless_atomic_page_writes = false;

  // Memtables have only the addresses of values of 64 bytes or more, which stay in the write-ahead log until a flush
  // (KallaxDB). So write_buffer_size holds about ten times as many records of 400 bytes, and a flush changes each
  // page less often. A read of such a value reads the log. Values written with disableWAL, those of prepared
  // transactions and those that wal_compression made smaller stay in memory. So does what is not synced, and the
  // log is synced when that is 16 MiB.
  bool memtable_as_log_index = false;

  // Sections rehashed at a time, 1 to 64, and old pages read at a time. Dynamically changeable.
  uint32_t tableless_rehash_threads = 1;
  uint32_t tableless_rehash_batch = 16;
  // Threads that share the sections of a flush, and of writes in place, 1 to 64, in addition to
  // max_background_jobs while the job runs. Dynamically changeable.
  uint32_t tableless_write_threads = 2;
};

// "CompassTable". The caller owns the factory.
rocksdb::TableFactory* NewPieceTableFactory(
    const PieceTableOptions& piece_options = PieceTableOptions(),
    const rocksdb::BlockBasedTableOptions& block_options = rocksdb::BlockBasedTableOptions());

}  // namespace compassdb
