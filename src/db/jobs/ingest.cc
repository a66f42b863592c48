// SPDX-License-Identifier: Apache-2.0
// Tables from outside: ingestion, and column families that are imported.
//
// Ingestion runs at the front of the write queue, so that it has its place in
// the order of writes: memtables with keys in its range are flushed first, the
// records get one sequence (0, if there is nothing that they could hide, that hides them or that a
// snapshot could see), become tables of the store, and are committed together. If
// a snapshot was taken before the commit, they are written once more with a sequence.
// Writers wait meanwhile; who wants a snapshot, for such a commit.
#include <algorithm>
#include <optional>

#include "api/wide_column_codec.h"
#include "db/copy/whole_file_checksum.h"
#include "db/db_impl.h"
#include "db/jobs/job.h"
#include "format/number_limits.h"
#include "iter/merging_iterator.h"
#include "manifest/table_file.h"
#include "store/levels.h"

namespace compassdb {
namespace {

// A file's records with another sequence.
class ResequencedIterator final : public InternalIterator {
 public:
  ResequencedIterator(std::shared_ptr<const TableFile> file, SequenceNumber sequence)
      : file_(std::move(file)), sequence_(sequence) {
    BlockReadOptions read;
    read.whole_piece = true;
    iter_ = file_->piece().NewIterator(read);
  }
  bool Valid() const override { return iter_->Valid(); }
  void SeekToFirst() override { iter_->SeekToFirst(), Update(); }
  void SeekToLast() override { iter_->SeekToLast(), Update(); }
  void Seek(const Slice& target) override { iter_->Seek(target), Update(); }
  void SeekForPrev(const Slice& target) override { iter_->SeekForPrev(target), Update(); }
  void Next() override { iter_->Next(), Update(); }
  void Prev() override { iter_->Prev(), Update(); }
  Slice key() const override { return key_; }
  Slice value() const override { return iter_->value(); }
  Status status() const override { return iter_->status(); }

 private:
  void Update() {
    if (!iter_->Valid()) return;
    key_.clear();
    AppendInternalKey(&key_, ExtractUserKey(iter_->key()), sequence_, ExtractType(iter_->key()));
  }
  const std::shared_ptr<const TableFile> file_;
  const SequenceNumber sequence_;
  InternalIteratorPtr iter_;
  std::string key_;
};

// A file's records as they are, and the file with them.
class OwningIterator final : public InternalIterator {
 public:
  explicit OwningIterator(std::shared_ptr<const TableFile> file)
      : file_(std::move(file)), iter_(file_->piece().NewIterator(BlockReadOptions())) {}
  bool Valid() const override { return iter_->Valid(); }
  void SeekToFirst() override { iter_->SeekToFirst(); }
  void SeekToLast() override { iter_->SeekToLast(); }
  void Seek(const Slice& target) override { iter_->Seek(target); }
  void SeekForPrev(const Slice& target) override { iter_->SeekForPrev(target); }
  void Next() override { iter_->Next(); }
  void Prev() override { iter_->Prev(); }
  Slice key() const override { return iter_->key(); }
  Slice value() const override { return iter_->value(); }
  Status status() const override { return iter_->status(); }

 private:
  const std::shared_ptr<const TableFile> file_;
  const InternalIteratorPtr iter_;
};

// What an iterator of a database shows of a family that is changed in place: its pages have only what counts of a key,
// and what the key store tells of one may be in its page already. Forward, from the first; all of it is of one moment.
class ShownIterator final : public InternalIterator {
 public:
  ShownIterator(rocksdb::DB* db, ColumnFamilyHandle* family, SequenceNumber sequence) : sequence_(sequence) {
    ReadOptions options;
    options.total_order_seek = true;
    options.fill_cache = false;
    iter_.reset(db->NewIterator(options, family));
  }
  bool Valid() const override { return iter_->Valid() && status_.ok(); }
  void SeekToFirst() override { iter_->SeekToFirst(), Update(); }
  void SeekToLast() override { Refuse(); }
  void Seek(const Slice&) override { Refuse(); }
  void SeekForPrev(const Slice&) override { Refuse(); }
  void Next() override { iter_->Next(), Update(); }
  void Prev() override { Refuse(); }
  Slice key() const override { return key_; }
  Slice value() const override { return value_; }
  Status status() const override { return status_.ok() ? iter_->status() : status_; }

