// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "compassdb/value_gc.h"
#include "rocksdb/cache.h"
#include "rocksdb/compression_type.h"

namespace compassdb {

// Options of a family's value store, projected from rocksdb::ColumnFamilyOptions.
struct ValueOptions {
  bool enabled = false;  // new values are separated; those that are already stay readable
  uint64_t min_size = 1;
  int starting_level = 0;  // outputs of shallower levels keep their values
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
  // Collection. Without it space comes back only when nothing in a segment lives.
  bool collect = true;
  // Garbage that is tolerated, as per cent of the live bytes.
  uint32_t reserve_percent = 30;
  uint32_t idle_reserve_percent = 100;  // the same when nothing was written for a while, if it is less
  // A group with more garbage than this share of its bytes is collected although there is room; 1: none.
  double force_threshold = 1.0;
  ValueGcPolicy policy = ValueGcPolicy::kGreedy;
  uint32_t policy_d = 1;  // of kGreedyRandom: among how many
  uint64_t flush_bytes = 0;  // that a flush is about to bring
  bool cache_new = false;  // what flushes bring goes into the cache
  bool hot_cold = false;  // values that were not updated go to segments of their own
  uint64_t group_bytes = 64ull << 20;  // about what a group is to hold (main segment)
  uint64_t read_span = 0;  // that a collection reads at a time; 0: its own
  // Of all bytes, those that were written longest ago: forced collections leave the rest alone.
  double old_share = 1.0;
  std::shared_ptr<rocksdb::Cache> cache;  // of values; null: none

  bool collects_when_idle() const {
    return enabled && collect && idle_reserve_percent < reserve_percent;
  }
};

// What a flush may bring to separated values at a time, in bytes.
struct ValueRoom {
  uint64_t bytes = UINT64_MAX;
  uint64_t per_deletion = 0;  // as much of it does a deletion take: a value that it ends becomes garbage
};

}  // namespace compassdb
