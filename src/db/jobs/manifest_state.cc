// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/manifest_state.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace compassdb {
namespace {

// Without its tables.
VersionEdit FamilyEdit(const ColumnFamily& family) {
  VersionEdit edit;
  edit.column_family = family.id();
  edit.add_column_family = family.name();
  edit.comparator = family.user_comparator()->Name();
  edit.log_number = family.memtables().log_number();
  if (family.history() != nullptr) edit.history_low = family.history()->Get();
  return edit;
}

}  // namespace

std::vector<VersionEdit> ManifestState::Snapshot() const {
  mu_->AssertHeld();
  std::vector<VersionEdit> edits(1);
  edits.front().db_id = db_id_;
  edits.front().hash_seed = hash_seed_;
  edits.front().max_column_family = max_family_id_;
  edits.front().file_checksums = ledger_.Checksums();
  for (const auto& family : families_.All()) {
    edits.push_back(FamilyEdit(*family));
    VersionEdit tables;
    family->store()->Snapshot(&tables);
    tables.column_family = family->id();
    edits.push_back(std::move(tables));
  }
  return edits;
}

// The oldest needed log includes the changes of the edits themselves.
void ManifestState::Stamp(std::vector<VersionEdit>* edits) const {
  uint64_t oldest = std::min(front_.logs.current_number(), front_.open_sections.OldestLog());
  for (const auto& family : families_.All()) {
    const MemTables& memtables = family->memtables();
    uint64_t needed = memtables.OldestRecordLog();
    uint64_t prepared = memtables.OldestPreparedLog(0);
    for (const VersionEdit& edit : *edits) {
      if (edit.column_family != family->id() || edit.add_column_family) continue;
      if (edit.drop_column_family) needed = prepared = UINT64_MAX;
      if (edit.log_number) {
        needed = std::max(needed, *edit.log_number);
        prepared = memtables.OldestPreparedLog(*edit.log_number);
      }
    }
    oldest = std::min({oldest, needed, prepared});
  }
  edits->front().min_log_number = oldest;
  const SyncedLog synced = front_.logs.synced();
  if (synced.bytes > 0 && synced.number >= oldest) {
    edits->front().synced_log = {synced.number, synced.bytes};
  }
  edits->front().last_sequence = front_.last_sequence.load(std::memory_order_acquire);
}

// Under one lock of the mutex: a job's file is pinned, or its tables are in the view, or it was abandoned.
bool ManifestState::DescribeJob(CommitQueue* numbers, JobRecord* record) const {
  constexpr size_t kMostFamilies = 100;  // in the record of each file of each
  std::shared_ptr<const StoreView> view;
  {
    MutexLock lock(mu_);
    record->order = numbers->NewNumber();
    VersionEdit database;
    database.db_id = db_id_;
    database.hash_seed = hash_seed_;
    database.last_sequence = front_.last_sequence.load(std::memory_order_acquire);
    const bool all = families_.size() <= kMostFamilies;
    if (all) database.max_column_family = max_family_id_;
    record->state.push_back(std::move(database));
    for (const auto& family : families_.All()) {
      const bool own = family->id() == record->job.column_family;
      if (all || own) record->state.push_back(FamilyEdit(*family));
      if (own) view = family->store()->view();
    }
    record->writing = ledger_.PinnedFiles();
  }
  if (view == nullptr) return false;
  view->ForEachTable([&](int level, const TphMeta& meta) { record->live.push_back({level, meta.tph_id}); });
  return true;
}

}  // namespace compassdb