 private:
  void Refuse() { status_ = Status::NotSupported("an export only goes forward"); }
  void Update() {
    if (!Valid()) return;
    const rocksdb::WideColumns& columns = iter_->columns();
    const bool plain = columns.size() == 1 && columns.front().name() == rocksdb::kDefaultWideColumnName;
    key_.clear();
    AppendInternalKey(&key_, iter_->key(), sequence_, plain ? kTypeValue : kTypeWideColumnEntity);
    value_.clear();
    if (plain) {
      value_.assign(iter_->value().data(), iter_->value().size());
    } else {
      status_ = EncodeWideColumns(columns, &value_);
    }
  }
  const SequenceNumber sequence_;
  std::unique_ptr<rocksdb::Iterator> iter_;
  std::string key_, value_;
  Status status_;
};

// The file at `path`, which is finished.
void DescribeExport(const std::string& path, const TableFileWriter& writer, const TphMeta& table,
                    rocksdb::LiveFileMetaData* metadata) {
  const size_t slash = path.rfind('/');
  metadata->name = path.substr(slash);
  metadata->relative_filename = path.substr(slash + 1);
  metadata->db_path = metadata->directory = path.substr(0, slash);
  metadata->size = writer.Bytes();
  const rocksdb::FileChecksumGenerator* const sum = writer.checksum();
  metadata->file_checksum = sum == nullptr ? rocksdb::kUnknownFileChecksum : sum->GetChecksum();
  metadata->file_checksum_func_name =
      sum == nullptr ? rocksdb::kUnknownFileChecksumFuncName : sum->Name();
  metadata->smallestkey = table.smallest;
  metadata->largestkey = table.largest;
  metadata->smallest_seqno = table.smallest_seq;
  metadata->largest_seqno = table.largest_seq;
  metadata->num_entries = table.NumRecords();
}

// Those up to sequence `last`.
void AddRangeTombstones(const RangeTombstoneSet& tombstones, SequenceNumber last, TableFileWriter* writer) {
  for (const auto& list : tombstones.lists()) {
    for (const RangeTombstoneList::Fragment& f : list->fragments()) {
      for (size_t i = 0; i < f.sequences.size(); ++i) {
        if (f.sequences[i] > last) continue;
        RangeTombstone t{f.start, f.end, f.sequences[i]};
        if (!f.timestamps.empty()) t.timestamp = f.timestamps[i];
        writer->AddRangeTombstone(t);
      }
    }
  }
}

bool OverlapsMemTable(const MemTable& mem, const Comparator* cmp, const Slice& smallest,
                      const Slice& largest) {
  if (mem.num_range_deletes() > 0 && mem.RangeTombstones()->Overlaps(&smallest, &largest)) {
    return true;
  }
  const InternalIteratorPtr it = mem.NewIterator();
  it->Seek(LookupKey(smallest, kMaxSequenceNumber).internal_key());
  return it->Valid() && cmp->Compare(ExtractUserKey(it->key()), largest) <= 0;
}

bool OverlapsMemTables(const ReadState& state, const Comparator* cmp, const TphMeta& table) {
  if (OverlapsMemTable(*state.mem, cmp, table.smallest, table.largest)) return true;
  return std::any_of(state.immutables.begin(), state.immutables.end(), [&](const auto& m) {
    return OverlapsMemTable(*m, cmp, table.smallest, table.largest);
  });
}

}  // namespace

// Nobody gets a snapshot while it lives, if there were none.
class NoSnapshots {
 public:
  explicit NoSnapshots(SnapshotList* list) : list_(list), holds_(list->CloseIfEmpty()) {}
  ~NoSnapshots() {
    if (holds_) list_->Open();
  }
  NoSnapshots(const NoSnapshots&) = delete;
  NoSnapshots& operator=(const NoSnapshots&) = delete;
  bool holds() const { return holds_; }

 private:
  SnapshotList* const list_;
  const bool holds_;
};

// One file on its way in.
struct DBImpl::Ingestion {
  std::shared_ptr<ColumnFamily> family;
  const rocksdb::IngestExternalFileOptions* options = nullptr;
  std::shared_ptr<const TableFile> file;
  bool overlaps_files = false;  // another file of the same call
  bool imported = false;        // its records keep their sequences
  SequenceNumber sequence = 0;

