// SPDX-License-Identifier: Apache-2.0
#include "db/db_impl.h"

#include "env/limited_bytes.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "rocksdb/rate_limiter.h"

namespace compassdb {
namespace {

// A copy has its tables in its own directory, and ignores the paths in its options.
std::unique_ptr<FileCache> NewFileCache(const DbConfig& config) {
  const std::string& first = config.tables_linked ? config.table_paths.front().dir : config.name;
  auto files = std::make_unique<FileCache>(config.fs, first, PieceReadOptions(config.options), FileLimits(config.options));
  for (const TablePath& path : config.table_paths) files->dirs()->Add(path.dir);
  return files;
}

// A reader punches no files, and deletes only a secondary's links.
std::unique_ptr<ExtentLedger> NewExtentLedger(const DbConfig& config, FileCache* files) {
  const HoleSizes holes = config.fs->HolesWorthPunching();
  return std::make_unique<ExtentLedger>(config.fs, files, config.read_only() ? 0 : holes.least, holes.large);
}

}  // namespace

DBImpl::DBImpl(DbConfig config, std::unique_ptr<Ownership> ownership, std::unique_ptr<FileLock> lock)
    : config_(std::move(config)),
      lock_(std::move(lock)),
      ownership_(std::move(ownership)),
      files_(NewFileCache(config_)),
      ledger_(NewExtentLedger(config_, files_.get())),
      listeners_(config_.options.listeners),
      event_log_(config_.info_log.get(), config_.clock),
      background_changed_(&mu_),
      commits_(config_.fs, config_.name, config_.options.max_manifest_file_size, &mu_, manifest_state_),
      front_(config_, [this] { return commits_.NewNumber(); }),
      scheduler_(ThreadPoolsOfEnv(config_.options.env)),
      space_(config_, read_only_, {*files_, *ledger_, commits_, front_.logs}, &mu_, scheduler_, jobs_,
             {event_log_, listeners_}) {
  listeners_.SetDatabase(this);
  const rocksdb::DBOptions& options = config_.options;
  if (options.sst_file_manager != nullptr && !read_only_) {
    options.sst_file_manager->SetStatisticsPtr(options.statistics);
  }
  store_context_.fs = config_.fs;
  store_context_.clock = config_.clock;
  store_context_.files = files_.get();
  store_context_.ledger = ledger_.get();
  store_context_.read_only = read_only_;
  store_context_.spare_files = &spare_files_;
  store_context_.statistics = options.statistics.get();
  store_context_.max_subcompactions = options.max_subcompactions;
  store_context_.write_options = PieceWriteOptions(options);
  store_context_.bytes_per_sync = options.bytes_per_sync;
  store_context_.new_number = [this] { return commits_.NewNumber(); };
  store_context_.describe_job = [this](JobRecord* record) { return manifest_state_.DescribeJob(&commits_, record); };
  store_context_.compaction_wanted = [this] {
    MutexLock lock(&mu_);
    jobs_.MaybeSchedule();
  };
  store_context_.delete_later = [this](const std::string& path) { space_.obsolete().AddPages(path); };
  store_context_.checksums = options.file_checksum_gen_factory.get();
  store_context_.snapshots = [this] { return snapshots_.Sequences(); };
  store_context_.oldest_snapshot = [this] { return snapshots_.Oldest(); };
  store_context_.pinned_value_runs = snapshots_.pinned_value_runs();
  store_context_.log_info = [log = config_.info_log](const std::string& line) {
    LogInfo(log.get(), line);
  };
  if (options.rate_limiter != nullptr &&
      options.rate_limiter->IsRateLimited(rocksdb::RateLimiter::OpType::kWrite)) {
    store_context_.throttle = [limiter = options.rate_limiter](uint64_t bytes, bool flush) {
      RequestInBursts(limiter.get(), bytes, flush ? rocksdb::Env::IO_HIGH : rocksdb::Env::IO_LOW,
                      rocksdb::RateLimiter::OpType::kWrite);
    };
  }
}

void DBImpl::Follow(const std::vector<std::string>& tables, std::unique_ptr<LinkDir> links,
                    std::set<std::string> names) {
  secondary_ = std::make_unique<Secondary>(config_, DatabaseFiles{*files_, *ledger_, commits_, front_.logs}, families_,
                                           front_.last_sequence, &mu_, space_, tables, std::move(links),
                                           std::move(names));
  live_files_.Refuse(Status::NotSupported("Not supported operation in secondary mode."));
  reader_.Follow(secondary_.get());
  family_factory_.FollowPrimary();
}

void DBImpl::StartWork() {
  if (Status limit = space_.TrackAll(); !limit.ok()) {
    error_reporter_.SetBackgroundError(limit, rocksdb::BackgroundErrorReason::kFlush);
  }
  {
    MutexLock lock(&mu_);
    for (const auto& family : families_.All()) family->LimitMemTables();
    memtable_switch_.LimitsChanged(nullptr);
    stalls_.Update();
    jobs_.Open();
  }
  space_.Start(families_);
  reports_.stats_dump()->Schedule();
  jobs_.ScheduleIdleLooks();
}

Status DBImpl::TryCatchUpWithPrimary() {
  if (secondary_ == nullptr) return Status::NotSupported("Supported only by secondary instance");
  return secondary_->CatchUp();
}

Status DBImpl::DisableFileDeletions() {
  if (Status s = CheckWritable("DisableFileDeletions"); !s.ok()) return s;
  live_files_.DisableDeletions();
  return Status::OK();
}

Status DBImpl::EnableFileDeletions(bool force) {
  if (Status s = CheckWritable("EnableFileDeletions"); !s.ok()) return s;
  live_files_.EnableDeletions(force);
  return Status::OK();
}

Status DBImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                                  ColumnFamilyHandle** handle) {
  if (Status s = CheckWritable("CreateColumnFamily"); !s.ok()) return s;
  if (handle == nullptr) return Status::InvalidArgument("CreateColumnFamily: handle is null");
  return family_manager_.Create(options, name, handle);
}

