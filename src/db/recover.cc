// SPDX-License-Identifier: Apache-2.0
// Recovery of an existing database.
//
// What replay flushes is installed in memory only; the new manifest at the
// end, whose first record is the whole state, commits all of it at once, with
// log numbers that say which logs are done. A crash before that leaves the old
// manifest and the old logs, so recovery can be repeated.
#include <algorithm>
#include <set>

#include "base/file_names.h"
#include "batch/write_batch_internal.h"
#include "db/open.h"

namespace compassdb {
namespace {

Status AddToBatch(WriteBatch* batch, uint32_t family, ValueType type, const Slice& key,
                  const Slice& value) {
  switch (type) {
    case kTypeWideColumnEntity:
      return WriteBatchInternal::PutEntity(batch, family, key, value);
    case kTypeDeletion:
      return WriteBatchInternal::Delete(batch, family, key);
    case kTypeSingleDeletion:
      return WriteBatchInternal::SingleDelete(batch, family, key);
    case kTypeMerge:
      return WriteBatchInternal::Merge(batch, family, key, value);
    case kTypeRangeDeletion:
      return WriteBatchInternal::DeleteRange(batch, family, key, value);
    default:
      return WriteBatchInternal::Put(batch, family, key, value);
  }
}

// Puts records into the memtables of the families that still need the log.
// Prepared sections are set aside until their commit, whose place in the logs
// and in the order of sequences is theirs.
class RecoverySink final : public BatchSink {
 public:
  RecoverySink(ColumnFamilySet* families, uint64_t wal_number, RecoveredTransactions* prepared)
      : families_(families), wal_number_(wal_number), prepared_(prepared) {}

  Status Add(uint32_t id, SequenceNumber sequence, ValueType type, const Slice& key,
             const Slice& value) override {
    if (section_ != nullptr) return AddToBatch(section_.get(), id, type, key, value);
    ColumnFamily* family = families_->ByIdAtFront(id);
    // Dropped, not opened (read only), or flushed already.
    if (family == nullptr || wal_number_ < family->log_number) return Status::OK();
    if (type == kTypeRangeDeletion && family->user_comparator()->Compare(key, value) >= 0) {
      return Status::OK();
    }
    family->mem_prepared_log = std::min(family->mem_prepared_log, prepared_log_);
    Status s = family->mem->Add(sequence, type, key, value, /*concurrent=*/false);
    if (s.IsTryAgain()) return Status::OK();  // the same record once more
    if (s.ok() && family->mem->ShouldFlush()) full_ = true;
    return s;
  }
  Status Mark(const BatchRecord& mark, SequenceNumber* next) override {
    const std::string xid = mark.key.ToString();
    switch (mark.tag) {
      case kTypeBeginPrepareXID:
        section_ = std::make_unique<WriteBatch>();
        section_start_ = *next;
        return WriteBatchInternal::InsertNoop(section_.get());
      case kTypeEndPrepareXID:
        if (section_ == nullptr) return Status::Corruption("prepared section without its begin");
        *next = section_start_;  // its records take their sequences at the commit
        (*prepared_)[xid] = {std::move(*section_), wal_number_};
        section_.reset();
        return Status::OK();
      case kTypeCommitXID:
        return Commit(xid, next);
      case kTypeRollbackXID:
        prepared_->erase(xid);
        return Status::OK();
      default:
        return BatchSink::Mark(mark, next);
    }
  }
  bool full() const { return full_; }
  bool inside_section() const { return section_ != nullptr; }

 private:
  // A commit of what is not there is one whose data was flushed and whose
  // preparation was therefore given up.
  Status Commit(const std::string& xid, SequenceNumber* next) {
    auto it = prepared_->find(xid);
    if (it == prepared_->end()) return Status::OK();
    WriteBatchInternal::SetSequence(&it->second.batch, *next);
    prepared_log_ = it->second.log_number;
    Status s = WriteBatchInternal::InsertInto(&it->second.batch, this, next);
    prepared_log_ = UINT64_MAX;
    prepared_->erase(it);
    return s;
  }

