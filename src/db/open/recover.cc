// SPDX-License-Identifier: Apache-2.0
// Recovery of an existing database.
//
// The replay's flushes are installed in memory only. The new manifest at the
// end, whose first record is the whole state, commits all of them at once, with
// the numbers of the logs that are done. A crash before that leaves the old
// manifest and the old logs, so recovery can be repeated.
#include <algorithm>
#include <set>

#include "db/open/lost_current.h"
#include "db/open/open.h"
#include "db/open/recovery_sink.h"
#include "db/report/info_log.h"
#include "db/report/job_listener.h"
#include "env/missing.h"
#include "env/sync_file.h"
#include "format/file_names.h"
#include "rocksdb/wal_filter.h"
#include "services/trash_bin.h"
#include "store/pages.h"
#include "store/value_space.h"

namespace compassdb {

namespace {

// A primary may write while this database reads. If CURRENT names another manifest by now, that one must be read.
bool WasReplaced(FileSystem* fs, const std::string& dir, uint64_t* number) {
  const uint64_t before = *number;
  return Manifest::ReadCurrent(fs, dir, number).ok() && *number != before;
}

}  // namespace

bool DbOpener::ManifestHasMovedOn(FileSystem* fs) const {
  uint64_t number = current_manifest_, bytes = 0;
  if (WasReplaced(fs, request_.name, &number)) return true;
  return fs->GetFileSize(ManifestFileName(request_.name, number), &bytes).ok() && bytes > manifest_bytes_;
}

Status DbOpener::ReplayManifest(FileSystem* fs, const std::string& dir, uint64_t number,
                                RecoveredState* state, uint64_t* end) {
  return Manifest::Replay(fs, dir, number, [state](const EditRecord& edits) { return state->ApplyAll(edits); }, end);
}

Status DbOpener::ListFamilies(FileSystem* fs, const std::string& dir,
                              const std::set<std::string>& others, std::vector<std::string>* names) {
  names->clear();
  uint64_t number = 0;
  if (Status s = Manifest::ReadCurrent(fs, dir, &number); !s.ok()) {
    Status lost = s.IsNotFound() ? CheckForLostCurrent(fs, dir, others) : Status::OK();
    return lost.ok() ? s : lost;
  }
  RecoveredState state;
  Status s;
  do {
    state = RecoveredState();
    s = ReplayManifest(fs, dir, number, &state);
  } while (!s.ok() && WasReplaced(fs, dir, &number));
  if (!s.ok()) return s;
  for (const auto& [id, family] : state.families) names->push_back(family.name);
  return s;
}

void DbOpener::AddLiveTables(const RecoveredState& state, std::set<uint64_t>* numbers) {
  for (const auto& [id, family] : state.families) {
    family.AddFiles(numbers);
    for (const auto& [section, meta] : family.page_sections) numbers->insert(meta.file_number);
  }
}

Status DbOpener::LiveTables(FileSystem* fs, const std::string& dir, std::set<uint64_t>* numbers, std::string* db_id) {
  uint64_t number = 0;
  RecoveredState state;
  Status s = Manifest::ReadCurrent(fs, dir, &number);
  if (s.ok()) s = ReplayManifest(fs, dir, number, &state);
  if (!s.ok()) return s;
  *db_id = state.db_id;
  AddLiveTables(state, numbers);
  return s;
}

Status DbOpener::RecoverExisting() {
  DatabaseState& db = database();
  FileSystem* const fs = db.config.fs;
  RecoveredState state;
  Status s;
  do {
    state = RecoveredState();
    if (request_.read_only) {
      // Replay reports a missing manifest.
      fs->GetFileSize(ManifestFileName(request_.name, current_manifest_), &manifest_bytes_).PermitUncheckedError();
    }
    // Before all that it is compared with, as a primary may write at the same time.
    synced_mark_ = ReadSyncedMark(fs, db.config.wal_dir);
    uint64_t end = 0;
    s = ReplayManifest(fs, request_.name, current_manifest_, &state, &end);
    if (request_.read_only) db.commits.SetManifest(current_manifest_, end);
  } while (!s.ok() && request_.read_only && WasReplaced(fs, request_.name, &current_manifest_));
  if (!s.ok()) return s;
  LogInfo(db.config.info_log.get(),
          "recovering " + ManifestFileName(request_.name, current_manifest_) + ": " +
              std::to_string(state.families.size()) + " column families, last sequence " +
              std::to_string(state.last_sequence) + ", oldest log " +
              std::to_string(state.min_log_number));
  recovered_id_ = state.db_id;
  copied_ = db.config.fs->FileExists(IdentityFileName(request_.name)).IsNotFound();
  new_identity_ = copied_ && !request_.read_only;  // a copy is another database from here on
  db.manifest_state.SetIdentity(new_identity_ ? NewDbId() : recovered_id_, state.hash_seed);
  db.stores.hasher = KeyHasher(state.hash_seed);
  db.front.last_sequence = state.last_sequence;
  {
    MutexLock lock(&db.mu);
    db.manifest_state.set_max_family_id(state.max_column_family);
  }
  db.commits.RaiseNextNumber(std::max(state.next_number, current_manifest_ + 1));
  // No later log gets a number that the mark may still name.
  db.commits.RaiseNextNumber(synced_mark_.log.number + 1);
  for (const FileChecksum& checksum : state.LiveChecksums()) db.ledger->SetChecksum(checksum);
  s = SkipNumbersInUse();
  if (s.ok() && !request_.read_only) first_new_number_ = db.commits.next_number();
  if (s.ok()) s = CheckLogsElsewhere(state);
  if (s.ok()) s = BuildFamilies(state);
  if (s.ok() && !request_.read_only) s = ClaimDirs(&state, 0);
  if (s.ok()) s = ReplayLogs(state);
  if (s.ok() && new_identity_) {
    s = WriteFileAtomically(db.config.fs, IdentityFileName(request_.name), db.manifest_state.db_id());
  }
  return s;
}

Status DbOpener::RecoverSecondary() {
  DatabaseState& db = database();
  RecoveredState state;
  Status s = engine_->secondary->Open(&state);
  if (IsMissing(s)) s = ExplainMissing(s);
  if (s.ok()) s = CheckLogsElsewhere(state);
  if (!s.ok()) return s;
  db.manifest_state.SetIdentity(state.db_id, state.hash_seed);
  db.stores.hasher = KeyHasher(state.hash_seed);
  if (s = BuildFamilies(state); !s.ok()) return s;
  LogInfo(db.config.info_log.get(),
          "following " + request_.name + (engine_->secondary->has_links()
                                              ? ", with links to its files"
                                              : ", with its files held open: no links can be made"));
  return engine_->secondary->CatchUp();
}

Status DbOpener::BuildFamilies(const RecoveredState& state) {
  std::string unopened;
  for (const auto& [id, recovered] : state.families) {
    const rocksdb::ColumnFamilyOptions* options = OptionsOf(recovered.name);
    if (options == nullptr) {
      unopened += (unopened.empty() ? "" : ", ") + recovered.name;
      continue;
    }
    if (recovered.comparator != options->comparator->Name()) {
      // Programs compare the text of the usual case with RocksDB's.
      const bool usual = recovered.name == rocksdb::kDefaultColumnFamilyName;
      return Status::InvalidArgument(
          options->comparator->Name(),
          "does not match existing comparator " + recovered.comparator +
              (usual ? "" : " of column family " + recovered.name));
    }
    std::shared_ptr<ColumnFamily> family;
    Status s = engine_->family_factory.Make(id, recovered.name, *options, &family);
    if (s.ok()) s = family->store()->ApplyRecovered(recovered.AllTables(id));
    if (s.ok()) s = family->store()->Open();
    // The files of a manifest are only deleted after a later one.
    if (IsMissing(s) && request_.secondary_path.empty()) {
      s = ExplainMissing(s);
      if (IsMissing(s)) s = Status::Corruption("a file that the manifest names is missing", s.getState());
    }
    if (!s.ok()) return s;
    if (family->history() != nullptr) family->history()->Set(recovered.history_low);
    {
      MutexLock lock(&database().mu);
      family->memtables().BeginAt(std::max(recovered.log_number, state.min_log_number),
                                  /*earliest_sequence=*/0);
    }
    database().families.Add(std::move(family));
  }
  if (!unopened.empty() && !request_.read_only) {
    return Status::InvalidArgument("Column families not opened: " + unopened);
  }
  if (!unopened.empty()) {
    engine_->live_files.Refuse(
        Status::NotSupported("a copy needs the files of all column families, and not opened are", unopened));
  }
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
    if (database().families.ByName(descriptor.name) == nullptr &&
        (request_.read_only || !request_.options.create_missing_column_families)) {
      return Status::InvalidArgument("Column family not found", descriptor.name);
    }
  }
  return Status::OK();
}