  // What a snapshot would come to see, although it has not seen it from its beginning.
  bool ChangesSnapshots() const { return sequence == 0 && options->snapshot_consistency && !options->ingest_behind; }
};

// The job that writes the files' records and commits them together. At the front.
class DBImpl::TableIngestion final : public Job {
 public:
  // `without_snapshots`: the sequences are those for when there are none. If there are some at a commit that they
  // would notice, nothing is committed, and outdated() says so.
  TableIngestion(const JobEnvironment& env, const std::vector<Ingestion>& ingestions, bool without_snapshots,
                 std::atomic<SequenceNumber>* last_sequence)
      : Job(env, JobListener::Kind::kIngestion),
        ingestions_(ingestions),
        without_snapshots_(without_snapshots),
        visible_sequence_(last_sequence),
        last_sequence_(last_sequence->load()) {
    for (const Ingestion& ingestion : ingestions) {
      AddPart(ingestion.family, nullptr);
      last_sequence_ = std::max(last_sequence_, ingestion.sequence);
    }
  }
  bool outdated() const { return outdated_; }

 private:
  Status Work(JobPart* part) override;
  bool WantsCommit() override;
  void AddItems(std::vector<CommitItem>* items) override;
  void CommitFailed() override;
  void PartCommitted(JobPart*) override { none_.reset(); }
  void PartFailed(JobPart*) override { none_.reset(); }
  rocksdb::BackgroundErrorReason ReasonOf(bool) const override { return rocksdb::BackgroundErrorReason::kManifestWrite; }
  // An import drops its family next, which settles it or is the error.
  bool IsBackgroundError(const Status&) const override { return in_doubt_ && !ingestions_.front().imported; }
  void Report(const Status& s) override;

  const Ingestion& IngestionOf(const JobPart* part) const {
    return ingestions_[static_cast<size_t>(part - parts_.data())];
  }