Status DBImpl::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options, const std::vector<std::string>& names,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) descriptors.emplace_back(name, options);
  return CreateColumnFamilies(descriptors, handles);
}

Status DBImpl::CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  if (Status s = CheckWritable("CreateColumnFamilies"); !s.ok()) return s;
  if (handles == nullptr) return Status::InvalidArgument("CreateColumnFamilies: handles is null");
  return family_manager_.Create(families, handles);
}

Status DBImpl::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) {
  if (Status s = CheckWritable("DropColumnFamily"); !s.ok()) return s;
  return family_manager_.Drop(handles);
}

Status DBImpl::SetOptions(ColumnFamilyHandle* handle, const std::unordered_map<std::string, std::string>& options) {
  if (Status s = CheckWritable("SetOptions"); !s.ok()) return s;
  return option_setter_.SetFamilyOptions(SharedFamilyOf(handle), options);
}

Status DBImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& options) {
  if (Status s = CheckWritable("SetDBOptions"); !s.ok()) return s;
  return option_setter_.SetDbOptions(options);
}

rocksdb::Options DBImpl::GetOptions(ColumnFamilyHandle* handle) const {
  return rocksdb::Options(GetDBOptions(), FamilyOf(handle)->options());
}

void DBImpl::CancelBackgroundWork(bool wait) {
  if (process_.Inherited()) return;
  if (!shutting_down_) flusher_.FlushUnlogged();
  shutting_down_ = true;
  manual_compactions_.Cancel();
  jobs_.Cancel(wait);
}

Status DBImpl::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* handle : families) {
    if (Status s = SetOptions(handle, {{"disable_auto_compactions", "false"}}); !s.ok()) return s;
  }
  return Status::OK();
}

