// SPDX-License-Identifier: Apache-2.0
// Creating and dropping column families. Both change the set of families, so
// both run at the front of the write queue.
#include "db/db_impl.h"
#include "db/open/make_store.h"
#include "env/create_dir.h"
#include "format/file_names.h"
#include "options/sanitize.h"

namespace compassdb {

Status DBImpl::MakeFamily(uint32_t id, const std::string& name,
                          const rocksdb::ColumnFamilyOptions& options,
                          std::shared_ptr<ColumnFamily>* family) {
  StoreOptions store_options;
  if (Status s = ProjectFamilyOptions(id, name, options, &store_options); !s.ok()) return s;
  if (store_options.pages.enabled && secondary_ != nullptr) {
    return Status::NotSupported("column family " + name,
                                "a secondary instance cannot follow a table-less family, whose pages "
                                "are written in place");
  }
  if (store_options.pages.enabled && store_context_.checksums != nullptr && !read_only_) {
    return Status::NotSupported("column family " + name,
                                "is table-less: its pages are written in place, so that files have no "
                                "checksums (DBOptions::file_checksum_gen_factory)");
  }
  if (store_options.pages.enabled && !read_only_) {
    // Said now, not when the first pages are to be written.
    const std::string path = TempFileName(config_.name, 0);
    std::unique_ptr<PageFile> probe;
    Status s = config_.fs->NewPageFile(path, FileOptions(), /*create=*/true, &probe);
    if (s.ok()) s = probe->Close();
    if (s.ok()) s = config_.fs->DeleteFile(path);
    if (!s.ok()) return s;
  }
  if (options.inplace_update_support) snapshots_.GiveNone();
  store_options.keep_last_level = config_.options.allow_ingest_behind;
  rocksdb::ColumnFamilyOptions limited = options;
  ApplyMemoryLimit(config_, &limited, &store_options);
  store_options.paths = config_.PathsOf(options);
  for (const TablePath& path : store_options.paths) files_->dirs()->Add(path.dir);
  std::shared_ptr<HistoryLow> history;
  if (options.comparator->timestamp_size() != 0) history = std::make_shared<HistoryLow>();
  store_options.history = history;
  auto* const made = new ColumnFamily(id, name, limited, MakeStore(&store_context_, store_options),
                                      config_.write_buffers);
  made->read_state()->SetListener(&space_);
  // Whoever lets go of a dropped one last, a reader or a job, frees its tables.
  *family = std::shared_ptr<ColumnFamily>(made, [this](ColumnFamily* last) {
    const bool dropped = last->dropped;
    delete last;
    if (dropped && !shutting_down_) space_.Schedule();
  });
  (*family)->history = std::move(history);
  rocksdb::Logger* const log = config_.info_log.get();
  rocksdb::Header(log, "--------------- Options for column family [%s]:", name.c_str());
  limited.Dump(log);
  rocksdb::LogFlush(log);
  return Status::OK();
}

Status DBImpl::CreateFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) {
  *handle = nullptr;
  if (options.comparator == nullptr) {
    return Status::InvalidArgument("column family " + name + ": comparator is null");
  }
  const rocksdb::DBOptions db_options = GetDBOptions();
  const NamedFamilyOptions sanitized{name, SanitizeFamilyOptions(db_options, options)};
  if (Status s = ValidateFamilyOptions(db_options, sanitized); !s.ok()) return s;
  WarnAboutHints(config_.info_log.get(), rocksdb::DBOptions(), {sanitized});
  ExclusiveWrite front(&write_thread_);
  if (errors_.writes_refused()) return errors_.error();
  if (families_.ByName(name) != nullptr) {
    return Status::InvalidArgument("Column family already exists", name);
  }
  uint32_t id;
  {
    MutexLock lock(&mu_);
    id = ++max_family_id_;
  }
  for (const rocksdb::DbPath& path : sanitized.options.cf_paths) {
    if (Status s = CreateDirDurably(config_.fs, path.path); !s.ok()) return s;
    if (ownership_ == nullptr || options.cf_paths.empty()) continue;
    if (Status s = ownership_->AddTables(name, path.path, path.target_size); !s.ok()) return s;
  }
  std::shared_ptr<ColumnFamily> family;
  if (Status s = MakeFamily(id, name, sanitized.options, &family); !s.ok()) return s;
  if (Status s = family->store()->Open(); !s.ok()) return s;
  Status s;
  {
    ReadStateGarbage garbage(&space_);
    MutexLock lock(&mu_);
    family->log_number = family->mem_log_number = wals_.current_number();
    family->mem_earliest_sequence = last_sequence_.load(std::memory_order_acquire);
    family->LimitMemTable();
    family->InstallReadState(garbage.list());
    std::vector<CommitItem> items(1);
    VersionEdit& edit = items.front().edit;
    edit.column_family = id;
    edit.add_column_family = name;
    edit.comparator = family->user_comparator()->Name();
    edit.log_number = family->log_number;
    edit.max_column_family = max_family_id_;
    items.front().installed = [this, &family] { families_.Add(family); };
    s = commits_.Commit(&items, garbage.list());
    if (s.ok()) wal_limit_ = WalLimit();
  }
  if (!s.ok()) {
    SetBackgroundError(s, rocksdb::BackgroundErrorReason::kManifestWrite);
    return s;
  }
  LogInfo(config_.info_log.get(), "created column family [" + name + "], id " + std::to_string(id));
  *handle = new ColumnFamilyHandleImpl(std::move(family), this);
  return Status::OK();
}

