// SPDX-License-Identifier: Apache-2.0
// The runs of a family's value store at one moment.
//
// Thread safety: immutable; pinned through std::shared_ptr.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "env/file_system.h"
#include "env/read_batch.h"
#include "format/key_hash.h"
#include "store/store.h"
#include "table/read_options.h"
#include "value_store/read_spans.h"
#include "value_store/shared_room.h"
#include "value_store/value_ref.h"
#include "value_store/value_run.h"

namespace compassdb {

// One of several values that are read together.
struct ValueRequest {
  Slice user_key;
  KeyHash hash;
  Slice ref;
  rocksdb::PinnableSlice* value = nullptr;
  Status status;
};

// Its own memory counts in addition to the runs'.
inline bool IsSmallRun(const ValueRunMeta& run) { return run.extent.length < (32 << 10); }
// Each collection of its group takes it, also one that is for other runs.
inline bool NeverStays(const ValueRunMeta& run) { return run.num_values == 0 || run.pinned_hint != 0; }

class ValueVersion {
 public:
  // `runs` in ascending order of their ids.
  ValueVersion(std::shared_ptr<const ValueContext> context, std::vector<ValueRunRef> runs);

  void CheckInvariants() const;

  const std::vector<ValueRunRef>& runs() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  ~ValueVersion();
  std::shared_ptr<const ValueVersion> WithoutRuns() const {
    return std::make_shared<const ValueVersion>(context_, std::vector<ValueRunRef>());
  }
  ValueVersion(const ValueVersion&) = delete;
  ValueVersion& operator=(const ValueVersion&) = delete;

  // The value that `ref` names, for a key with this hash. NotFound if it is not here.
  Status Read(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
              const Slice& ref, rocksdb::PinnableSlice* value) const;

  // Whether there is a value of that number, for a key with this hash.
  Status Has(const KeyHash& hash, uint64_t number, bool* found) const;
  // Tables may name values.
  bool expected() const { return context_->separates || !runs_.empty(); }

  // Whether values have a cache of their own; otherwise they use the block cache.
  // Into the cache of values, if there is one.
  void Keep(const Slice& ref, const Slice& value) const;
  bool has_own_cache() const { return context_->own_cache; }
  // Read for each, with their reads overlapped (env/read_batch.h).
  void ReadMany(const BlockReadOptions& read, std::span<ValueRequest> requests) const;

  // A set of runs that shares no key with other runs: the unit of collection.
  struct Group {
    ValueGroup group;
    uint64_t bytes = 0;
    uint64_t values = 0;
    uint64_t dead_bytes = 0;  // about; at most `bytes`
    uint64_t newest = 0;      // creation time of the newest run, seconds since 1970
    uint64_t pinned_bytes = 0;  // estimated; of `bytes`, those that only live snapshots see
    uint64_t events = 0;  // records that may have ended values and are not counted
    uint64_t small_runs = 0;
    uint64_t small_bytes = 0;  // of them, and of larger ones that a merge copies with them
    uint64_t oldest_run = UINT64_MAX;  // id
  };
  std::vector<Group> Groups() const;
  std::vector<ValueRunRef> RunsOf(const ValueGroup& group) const;
  // For each run its group's garbage, shared by size, because its place in the group is not known.
  std::vector<uint64_t> DeadBytes() const;
  ValueStats Stats() const;
  // The id of the youngest run in the files that were written first, as many as begin within that share of all
  // bytes; of 1 or more: no run is younger; of 0: none is old.
  uint64_t OldUntil(double share) const;
  // The id of the youngest of the group's oldest runs that take at most this many bytes, and at least one run.
  uint64_t TailUntil(const ValueGroup& group, uint64_t bytes) const;
  uint64_t total_bytes() const { return total_bytes_; }
  // What values of so many bytes take, with their keys and places, as the present ones do. Not less.
  uint64_t Stored(uint64_t value_bytes) const;
  // Estimated garbage, including what snapshots may still see.
  uint64_t superseded_bytes() const { return superseded_bytes_; }
  uint64_t most_small_runs() const { return most_small_runs_; }  // of one group
  // The bytes that a notice ends, estimated, and the counted bytes that `notices` of them ended.
  uint64_t NoticeWorth() const;
  void LearnNoticeWorth(uint64_t notices, uint64_t ended_bytes) const;
  size_t MemoryBytes() const;  // with the runs', without their places
  std::shared_ptr<std::atomic<uint64_t>> uncommitted_bytes() const { return context_->uncommitted_bytes; }
  UpdateCounts* updates() const { return context_->updates.get(); }