Status DbOpener::ReplayLogs(const RecoveredState& state) {
  const DbConfig& config = database().config;
  std::vector<uint64_t> logs;
  Status s = ListWals(config.fs, config.wal_dir, state.min_log_number, &logs);
  if (!s.ok()) return s;
  if (request_.read_only && request_.error_if_wal_file_exists && !logs.empty()) {
    return Status::Corruption(
        "The db was opened in readonly mode with error_if_wal_file_exists but a WAL file already "
        "exists",
        WalFileName(config.wal_dir, logs.front()));
  }
  // A copy may have been made without its logs.
  SyncedLog synced;
  if (!copied_) synced = {state.synced_log.number, state.synced_log.bytes};
  if (!copied_ && synced_mark_.IsOf(state.db_id)) synced = std::max(synced, synced_mark_.log);
  const size_t listed = logs.size();
  DropEmptyTail(config.fs, config.wal_dir, synced.number, &logs, &unused_logs_);
  if (logs.size() + unused_logs_.size() != listed) {
    return Status::PathNotFound(config.wal_dir, "a log went while it was being opened");
  }
  WalRecoveryOptions recovery;
  recovery.mode = request_.wal_recovery_mode.value_or(
      static_cast<WalRecoveryMode>(config.options.wal_recovery_mode));
  recovery.wal_dir = config.wal_dir;
  recovery.min_number = state.min_log_number;
  if (!request_.logs_are_own) recovery.db_id = state.db_id;
  recovery.synced = synced;
  recovery.filter = MakeWalFilter(state);
  job_ = database().next_job_id.fetch_add(1);
  if (!logs.empty()) database().event_log.RecoveryStarted(job_, logs);
  WalRecoveryReport report;
  s = RecoverWals(config.fs, recovery, logs,
                  [this](uint64_t number, const Slice& batch, const BatchPlace& place) {
                    return ReplayBatch(number, batch, place);
                  },
                  &report);
  for (const std::string& problem : report.problems) {
    LogInfo(config.info_log.get(), "write-ahead log: " + problem);
  }
  if (request_.log_report != nullptr) *request_.log_report = report;
  if (!s.ok()) return s;
  LogInfo(config.info_log.get(), "replayed " + std::to_string(report.records) + " records of " +
                                     std::to_string(report.logs) + " logs, dropped " +
                                     std::to_string(report.dropped_bytes) + " bytes");
  ReportDamage(report, logs);
  if (report.stopped_early) last_replayed_log_ = report.stop_number;
  s = FinishRecovery(report, logs);
  if (s.ok() && !logs.empty()) database().event_log.RecoveryFinished(job_);
  return s;
}

