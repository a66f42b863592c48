// SPDX-License-Identifier: Apache-2.0
// Sets background errors: asks listeners, counts and logs the errors, wakes threads that wait for jobs, and starts
// AutoResume for errors that may end by themselves.
#pragma once

#include "db/jobs/auto_resume.h"
#include "db/jobs/background_errors.h"
#include "db/write/wal_set.h"

namespace compassdb {

class ErrorReporter final : public BackgroundErrors {
 public:
  // All of it outlives this. `changed` belongs to `mu`, the database mutex.
  ErrorReporter(const DbConfig& config, const Listeners& listeners, const WalSet& logs, ErrorHandler& errors,
                AutoResume& auto_resume, Mutex* mu, CondVar* changed)
      : config_(config),
        listeners_(listeners),
        logs_(logs),
        errors_(errors),
        auto_resume_(auto_resume),
        mu_(mu),
        changed_(changed) {}

  void SetBackgroundError(const Status& error, rocksdb::BackgroundErrorReason reason) override EXCLUDES(*mu_);
  void WriteRefused() override { auto_resume_.StartIfMissing(); }

 private:
  const DbConfig& config_;
  const Listeners& listeners_;
  const WalSet& logs_;
  ErrorHandler& errors_;
  AutoResume& auto_resume_;
  Mutex* const mu_;
  CondVar* const changed_;
};

}  // namespace compassdb
