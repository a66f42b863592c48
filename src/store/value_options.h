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
  bool enabled = false;  // new values are separated; separated ones stay readable either way
  uint64_t min_size = 1;
  int starting_level = 0;  // outputs of shallower levels keep their values
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
  // Collection. Without it space is freed only when nothing in a segment is live.
  bool collect = true;
  // Garbage that is allowed, in percent of the live bytes.
  uint32_t reserve_percent = 30;
  uint32_t idle_reserve_percent = 100;  // the same after an idle time, if it is less
  // A group with more garbage than this share of its bytes is collected even if there is room; 1: none.
  double force_threshold = 1.0;
  ValueGcPolicy policy = ValueGcPolicy::kGreedy;
  uint32_t policy_d = 1;  // of kGreedyRandom: among how many
  uint64_t flush_bytes = 0;  // that the next flush adds
  bool cache_new = false;  // values of flushes are added to the cache
  bool hot_cold = false;  // values that were not updated have segments of their own
  uint64_t group_bytes = 64ull << 20;  // size of a group, about (main segment)
  uint64_t read_span = 0;  // that a collection reads at a time; 0: its default
  // Share of all bytes, oldest first, that forced collections may collect.
  double old_share = 1.0;
  std::shared_ptr<rocksdb::Cache> cache;  // of values; null: none

  bool operator==(const ValueOptions&) const = default;
  bool collects_when_idle() const {
    return enabled && collect && idle_reserve_percent < reserve_percent;
  }
};

// How much a flush may add to separated values at a time, in bytes.
struct ValueRoom {
  uint64_t bytes = UINT64_MAX;
  uint64_t per_deletion = 0;  // what a deletion counts: the value that it ends becomes garbage
};

}  // namespace compassdb
