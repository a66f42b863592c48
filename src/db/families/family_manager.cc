// SPDX-License-Identifier: Apache-2.0
#include "db/families/family_manager.h"

#include "db/report/info_log.h"
#include "options/sanitize.h"

namespace compassdb {

Status FamilyManager::Create(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                             std::shared_ptr<ColumnFamily>* family) {
  if (options.comparator == nullptr) {
    return Status::InvalidArgument("column family " + name + ": comparator is null");
  }
  rocksdb::DBOptions db_options;
  {
    MutexLock lock(mu_);
    db_options = config_.options;
  }
  const NamedFamilyOptions sanitized{name, SanitizeFamilyOptions(db_options, options)};
  if (Status s = ValidateFamilyOptions(db_options, sanitized); !s.ok()) return s;
  WarnAboutHints(config_.info_log.get(), rocksdb::DBOptions(), {sanitized});
  ExclusiveWrite front(&front_.queue);
  if (errors_.writes_refused()) return errors_.error();
  if (families_.ByName(name) != nullptr) {
    return Status::InvalidArgument("Column family already exists", name);
  }
  uint32_t id;
  {
    MutexLock lock(mu_);
    id = manifest_state_.NewFamilyId();
  }
  Status s = factory_.MakeDirs(name, sanitized.options.cf_paths, /*own=*/!options.cf_paths.empty());
  if (s.ok()) s = factory_.Make(id, name, sanitized.options, family);
  if (s.ok()) s = (*family)->store()->Open();
  if (!s.ok()) return s;
  if (s = CommitNew(*family); !s.ok()) {
    background_errors_.SetBackgroundError(s, rocksdb::BackgroundErrorReason::kManifestWrite);
    return s;
  }
  LogInfo(config_.info_log.get(), "created column family [" + name + "], id " + std::to_string(id));
  return s;
}

Status FamilyManager::CommitNew(const std::shared_ptr<ColumnFamily>& family) {
  front_.queue.AssertAtFront();
  ReadStateGarbage garbage(&space_);
  MutexLock lock(mu_);
  family->memtables().BeginAt(front_.logs.current_number(),
                              front_.last_sequence.load(std::memory_order_acquire));
  family->LimitMemTables();
  family->InstallReadState(garbage.list());
  std::vector<CommitItem> items(1);
  VersionEdit& edit = items.front().edit;
  edit.column_family = family->id();
  edit.add_column_family = family->name();
  edit.comparator = family->user_comparator()->Name();
  edit.log_number = family->memtables().log_number();
  edit.max_column_family = manifest_state_.max_family_id();
  items.front().installed = [&] { families_.Add(family); };
  Status s = commits_.Commit(&items, garbage.list());
  if (s.ok()) observer_.FamilyChanged(family);
  return s;
}

Status FamilyManager::Create(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                             rocksdb::ColumnFamilyHandle** handle) {
  *handle = nullptr;
  std::shared_ptr<ColumnFamily> family;
  if (Status s = Create(options, name, &family); !s.ok()) return s;
  // The family exists even if the OPTIONS file failed. A caller that gets an error expects no handle.
  if (Status s = observer_.FamiliesChanged(); !s.ok()) return s;
  *handle = handles_.New(std::move(family));
  return Status::OK();
}

Status FamilyManager::Create(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                             std::vector<rocksdb::ColumnFamilyHandle*>* handles) {
  handles->clear();
  Status s;
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : families) {
    std::shared_ptr<ColumnFamily> family;
    s = Create(descriptor.options, descriptor.name, &family);
    if (!s.ok()) break;
    handles->push_back(handles_.New(std::move(family)));
  }
  if (!handles->empty()) {
    Status written = observer_.FamiliesChanged();
    if (s.ok()) s = written;
  }
  return s;
}

Status FamilyManager::CommitDrop(const std::shared_ptr<ColumnFamily>& family) {
  front_.queue.AssertAtFront();
  ReadStateGarbage garbage(&space_);
  MutexLock lock(mu_);
  std::vector<CommitItem> items(1);
  items.front().edit.column_family = family->id();
  items.front().edit.drop_column_family = true;
  items.front().installed = [&] {
    family->MarkDropped();
    families_.Remove(family->id());
    family->store()->MarkDropped();
  };
  Status s = commits_.Commit(&items, garbage.list());
  if (s.ok()) observer_.FamilyChanged(family);
  return s;
}

Status FamilyManager::Drop(const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
  Status s;
  Status refused;  // the first that cannot be dropped; those before it are
  bool any = false;
  {
    ExclusiveWrite front(&front_.queue);
    if (errors_.writes_refused()) return errors_.error();
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      const std::shared_ptr<ColumnFamily> family = SharedFamilyOf(handle);
      if (family->id() == 0) {
        refused = Status::InvalidArgument("Can't drop default column family");
      } else if (family->dropped()) {
        refused = Status::InvalidArgument("Column family already dropped!", family->name());
      }
      if (!refused.ok()) break;
      s = CommitDrop(family);
      if (!s.ok()) break;
      any = true;
      LogInfo(config_.info_log.get(), "dropped column family [" + family->name() + "]");
    }
  }
  if (!s.ok()) {
    background_errors_.SetBackgroundError(s, rocksdb::BackgroundErrorReason::kManifestWrite);
    return s;
  }
  if (!any) return refused;
  s = observer_.FamiliesChanged();
  space_.Purge();
  return refused.ok() ? s : refused;
}

void FamilyManager::Close() {
  handles_.Close();
  for (const auto& family : families_.All()) families_.Remove(family->id());
}

}  // namespace compassdb