WalRecordFilter DbOpener::MakeWalFilter(const RecoveredState& state) {
  rocksdb::WalFilter* const filter = database().config.options.wal_filter;
  if (filter == nullptr) return nullptr;
  std::map<uint32_t, uint64_t> log_numbers;
  std::map<std::string, uint32_t> ids;
  for (const auto& [id, family] : state.families) {
    log_numbers[id] = std::max(family.log_number, state.min_log_number);
    ids[family.name] = id;
  }
  filter->ColumnFamilyLogNumberMap(log_numbers, ids);
  return [this, filter, changed_batch = std::make_shared<WriteBatch>()](
             uint64_t number, const std::string& path, Slice* record, WalVerdict* verdict) {
    using Option = rocksdb::WalFilter::WalProcessingOption;
    WriteBatch batch;
    if (Status s = RecoverySink::Decode(*record, &batch); !s.ok()) return s;
    changed_batch->Clear();
    bool changed = false;
    switch (filter->LogRecordFound(number, path, batch, changed_batch.get(), &changed)) {
      case Option::kContinueProcessing:
        break;
      case Option::kIgnoreCurrentRecord:
        *verdict = WalVerdict::kSkip;
        return Status::OK();
      case Option::kStopReplay:
        *verdict = WalVerdict::kStop;
        return Status::OK();
      case Option::kCorruptedRecord:
        LogInfo(database().config.info_log.get(),
                path + ": a record is corrupt, says the WAL filter " + filter->Name());
        if (!database().config.options.paranoid_checks) break;  // then it counts nevertheless
        *verdict = WalVerdict::kDamaged;
        return Status::OK();
      default:
        return Status::NotSupported("Unknown WalProcessingOption returned by Wal Filter ",
                                    filter->Name());
    }
    if (!changed) return Status::OK();
    if (changed_batch->Count() > batch.Count()) {
      return Status::NotSupported("More than original # of records returned by Wal Filter ",
                                  filter->Name());
    }
    WriteBatchInternal::SetSequence(changed_batch.get(), WriteBatchInternal::Sequence(&batch));
    *record = WriteBatchInternal::Contents(changed_batch.get());
    return Status::OK();
  };
}

