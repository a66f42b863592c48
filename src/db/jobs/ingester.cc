// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/ingester.h"

#include <algorithm>

#include "db/copy/whole_file_checksum.h"
#include "db/report/info_log.h"
#include "format/number_limits.h"
#include "store/levels.h"

namespace compassdb {
namespace {

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

// Level 0 is searched from the newest table on. So of two with a common range one has to be newer as a whole; tables of
// several levels of RocksDB may not be.
Status CheckSequences(const std::vector<Ingestion>& ingestions, const Comparator* cmp) {
  for (size_t i = 0; i < ingestions.size(); ++i) {
    const TphMeta& a = ingestions[i].file->info().table;
    for (size_t j = 0; j < i; ++j) {
      const TphMeta& b = ingestions[j].file->info().table;
      if (cmp->Compare(a.smallest, b.largest) > 0 || cmp->Compare(b.smallest, a.largest) > 0) continue;
      if (a.smallest_seq >= b.largest_seq || b.smallest_seq >= a.largest_seq) continue;
      return Status::NotSupported(ingestions[i].file->path(), "has older and newer records than " + ingestions[j].file->path() +
                                                                  ": compact the family before it is exported");
    }
  }
  return Status::OK();
}

}  // namespace

// Checks the given files. The ingested files have their own checksums.
Status Ingester::CheckFiles(const rocksdb::IngestExternalFileArg& arg) {
  const size_t n = arg.external_files.size();
  const auto& checksums = arg.files_checksums;
  const auto& functions = arg.files_checksum_func_names;
  const auto& factory = env_.config.options.file_checksum_gen_factory;
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
    Status s = ComputeFileChecksum(env_.config.fs, path, factory.get(), functions[i], 0, &found);
    if (!s.ok()) return s;
    if (found.checksum != checksums[i]) {
      return Status::Corruption(path, "Ingested checksum does not match with the generated checksum");
    }
  }
  return Status::OK();
}

Status Ingester::OpenFiles(const rocksdb::IngestExternalFileArg& arg,
                             std::vector<Ingestion>* ingestions) {
  const std::shared_ptr<ColumnFamily>& family = SharedFamilyOf(arg.column_family);
  const rocksdb::IngestExternalFileOptions& options = arg.options;
  if (arg.external_files.empty()) return Status::InvalidArgument("The list of files is empty");
  if (options.ingest_behind && !env_.config.options.allow_ingest_behind) {
    return Status::InvalidArgument("can't ingest_behind file in DB with allow_ingest_behind=false");
  }
  if (Status s = CheckFiles(arg); !s.ok()) return s;
  const size_t first = ingestions->size();
  for (const std::string& path : arg.external_files) {
    std::shared_ptr<const ExternalTable> file;
    Status s = ExternalTable::Open({.fs = env_.config.fs, .path = path, .comparator = family->user_comparator()}, &file);
    if (!s.ok()) return s;
    const TableFileInfo& info = file->info();
    if (info.for_family && info.column_family != family->id()) {
      return Status::InvalidArgument(path, "External file column family id don't match");
    }
    if (info.table.largest_seq != 0) {
      return Status::InvalidArgument(path, "External file has non zero sequence number");
    }
    if (options.verify_checksums_before_ingest) s = file->Verify();
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

Status Ingester::Ingest(const std::vector<rocksdb::IngestExternalFileArg>& args) {
  if (args.empty()) return Status::InvalidArgument("ingestion arg list is empty");
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].column_family == nullptr) {
      return Status::InvalidArgument("column family handle is null");
    }
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
    if (Status s = OpenFiles(arg, &ingestions); !s.ok()) return s;
  }
  Status s;
  std::unique_ptr<TableIngestion> job;
  {
    ExclusiveWrite front(&front_.queue);
    if (env_.errors->writes_refused()) return env_.errors->error();
    s = front_.CheckSequencesAreLeft(env_.config);
    if (s.ok()) s = FlushRanges(ingestions);
    const bool snapshots = env_.snapshots->count() > 0;
    if (s.ok()) s = AssignSequences(&ingestions, snapshots);
    if (s.ok()) {
      job = std::make_unique<TableIngestion>(env_, ingestions, !snapshots, &front_.last_sequence);
      s = job->Execute();
    }
    if (s.ok() && job->outdated()) {
      for (Ingestion& ingestion : ingestions) ingestion.sequence = 0;
      s = AssignSequences(&ingestions, /*snapshots=*/true);
      if (s.ok()) {
        job = std::make_unique<TableIngestion>(env_, ingestions, /*without_snapshots=*/false,
                                               &front_.last_sequence);
        s = job->Execute();
      }
    }
  }
  if (job != nullptr) job->Finish(s);
  if (!s.ok()) return s;
  for (Ingestion& ingestion : ingestions) CloseFile(&ingestion, ingestion.options->move_files);
  MutexLock lock(mu_);
  jobs_.MaybeSchedule();
  return s;
}

