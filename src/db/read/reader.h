// SPDX-License-Identifier: Apache-2.0
// Reads of the database. A read pins the state of its family (memtables,
// store view) first and takes its sequence second: all that the sequence admits
// up to the pinning is in the state.
//
// Thread safety: all methods except Follow, which must precede the first read.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/read/followed_primary.h"
#include "db/read/snapshot_list.h"
#include "env/clock.h"
#include "family/column_family.h"
#include "rocksdb/db.h"
#include "trace/tracing.h"
#include "util/mutex.h"

namespace compassdb {

using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;

class Reader {
 public:
  // `last_sequence`: the newest that readers may see. `unlogged_data`: memtables have data that no log has.
  // `mu`: the database mutex, under which no memtable is switched.
  Reader(Clock* clock, std::shared_ptr<rocksdb::Statistics> statistics, const KeyHasher& hasher,
         bool read_only, const std::atomic<SequenceNumber>& last_sequence,
         const std::atomic<bool>& unlogged_data, SnapshotList* snapshots, Tracing* tracing, Mutex* mu);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void Follow(FollowedPrimary* primary) { primary_ = primary; }

  // get.cc
  Status Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             PinnableSlice* value, std::string* timestamp);
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   rocksdb::PinnableWideColumns* columns);
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                          PinnableSlice* operands,
                          rocksdb::GetMergeOperandsOptions* merge_options,
                          int* number_of_operands);
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   std::string* value, std::string* timestamp, bool* value_found);
  // The sequence of the key's newest record, or of a range tombstone over it. It may miss one at or
  // below `since`. 0: none. `time` (may be null): in a family with timestamps the newest time of the
  // key; empty: none.
  Status NewestSequence(ColumnFamilyHandle* handle, const Slice& key, SequenceNumber since,
                        SequenceNumber* newest, std::string* time);

  // multi_get.cc. `timestamps` may be null.
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** handles,
                const Slice* keys, PinnableSlice* values, std::string* timestamps,
                Status* statuses, bool sorted_input);
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* handle, size_t num_keys,
                const Slice* keys, PinnableSlice* values, std::string* timestamps,
                Status* statuses, bool sorted_input);
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& handles,
                               const std::vector<Slice>& keys, std::vector<std::string>* values,
                               std::vector<std::string>* timestamps);

  // iterator.cc
  rocksdb::Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle);
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles,
                      std::vector<rocksdb::Iterator*>* iterators);
  // The records from begin to end (empty: unbounded) in internal-key order, all versions except
  // those under range tombstones, until f returns false.
  Status ForEachRecord(ColumnFamilyHandle* handle, const Slice& begin, const Slice& end,
                       const std::function<bool(const ParsedInternalKey&, const Slice&)>& f);

 private:
  struct PointRead {
    Slice key;
    PinnableSlice* value = nullptr;
    std::vector<std::string>* operands = nullptr;
    std::string* timestamp = nullptr;
    bool* is_entity = nullptr;  // then *value is an entity as stored
    SequenceNumber sequence = 0;
  };
  struct MultiGetCall;

  Status CheckRead(const ReadOptions& options, const ColumnFamily& family) const;
  SequenceNumber ReadSequence(const ReadOptions& options) const;
  BlockReadOptions BlockOptions(const ReadOptions& options) const;
  Status GetCounted(const ReadOptions& options, ColumnFamily* family, PointRead* read);
  Status GetFromState(const ReadOptions& options, const ColumnFamily& family,
                      const ReadState& state, const PointRead& read);
  bool SkipsMemTables(const ReadOptions& options) const;
  Status SearchMemTables(const ReadOptions& options, const ReadState& state, const Slice& key,
                         GetContext* ctx);

  bool CheckMultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** handles,
                     Status* statuses) const;
  void MultiGetAtOneTime(MultiGetCall* call, size_t num_keys, ColumnFamilyHandle** handles,
                         bool sorted_input);
  void MultiGetFamily(MultiGetCall* call, const ColumnFamily& family, const ReadState& state,
                      std::span<uint32_t> order, bool sorted_input);
  void MultiGetSome(MultiGetCall* call, const ColumnFamily& family, const ReadState& state,
                    std::span<const uint32_t> keys);

  class IteratorRenewer;
  rocksdb::Iterator* NewIteratorOn(const ReadOptions& options,
                                   const std::shared_ptr<ColumnFamily>& family, ReadState* state,
                                   HeldSequence at);
  HeldSequence IteratorSequence(const ReadOptions& options, const ColumnFamily& family);

  // timestamps.cc: the same in families with timestamps.
  Status GetAtTime(const ReadOptions& options, const ColumnFamily& family, const ReadState& state,
                   const PointRead& read);
  Status NewestTimedSequence(ColumnFamily* family, const Slice& key, SequenceNumber since,
                             SequenceNumber* newest, std::string* time);

  Clock* const clock_;
  const std::shared_ptr<rocksdb::Statistics> statistics_;  // null: none
  const KeyHasher& hasher_;
  const bool read_only_;
  const std::atomic<SequenceNumber>& last_sequence_;
  const std::atomic<bool>& unlogged_data_;
  SnapshotList* const snapshots_;
  Tracing* const tracing_;
  Mutex* const mu_;
  FollowedPrimary* primary_ = nullptr;  // null: the database is no secondary
};

// Whether the read and the family agree about timestamps, and history reaches back that far.
Status CheckReadTime(const ReadOptions& options, const ColumnFamily& family);

}  // namespace compassdb