LoggedBatch DbOpener::PlaceOf(uint64_t wal_number, const BatchPlace& place, const Slice& batch) {
  LogValues& values = database().front.log_values;
  if (!values.enabled() || place.at == UINT64_MAX) return LoggedBatch();
  if (replayed_log_ == nullptr || replayed_log_->number() != wal_number) {
    // Without it the values are in memory.
    values.Open(wal_number, &replayed_log_).PermitUncheckedError();
  }
  return {replayed_log_, place.end, place.at, batch};
}

Status DbOpener::ReplayBatch(uint64_t wal_number, const Slice& record, const BatchPlace& place) {
  WriteBatch batch;
  if (Status s = RecoverySink::Decode(record, &batch); !s.ok()) return s;
  const LoggedBatch logged = PlaceOf(wal_number, place, WriteBatchInternal::Contents(&batch));
  RecoverySink sink(&database().families, &database().mu, wal_number, logged, &prepared_);
  SequenceNumber next = 0;
  if (Status s = WriteBatchInternal::InsertInto(&batch, &sink, &next); !s.ok()) return s;
  if (sink.inside_section()) return Status::Corruption("prepared section without its end");
  std::atomic<SequenceNumber>& last = database().front.last_sequence;
  if (next > 0) last = std::max(last.load(), next - 1);
  if (!sink.full() || request_.read_only) return Status::OK();
  for (const auto& family : database().families.All()) {
    if (!family->memtables().active()->ShouldFlush()) continue;
    if (Status s = FlushRecovered(family); !s.ok()) return s;
  }
  return Status::OK();
}

Status DbOpener::FlushRecovered(const std::shared_ptr<ColumnFamily>& family) {
  flushed_ = true;
  const std::shared_ptr<MemTable> memtable = family->memtables().active();
  memtable->MarkImmutable();
  FlushRequest request;
  request.memtables.push_back(memtable);
  request.recovery = true;
  {
    // Otherwise separated values would get no notices, and a new run would be of one group with all values.
    MutexLock lock(&database().mu);
    if (ValueSpace* const values = family->store()->values()) request.view = values->ViewForJob();
  }
  VersionEdit edit;
  const JobContext job{&database().config, database().manifest_state.db_id(), job_, family};
  JobListener listener(&database().listeners, job, JobListener::Kind::kRecovery);
  JobReport report;
  report.observer = listener.observer();
  std::unique_ptr<Store::Prepared> prepared;
  Status s = family->store()->Flush(request, &edit, &report);
  report.checksums = edit.file_checksums;
  listener.JobEnded(report, s);
  if (s.ok()) s = family->store()->Prepare(edit, &prepared);
  if (!s.ok()) return s;
  database().event_log.FilesCreated(job, report);
  MutexLock lock(&database().mu);
  edit.column_family = family->id();
  family->store()->Install(edit, std::move(prepared));
  family->memtables().Replace(family->NewMemTableOptions());
  return Status::OK();
}

// Also their names.
Status DbOpener::SyncLogs(const std::vector<uint64_t>& logs) {
  const DbConfig& config = database().config;
  Status s = config.fs->SyncDir(config.wal_dir);
  for (size_t i = 0; i < logs.size() && s.ok(); ++i) {
    s = SyncFile(config.fs, WalFileName(config.wal_dir, logs[i]));
  }
  return s;
}

// Records behind damage, which were not replayed, are lost with their log.
void DbOpener::ReportDamage(const WalRecoveryReport& report, const std::vector<uint64_t>& logs) {
  const DbConfig& config = database().config;
  if (report.problems.empty() || !(report.records_behind || report.stopped_early)) return;
  for (const std::string& problem : report.problems) engine_->reports.AddWalDamage(problem);
  const uint64_t number = report.stopped_early ? report.stop_number : report.end_number;
  const uint64_t offset = report.stopped_early ? report.stop_offset : report.end_offset;
  uint64_t behind = 0;
  for (const uint64_t log : logs) {
    uint64_t size = 0;
    const std::string name = WalFileName(config.wal_dir, log);
    if (log < number || !config.fs->GetFileSize(name, &size).ok()) continue;
    behind += log == number ? size - std::min(size, offset) : size;
  }
  const std::string what = std::to_string(behind) + " bytes from " +
                           WalFileName(config.wal_dir, number) + " at offset " +
                           std::to_string(offset) + " on are not replayed";
  if (behind > 0) engine_->reports.AddWalDamage(what);
  LogInfo(config.info_log.get(), "write-ahead log: " + what);
}

