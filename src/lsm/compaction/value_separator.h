// SPDX-License-Identifier: Apache-2.0
// Stands between a job's surviving records and its tables: large values go to the value store and leave a
// reference, and the groups there are told what supersedes or ends the values that they hold.
//
// 1. A record that is written for the first time, from a memtable, is either separated itself or leaves a
//    notice if an older record of its key may exist.
// 2. Values of records that were in tables before (operands that were merged, values from before the option)
//    are separated only if nothing newer of the key was flushed before the job began: their group has
//    forgotten what was collected. What is flushed during the job, collections keep (ValueGcJob).
// 3. Of a value that is separated although the job has a newer record of its key (a snapshot sees it), that
//    record leaves a notice now, if it left none and is no separated value itself.
// 4. A record that the job makes of merges or of what range deletions cover, of which nobody was told, leaves a notice.
// 5. A reference that the job reads and does not write again is a death.
//
// One thread; what the constructor takes outlives this.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lsm/compaction/job_file.h"
#include "lsm/version/lsm_version.h"
#include "value_store/value_writer.h"

namespace compassdb {

// Of the last record that hides older ones of its key. (A merge operand hides none.)
struct RecordAbove {
  std::string user_key;
  SequenceNumber sequence = 0;
  bool told = false;  // its group knows of it
};

class ValueSeparator {
 public:
  struct Options {
    int level = 0;  // that the records go to
    JobFile* file = nullptr;  // for the values
    uint32_t group_bits = 0;
    // Records from here on come from memtables. kMaxSequenceNumber: none do.
    SequenceNumber fresh_from = kMaxSequenceNumber;
    const LsmVersion* version = nullptr;
    // A newer record of the key lies in tables outside of the job, perhaps. Null: none does.
    std::function<bool(const Slice& user_key, const KeyHash& hash)> newer_outside = {};
  };
  ValueSeparator(const StoreContext* context, const StoreOptions* options, Options job);

  // Nothing is to be separated, and no group wants to be told anything.
  bool idle() const { return !separates_ && !tells_; }
  // What is to be written in place of the record: *key and *value are changed to memory of this, valid until
  // the next call, or left as they are. `stale`, `made`: see CompactionIterator.
  Status Pass(bool stale, bool made, Slice* key, Slice* value);
  // CompactionIteratorOptions::dropped_value.
  void Dropped(const Slice& user_key, const Slice& ref, bool superseded);

  // Writes what is left; the file is the caller's to finish.
  Status Finish(VersionEdit* edit);

 private:
  // Of a key that tables may hold.
  void Tell(const KeyHash& hash, SequenceNumber sequence, bool separated, bool newest);

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const Options job_;
  const bool separates_;
  const bool tells_;
  const int64_t notice_worth_;  // bytes that a notice is taken to end
  UpdateCounts* const updates_;  // null: hot and cold values lie together
  ValueWriter writer_;
  std::string key_, ref_;
  std::optional<RecordAbove> above_;
};

}  // namespace compassdb