  ColumnFamilySet* const families_;
  const uint64_t wal_number_;
  RecoveredTransactions* const prepared_;
  std::unique_ptr<WriteBatch> section_;  // being read
  SequenceNumber section_start_ = 0;
  uint64_t prepared_log_ = UINT64_MAX;  // of what is being committed
  bool full_ = false;
};

}  // namespace

Status DbOpener::RecoveredState::Apply(VersionEdit edit) {
  if (edit.db_id) db_id = *edit.db_id;
  if (edit.hash_seed) hash_seed = *edit.hash_seed;
  if (edit.next_number) next_number = std::max(next_number, *edit.next_number);
  if (edit.min_log_number) min_log_number = std::max(min_log_number, *edit.min_log_number);
  if (edit.last_sequence) last_sequence = std::max(last_sequence, *edit.last_sequence);
  if (edit.max_column_family) {
    max_column_family = std::max(max_column_family, *edit.max_column_family);
  }
  if (edit.add_column_family) {
    RecoveredFamily family;
    family.name = *edit.add_column_family;
    if (edit.comparator) family.comparator = *edit.comparator;
    if (!families.emplace(edit.column_family, std::move(family)).second) {
      return Status::Corruption("manifest", "column family " +
                                                std::to_string(edit.column_family) +
                                                " is added twice");
    }
  }
  auto it = families.find(edit.column_family);
  const bool touches = edit.drop_column_family || edit.log_number || !edit.added.empty() ||
                       !edit.deleted.empty();
  if (it == families.end()) {
    if (!touches) return Status::OK();
    return Status::Corruption("manifest", "an edit names the unknown column family " +
                                              std::to_string(edit.column_family));
  }
  if (edit.drop_column_family) {
    families.erase(it);
    return Status::OK();
  }
  if (edit.log_number) it->second.log_number = *edit.log_number;
  if (!edit.added.empty() || !edit.deleted.empty()) it->second.edits.push_back(std::move(edit));
  return Status::OK();
}

Status DbOpener::ReplayManifest(FileSystem* fs, const std::string& dir, uint64_t number,
                                RecoveredState* state) {
  return Manifest::Replay(fs, dir, number, [state](const std::vector<VersionEdit>& edits) {
    for (const VersionEdit& edit : edits) {
      if (Status s = state->Apply(edit); !s.ok()) return s;
    }
    return Status::OK();
  });
}

Status DbOpener::ListFamilies(FileSystem* fs, const std::string& dir,
                              std::vector<std::string>* names) {
  names->clear();
  uint64_t number = 0;
  if (Status s = Manifest::ReadCurrent(fs, dir, &number); !s.ok()) return s;
  RecoveredState state;
  if (Status s = ReplayManifest(fs, dir, number, &state); !s.ok()) return s;
  for (const auto& [id, family] : state.families) names->push_back(family.name);
  return Status::OK();
}

Status DbOpener::RecoverExisting() {
  DBImpl* const db = db_.get();
  RecoveredState state;
  uint64_t manifest_bytes = 0;
  if (request_.read_only) {
    // A missing manifest is Replay's to report.
    db->config_.fs->GetFileSize(ManifestFileName(request_.name, current_manifest_), &manifest_bytes)
        .PermitUncheckedError();
    db->commits_.SetManifest(current_manifest_, manifest_bytes);
  }
  Status s = ReplayManifest(db->config_.fs, request_.name, current_manifest_, &state);
  if (!s.ok()) return s;
  LogInfo(db->config_.info_log.get(),
          "recovering " + ManifestFileName(request_.name, current_manifest_) + ": " +
              std::to_string(state.families.size()) + " column families, last sequence " +
              std::to_string(state.last_sequence) + ", oldest log " +
              std::to_string(state.min_log_number));
  db->db_id_ = state.db_id;
  if (!request_.read_only && db->config_.fs->FileExists(IdentityFileName(request_.name)).IsNotFound()) {
    // A copy is another database from here on.
    new_identity_ = true;
    db->db_id_ = NewDbId();
  }
  db->hash_seed_ = state.hash_seed;
  db->store_context_.hasher = KeyHasher(state.hash_seed);
  db->last_sequence_ = state.last_sequence;
  {
    MutexLock lock(&db->mu_);
    db->max_family_id_ = state.max_column_family;
  }
  // Numbers are never used twice, also not those of files that a crash left.
  db->commits_.RaiseNextNumber(std::max(state.next_number, current_manifest_ + 1));
  for (const std::string& dir : {request_.name, db->config_.wal_dir}) {
    std::vector<std::string> names;
    if (s = db->config_.fs->GetChildren(dir, &names); !s.ok()) return s;
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (ParseFileName(name, &number, &type) && type != FileType::kInfoLog) {
        db->commits_.RaiseNextNumber(number + 1);
      }
    }
  }
  s = BuildFamilies(&state);
  if (s.ok()) s = ReplayLogs(state);
  if (s.ok() && new_identity_) {
    s = WriteFileAtomically(db->config_.fs, IdentityFileName(request_.name), db->db_id_);
  }
  return s;
}

