// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/slice.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "table/io_limits.h"

namespace compassdb {

class ReadyBlocks;
struct PrefixSeek;
class Piece;

// What a reader of pieces needs for its lifetime (from the options).
struct TableReaderOptions {
  const rocksdb::Comparator* comparator = nullptr;
  std::shared_ptr<rocksdb::Cache> block_cache;  // null: no cache
  rocksdb::Statistics* statistics = nullptr;    // null: none
  rocksdb::Cache::Priority index_priority = rocksdb::Cache::Priority::HIGH;  // in the cache
  bool filters = false;  // filters of pieces are loaded and checked
};

// A seek of a table and the walk behind it, shared by the iterators of its pieces.
struct SeekCounter {
  uint32_t from_file = 0;   // first blocks of pieces
  uint32_t from_cache = 0;
  uint64_t walked_bytes = 0;    // of the blocks after the first ones
  uint64_t expected_bytes = 0;  // the same of walks like this one
  uint64_t file_bytes = 0;      // of all blocks given, by where they came from
  uint64_t cached_bytes = 0;
  // In slot and hash order instead: the blocks, each read alone.
  uint32_t scattered_from_file = 0;
  uint32_t scattered_from_cache = 0;
};

// What one read asks for (from rocksdb::ReadOptions).
struct BlockReadOptions {
  bool verify_checksums = true;
  bool fill_cache = true;
  bool cache_only = false;      // kBlockCacheTier: answer Incomplete instead of reading a file
  size_t readahead_bytes = 0;   // iterators; 0: grows by itself while the walk is sequential
  bool async_io = false;        // iterators: read ahead during every walk, not only long ones
  // Iterators: no user key from here on is needed (until an iterator changes direction).
  const rocksdb::Slice* upper_bound = nullptr;
  SeekCounter* seeks = nullptr;  // counters of iterators of pieces; null: none
  float walk_share = 1;         // of a table's bytes, those of the piece
  bool whole_piece = false;     // iterators that will walk pieces from end to end (compactions)
  IoLimits limits;
  // Iterators: a table is skipped if this is false for all its pieces; null: no table is. The caller's.
  const std::function<bool(const Piece&)>* piece_filter = nullptr;
  // Point reads: for filters of prefixes only; null: these are not checked. The caller's.
  const rocksdb::SliceTransform* prefix_extractor = nullptr;
  const PrefixSeek* prefix_seek = nullptr;  // iterators; null: filters are not checked. The caller's.
  ReadyBlocks* blocks = nullptr;   // searched before the cache; of a MultiGet
  // Stores that change in place: the sequence that iterators read at, and whether it is held as a snapshot (a
  // point read then never returns TryAgain).
  uint64_t snapshot = UINT64_MAX >> 8;
  bool snapshot_held = false;
};

}  // namespace compassdb