Status DbOpener::FinishRecovery(const WalRecoveryReport& report,
                                const std::vector<uint64_t>& logs) {
  const DbConfig& config = database().config;
  const auto families = database().families.All();
  if (request_.read_only) {
    if (config.options.max_open_files < 0) {
      // A primary may delete them at any moment. A read reports a file that cannot be opened.
      for (const uint64_t number : database().ledger->LiveFiles()) {
        std::shared_ptr<CompactionFile> file;
        database().tables->Get(number, &file).PermitUncheckedError();
      }
    }
    for (const uint64_t number : logs) {
      uint64_t bytes = 0;
      if (number == report.end_number && !report.stopped_early) {
        bytes = report.end_offset;  // a primary may append more
      } else {
        // A copy will notice a log that is deleted by now.
        const std::string name = WalFileName(config.wal_dir, number);
        config.fs->GetFileSize(name, &bytes).PermitUncheckedError();
      }
      engine_->live_files.AddReplayedLog({number, bytes});
    }
    ReadStateGarbage garbage(&engine_->space);
    MutexLock lock(&database().mu);
    for (const auto& family : families) family->InstallReadState(garbage.list());
    return Status::OK();
  }
  for (const uint64_t number : unused_logs_) {
    // If it stays, or comes back in a power cut, it is skipped.
    config.fs->DeleteFile(WalFileName(config.wal_dir, number)).PermitUncheckedError();
  }
  // Logs that could not be read to their end must not be read again before
  // newer ones. So their records are flushed, with any option. The same holds
  // for logs of another identity.
  bool keep_logs = !new_identity_ && config.options.avoid_flush_during_recovery && !flushed_ &&
                   !report.stopped_early && report.dropped_bytes == 0 && report.problems.empty();
  // A killed process leaves them unsynced in the kernel. Later synced writes depend on them.
  if (keep_logs && !logs.empty()) {
    Status s = SyncLogs(logs);
    keep_logs = s.ok();
    if (!s.ok()) LogInfo(config.info_log.get(), "the logs are not kept: " + s.ToString());
  }
  if (!keep_logs) {
    // Sections logged again are durable before the tables. So earlier writes must be durable, too.
    if (!prepared_.empty()) {
      if (Status s = SyncLogs(logs); !s.ok()) return s;
    }
    for (const auto& family : families) {
      if (family->memtables().active()->empty()) continue;
      if (Status s = FlushRecovered(family); !s.ok()) return s;
    }
    return StartWriting(WalRecoveryReport());
  }
  for (uint64_t number : logs) {
    uint64_t bytes = 0;
    Status s = config.fs->GetFileSize(WalFileName(config.wal_dir, number), &bytes);
    if (!s.ok()) return s;
    database().front.logs.AddRecovered(number, bytes);
  }
  if (!logs.empty()) database().front.logs.SetRecoveredEnd({report.end_number, report.end_offset});
  return StartWriting(report);
}

// Writes prepared sections into the first log, before the manifest releases the
// old ones. After a crash in between they are found twice, which does no harm.
Status DbOpener::RelogPrepared() {
  DatabaseState& db = database();
  const uint64_t number = db.front.logs.current_number();
  for (auto& [xid, transaction] : prepared_) {
    transaction.section = std::make_shared<PreparedSection>(xid);
    transaction.section->batch = transaction.batch;
    if (Status s = WriteBatchInternal::MarkEndPrepare(&transaction.section->batch, xid); !s.ok()) return s;
    db.front.open_sections.Announce(xid);
    db.front.open_sections.Logged(transaction.section, number);
  }
  if (!prepared_.empty()) {
    Status s = db.front.open_sections.WriteTo(&db.front.logs, db.front.last_sequence + 1);
    if (s.ok()) s = db.front.logs.Sync();
    if (!s.ok()) return s;
    db.front.open_sections.AreIn(number, db.config.info_log.get());
  }
  db.front.open_sections.SetRecovered(std::move(prepared_));
  return Status::OK();
}

