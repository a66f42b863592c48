// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/flusher.h"

#include "store/pages.h"

namespace compassdb {
namespace {

constexpr std::chrono::milliseconds kChangeLook{200};  // some changes give no signal

}  // namespace

void Flusher::AwaitRoom(const Families& families) {
  MutexLock lock(mu_);
  for (const auto& family : families) {
    MemTables& memtables = family->memtables();
    const auto writers_would_stop = [&] {
      const auto sealed = static_cast<int>(memtables.full_count());
      return sealed > 0 && sealed + 1 >= family->settings.max_write_buffer_number &&
             !memtables.active()->empty();
    };
    while (!*env_.shutting_down && !env_.errors->writes_refused() && !family->dropped() &&
           writers_would_stop()) {
      memtables.RequestFlush();
      jobs_.MaybeSchedule();
      jobs_.AwaitBackground(kChangeLook);
    }
  }
}

Status Flusher::Flush(const Families& families, const rocksdb::FlushOptions& options, rocksdb::FlushReason reason) {
  if (!options.allow_write_stall) AwaitRoom(families);
  Targets targets;
  Status s;
  {
    ExclusiveWrite front(&front_.queue);
    if (env_.errors->writes_refused()) return env_.errors->error();
    s = SealAndRequest(families, reason, &targets);
  }
  if (!s.ok()) {
    env_.background_errors->SetBackgroundError(s, rocksdb::BackgroundErrorReason::kFlush);
    return s;
  }
  if (!options.wait) return Status::OK();
  s = Wait(targets, /*for_listeners=*/true);
  // If one of several families (an atomic flush takes all) is dropped since, the others do not fail.
  if (s.ok() && families.size() == 1 && !targets.empty()) {
    MutexLock lock(mu_);
    const auto& [family, sealed] = targets.front();
    if (family->dropped() && family->memtables().flushed_count() < sealed) {
      s = Status::ColumnFamilyDropped(family->name());
    }
  }
  // As in RocksDB, a flush beyond the allowed space fails, although the data is in tables.
  if (s.ok() && env_.errors->writes_refused() && env_.errors->error().subcode() == Status::kSpaceLimit) {
    s = env_.errors->error();
  }
  return s;
}

void Flusher::FlushUnlogged() {
  if (!front_.unlogged_data || env_.errors->writes_refused()) return;
  {
    MutexLock lock(mu_);
    if (env_.config.options.avoid_flush_during_shutdown) return;
  }
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  Flush(env_.families.All(), flush, rocksdb::FlushReason::kShutDown).PermitUncheckedError();
}

Status Flusher::SealAndRequest(const Families& families, rocksdb::FlushReason reason, Targets* targets) {
  front_.queue.AssertAtFront();
  Status s;
  {
    ReadStateGarbage garbage(env_.space);
    MutexLock lock(mu_);
    bool switches = reason == rocksdb::FlushReason::kErrorRecovery;
    for (const auto& family : families) {
      switches = switches || !family->memtables().active()->empty();
    }
    if (switches) s = switcher_.SwitchMemTables(families, reason, &garbage);
    if (s.ok()) {
      *targets = Request(families);
      jobs_.MaybeSchedule();  // of what was sealed before
    }
  }
  env_.stalls->NotifyListeners();
  return s;
}

Flusher::Targets Flusher::Request(const Families& families) {
  Targets targets;
  for (const auto& family : families) {
    MemTables& memtables = family->memtables();
    if (family->dropped() || memtables.flushed_count() >= memtables.sealed_count()) continue;
    targets.emplace_back(family, memtables.sealed_count());
    memtables.RequestFlush();
  }
  return targets;
}

Status Flusher::Wait(const Targets& targets, bool for_listeners, bool while_paused) {
  MutexLock lock(mu_);
  for (const auto& [family, sealed] : targets) {
    const MemTables& memtables = family->memtables();
    while ((for_listeners ? memtables.announced_count() : memtables.flushed_count()) < sealed) {
      if (for_listeners && memtables.flushed_count() >= sealed) {
        env_.changed->Wait();  // its job has yet to call the listeners
        continue;
      }
      if (family->dropped()) break;
      if (*env_.shutting_down) return Status::ShutdownInProgress("Flush");
      if (env_.errors->writes_refused()) return env_.errors->error();
      if (!while_paused && jobs_.paused()) return Status::Busy("background work is paused");
      jobs_.AwaitBackground(kChangeLook);
    }
  }
  return Status::OK();
}

Status Flusher::FlushAll() {
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  return Flush(env_.families.All(), flush, rocksdb::FlushReason::kGetLiveFiles);
}

void Flusher::AwaitDeletions() {
  {
    MutexLock lock(mu_);
    for (const auto& family : env_.families.All()) {
      const Pages* const pages = family->store()->pages();
      while (pages != nullptr && pages->WritesInPlace() && !*env_.shutting_down) env_.changed->Wait();
    }
    env_.stalls->Update();  // writers do not wait for that, either
    env_.changed->SignalAll();
  }
  env_.stalls->NotifyListeners();
  env_.space->Wait();
}

void Flusher::ResumeDeletions() {
  env_.space->Purge();
  MutexLock lock(mu_);
  jobs_.MaybeSchedule();
}

}  // namespace compassdb
