// SPDX-License-Identifier: Apache-2.0
// The job that makes tables of other databases' files, and commits them together. At the front of the write queue.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "db/jobs/external_table.h"
#include "db/jobs/job.h"
#include "rocksdb/options.h"

namespace compassdb {

// One file that is being ingested.
struct Ingestion {
  std::shared_ptr<ColumnFamily> family;
  const rocksdb::IngestExternalFileOptions* options = nullptr;
  std::shared_ptr<const ExternalTable> file;
  bool overlaps_files = false;  // another file of the same call
  bool imported = false;        // its records keep their sequences
  SequenceNumber sequence = 0;

  // Whether a snapshot would see the records, although they are newer than it.
  bool ChangesSnapshots() const { return sequence == 0 && options->snapshot_consistency && !options->ingest_behind; }
};

// During its lifetime there are no new snapshots, if there were none.
class NoSnapshots {
 public:
  explicit NoSnapshots(SnapshotList* list) : list_(list), holds_(list->CloseIfEmpty()) {}
  ~NoSnapshots() {
    if (holds_) list_->Open();
  }
  NoSnapshots(const NoSnapshots&) = delete;
  NoSnapshots& operator=(const NoSnapshots&) = delete;
  bool holds() const { return holds_; }

 private:
  SnapshotList* const list_;
  const bool holds_;
};

class TableIngestion final : public Job {
 public:
  // `without_snapshots`: the sequences are for the case without snapshots. If there are some at the commit, and they
  // would see a change, nothing is committed, and outdated() is true.
  TableIngestion(const JobEnvironment& env, const std::vector<Ingestion>& ingestions, bool without_snapshots,
                 std::atomic<SequenceNumber>* last_sequence)
      : Job(env, JobListener::Kind::kIngestion),
        ingestions_(ingestions),
        without_snapshots_(without_snapshots),
        visible_sequence_(last_sequence),
        last_sequence_(last_sequence->load()) {
    for (const Ingestion& ingestion : ingestions) {
      AddPart(ingestion.family, nullptr);
      last_sequence_ = std::max(last_sequence_, ingestion.sequence);
    }
  }
  bool outdated() const { return outdated_; }

 private:
  Status Work(JobPart* part) override;
  bool WantsCommit() override;
  void AddItems(std::vector<CommitItem>* items) override;
  void CommitFailed() override;
  void PartCommitted(JobPart*) override { none_.reset(); }
  void PartFailed(JobPart*) override { none_.reset(); }
  rocksdb::BackgroundErrorReason ReasonOf(bool) const override { return rocksdb::BackgroundErrorReason::kManifestWrite; }
  // An import drops its family next; the drop removes the doubt, or is the error.
  bool IsBackgroundError(const Status&) const override { return in_doubt_ && !ingestions_.front().imported; }
  void Report(const Status& s) override;

  const Ingestion& IngestionOf(const JobPart* part) const {
    return ingestions_[static_cast<size_t>(part - parts_.data())];
  }

  const std::vector<Ingestion>& ingestions_;
  const bool without_snapshots_;
  std::atomic<SequenceNumber>* const visible_sequence_;
  SequenceNumber last_sequence_;
  std::optional<NoSnapshots> none_;
  bool outdated_ = false;
  bool in_doubt_ = false;
};

}  // namespace compassdb