  const std::vector<Ingestion>& ingestions_;
  const bool without_snapshots_;
  std::atomic<SequenceNumber>* const visible_sequence_;
  SequenceNumber last_sequence_;
  std::optional<NoSnapshots> none_;
  bool outdated_ = false;
  bool in_doubt_ = false;
};

Status DBImpl::IngestExternalFile(ColumnFamilyHandle* handle,
                                  const std::vector<std::string>& external_files,
                                  const rocksdb::IngestExternalFileOptions& options) {
  rocksdb::IngestExternalFileArg arg;
  arg.column_family = handle;
  arg.external_files = external_files;
  arg.options = options;
  return IngestExternalFiles({arg});
}

// Of the files as they are given; what they become has checksums of its own.
Status DBImpl::CheckIngestedFiles(const rocksdb::IngestExternalFileArg& arg) {
  const size_t n = arg.external_files.size();
  const auto& checksums = arg.files_checksums;
  const auto& functions = arg.files_checksum_func_names;
  const auto& factory = config_.options.file_checksum_gen_factory;
  if (factory == nullptr || (checksums.empty() && functions.empty())) return Status::OK();
  if (checksums.size() != n || functions.size() != n) {
    return Status::InvalidArgument(
        "IngestExternalFile: checksums and names of their functions must be given for every file");
  }
  for (size_t i = 0; i < n; ++i) {
    const std::string& path = arg.external_files[i];
    if (!arg.options.verify_file_checksum) {
      const auto generator = factory->CreateFileChecksumGenerator({path, functions[i]});
      if (generator != nullptr && generator->Name() == functions[i]) continue;
      return Status::InvalidArgument(
          path, "Checksum function name does not match with the checksum function name of this DB");
    }
    FileChecksum found;
    Status s = ComputeFileChecksum(config_.fs, path, factory.get(), functions[i], 0, &found);
    if (!s.ok()) return s;
    if (found.checksum != checksums[i]) {
      return Status::Corruption(path, "Ingested checksum does not match with the generated checksum");
    }
  }
  return Status::OK();
}

Status DBImpl::OpenIngestion(const rocksdb::IngestExternalFileArg& arg,
                             std::vector<Ingestion>* ingestions) {
  const std::shared_ptr<ColumnFamily>& family = SharedFamilyOf(arg.column_family);
  const rocksdb::IngestExternalFileOptions& options = arg.options;
  if (arg.external_files.empty()) return Status::InvalidArgument("The list of files is empty");
  if (options.ingest_behind && !config_.options.allow_ingest_behind) {
    return Status::InvalidArgument("can't ingest_behind file in DB with allow_ingest_behind=false");
  }
  if (Status s = CheckIngestedFiles(arg); !s.ok()) return s;
  const size_t first = ingestions->size();
  for (const std::string& path : arg.external_files) {
    std::unique_ptr<TableFile> file;
    Status s = TableFile::Open(config_.fs, path, family->user_comparator(), &file);
    if (!s.ok()) return s;
    const TableFileInfo& info = file->info();
    if (info.for_family && info.column_family != family->id()) {
      return Status::InvalidArgument(path, "External file column family id don't match");
    }
    if (info.table.largest_seq != 0) {
      return Status::InvalidArgument(path, "External file has non zero sequence number");
    }
    if (options.verify_checksums_before_ingest) s = file->piece().Verify();
    if (!s.ok()) return s;
    Ingestion& ingestion = ingestions->emplace_back();
    ingestion.family = family;
    ingestion.options = &options;
    ingestion.file = std::move(file);
  }
  const Comparator* const cmp = family->user_comparator();
  for (size_t i = first; i < ingestions->size(); ++i) {
    const TphMeta& a = (*ingestions)[i].file->info().table;
    for (size_t j = first; j < i; ++j) {
      const TphMeta& b = (*ingestions)[j].file->info().table;
      if (cmp->Compare(a.smallest, b.largest) > 0 || cmp->Compare(b.smallest, a.largest) > 0) {
        continue;
      }
      if (options.ingest_behind) {
        return Status::NotSupported(
            "Files with overlapping ranges cannot be ingested with ingestion behind mode.");
      }
      (*ingestions)[i].overlaps_files = (*ingestions)[j].overlaps_files = true;
    }
  }
  return Status::OK();
}

Status DBImpl::IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& args) {
  if (Status s = CheckWritable("IngestExternalFile"); !s.ok()) return s;
  if (args.empty()) return Status::InvalidArgument("ingestion arg list is empty");
  for (size_t i = 0; i < args.size(); ++i) {
    if (FamilyOf(args[i].column_family)->store()->levels() == nullptr) {
      return Status::NotSupported("column family " + FamilyOf(args[i].column_family)->name(),
                                  "is table-less: files are not ingested; write their records");
    }
    for (size_t j = 0; j < i; ++j) {
      if (FamilyOf(args[i].column_family) == FamilyOf(args[j].column_family)) {
        return Status::InvalidArgument("ingestion args have duplicate CFs");
      }
    }
  }
  std::vector<Ingestion> ingestions;
  for (const rocksdb::IngestExternalFileArg& arg : args) {
    if (Status s = OpenIngestion(arg, &ingestions); !s.ok()) return s;
  }
  Status s;
  std::unique_ptr<TableIngestion> job;
  {
    ExclusiveWrite front(&front_.queue);
    if (errors_.writes_refused()) return errors_.error();
    s = memtables_.CheckSequencesAreLeft();
    if (s.ok()) s = FlushForIngestion(ingestions);
    const bool snapshots = snapshots_.count() > 0;
    if (s.ok()) s = AssignSequences(&ingestions, snapshots);
    if (s.ok()) {
      job = std::make_unique<TableIngestion>(job_environment_, ingestions, !snapshots, &front_.last_sequence);
      s = job->Execute();
    }
    if (s.ok() && job->outdated()) {
      for (Ingestion& ingestion : ingestions) ingestion.sequence = 0;
      s = AssignSequences(&ingestions, /*snapshots=*/true);
      if (s.ok()) {
        job = std::make_unique<TableIngestion>(job_environment_, ingestions, /*without_snapshots=*/false,
                                               &front_.last_sequence);
        s = job->Execute();
      }
    }
  }
  if (job != nullptr) {
    job->Finish(s);
  } else {
    stalls_.NotifyListeners();  // of the flush that was to come before it
  }
  if (!s.ok()) return s;
  for (Ingestion& ingestion : ingestions) CloseIngested(&ingestion, ingestion.options->move_files);
  MutexLock lock(&mu_);
  MaybeSchedule();
  return s;
}

