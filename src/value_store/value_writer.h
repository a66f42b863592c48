// SPDX-License-Identifier: Apache-2.0
// Puts values aside for a flush, a compaction or a garbage collection: each goes to the segment group of
// its key's hash (HashKV 3.2). Values are held in memory and written in rounds, one run per group and
// round, one after the other (HashKV 3.8: batch writes).
//
// One thread. Invariant: numbers are given in ascending order, and stand so in each run.
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
  uint32_t h2 = 0;  // the upper half of KeyHash::h2, which is all that is in use
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
  uint64_t h1 = 0;  // only says which group
  uint64_t number = 0;
};

class ValueWriter {
 public:
  struct Options {
    uint32_t group_bits = 0;
    rocksdb::CompressionType compression = rocksdb::kNoCompression;
    int compression_level = 32767;  // the library's default
    bool cold = false;  // what moves here is
    bool counted = false;  // ValueRunMeta::counted
    rocksdb::Statistics* statistics = nullptr;
    const UpdateCounts* updates = nullptr;  // not null: what is added is hot or cold by them
    uint64_t round_bytes = 64 << 20;
    uint64_t most_records_bytes = UINT32_MAX;  // of a run: places are of 32 bits
    uint64_t creation_time = 0;
    std::shared_ptr<std::atomic<uint64_t>> uncommitted_bytes;  // ValueContext's; null: nobody counts
    // Called when there is something to write.
    std::function<Status(CompactionFileWriter**)> file;
    std::function<uint64_t()> new_number;  // for runs and blocks of value numbers
  };
  explicit ValueWriter(Options options) : options_(std::move(options)) {
    if (options_.uncommitted_bytes != nullptr) {
      uncommitted_ = std::make_shared<UncommittedBytes>(options_.uncommitted_bytes);
    }
  }

  // Copies the value, gives it a number, and appends what names it to *ref. `supersedes`: older values of the
  // key may be there; they are taken for one as large as this.
  Status Add(const Slice& user_key, const KeyHash& hash, SequenceNumber sequence, const Slice& value,
             bool supersedes, std::string* ref);
  // Records of other runs move here, with their numbers. `fill` is told where each is to stand, of the size that its
  // entry says, and puts it there whole.
  Status Move(const std::vector<ValueEntry>& entries, const std::function<Status(const std::vector<char*>&)>& fill);
  // Older values of the key are superseded as of `sequence`.
  void AddNotice(const ValueNotice& notice) { BatchOf(notice.h1).notices.push_back(notice); }
  // No table names the value any more.
  void AddDeath(const ValueDeath& death) { BatchOf(death.h1).deaths.push_back(death.number); }
  // So many bytes of older values of the key's group became garbage, about. Negative: fewer than runs say.
  void AddDeadHint(uint64_t h1, int64_t bytes) { BatchOf(h1).dead_hint += bytes; }
  // So many bytes of the key's group are there for snapshots of this range alone.
  void AddPinnedHint(uint64_t h1, int64_t bytes, SequenceNumber from, SequenceNumber to) {
    Batch& batch = BatchOf(h1);
    batch.pinned_hint += bytes;
    batch.pinned_from = std::min(batch.pinned_from, from);
    batch.pinned_to = std::max(batch.pinned_to, to);
  }

  // Writes what is left.
  Status Finish();
  // For the edit of the job: the runs, which have been counted as not committed.
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