 private:
  friend class ValueReads;
  size_t OwnMemoryBytes() const;
  // NotFound if the value is in no run. With `cache_only`: Incomplete if places must be loaded to decide, and *run is
  // the first run that needs it.
  Status Find(const KeyHash& hash, uint64_t number, bool cache_only, const ValueRun** run, ValuePlace* place) const;
  // The same for a reader that may not be allowed to read files.
  Status Locate(const BlockReadOptions& read, const KeyHash& hash, uint64_t number,
                const ValueRun** run, ValuePlace* place) const;
  // Makes the value of a record, which is *value->GetSelf(), or in `room` (not null: the value is pinned to it), or
  // elsewhere.
  Status Accept(bool fill_cache, const ValueRun& run, const ValuePlace& place, const Slice& user_key,
                const ValueRef& ref, const Slice& record, SharedRoom* room, rocksdb::PinnableSlice* value) const;

  const std::shared_ptr<const ValueContext> context_;
  const std::vector<ValueRunRef> runs_;
  uint32_t bits_ = 0;  // the finest groups
  // By the finest groups: the runs with values of it, by their smallest number. (The numbers are also here, because
  // each run is an object elsewhere in memory.)
  struct Holder {
    uint64_t min_number;
    uint64_t max_number;
    const ValueRun* run;
  };
  std::vector<std::vector<Holder>> by_group_;
  uint64_t total_bytes_ = 0;
  uint64_t total_values_ = 0;
  uint64_t raw_bytes_ = 0;
  uint64_t superseded_bytes_ = 0;
  uint64_t most_small_runs_ = 0;
};

// Values that are read together, concurrently with their reader; neighbours by one read.
//
// One thread. Version, options, and requests with all that they point to must stay valid until Finish, Drop or
// the destructor.
class ValueReads {
 public:
  // Collects the reads of one batch; those of an earlier one are dropped. `share`: values are pinned to memory that
  // they share. Otherwise each has its own.
  void Start(const ValueVersion& version, const BlockReadOptions& read, bool fill_cache, bool share,
             std::span<ValueRequest> requests);
  // Begins the reads.
  void Submit() { batch_.Submit(); }
  // Some are not done yet.
  bool pending() const { return !batch_.empty(); }
  // Waits for them: each request has its value or its error.
  void Finish();
  void Drop();

 private:
  struct Wanted {
    ValueRequest* request;
    ValueRef ref;
    const ValueRun* run;
    ValuePlace place;
    const CompactionFile* file;
  };
  void LocateAll();
  void OpenFiles();
  void AddReads();
  bool ReadsIntoValue(const ReadSpan& span) const { return !share_ && span.count == 1; }
  Wanted& FirstOf(const ReadSpan& span) { return wanted_[places_[span.first].index]; }
  // The record's bytes in what was read for its span.
  Status Take(const Wanted& wanted, const Slice& record);
  Status ReadAlone(const Wanted& wanted);

  const ValueVersion* version_ = nullptr;
  const BlockReadOptions* read_ = nullptr;
  bool fill_cache_ = false;
  bool share_ = false;
  std::vector<Wanted> wanted_;
  std::vector<std::shared_ptr<CompactionFile>> files_;  // that their runs do not hold
  std::vector<FilePlace> places_;                       // of `wanted_`
  std::vector<ReadSpan> spans_;                         // over them
  std::vector<ReadRequest> reads_;                      // of the spans
  SharedRoom room_;
  ReadBatch batch_;  // destroyed first
};

}  // namespace compassdb