// The file is of no more use here; one that was to be moved is deleted.
void DBImpl::CloseIngested(Ingestion* ingestion, bool move) {
  const std::string path = ingestion->file->path();
  ingestion->file.reset();
  if (!move) return;
  Status removed = config_.fs->DeleteFile(path);
  if (!removed.ok()) LogInfo(config_.info_log.get(), "ingested " + path + ": " + removed.ToString());
}

// Front. What the memtables hold in the files' ranges goes into the store.
Status DBImpl::FlushForIngestion(const std::vector<Ingestion>& ingestions) {
  Families families;
  for (const Ingestion& ingestion : ingestions) {
    if (ingestion.family->dropped) return Status::ColumnFamilyDropped(ingestion.family->name());
    if (ingestion.options->ingest_behind) continue;  // below memtables, too
    ReadStatePin state(ingestion.family->read_state());
    if (!OverlapsMemTables(*state, ingestion.family->user_comparator(),
                           ingestion.file->info().table)) {
      continue;
    }
    if (!ingestion.options->allow_blocking_flush) {
      return Status::InvalidArgument("External file requires flush");
    }
    families.push_back(ingestion.family);
  }
  if (families.empty()) return Status::OK();
  if (config_.options.atomic_flush) families = families_.All();
  FlushTargets targets;
  {
    ReadStateGarbage garbage(&space_);
    MutexLock lock(&mu_);
    Status s = memtables_.SwitchMemTables(families, rocksdb::FlushReason::kExternalFileIngestion, &garbage);
    if (!s.ok()) return s;
    for (const auto& family : families) {
      targets.emplace_back(family, family->sealed_count);
      if (!family->immutables.empty()) family->flush_requested = true;
    }
    MaybeSchedule();
  }
  return WaitForFlush(targets, /*for_listeners=*/false);
}

// Front.
Status DBImpl::AssignSequences(std::vector<Ingestion>* ingestions, bool snapshots) {
  SequenceNumber next = front_.last_sequence.load() + 1;
  MutexLock lock(&mu_);
  for (Ingestion& ingestion : *ingestions) {
    const TphMeta& table = ingestion.file->info().table;
    const Levels* const levels = ingestion.family->store()->levels();
    if (ingestion.options->ingest_behind) {
      const Status s = levels->CheckIngestBehind(table.smallest, table.largest);
      if (!s.ok()) return s;
      continue;
    }
    // Sequence 0 is for what lies behind everything.
    if (config_.options.allow_ingest_behind || ingestion.overlaps_files ||
        (snapshots && ingestion.options->snapshot_consistency) ||
        levels->NeedSequence(table.smallest, table.largest)) {
      if (!ingestion.options->allow_global_seqno) {
        return Status::InvalidArgument("Global seqno is required, but disabled");
      }
      ingestion.sequence = next++;
      ingestion.family->last_ingested = ingestion.sequence;
    }
  }
  return Status::OK();
}

IngestPlace DBImpl::PlaceOf(const Ingestion& ingestion) {
  if (ingestion.options->ingest_behind) return IngestPlace::kBehind;
  return ingestion.overlaps_files ? IngestPlace::kTop : IngestPlace::kDeepest;
}

Status DBImpl::TableIngestion::Work(JobPart* part) {
  const Ingestion& ingestion = IngestionOf(part);
  Store* const store = ingestion.family->store();
  IngestRequest request;
  request.smallest = ingestion.file->info().table.smallest;
  request.largest = ingestion.file->info().table.largest;
  Status s = ingestion.file->piece().ReadRangeTombstones(&request.tombstones);
  if (!s.ok()) return s;
  if (ingestion.imported) {
    request.records = std::make_unique<OwningIterator>(ingestion.file);
  } else {
    request.records = std::make_unique<ResequencedIterator>(ingestion.file, ingestion.sequence);
    for (RangeTombstone& t : request.tombstones) t.sequence = ingestion.sequence;
  }
  {
    MutexLock lock(env_.mu);
    part->task = store->levels()->PickIngest(std::move(request), PlaceOf(ingestion));
  }
  if (part->task == nullptr) return Status::ColumnFamilyDropped(ingestion.family->name());
  if (ingestion.options->fail_if_not_bottommost_level &&
      part->task->output_level() != store->options().num_levels - 1) {
    return Status::TryAgain(
        "Files cannot be ingested to Lmax. Please make sure key range of Lmax and ongoing "
        "compaction's output to Lmax does not overlap with files to ingest.");
  }
  s = RunTask(part, {}, env_.shutting_down);
  if (s.ok()) {
    Log(*part, part->task->Describe() + ": " + ingestion.file->path() + ", sequence " +
                   std::to_string(ingestion.sequence));
  }
  return s;
}