Status DBImpl::Flush(const rocksdb::FlushOptions& options, ColumnFamilyHandle* family) {
  return Flush(options, std::vector<ColumnFamilyHandle*>{family});
}

Status DBImpl::Flush(const rocksdb::FlushOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  if (Status s = CheckWritable("Flush"); !s.ok()) return s;
  Families families;
  for (ColumnFamilyHandle* handle : handles) {
    families.push_back(SharedFamilyOf(handle));
    if (families.back()->dropped && !config_.options.atomic_flush) {
      return Status::ColumnFamilyDropped(families.back()->name());
    }
  }
  if (config_.options.atomic_flush) families = families_.All();
  return flusher_.Flush(families, options, rocksdb::FlushReason::kManualFlush);
}

Status DBImpl::CompactRange(const rocksdb::CompactRangeOptions& options, ColumnFamilyHandle* handle,
                            const Slice* begin, const Slice* end) {
  if (Status s = CheckWritable("CompactRange"); !s.ok()) return s;
  const std::shared_ptr<ColumnFamily> family = SharedFamilyOf(handle);
  if (Status s = ManualCompactions::Check(options, *family, begin, end); !s.ok()) return s;
  if (options.full_history_ts_low != nullptr && !options.full_history_ts_low->empty()) {
    Status s = family_histories_.Raise(family, options.full_history_ts_low->ToString());
    if (!s.ok()) return s;
  }
  return manual_compactions_.CompactRange(options, family, begin, end);
}

Status DBImpl::CompactFiles(const rocksdb::CompactionOptions&, ColumnFamilyHandle* handle,
                            const std::vector<std::string>& input_file_names, int output_level, int output_path_id,
                            std::vector<std::string>* output_file_names, rocksdb::CompactionJobInfo* info) {
  if (Status s = CheckWritable("CompactFiles"); !s.ok()) return s;
  if (handle == nullptr) return Status::InvalidArgument("ColumnFamilyHandle must be non-null.");
  return manual_compactions_.CompactFiles(SharedFamilyOf(handle), input_file_names, output_level, output_path_id,
                                          output_file_names, info);
}

Status DBImpl::SuggestCompactRange(ColumnFamilyHandle* handle, const Slice* begin, const Slice* end) {
  if (Status s = CheckWritable("SuggestCompactRange"); !s.ok()) return s;
  manual_compactions_.Suggest(FamilyOf(handle), begin, end);
  return Status::OK();
}

Status DBImpl::PromoteL0(ColumnFamilyHandle* handle, int target_level) {
  if (Status s = CheckWritable("PromoteL0"); !s.ok()) return s;
  return manual_compactions_.PromoteLevel0(SharedFamilyOf(handle), target_level);
}

Status DBImpl::DropTables(ColumnFamilyHandle* handle, const rocksdb::RangePtr* ranges, size_t n, bool include_end) {
  if (process_.Inherited()) return InheritedStatus();
  if (Status s = CheckWritable("DeleteFilesInRanges"); !s.ok()) return s;
  return manual_compactions_.DropTables(SharedFamilyOf(handle), ranges, n, include_end);
}

Status DBImpl::IngestExternalFile(ColumnFamilyHandle* handle, const std::vector<std::string>& external_files,
                                  const rocksdb::IngestExternalFileOptions& options) {
  rocksdb::IngestExternalFileArg arg;
  arg.column_family = handle;
  arg.external_files = external_files;
  arg.options = options;
  return IngestExternalFiles({arg});
}

Status DBImpl::IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& args) {
  if (Status s = CheckWritable("IngestExternalFile"); !s.ok()) return s;
  return ingester_.Ingest(args);
}

Status DBImpl::CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                                            const rocksdb::ImportColumnFamilyOptions& import_options,
                                            const rocksdb::ExportImportFilesMetaData& metadata,
                                            ColumnFamilyHandle** handle) {
  if (Status s = CheckWritable("CreateColumnFamilyWithImport"); !s.ok()) return s;
  return ingester_.Import(options, name, import_options, metadata, handle);
}

