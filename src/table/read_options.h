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

class BlockSet;
struct PrefixSeek;
class Piece;

// What a reader of pieces needs for its lifetime (from the options).
struct TableReaderOptions {
  const rocksdb::Comparator* comparator = nullptr;
  std::shared_ptr<rocksdb::Cache> block_cache;  // null: no cache
  rocksdb::Statistics* statistics = nullptr;    // null: none
  rocksdb::Cache::Priority index_priority = rocksdb::Cache::Priority::HIGH;  // in the cache
  bool filters = false;  // those that pieces have are loaded and asked
};

// A seek of a table and the walk behind it, shared by the iterators of its pieces.
struct SeekCounter {
  uint32_t from_file = 0;   // first blocks that pieces had to give
  uint32_t from_cache = 0;
  uint64_t walked_bytes = 0;    // of the blocks behind the first ones
  uint64_t expected_bytes = 0;  // the same of walks like this one
  uint64_t file_bytes = 0;      // of all blocks given, by where they came from
  uint64_t cached_bytes = 0;
  // In slot and hash order instead: the blocks, each of which was read for itself.
  uint32_t scattered_from_file = 0;
  uint32_t scattered_from_cache = 0;
};

// What one read asks for (from rocksdb::ReadOptions).
struct BlockReadOptions {
  bool verify_checksums = true;
  bool fill_cache = true;
  bool cache_only = false;      // kBlockCacheTier: answer Incomplete instead of reading a file
  size_t readahead_bytes = 0;   // iterators; 0: grows by itself while the walk is sequential
  bool async_io = false;        // iterators: read ahead beside every walk, not only long ones
  // Iterators: nobody asks for user keys from here on (until an iterator turns).
  const rocksdb::Slice* upper_bound = nullptr;
  SeekCounter* seeks = nullptr;  // iterators of pieces count there; null: they do not
  float walk_share = 1;         // of a table's bytes, those of the piece
  bool whole_piece = false;     // iterators that will walk pieces from end to end (compactions)
  IoLimits limits;
  // Iterators: a table none of whose pieces it wants is left out; null: all are wanted. Of the caller.
  const std::function<bool(const Piece&)>* piece_filter = nullptr;
  // Of point reads: for filters of prefixes only; null: these are not asked. Of the caller.
  const rocksdb::SliceTransform* prefix_extractor = nullptr;
  const PrefixSeek* prefix_seek = nullptr;  // of iterators; null: filters are not asked. Of the caller.
  BlockSet* blocks = nullptr;   // looked into before the cache; of a MultiGet
  // Of stores that change in place: what iterators read at, and whether that is kept as a snapshot (a point
  // read may then not be told to try again).
  uint64_t snapshot = UINT64_MAX >> 8;
  bool snapshot_held = false;
};

}  // namespace compassdb
