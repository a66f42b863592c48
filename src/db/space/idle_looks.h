// SPDX-License-Identifier: Apache-2.0
// Checks once a second for work that is due while nothing happens (collections of separated values
// down to value_idle_reserve_percent), while any family may have some.
//
// Thread safety: all methods. Lock order: mu_ > the database mutex.
#pragma once

#include "db/jobs/background_work.h"
#include "family/column_family.h"
#include "util/mutex.h"

namespace compassdb {

class IdleLooks {
 public:
  IdleLooks(const ColumnFamilySet& families, Mutex* db_mu, BackgroundWork& work)
      : families_(families), db_mu_(db_mu), work_(work) {}
  // Begins or ends the checks, by the families' current options.
  void Schedule() EXCLUDES(mu_, *db_mu_);
  // Permanently; waits for a running check.
  void Stop() EXCLUDES(mu_);

 private:
  const ColumnFamilySet& families_;
  Mutex* const db_mu_;
  BackgroundWork& work_;
  Mutex mu_;
  uint64_t task_ GUARDED_BY(mu_) = 0;
  bool stopped_ GUARDED_BY(mu_) = false;
};

}  // namespace compassdb
