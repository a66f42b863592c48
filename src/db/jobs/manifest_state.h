// SPDX-License-Identifier: Apache-2.0
// What a manifest says of an open database: its identity, its families with their tables, and which logs are needed.
//
// Thread safety: methods marked [mutex] are called with the database mutex held. The identity is set while the database
// is opened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/jobs/commit.h"
#include "db/write/write_front.h"
#include "family/column_family.h"
#include "manifest/extent_ledger.h"
#include "manifest/job_record.h"
#include "util/mutex.h"

namespace compassdb {

class ManifestState final : public ManifestSource {
 public:
  ManifestState(Mutex* mu, const ColumnFamilySet& families, const ExtentLedger& ledger, const WriteFront& front)
      : mu_(mu), families_(families), ledger_(ledger), front_(front) {}

  void SetIdentity(const std::string& db_id, uint64_t hash_seed) {
    db_id_ = db_id;
    hash_seed_ = hash_seed;
  }
  const std::string& db_id() const { return db_id_; }

  // [mutex] The largest id that a family ever had, and the next one.
  uint32_t max_family_id() const {
    mu_->AssertHeld();
    return max_family_id_;
  }
  void set_max_family_id(uint32_t id) {
    mu_->AssertHeld();
    max_family_id_ = id;
  }
  uint32_t NewFamilyId() {
    mu_->AssertHeld();
    return ++max_family_id_;
  }

  // ManifestSource
  std::vector<VersionEdit> Snapshot() const override;
  void Stamp(std::vector<VersionEdit>* edits) const override;

  // StoreContext::describe_job. `numbers` gives the record's place among all of them.
  bool DescribeJob(CommitQueue* numbers, JobRecord* record) const EXCLUDES(*mu_);

 private:
  Mutex* const mu_;
  const ColumnFamilySet& families_;
  const ExtentLedger& ledger_;
  const WriteFront& front_;
  std::string db_id_;
  uint64_t hash_seed_ = 0;
  uint32_t max_family_id_ GUARDED_BY(*mu_) = 0;
};

}  // namespace compassdb
