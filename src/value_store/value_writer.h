// SPDX-License-Identifier: Apache-2.0
// Writes separated values for a flush, a compaction or a collection, each to the segment group of its
// key's hash (HashKV 3.2). Values are held in memory and written in rounds, one run per group and
// round, one after the other (HashKV 3.8: batch writes).
//
// One thread. Invariant: numbers are assigned in ascending order, and are ascending in each run.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/internal_key.h"
#include "format/key_hash.h"
#include "manifest/version_edit.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"
#include "table/file/compaction_file.h"
#include "value_store/update_counts.h"

namespace compassdb {

using rocksdb::Status;

// A value as a run's key table lists it.
struct ValueEntry {
  uint64_t h1 = 0;
  uint32_t h2 = 0;  // the upper half of KeyHash::h2, the only part in use
  SequenceNumber sequence = 0;
  uint64_t number = 0;
  uint32_t offset = 0;  // of the record in the run
  uint32_t size = 0;    // of the record
};

struct ValueNotice {
  uint64_t h1 = 0;
  uint32_t h2 = 0;
  SequenceNumber sequence = 0;
};

struct ValueDeath {
  uint64_t h1 = 0;  // only for the group
  uint64_t number = 0;
};

class ValueWriter {
 public:
  struct Options {
    uint32_t group_bits = 0;
    rocksdb::CompressionType compression = rocksdb::kNoCompression;
    int compression_level = 32767;  // the library's default
    bool cold = false;  // of moved values
    bool counted = false;  // ValueRunMeta::counted
    rocksdb::Statistics* statistics = nullptr;
    const UpdateCounts* updates = nullptr;  // not null: decides whether added values are hot or cold
    uint64_t round_bytes = 64 << 20;
    uint64_t most_records_bytes = UINT32_MAX;  // of a run: places are of 32 bits
    uint64_t creation_time = 0;
    std::shared_ptr<std::atomic<uint64_t>> uncommitted_bytes;  // ValueContext's; null: not counted
    // Called when there is something to write.
    std::function<Status(CompactionFileWriter**)> file;
    std::function<uint64_t()> new_number;  // for runs and blocks of value numbers
  };
  explicit ValueWriter(Options options) : options_(std::move(options)) {
    if (options_.uncommitted_bytes != nullptr) {
      uncommitted_ = std::make_shared<UncommittedBytes>(options_.uncommitted_bytes);
    }
  }

  // Copies the value, assigns a number, and appends its reference to *ref. `supersedes`: older values of the
  // key may exist; they count as one of the same size.
  Status Add(const Slice& user_key, const KeyHash& hash, SequenceNumber sequence, const Slice& value,
             bool supersedes, std::string* ref);
  // Moves records of other runs here, with their numbers. `fill` writes each whole record to its place, of the size in
  // its entry.
  Status Move(const std::vector<ValueEntry>& entries, const std::function<Status(const std::vector<char*>&)>& fill);
  // Older values of the key are superseded as of `sequence`.
  void AddNotice(const ValueNotice& notice) { BatchOf(notice.h1).notices.push_back(notice); }
  // No table names the value any more.
  void AddDeath(const ValueDeath& death) { BatchOf(death.h1).deaths.push_back(death.number); }
  // This many bytes of older values of the key's group became garbage, estimated. Negative: fewer than runs say.
  void AddDeadHint(uint64_t h1, int64_t bytes) { BatchOf(h1).dead_hint += bytes; }
  // Only snapshots of this range see this many bytes of the key's group.
  void AddPinnedHint(uint64_t h1, int64_t bytes, SequenceNumber from, SequenceNumber to) {
    Batch& batch = BatchOf(h1);
    batch.pinned_hint += bytes;
    batch.pinned_from = std::min(batch.pinned_from, from);
    batch.pinned_to = std::max(batch.pinned_to, to);
  }

  // Writes the rest.
  Status Finish();
  // The runs for the job's edit; they count as uncommitted.
  void AppendTo(VersionEdit* edit) const;
  const std::vector<ValueRunMeta>& runs() const { return runs_; }
  bool empty() const { return batches_.empty() && runs_.empty(); }

 private:
  struct Batch {
    std::string records;
    std::vector<ValueEntry> entries;
    std::vector<ValueNotice> notices;
    std::vector<uint64_t> deaths;
    uint64_t raw_bytes = 0;
    int64_t dead_hint = 0;
    int64_t pinned_hint = 0;
    SequenceNumber pinned_from = UINT64_MAX;
    SequenceNumber pinned_to = 0;
  };
  using BatchKey = std::pair<uint32_t, bool>;  // prefix, cold
  Batch& BatchOf(uint64_t h1) { return BatchOf(h1, options_.cold); }
  Batch& BatchOf(uint64_t h1, bool cold) {
    const uint32_t bits = options_.group_bits;
    return batches_[{bits == 0 ? 0 : static_cast<uint32_t>(h1 >> (64 - bits)), cold}];
  }
  void AddEntry(Batch* batch, ValueEntry entry, size_t begin, uint64_t raw);
  Status WriteFullRound() { return pending_bytes_ >= options_.round_bytes ? WriteRound() : Status::OK(); }
  Status WriteRound();
  Status WriteRun(const BatchKey& key, Batch* batch);

  const Options options_;
  std::shared_ptr<UncommittedBytes> uncommitted_;  // may be null
  std::map<BatchKey, Batch> batches_;
  uint64_t pending_bytes_ = 0;
  uint64_t next_number_ = 0;
  uint64_t numbers_left_ = 0;
  std::string compressed_;
  std::vector<ValueRunMeta> runs_;
};

}  // namespace compassdb
