// SPDX-License-Identifier: Apache-2.0
//
// Options of CompassDB's own table format, set like those of any RocksDB table factory:
//
//   options.table_factory.reset(compassdb::NewPieceTableFactory({.max_pieces = 8}));
//
// or in text: "table_factory={id=CompassTable;max_pieces=8}". Every table factory that is accepted
// stands for this format; this one gives access to what is particular to it. It takes the
// options of the block based table as well, in text under the same names.

#pragma once

#include <cstdint>

#include "compassdb/data_order.h"
#include "compassdb/value_gc.h"
#include "rocksdb/table.h"

namespace compassdb {

// The perfect hash functions under a table's index. Both give every key a slot of its own.
enum class PerfectHash : uint8_t {
  // One-byte pilots: the fastest to build and to query, 1.02 slots and 2.24 bits per key.
  kDefault = 0,
  // CPHash, the paper's: 1.1 slots and about 2.1 bits per key.
  kCpHash = 1,
};

// What the levels below level 0 are cut into tables by.
enum class Partition : unsigned char {
  kKeyRange,
  // By a hash of the key (paper 3.4): each table meets only the few tables of the next level that have
  // its range of hashes, so that compactions of different subtrees run at the same time. For point reads and
  // updates: an iterator merges all tables of a level. Needs a comparator for which keys of different
  // bytes are different. Tables of an existing database change over level by level.
  kHashRange,
};

// What point reads go by.
enum class PointIndex : uint8_t {
  // A perfect hash function over all keys of a table: one probe, one block.
  kPerfectHash = 0,
  // Each table's filter and its separators, as in a classic sorted table (BoLT's, LevelDB's): no
  // index over hashes is built or merged. For families that are nearly only scanned. Tables are leveled.
  kFilter = 1,
};

// What keeps a column family's data. Chosen when the family is made.
enum class StoreKind : uint8_t {
  // Tables on levels.
  kLsm = 0,
  // Pages found by the hash of the key, with nearly no index in memory (KallaxDB). For storage that compresses
  // transparently: pages are about half full, the rest is zeros.
  kTableless = 1,
};

struct PieceTableOptions {
  static const char* kName() { return "CompassTableOptions"; }

  // Sorted runs (a base and the deltas upon it) that a table may consist of before it is rewritten.
  // More pieces: less write amplification, more probes for a miss and more steps for an iterator.
  // 1 to 1024. Dynamically changeable.
  uint32_t max_pieces = 16;

  // A table is collected once its dead data exceeds this share of its live data, in percent. Less:
  // smaller files, more rewriting. Dynamically changeable.
  uint32_t max_dead_percent = 46;

  // What is dead in files that are still in use is punched out of them. Where that cannot be (a checkpoint
  // or backup has links to the file, the file system cannot, the parts are too small), what is live in the
  // worst files is rewritten, so that the files go. Both are done so that what is dead is no more than this
  // share of the database's live bytes, in percent (and 1 MiB); three quarters of it where it cannot be
  // punched. 0: no file is rewritten for that. Dynamically changeable.
  uint32_t max_dead_space_percent = 10;

  // How fast holes are punched, in bytes per second, by jobs with a thread of their own: never by a flush or a writer. Runs of
  // dead bytes of 64 KiB and more are punched at this rate. All from 16 KiB on are, as fast as it goes, once what is dead exceeds
  // max_dead_space_percent of the database's live bytes (and 1 MiB), the disk has less than 256 MiB free (or less than
  // waits), or a flush waits for room among separated values. A rate of the database's SstFileManager, if it has one, is used
  // instead. Files are shared by the families of a database: what its default family says of this and of
  // max_dead_space_percent counts for holes. 0: no limit. Dynamically changeable.
  uint64_t punch_bytes_per_second = 128 << 20;

  // Live data of a table, about: one that grows is split at four to eight times as much. 0: half of
  // target_file_size_base; with `leveled`, where no table grows, that or 1 MB if it is
  // less. However many tables a flush or compaction writes, they lie in one file, which is synced
  // once. Dynamically changeable.
  uint64_t target_table_bytes = 0;

  // In text "perfect_hash" or "filter". With "filter", filters are those of filter_policy, or without
  // one Bloom filters of 10 bits per key. Tables of an existing database are read as they are; new ones take the new
  // form.
  PointIndex point_index = PointIndex::kPerfectHash;

  // Leveled compaction as in LevelDB and BoLT, with either point index; with PointIndex::kFilter whatever
  // is set here, since tables of several pieces need a directory. Tables have one piece: a merge rewrites those that it
  // meets, max_pieces and max_dead_percent play no part, and levels have their configured sizes
  // (max_bytes_for_level_base and so on). Which tables of a full level go down first is what
  // ColumnFamilyOptions::compaction_pri says; by default those that overlap least, and one that overlaps nothing
  // without being rewritten. Tables of an existing database are read as they are; merges make leveled ones of them, or
  // from false on tables of several pieces again.
  bool leveled = false;

  // A compaction of a full level takes so many bytes of tables, which need not be neighbours, and
  // writes what becomes of them with one sync. More: fewer syncs and longer jobs. 0: one table at a
  // time. Levels that are cut by hash always take one table. Dynamically changeable.
  uint64_t group_compaction_bytes = 64ull << 20;

  // One level below level 0 (paper 4.4.1): memtables merge straight into the tables of that level, as
  // deltas; a run on level 0 is written only while the delta would be smaller than the directories
  // that its merge rewrites. Data of an existing database goes down to its deepest level first.
  bool one_level = false;