// The file is no longer needed. It is deleted if it should be moved.
void Ingester::CloseFile(Ingestion* ingestion, bool move) {
  const std::string path = ingestion->file->path();
  ingestion->file.reset();
  if (!move) return;
  Status removed = env_.config.fs->DeleteFile(path);
  if (!removed.ok()) LogInfo(env_.config.info_log.get(), "ingested " + path + ": " + removed.ToString());
}

// Memtables with keys in the files' ranges are flushed.
Status Ingester::FlushRanges(const std::vector<Ingestion>& ingestions) {
  front_.queue.AssertAtFront();
  Families families;
  for (const Ingestion& ingestion : ingestions) {
    if (ingestion.family->dropped()) return Status::ColumnFamilyDropped(ingestion.family->name());
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
  if (env_.config.options.atomic_flush) families = env_.families.All();
  Flusher::Targets targets;
  Status s = flusher_.SealAndRequest(families, rocksdb::FlushReason::kExternalFileIngestion, &targets);
  return s.ok() ? flusher_.Wait(targets, /*for_listeners=*/false) : s;
}

Status Ingester::AssignSequences(std::vector<Ingestion>* ingestions, bool snapshots) {
  front_.queue.AssertAtFront();
  SequenceNumber next = front_.last_sequence.load() + 1;
  MutexLock lock(mu_);
  for (Ingestion& ingestion : *ingestions) {
    const TphMeta& table = ingestion.file->info().table;
    const Levels* const levels = ingestion.family->store()->levels();
    if (ingestion.options->ingest_behind) {
      const Status s = levels->CheckIngestBehind(table.smallest, table.largest);
      if (!s.ok()) return s;
      continue;
    }
    // Sequence 0 is for records below everything else.
    if (env_.config.options.allow_ingest_behind || ingestion.overlaps_files ||
        (snapshots && ingestion.options->snapshot_consistency) ||
        levels->NeedSequence(table.smallest, table.largest)) {
      if (!ingestion.options->allow_global_seqno) {
        return Status::InvalidArgument("Global seqno is required, but disabled");
      }
      ingestion.sequence = next++;
      ingestion.family->SetLastIngested(ingestion.sequence);
    }
  }
  return Status::OK();
}

Status Ingester::Import(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                        const rocksdb::ImportColumnFamilyOptions& import,
                        const rocksdb::ExportImportFilesMetaData& metadata,
                        rocksdb::ColumnFamilyHandle** handle) {
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
    std::shared_ptr<const ExternalTable> file;
    Status s = ExternalTable::Open({.fs = env_.config.fs,
                                    .path = meta.db_path + "/" + meta.name,
                                    .comparator = options.comparator,
                                    .import = true,
                                    .largest_sequence = meta.largest_seqno},
                                   &file);
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
  if (Status s = CheckSequences(ingestions, options.comparator); !s.ok()) return s;
  if (Status s = manager_.Create(options, name, handle); !s.ok()) return s;
  Status s;
  {
    ExclusiveWrite front(&front_.queue);
    for (Ingestion& ingestion : ingestions) ingestion.family = SharedFamilyOf(*handle);
    s = TableIngestion(env_, ingestions, /*without_snapshots=*/false, &front_.last_sequence).Execute();
  }
  if (!s.ok()) {
    manager_.Drop({*handle}).PermitUncheckedError();  // the first error counts
    delete *handle;
    *handle = nullptr;
    return s;
  }
  for (Ingestion& ingestion : ingestions) CloseFile(&ingestion, import.move_files);
  return s;
}

}  // namespace compassdb
