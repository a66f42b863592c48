// SPDX-License-Identifier: Apache-2.0
// The OPTIONS files of an open database: a new one whenever options or families change.
//
// Thread safety: all methods. One file is written at a time.
#pragma once

#include <atomic>

#include "db/jobs/commit.h"
#include "db/open/db_config.h"
#include "manifest/extent_ledger.h"
#include "manifest/ownership.h"
#include "util/mutex.h"

namespace compassdb {

class OptionsFiles {
 public:
  // `ownership` may be null. `commits` gives the files' numbers. While `ledger` allows no deletions, old files stay.
  OptionsFiles(const DbConfig& config, const Ownership* ownership, Mutex* db_mu, const ColumnFamilySet& families,
               CommitQueue& commits, const ExtentLedger& ledger)
      : config_(config),
        ownership_(ownership),
        db_mu_(db_mu),
        families_(families),
        commits_(commits),
        ledger_(ledger) {}

  // Writes the current options. A failure is an error only with fail_if_options_file_error, and is always in LOG.
  Status Write() EXCLUDES(mu_, *db_mu_);
  // The number of the newest written file; 0: none.
  const std::atomic<uint64_t>& number() const { return number_; }

 private:
  const DbConfig& config_;
  const Ownership* const ownership_;
  Mutex* const db_mu_;
  const ColumnFamilySet& families_;
  CommitQueue& commits_;
  const ExtentLedger& ledger_;
  Mutex mu_;  // held while a file is written
  std::atomic<uint64_t> number_{0};
};

}  // namespace compassdb