Status DBImpl::ExportTable(ColumnFamilyHandle* handle, const std::string& path, rocksdb::LiveFileMetaData* metadata,
                           bool* written) {
  if (process_.Inherited()) return InheritedStatus();
  *written = false;
  if (!read_only_) {
    const std::shared_ptr<ColumnFamily> family = SharedFamilyOf(handle);
    rocksdb::FlushOptions flush;
    flush.allow_write_stall = true;
    Status s = flusher_.Flush({family}, flush, rocksdb::FlushReason::kManualFlush);
    if (!s.ok()) return s;
    // Then some data may not be flushed.
    if (family->dropped) return Status::ColumnFamilyDropped(family->name());
  }
  return table_exporter_.Export(handle, path, metadata, written);
}

Status DBImpl::WaitUntilCompacted(const rocksdb::WaitForCompactOptions& options) {
  if (process_.Inherited()) return InheritedStatus();
  if (Status s = CheckWritable("WaitForCompact"); !s.ok()) return s;
  if (options.flush) {
    rocksdb::FlushOptions flush;
    flush.allow_write_stall = true;
    Status s = flusher_.Flush(families_.All(), flush, rocksdb::FlushReason::kManualFlush);
    if (!s.ok()) return s;
  }
  if (Status s = jobs_.WaitUntilIdle(options); !s.ok()) return s;
  return options.close_db ? Close() : Status::OK();
}

Status DBImpl::Resume() {
  if (Status s = CheckWritable("Resume"); !s.ok()) return s;
  return resumer_.Resume();
}

Status DBImpl::LoadIndex(ColumnFamilyHandle* handle) {
  if (process_.Inherited()) return InheritedStatus();
  return FamilyOf(handle)->read_state()->View()->LoadIndex();
}

DBImpl::~DBImpl() { Shutdown().PermitUncheckedError(); }

Status DBImpl::Close() {
  if (snapshots_.count() > 0) {
    return Status::Aborted("Cannot close DB with unreleased snapshot.");
  }
  return Shutdown();
}

Status DBImpl::Shutdown() {
  {
    MutexLock lock(&mu_);
    if (closed_) return Status::OK();
    closed_ = true;
  }
  reports_.stats_dump()->Stop();
  space_.Stop();
  jobs_.BeginClose();
  write_path_.AbandonLogLock();
  auto_resume_.Stop();
  flusher_.FlushUnlogged();
  shutting_down_ = true;
  manual_compactions_.Cancel();
  jobs_.Close();
  Status s;
  if (!read_only_) {
    space_.Close();
    spare_files_.DeleteAll();
    s = front_.logs.Close();
    for (uint64_t number : front_.logs.TakeSpares()) {
      // If this fails, the next open deletes it.
      config_.fs->DeleteFile(WalFileName(config_.wal_dir, number)).PermitUncheckedError();
    }
    ReadStateGarbage garbage(&space_);
    MutexLock lock(&mu_);
    const bool logs = !front_.logs.CurrentIsEmpty() && front_.logs.synced().bytes > 0;
    if (s.ok() && jobs_.opened() && (logs || commits_.committed()) && errors_.error().ok() && !commits_.in_doubt()) {
      // Records how far the logs are synced, so that a short or missing log is noticed. It is behind the last real
      // commit, so damage to the manifest's last record, which looks like a torn one, loses nothing.
      std::vector<CommitItem> nothing(1);
      s = commits_.Commit(&nothing, garbage.list());
    }
    Status closed = commits_.Close();
    if (s.ok()) s = closed;
  }
  space_.UntrackAll();
  family_manager_.Close();
  LogInfo(config_.info_log.get(), "closed: " + s.ToString());
  lock_.reset();
  return s;
}

}  // namespace compassdb
