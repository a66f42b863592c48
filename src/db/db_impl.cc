// SPDX-License-Identifier: Apache-2.0
#include "db/db_impl.h"

#include "db/engine.h"

namespace compassdb {

DBImpl::DBImpl(std::unique_ptr<Engine> engine)
    : process_(engine->process),
      engine_(std::move(engine)),
      write_path_(engine_->write_path),
      reader_(engine_->reader) {}

// Jobs have pointers to this object for listeners, so they end before it does.
DBImpl::~DBImpl() { engine_->Close().PermitUncheckedError(); }

Status DBImpl::Refusal() const {
  return Inherited() ? InheritedStatus()
                     : Status::InvalidArgument("Cannot call this method without a column family handle");
}

Status DBImpl::CheckWritable(const char* method) const {
  return Inherited() ? InheritedStatus() : engine_->state.config.CheckWritable(method);
}

Status DBImpl::CheckWritable(const char* method, std::span<ColumnFamilyHandle* const> families) const {
  if (Status s = CheckWritable(method); !s.ok()) return s;
  return Refuses(families) ? Refusal() : Status::OK();
}

Status DBImpl::Close() {
  if (Inherited()) return InheritedStatus();
  if (engine_->snapshots.count() > 0) {
    return Status::Aborted("Cannot close DB with unreleased snapshot.");
  }
  return engine_->Close();
}

Status DBImpl::Resume() {
  if (Status s = CheckWritable("Resume"); !s.ok()) return s;
  return engine_->resumer.Resume();
}

Status DBImpl::TryCatchUpWithPrimary() {
  if (Inherited()) return InheritedStatus();
  if (engine_->secondary != nullptr) return engine_->secondary->CatchUp();
  return Status::NotSupported("Supported only by secondary instance");
}

Status DBImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                  const std::string& name, ColumnFamilyHandle** handle) {
  if (Status s = CheckWritable("CreateColumnFamily"); !s.ok()) return s;
  if (handle == nullptr) return Status::InvalidArgument("CreateColumnFamily: handle is null");
  return engine_->family_manager.Create(options, name, handle);
}

Status DBImpl::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                    const std::vector<std::string>& names,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options);
  return CreateColumnFamilies(families, handles);
}

Status DBImpl::CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  if (Status s = CheckWritable("CreateColumnFamilies"); !s.ok()) return s;
  if (handles == nullptr) return Status::InvalidArgument("CreateColumnFamilies: handles is null");
  return engine_->family_manager.Create(families, handles);
}

Status DBImpl::DropColumnFamily(ColumnFamilyHandle* handle) { return DropColumnFamilies({handle}); }

Status DBImpl::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) {
  if (Status s = CheckWritable("DropColumnFamily", handles); !s.ok()) return s;
  return engine_->family_manager.Drop(handles);
}

Status DBImpl::DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) {
  return Inherited() ? InheritedStatus() : engine_->family_handles.Destroy(handle);
}

ColumnFamilyHandle* DBImpl::DefaultColumnFamily() const {
  return engine_->family_handles.default_handle();
}

Status DBImpl::SetOptions(ColumnFamilyHandle* family,
                          const std::unordered_map<std::string, std::string>& options) {
  if (Status s = CheckWritable("SetOptions", {&family, 1}); !s.ok()) return s;
  return engine_->option_setter.SetFamilyOptions(SharedFamilyOf(family), options);
}

Status DBImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& options) {
  if (Status s = CheckWritable("SetDBOptions"); !s.ok()) return s;
  return engine_->option_setter.SetDbOptions(options);
}

rocksdb::Options DBImpl::GetOptions(ColumnFamilyHandle* family) const {
  if (Refuses(family)) return rocksdb::Options();
  return rocksdb::Options(GetDBOptions(), FamilyOf(family)->options());
}

rocksdb::DBOptions DBImpl::GetDBOptions() const {
  return Inherited() ? rocksdb::DBOptions() : engine_->option_setter.DbOptions();
}

Status DBImpl::IncreaseFullHistoryTsLow(ColumnFamilyHandle* family, std::string ts_low) {
  if (Inherited()) return InheritedStatus();
  if (family == nullptr) family = DefaultColumnFamily();
  return engine_->family_histories.Raise(SharedFamilyOf(family), ts_low);
}

Status DBImpl::GetFullHistoryTsLow(ColumnFamilyHandle* family, std::string* ts_low) {
  if (Inherited()) return InheritedStatus();
  if (family == nullptr) family = DefaultColumnFamily();
  return FamilyHistories::Low(*FamilyOf(family), ts_low);
}

const std::string& DBImpl::GetName() const { return engine_->state.config.name; }

rocksdb::Env* DBImpl::GetEnv() const { return engine_->state.config.options.env; }

Status DBImpl::GetDbIdentity(std::string& identity) const {
  if (Inherited()) return InheritedStatus();
  identity = engine_->state.manifest_state.db_id();
  return Status::OK();
}

Status DBImpl::GetDbSessionId(std::string& session_id) const {
  if (Inherited()) return InheritedStatus();
  session_id = engine_->state.config.session_id;
  return Status::OK();
}

}  // namespace compassdb