// The first log and the new manifest. `report` names the logs that are kept.
Status DbOpener::StartWriting(const WalRecoveryReport& report) {
  DatabaseState& db = database();
  writing_ = true;
  if (Status s = engine_->space.obsolete().OpenArchive(); !s.ok()) return s;
  WalHeader header;
  header.compression = db.config.options.wal_compression;
  header.predecessor = report.end_number;
  header.predecessor_bytes = report.end_offset;
  header.predecessor_last_sequence = report.end_number == 0 ? 0 : db.front.last_sequence.load();
  // A crash before the new manifest leaves this log with the old identity.
  if (!new_identity_) header.db_id = db.manifest_state.db_id();
  if (Status s = db.front.logs.StartFirst(header, db.manifest_state.db_id()); !s.ok()) return s;
  const uint64_t number = db.front.logs.current_number();
  if (Status s = RelogPrepared(); !s.ok()) return s;
  {
    ReadStateGarbage garbage(&engine_->space);
    MutexLock lock(&db.mu);
    for (const auto& family : db.families.All()) {
      MemTables& memtables = family->memtables();
      if (memtables.active()->empty()) memtables.BeginAt(number, /*earliest_sequence=*/0);
      family->InstallReadState(garbage.list());
    }
    if (Status s = db.commits.Rotate(); !s.ok()) return s;
    uint64_t oldest = number;
    for (const auto& family : db.families.All()) {
      oldest = std::min(oldest, family->memtables().OldestLogNeeded());
    }
    db.commits.set_min_log_number(oldest);
  }
  DeleteLeftovers();
  return Status::OK();
}

// Deletes files that no manifest names. Failures are logged, and the next open tries again.
void DbOpener::DeleteLeftovers() {
  const DbConfig& config = database().config;
  database().spare_files.DeleteAll();  // or they would be deleted as leftovers, and used later
  const std::vector<uint64_t> live_list = database().ledger->LiveFiles();
  const std::set<uint64_t> live(live_list.begin(), live_list.end());
  std::set<std::string> pages;
  {
    MutexLock lock(&database().mu);
    for (const auto& family : database().families.All()) {
      const Pages* const in_place = family->store()->pages();
      if (in_place == nullptr) continue;
      for (const std::string& path : in_place->FilesInPlace()) pages.insert(path);
    }
  }
  std::set<std::string> dirs{request_.name, config.wal_dir};
  for (const std::string& dir : database().tables->dirs()->All()) dirs.insert(dir);
  for (const std::string& dir : dirs) {
    std::vector<std::string> names;
    if (!config.fs->GetChildren(dir, &names).ok()) continue;
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (IsTrashName(name)) {
        Status s = engine_->space.tracked().DeleteTrash(JoinPath(dir, name));
        LogInfo(config.info_log.get(), "deleting " + JoinPath(dir, name) + ": " + s.ToString());
        continue;
      }
      if (!ParseFileName(name, &number, &type)) continue;
      // In other directories the database has only files of the directory's kind. Other files may be foreign.
      const bool tables = type == FileType::kPieceFile || type == FileType::kPageFile;
      if (dir != request_.name && !tables && (type != FileType::kWal || dir != config.wal_dir)) continue;
      bool remove = false;
      if (type == FileType::kWal) {
        remove = number < database().commits.min_log_number();
      } else if (type == FileType::kPieceFile) {
        remove = live.count(number) == 0;
      } else if (type == FileType::kPageFile) {
        remove = pages.count(JoinPath(dir, name)) == 0;
      } else if (type == FileType::kManifest || type == FileType::kManifestMirror) {
        remove = number != database().commits.manifest_number();
      } else if (type == FileType::kTemp) {
        remove = true;
      }
      if (!remove || IsForeign(dir, name, type, number)) continue;
      if (type == FileType::kWal && number <= last_replayed_log_ && dir == config.wal_dir) {
        Status s = engine_->space.obsolete().RetireLog(number);
        LogInfo(config.info_log.get(), "put away log " + std::to_string(number) + ": " + s.ToString());
        continue;
      }
      Status s = config.fs->DeleteFile(JoinPath(dir, name));
      LogInfo(config.info_log.get(), "deleted " + JoinPath(dir, name) + ": " + s.ToString());
    }
  }
}

}  // namespace compassdb
