// SPDX-License-Identifier: Apache-2.0
// Between a job's surviving records and its tables: writes large values to the value store and leaves
// references. Adds notices and deaths to the groups of values that are superseded or dropped.
//
// 1. A record that is written for the first time, from a memtable, is either separated itself or leaves a
//    notice if an older record of its key may exist.
// 2. Values of records that were in tables before (operands that were merged, values from before the option)
//    are separated only if nothing newer of the key was flushed before the job began: their group no longer
//    knows what was collected. Collections keep what is flushed during the job (ValueGcJob).
// 3. A value may be separated although the job has a newer record of its key, because a snapshot sees it. Then
//    that record leaves a notice now, if it left none and is no separated value itself.
// 4. A record that the job makes of merges, or of records that range tombstones cover, leaves a notice if there is
//    none.
// 5. A reference that the job reads and does not write again is a death.
//
// One thread; the constructor's arguments outlive this.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lsm/compaction/job_file.h"
#include "lsm/version/lsm_version.h"
#include "value_store/value_writer.h"

namespace compassdb {

// The last record that hides older ones of its key. (A merge operand hides none.)
struct RecordAbove {
  std::string user_key;
  SequenceNumber sequence = 0;
  bool noticed = false;  // its group has a notice of it
};

class ValueSeparator {
 public:
  struct Options {
    int level = 0;  // of the output
    JobFile* file = nullptr;  // for the values
    uint32_t group_bits = 0;
    // Records from here on come from memtables. kMaxSequenceNumber: none do.
    SequenceNumber fresh_from = kMaxSequenceNumber;
    const LsmVersion* version = nullptr;
    // A newer record of the key may be in tables outside of the job. Null: none is.
    std::function<bool(const Slice& user_key, const KeyHash& hash)> newer_outside = {};
  };
  ValueSeparator(const StoreContext* context, const StoreOptions* options, Options job);

  // Nothing is separated, and no group needs notices.
  bool idle() const { return !separates_ && !notices_; }
  // Replaces the record: *key and *value are unchanged, or point to memory of this object, valid until the
  // next call. `stale`, `made`: see CompactionIterator.
  Status Pass(bool stale, bool made, Slice* key, Slice* value);
  // CompactionIteratorOptions::dropped_value.
  void Dropped(const Slice& user_key, const Slice& ref, bool superseded);

  // Writes the rest; the caller finishes the file.
  Status Finish(VersionEdit* edit);

 private:
  // For a key that tables may hold.
  void AddNotice(const KeyHash& hash, SequenceNumber sequence, bool separated, bool newest);

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const Options job_;
  const bool separates_;
  const bool notices_;
  const int64_t notice_worth_;  // bytes that a notice is taken to end
  UpdateCounts* const updates_;  // null: hot and cold values are not separated
  ValueWriter writer_;
  std::string key_, ref_;
  std::optional<RecordAbove> above_;
};

}  // namespace compassdb