Status DbOpener::BuildFamilies(RecoveredState* state) {
  std::string unopened;
  for (auto& [id, recovered] : state->families) {
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
    Status s = db_->MakeFamily(id, recovered.name, *options, &family);
    for (const VersionEdit& edit : recovered.edits) {
      if (s.ok()) s = family->store()->ApplyRecovered(edit);
    }
    if (s.ok()) s = family->store()->Open();
    if (!s.ok()) return s;
    recovered.edits.clear();
    family->log_number = family->mem_log_number =
        std::max(recovered.log_number, state->min_log_number);
    db_->families_.Add(std::move(family));
  }
  if (!unopened.empty() && !request_.read_only) {
    return Status::InvalidArgument("Column families not opened: " + unopened);
  }
  for (const rocksdb::ColumnFamilyDescriptor& descriptor : request_.families) {
    if (db_->families_.ByName(descriptor.name) == nullptr &&
        (request_.read_only || !request_.options.create_missing_column_families)) {
      return Status::InvalidArgument("Column family not found", descriptor.name);
    }
  }
  return Status::OK();
}

Status DbOpener::ReplayLogs(const RecoveredState& state) {
  const DbConfig& config = db_->config_;
  std::vector<uint64_t> logs;
  Status s = ListWals(config.fs, config.wal_dir, state.min_log_number, &logs);
  if (!s.ok()) return s;
  if (request_.read_only && request_.error_if_wal_file_exists && !logs.empty()) {
    return Status::Corruption(
        "The db was opened in readonly mode with error_if_wal_file_exists but a WAL file already "
        "exists",
        WalFileName(config.wal_dir, logs.front()));
  }
  WalRecoveryOptions recovery;
  recovery.mode = static_cast<WalRecoveryMode>(config.options.wal_recovery_mode);
  recovery.wal_dir = config.wal_dir;
  recovery.min_number = state.min_log_number;
  recovery.db_id = state.db_id;
  WalRecoveryReport report;
  s = RecoverWals(config.fs, recovery, logs,
                  [this](uint64_t number, const Slice& batch) { return ReplayBatch(number, batch); },
                  &report);
  for (const std::string& problem : report.problems) {
    LogInfo(config.info_log.get(), "write-ahead log: " + problem);
  }
  if (!s.ok()) return s;
  LogInfo(config.info_log.get(), "replayed " + std::to_string(report.records) + " records of " +
                                     std::to_string(report.logs) + " logs, dropped " +
                                     std::to_string(report.dropped_bytes) + " bytes");
  if (report.stopped_early) last_replayed_log_ = report.stop_number;
  return FinishRecovery(report, logs);
}

Status DbOpener::ReplayBatch(uint64_t wal_number, const Slice& record) {
  WriteBatch batch;
  if (Status s = WriteBatchInternal::SetContents(&batch, record); !s.ok()) return s;
  RecoverySink sink(&db_->families_, wal_number, &prepared_);
  SequenceNumber next = 0;
  if (Status s = WriteBatchInternal::InsertInto(&batch, &sink, &next); !s.ok()) return s;
  if (sink.inside_section()) return Status::Corruption("prepared section without its end");
  if (next > 0) db_->last_sequence_ = std::max(db_->last_sequence_.load(), next - 1);
  if (!sink.full() || request_.read_only) return Status::OK();
  for (const auto& family : db_->families_.All()) {
    if (!family->mem->ShouldFlush()) continue;
    if (Status s = FlushRecovered(family); !s.ok()) return s;
  }
  return Status::OK();
}

Status DbOpener::FlushRecovered(const std::shared_ptr<ColumnFamily>& family) {
  flushed_ = true;
  family->mem->MarkImmutable();
  FlushRequest request;
  request.memtables.push_back(family->mem);
  VersionEdit edit;
  JobReport report;
  std::unique_ptr<Store::Prepared> prepared;
  Status s = family->store()->Flush(request, &edit, &report);
  if (s.ok()) s = family->store()->Prepare(edit, &prepared);
  if (!s.ok()) return s;
  MutexLock lock(&db_->mu_);
  edit.column_family = family->id();
  family->store()->Install(edit, std::move(prepared));
  family->StartMemTable();
  return Status::OK();
}

Status DbOpener::FinishRecovery(const WalRecoveryReport& report,
                                const std::vector<uint64_t>& logs) {
  const auto families = db_->families_.All();
  if (request_.read_only) {
    ReadStateGarbage garbage;
    MutexLock lock(&db_->mu_);
    for (const auto& family : families) family->InstallReadState(garbage.list());
    return Status::OK();
  }
  // Logs that could not be read to their end must not be read again behind
  // newer ones, so what they gave is flushed whatever the option says; likewise
  // logs of another identity.
  bool keep_logs = !new_identity_ &&
                   db_->config_.options.avoid_flush_during_recovery && !flushed_ &&
                   !report.stopped_early && report.dropped_bytes == 0 && report.problems.empty();
  if (!keep_logs) {
    for (const auto& family : families) {
      if (family->mem->empty()) continue;
      if (Status s = FlushRecovered(family); !s.ok()) return s;
    }
    return StartWriting(WalRecoveryReport());
  }
  for (uint64_t number : logs) {
    uint64_t bytes = 0;
    Status s = db_->config_.fs->GetFileSize(WalFileName(db_->config_.wal_dir, number), &bytes);
    if (!s.ok()) return s;
    db_->wals_.AddRecovered(number, bytes);
  }
  return StartWriting(report);
}

