// SPDX-License-Identifier: Apache-2.0
// The history low of families with user-defined timestamps (full_history_ts_low).
//
// Thread safety: all methods.
#pragma once

#include <memory>
#include <string>

#include "db/jobs/commit.h"
#include "db/open/db_config.h"
#include "family/column_family.h"
#include "util/mutex.h"

namespace compassdb {

class FamilyHistories {
 public:
  // `garbage` is notified of states that no reader has any longer.
  FamilyHistories(const DbConfig& config, Mutex* mu, CommitQueue& commits, ReleaseListener& garbage)
      : config_(config), mu_(mu), commits_(commits), garbage_(garbage) {}

  // Compactions may drop records older than `low`, and no read sees them. It is never lowered.
  Status Raise(const std::shared_ptr<ColumnFamily>& family, const std::string& low) EXCLUDES(*mu_);
  // Empty: the whole history is kept.
  static Status Low(const ColumnFamily& family, std::string* low);

 private:
  const DbConfig& config_;
  Mutex* const mu_;
  CommitQueue& commits_;
  ReleaseListener& garbage_;
};

}  // namespace compassdb