bool DBImpl::TableIngestion::WantsCommit() {
  if (!without_snapshots_ || std::none_of(ingestions_.begin(), ingestions_.end(),
                                          [](const Ingestion& i) { return i.ChangesSnapshots(); })) {
    return true;
  }
  none_.emplace(env_.snapshots);
  outdated_ = !none_->holds();
  return !outdated_;
}

// Behind the records' own edits, so that what the commit stamps on the first does not replace it.
void DBImpl::TableIngestion::AddItems(std::vector<CommitItem>* items) {
  CommitItem& sequence = items->emplace_back();
  sequence.edit.last_sequence = last_sequence_;
  sequence.installed = [this] { visible_sequence_->store(last_sequence_); };
}

// It may be on disk all the same: its sequences are nobody else's.
void DBImpl::TableIngestion::CommitFailed() {
  visible_sequence_->store(last_sequence_);
  in_doubt_ = env_.commits->in_doubt();
}

void DBImpl::TableIngestion::Report(const Status& s) {
  if (!s.ok()) return;
  for (const JobPart& part : parts_) {
    const Ingestion& ingestion = IngestionOf(&part);
    env_.event_log.FilesCreated(part.context, part.report);
    env_.event_log.Ingested(part.context, part.report);
    rocksdb::ExternalFileIngestionInfo info;
    info.cf_name = ingestion.family->name();
    info.external_file_path = ingestion.file->path();
    if (!part.report.output_paths.empty()) info.internal_file_path = part.report.output_paths.front();
    info.global_seqno = ingestion.sequence;
    info.table_properties = PropertiesOf(part.context, part.report);
    env_.listeners.FileIngested(env_.db, info);
  }
}

Status DBImpl::CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
                                            const std::string& name,
                                            const rocksdb::ImportColumnFamilyOptions& import,
                                            const rocksdb::ExportImportFilesMetaData& metadata,
                                            ColumnFamilyHandle** handle) {
  if (Status s = CheckWritable("CreateColumnFamilyWithImport"); !s.ok()) return s;
  *handle = nullptr;
  if (metadata.files.empty()) return Status::InvalidArgument("The list of files is empty");
  if (options.comparator == nullptr || metadata.db_comparator_name != options.comparator->Name()) {
    return Status::InvalidArgument("Comparator name mismatch");
  }
  StoreOptions projected;
  if (Status s = ProjectFamilyOptions(0, name, options, &projected); !s.ok()) return s;
  if (projected.pages.enabled) {
    return Status::NotSupported("column family " + name, "is to be table-less: files are not imported");
  }
  rocksdb::IngestExternalFileOptions ingest;
  std::vector<Ingestion> ingestions;
  for (const rocksdb::LiveFileMetaData& meta : metadata.files) {
    std::unique_ptr<TableFile> file;
    Status s = TableFile::Open(config_.fs, meta.db_path + "/" + meta.name, options.comparator, &file);
    if (!s.ok()) return s;
    if (file->info().table.largest_seq > kMaxStraySequence) {
      return Status::Corruption(file->path(), "sequence out of range");
    }
    Ingestion& ingestion = ingestions.emplace_back();
    ingestion.file = std::move(file);
    ingestion.options = &ingest;
    ingestion.imported = true;
    ingestion.overlaps_files = metadata.files.size() > 1;
    ingestion.sequence = ingestion.file->info().table.largest_seq;
  }
  if (Status s = CreateColumnFamily(options, name, handle); !s.ok()) return s;
  Status s;
  {
    ExclusiveWrite front(&front_.queue);
    for (Ingestion& ingestion : ingestions) ingestion.family = SharedFamilyOf(*handle);
    s = TableIngestion(job_environment_, ingestions, /*without_snapshots=*/false, &front_.last_sequence).Execute();
  }
  if (!s.ok()) {
    DropColumnFamily(*handle).PermitUncheckedError();  // the first error counts
    delete *handle;
    *handle = nullptr;
    return s;
  }
  for (Ingestion& ingestion : ingestions) CloseIngested(&ingestion, import.move_files);
  return s;
}