  // Consolidation: scans are charged for the sorted runs that they meet beyond one, and when what
  // they lost pays for it, tables are rewritten into one piece in the background. A disk read pays for
  // so many bytes of rewriting; a block in the cache for a 32nd of it. More: consolidates
  // sooner. 0: never. Dynamically changeable.
  uint64_t scan_bytes_per_read = 16 << 10;

  // The order in which records lie in what flushes and compactions write: "key", "slot" or "hash".
  // What is there already stays as it is and is read all the same; a table may hold pieces of several
  // orders. Slot and hash order make point reads cheaper in memory (hash order the most) and scans
  // dearer: each record of a scan may be in another block. They hold a piece in memory while it is
  // written. Where the comparator takes different bytes for one key, records lie in key order
  // whatever is set. Dynamically changeable.
  DataOrder data_order = DataOrder::kKey;

  // In text "default" or "cphash". New tables take it; those that are there keep what they have.
  // Dynamically changeable.
  PerfectHash perfect_hash = PerfectHash::kDefault;

  // Threads that build the perfect hash function of one table, 1 to 64. More than one pays where
  // tables have a million keys or the function is CPHash. Dynamically changeable.
  uint32_t perfect_hash_threads = 1;

  Partition partition = Partition::kKeyRange;

  // --- Separated values: with ColumnFamilyOptions::enable_blob_files (HashKV) ---

  // Garbage that is tolerated among them, in per cent of the live bytes; collected beyond that if
  // enable_blob_garbage_collection is set. Dynamically changeable.
  uint32_t value_reserve_percent = 30;

  // The same once nothing was flushed for five seconds, where it is less than value_reserve_percent: garbage is
  // collected while there is time for it. Off by default (as much as 100), and in every preset: values that are copied in
  // an idle moment and overwritten afterwards are bytes written for nothing. Dynamically changeable.
  uint32_t value_idle_reserve_percent = 100;

  // In text "greedy", "cost-benefit", "greedy-random" or "random". Dynamically changeable.
  ValueGcPolicy value_gc_policy = ValueGcPolicy::kGreedy;

  // Of how many groups kGreedyRandom takes one (d in HashKV 3.3), at least 1 (0: InvalidArgument). Dynamically changeable.
  uint32_t value_gc_choices = 8;

  // Values of keys that are updated often have segments of their own, and a collection takes those segments of
  // its group that give the most garbage per byte copied (HashKV 3.4); with several db_paths the others' go to
  // the last of them. Half a byte to a byte of memory per value. Dynamically changeable.
  bool value_hot_cold = false;

  // What a segment group holds, about (HashKV's main segment), where blob_file_size is not less; there are 64 to 512
  // groups, or 16 where memtables are so small that a group's share of one is a few kilobytes. At
  // least 1 (0: InvalidArgument).
  // Dynamically changeable.
  uint64_t value_group_bytes = 64ull << 20;

  // --- The table-less store ---

  // In text "lsm" or "tableless". A family with tables is not opened as table-less, nor the other way
  // round. Needs a comparator without timestamps for which keys of different bytes are different, and
  // goes without separated values. The options above are then those of the key store.
  StoreKind store = StoreKind::kLsm;

  // Files that the hash space is cut into, 1 to 1024, and the size of a page, a multiple of 4096 up to 1
  // MiB. Both count when the family's first memtable is flushed.
  uint32_t tableless_sections = 16;
  uint32_t tableless_page_bytes = 4096;

  // Pages of all sections together, at most 2^36. 0: as many as the data asks for, by rehashes; else
  // rehashes lead to this number. Dynamically changeable.
  uint64_t tableless_pages = 0;

  // How full pages are after a rehash, in percent, at most: less where that is expected to leave more than half
  // of tableless_max_overflow_percent in the overflow store (docs/design/sizing.md). 5 to
  // 95. Dynamically changeable.
  uint32_t tableless_fill_percent = 50;
  // A section gets more pages, by a quarter at least, once so many percent of its bytes are in the overflow
  // store, and fewer, if it has more than 64, once its pages are less full than that. Growth leaves them no emptier
  // than a third above tableless_min_fill_percent. 0 to 100 each. Dynamically changeable.
  uint32_t tableless_max_overflow_percent = 3;
  uint32_t tableless_min_fill_percent = 15;

  // Keys are kept in sorted tables, too: iterators need them. Without, these are NotSupported, and a
  // DeleteRange costs a pass over all pages.
  bool tableless_key_store = true;

  // True says that the device and the file system write a page of tableless_page_bytes whole or not at all, also
  // when the power fails, the process dies or the write fails. Then a flush writes pages in place at once, instead
  // of to a journal first, wherever that loses nothing (docs/design/page-journal.md); the log is synced before, and kept
  // until they are durable. What the option says of the device is not checked: where it is untrue, a power cut
  // damages pages, which nothing can repair. Counts for flushes from then on, and may differ between openings.
  // A family whose pages, as it was made, are larger than the option's keeps journals. Dynamically changeable.
  bool tableless_atomic_page_writes = false;

  // Sections rehashed at a time, 1 to 64, and old pages that are read at a time. Dynamically changeable.
  uint32_t tableless_rehash_threads = 1;
  uint32_t tableless_rehash_batch = 16;
  // Threads that share the sections of a flush, and of writing in place, 1 to 64; they come on top of
  // max_background_jobs while the job runs. Dynamically changeable.
  uint32_t tableless_write_threads = 2;
};

// "CompassTable". The caller owns the factory.
rocksdb::TableFactory* NewPieceTableFactory(
    const PieceTableOptions& piece_options = PieceTableOptions(),
    const rocksdb::BlockBasedTableOptions& block_options = rocksdb::BlockBasedTableOptions());

}  // namespace compassdb