Status DBImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                  const std::string& name, ColumnFamilyHandle** handle) {
  if (Status s = CheckWritable("CreateColumnFamily"); !s.ok()) return s;
  if (handle == nullptr) return Status::InvalidArgument("CreateColumnFamily: handle is null");
  Status s = CreateFamily(options, name, handle);
  if (!s.ok()) return s;
  idle_looks_.Schedule();
  s = PersistOptions();
  if (!s.ok()) {
    // The family is there; a caller that sees an error expects no handle.
    delete *handle;
    *handle = nullptr;
  }
  return s;
}

Status DBImpl::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                    const std::vector<std::string>& names,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) descriptors.emplace_back(name, options);
  return CreateColumnFamilies(descriptors, handles);
}

Status DBImpl::CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  if (Status s = CheckWritable("CreateColumnFamilies"); !s.ok()) return s;
  if (handles == nullptr) return Status::InvalidArgument("CreateColumnFamilies: handles is null");
  handles->clear();
  Status s;
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : families) {
    ColumnFamilyHandle* handle = nullptr;
    s = CreateFamily(descriptor.options, descriptor.name, &handle);
    if (!s.ok()) break;
    handles->push_back(handle);
  }
  if (!handles->empty()) {
    idle_looks_.Schedule();
    Status persisted = PersistOptions();
    if (s.ok()) s = persisted;
  }
  return s;
}

Status DBImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  return DropColumnFamilies({handle});
}

Status DBImpl::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) {
  if (Status s = CheckWritable("DropColumnFamily"); !s.ok()) return s;
  Status s;
  Status refused;  // the first that cannot be dropped; those before it are
  bool any = false;
  {
    ExclusiveWrite front(&write_thread_);
    if (errors_.writes_refused()) return errors_.error();
    for (ColumnFamilyHandle* handle : handles) {
      const std::shared_ptr<ColumnFamily> family = SharedFamilyOf(handle);
      if (family->id() == 0) {
        refused = Status::InvalidArgument("Can't drop default column family");
      } else if (family->dropped) {
        refused = Status::InvalidArgument("Column family already dropped!", family->name());
      }
      if (!refused.ok()) break;
      ReadStateGarbage garbage(&space_);
      MutexLock lock(&mu_);
      std::vector<CommitItem> items(1);
      items.front().edit.column_family = family->id();
      items.front().edit.drop_column_family = true;
      items.front().installed = [this, &family] {
        family->dropped = true;
        families_.Remove(family->id());
        family->store()->MarkDropped();
      };
      s = commits_.Commit(&items, garbage.list());
      if (!s.ok()) break;
      any = true;
      std::erase(background_.flush_queue, family);
      std::erase(background_.compaction_queue, family);
      wal_limit_ = WalLimit();
      UpdateStall(&stall_changes_);
      LogInfo(config_.info_log.get(), "dropped column family [" + family->name() + "]");
    }
  }
  if (!s.ok()) {
    SetBackgroundError(s, rocksdb::BackgroundErrorReason::kManifestWrite);
    return s;
  }
  if (!any) return refused;
  NotifyStalls();
  space_.Purge();
  s = PersistOptions();
  return refused.ok() ? s : refused;
}

Status DBImpl::DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) {
  if (handle == default_handle_.get()) {
    return Status::InvalidArgument(
        "Cannot destroy the handle returned by DefaultColumnFamily()");
  }
  delete handle;
  return Status::OK();
}

void DBImpl::HandleGoes(ColumnFamilyHandle* handle) { listeners_.HandleDeletion(handle); }

void DBImpl::HandleOfDroppedGone() {
  // By hand, since who deletes handles and then looks at the disk wants the room to be free.
  if (!config_.options.avoid_unnecessary_blocking_io) space_.Purge();
}

}  // namespace compassdb
