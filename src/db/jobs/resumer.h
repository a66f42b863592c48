// SPDX-License-Identifier: Apache-2.0
// DB::Resume: clears the background error after a failure whose cause is resolved.
//
// Thread safety: both methods, which are called without any lock.
#pragma once

#include <memory>

#include "db/jobs/background_jobs.h"
#include "db/jobs/flusher.h"
#include "db/write/write_front.h"

namespace compassdb {

class Resumer {
 public:
  // All of it outlives this.
  Resumer(const JobEnvironment& env, WriteFront& front, BackgroundJobs& jobs, Flusher& flusher)
      : env_(env), mu_(env.mu), front_(front), jobs_(jobs), flusher_(flusher) {}

  // For the user. A failure is a background error again.
  Status Resume() EXCLUDES(*mu_);
  // For AutoResume: Busy while background work is paused. A failure is not reported.
  Status ResumeUnasked() EXCLUDES(*mu_);

 private:
  bool ResumeFromSoft() EXCLUDES(*mu_);  // false: it is not a soft error
  // *old: the error before. Without `asked` it does not wait, at the front, for paused work.
  Status TryResume(bool asked, Status* old) EXCLUDES(*mu_);
  Status Switch(Flusher::Targets* targets) EXCLUDES(*mu_);
  Status CommitLogNumbers() EXCLUDES(*mu_);
  std::unique_ptr<ExclusiveWrite> FrontWithoutFlushes() EXCLUDES(*mu_);
  void Resumed(const Status& old) EXCLUDES(*mu_);

  const JobEnvironment& env_;
  Mutex* const mu_;
  WriteFront& front_;
  BackgroundJobs& jobs_;
  Flusher& flusher_;
};

}  // namespace compassdb