// What is prepared goes into the first log, before the manifest gives up the
// old ones: after a crash in between it is found twice, which does no harm.
Status DbOpener::RelogPrepared() {
  DBImpl* const db = db_.get();
  for (auto& [xid, transaction] : prepared_) {
    transaction.log_number = db->wals_.current_number();
    WriteBatch section(transaction.batch);
    WriteBatchInternal::SetSequence(&section, db->last_sequence_.load() + 1);
    Status s = WriteBatchInternal::MarkEndPrepare(&section, xid);
    if (s.ok()) s = db->wals_.Append(WriteBatchInternal::Contents(&section), /*sync=*/true);
    if (!s.ok()) return s;
    db->prepared_logs_.Add(transaction.log_number);
    LogInfo(db->config_.info_log.get(), "prepared transaction " + xid + " is in log " +
                                            std::to_string(transaction.log_number));
  }
  MutexLock lock(&db->mu_);
  db->recovered_transactions_ = std::move(prepared_);
  return Status::OK();
}

// The first log and the new manifest. `report` names the logs that are kept.
Status DbOpener::StartWriting(const WalRecoveryReport& report) {
  DBImpl* const db = db_.get();
  {
    MutexLock lock(&db->purge_mu_);
    if (Status s = db->archive_.Open(); !s.ok()) return s;
  }
  WalHeader header;
  header.number = db->commits_.NewNumber();
  header.predecessor = report.end_number;
  header.predecessor_bytes = report.end_offset;
  header.predecessor_last_sequence = report.end_number == 0 ? 0 : db->last_sequence_.load();
  // A crash before the new manifest leaves this log beside the old identity.
  if (!new_identity_) header.db_id = db->db_id_;
  if (Status s = db->wals_.StartFirst(header); !s.ok()) return s;
  if (Status s = RelogPrepared(); !s.ok()) return s;
  {
    ReadStateGarbage garbage;
    MutexLock lock(&db->mu_);
    for (const auto& family : db->families_.All()) {
      if (family->mem->empty()) family->log_number = family->mem_log_number = header.number;
      family->InstallReadState(garbage.list());
    }
    if (Status s = db->commits_.Rotate(); !s.ok()) return s;
    uint64_t oldest = header.number;
    for (const auto& family : db->families_.All()) {
      oldest = std::min(oldest, family->OldestLogNeeded());
    }
    db->commits_.set_min_log_number(oldest);
  }
  DeleteLeftovers();
  return Status::OK();
}

// What no manifest names any more: failures are logged, the next open tries again.
void DbOpener::DeleteLeftovers() {
  const DbConfig& config = db_->config_;
  const std::vector<uint64_t> live_list = db_->ledger_->LiveFiles();
  const std::set<uint64_t> live(live_list.begin(), live_list.end());
  std::set<std::string> dirs{request_.name, config.wal_dir, config.table_dir};
  for (const std::string& dir : dirs) {
    std::vector<std::string> names;
    if (!config.fs->GetChildren(dir, &names).ok()) continue;
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (!ParseFileName(name, &number, &type)) continue;
      const bool tables_only = dir != request_.name && dir != config.wal_dir;
      if (tables_only && type != FileType::kPieceFile) continue;
      bool remove = false;
      if (type == FileType::kWal) {
        remove = number < db_->commits_.min_log_number();
      } else if (type == FileType::kPieceFile) {
        remove = live.count(number) == 0;
      } else if (type == FileType::kManifest) {
        remove = number != db_->commits_.manifest_number();
      } else if (type == FileType::kTemp) {
        remove = true;
      }
      if (!remove) continue;
      if (type == FileType::kWal && number <= last_replayed_log_ && dir == config.wal_dir) {
        MutexLock lock(&db_->purge_mu_);
        Status s = db_->archive_.Retire(number);
        LogInfo(config.info_log.get(), "put away log " + std::to_string(number) + ": " + s.ToString());
        continue;
      }
      Status s = config.fs->DeleteFile(JoinPath(dir, name));
      LogInfo(config.info_log.get(), "deleted " + JoinPath(dir, name) + ": " + s.ToString());
    }
  }
}

}  // namespace compassdb