Status DBImpl::ExportTable(ColumnFamilyHandle* handle, const std::string& path,
                           rocksdb::LiveFileMetaData* metadata, bool* written) {
  if (process_.Inherited()) return InheritedStatus();
  *written = false;
  const std::shared_ptr<ColumnFamily>& family = SharedFamilyOf(handle);
  if (!read_only_) {
    rocksdb::FlushOptions flush;
    flush.allow_write_stall = true;
    Status s = FlushFamilies({family}, flush, rocksdb::FlushReason::kManualFlush);
    if (!s.ok()) return s;
    // Then there may be something that was not flushed.
    if (family->dropped) return Status::ColumnFamilyDropped(family->name());
  }
  std::shared_ptr<const StoreView> view;
  std::vector<std::shared_ptr<MemTable>> memtables;  // of a reader, which flushes nothing
  {
    ReadStatePin state(family->read_state());
    view = family->read_state()->ViewOf(*state);
    if (read_only_) {
      memtables = state->immutables;
      memtables.push_back(state->mem);
    }
  }
  const SequenceNumber shown = front_.last_sequence.load(std::memory_order_acquire);
  const SequenceNumber last = read_only_ ? shown : kMaxSequenceNumber;  // a secondary has read on, perhaps
  BlockReadOptions read;
  read.fill_cache = false;
  read.whole_piece = true;
  RangeTombstoneSet tombstones(family->user_comparator());
  InternalIteratorPtr records;
  Status s;
  if (family->store()->options().pages.enabled) {
    records = std::make_unique<ShownIterator>(this, handle, shown);
  } else {
    std::vector<InternalIteratorPtr> children;
    for (const auto& mem : memtables) {
      children.push_back(mem->NewIterator());
      if (mem->num_range_deletes() > 0) tombstones.Add(mem->RangeTombstones());
    }
    s = view->AddIterators(read, &children, &tombstones);
    if (!s.ok()) return s;
    records = NewMergingIterator(family->comparator(), std::move(children));
  }
  records->SeekToFirst();
  if (!records->status().ok()) return records->status();
  if (!records->Valid() && tombstones.empty()) return Status::OK();

  PieceBuildOptions build;
  build.comparator = family->user_comparator();
  build.block_size = family->store()->options().block_size;
  build.compression = rocksdb::kLZ4Compression;
  std::unique_ptr<TableFileWriter> writer;
  std::unique_ptr<rocksdb::FileChecksumGenerator> checksum;
  if (const auto& factory = config_.options.file_checksum_gen_factory; factory != nullptr) {
    checksum = factory->CreateFileChecksumGenerator({path, ""});
  }
  s = TableFileWriter::Create(config_.fs, path, build, &writer, std::move(checksum));
  // References mean nothing outside of this database: their values go along.
  const std::unique_ptr<ValueResolver> values = view->NewValueResolver(read);
  std::string key;
  for (; s.ok() && records->Valid(); records->Next()) {
    if (ExtractSequence(records->key()) > last) continue;
    if (ExtractType(records->key()) != kTypeBlobIndex) {
      s = writer->Add(records->key(), records->value());
      continue;
    }
    const Slice user_key = ExtractUserKey(records->key());
    rocksdb::PinnableSlice value;
    s = values == nullptr ? Status::NotFound() : values->Resolve(user_key, records->value(), &value);
    if (s.IsNotFound()) {  // collected: nobody sees this record
      s = Status::OK();
      continue;
    }
    if (!s.ok()) break;
    key.clear();
    AppendInternalKey(&key, user_key, ExtractSequence(records->key()), kTypeValue);
    s = writer->Add(key, value);
  }
  if (s.ok()) s = records->status();
  if (!s.ok()) return s;
  AddRangeTombstones(tombstones, last, writer.get());
  TableFileInfo info;
  info.comparator = family->user_comparator()->Name();
  s = writer->Finish(config_.clock->NowMicros() / 1000000, &info);
  if (!s.ok()) return s;
  DescribeExport(path, *writer, info.table, metadata);
  metadata->column_family_name = family->name();
  metadata->level = family->store()->options().num_levels - 1;
  *written = true;
  return s;
}

}  // namespace compassdb
