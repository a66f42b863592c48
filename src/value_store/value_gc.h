// SPDX-License-Identifier: Apache-2.0
// Collects a segment group (HashKV 3.3) without reading the tables: the sequences of its values and notices
// decide which of its values are live. Values keep their numbers, so that no table changes.
//
// The key tables also give the exact garbage. A job may end with that, if there is less than estimated
// (`believed_dead`), or if it only counts (`count`).
//
// Notices are kept as long as they matter: if an older value of the key stays (for a snapshot, or in a
// cold run that is not rewritten), and if the notice is newer than
// `retain_above`: compactions that began then may still add older values.
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "manifest/version_edit.h"
#include "store/value_options.h"
#include "value_store/update_counts.h"
#include "value_store/value_version.h"

namespace compassdb {

struct ValueGcJob {
  ValueGroup group;
  std::vector<ValueRunRef> inputs;  // all runs of the group
  std::vector<SequenceNumber> snapshots;  // ascending
  SequenceNumber retain_above = kMaxSequenceNumber;
  std::shared_ptr<std::atomic<uint64_t>> uncommitted_bytes;  // ValueWriter's
  const UpdateCounts* updates = nullptr;  // not null: hot and cold values are separated
  bool keep_cold = false;  // without `updates`: values of cold runs are cold again
  // Files to be vacated. If not empty, other runs stay as they are.
  std::unordered_set<uint64_t> vacated;
  bool merge = false;  // small runs become one, others stay as they are
  bool count = false;  // nothing is moved
  uint64_t old_until = UINT64_MAX;  // runs with a larger id stay as they are, with any garbage
  bool tail = false;  // of a log: the other runs are moved to its head, also those without garbage
  uint64_t read_span = 0;  // bytes that are read at a time, about; 0: the run's default
  uint64_t believed_dead = 0;  // if there is less than half of that, nothing is moved
  uint32_t group_bits = 0;  // of the output
  // The paths of the output; cold values may have another one.
  rocksdb::Statistics* statistics = nullptr;
  std::function<Status(CompactionFileWriter**)> file;
  std::function<Status(CompactionFileWriter**)> cold_file;
  std::function<uint64_t()> new_number;
  std::function<Status()> pause;  // called regularly: an error ends the job
};

struct ValueGcReport {
  uint64_t bytes_read = 0;
  uint64_t values_in = 0;
  uint64_t values_moved = 0;
  uint64_t bytes_moved = 0;
  bool counted = false;  // the edit is empty
  // The new hint of each input.
  std::vector<ValueHints> hints;
  // In runs that were not counted before: notices, and the bytes of values that these ended.
  uint64_t notices = 0;
  uint64_t ended_bytes = 0;
};

// Adds the numbers of the values that a collection of this group would drop, while there are no snapshots.
Status FindSuperseded(const ValueGroup& group, const std::vector<ValueRunRef>& runs, std::vector<uint64_t>* numbers);

// Adds to *edit; the caller finishes the files before it commits.
Status CollectValueGroup(const ValueGcJob& job, VersionEdit* edit, ValueGcReport* report);

}  // namespace compassdb
