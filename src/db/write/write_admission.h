// SPDX-License-Identifier: Apache-2.0
// Whether a group of writes may begin: not after an error that refuses writes, not before full memtables are switched,
// and not while writes are stalled.
//
// Thread safety: Admit is called by the writer that leads, at the front of the write queue, without locks.
#pragma once

#include <atomic>

#include "db/jobs/background_errors.h"
#include "db/jobs/error_handler.h"
#include "db/write/memtable_switch.h"
#include "family/read_state.h"

namespace compassdb {

class WriteAdmission {
 public:
  // `garbage`: is notified of states that no reader has any longer. A stalled write ends early at `shutting_down`.
  WriteAdmission(const DbConfig& config, WriteFront& front, Mutex* mu, const ColumnFamilySet& families,
                 MemTableSwitch& memtable_switch, WriteStalls& stalls, ReleaseListener& garbage, BackgroundWork& work,
                 const ErrorHandler& errors, BackgroundErrors& background_errors,
                 const std::atomic<bool>& shutting_down)
      : config_(config),
        front_(front),
        mu_(mu),
        families_(families),
        memtable_switch_(memtable_switch),
        stalls_(stalls),
        garbage_(garbage),
        work_(work),
        errors_(errors),
        background_errors_(background_errors),
        shutting_down_(shutting_down) {}

  // Why the group may not begin. Waits, unless the leader's options say otherwise.
  Status Admit(const WriteThread::Writer& leader) EXCLUDES(*mu_);

 private:
  Status SwitchDue() EXCLUDES(*mu_);
  // Whether memtables have more memory than they may.
  bool OverBudget() const { return config_.write_buffers != nullptr && config_.write_buffers->ShouldStall(); }
  Status FreeBudget() REQUIRES(*mu_);
  bool PassesWithoutWait(const WriteThread::Writer& leader) EXCLUDES(*mu_);
  Status AwaitStall(const WriteThread::Writer& leader) EXCLUDES(*mu_);
  Status AwaitNormal(const WriteThread::Writer& leader) REQUIRES(*mu_);
  void Pause(uint64_t micros) REQUIRES(*mu_);

  const DbConfig& config_;
  WriteFront& front_;
  Mutex* const mu_;
  const ColumnFamilySet& families_;
  MemTableSwitch& memtable_switch_;
  WriteStalls& stalls_;
  ReleaseListener& garbage_;
  BackgroundWork& work_;
  const ErrorHandler& errors_;
  BackgroundErrors& background_errors_;
  const std::atomic<bool>& shutting_down_;
};

}  // namespace compassdb
