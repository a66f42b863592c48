// SPDX-License-Identifier: Apache-2.0
// Flushes, compactions, tables from outside and for others.
#include "db/db_impl.h"
#include "db/engine.h"

namespace compassdb {
namespace {

rocksdb::FlushOptions WithoutDelay() {
  rocksdb::FlushOptions options;
  options.allow_write_stall = true;
  return options;
}

}  // namespace

Status DBImpl::Flush(const rocksdb::FlushOptions& options, ColumnFamilyHandle* family) {
  return Flush(options, std::vector<ColumnFamilyHandle*>{family});
}

Status DBImpl::Flush(const rocksdb::FlushOptions& options,
                     const std::vector<ColumnFamilyHandle*>& families) {
  if (Status s = CheckWritable("Flush", families); !s.ok()) return s;
  const bool atomic = engine_->state.config.options.atomic_flush;
  Families flushed;
  for (ColumnFamilyHandle* handle : families) {
    flushed.push_back(SharedFamilyOf(handle));
    if (flushed.back()->dropped() && !atomic) {
      return Status::ColumnFamilyDropped(flushed.back()->name());
    }
  }
  if (atomic) flushed = engine_->state.families.All();
  return engine_->flusher.Flush(flushed, options, rocksdb::FlushReason::kManualFlush);
}

Status DBImpl::CompactRange(const rocksdb::CompactRangeOptions& options, ColumnFamilyHandle* family,
                            const Slice* begin, const Slice* end) {
  if (Status s = CheckWritable("CompactRange", {&family, 1}); !s.ok()) return s;
  const std::shared_ptr<ColumnFamily> compacted = SharedFamilyOf(family);
  if (Status s = ManualCompactions::Check(options, *compacted, begin, end); !s.ok()) return s;
  const Slice* const low = options.full_history_ts_low;
  if (low != nullptr && !low->empty()) {
    Status s = engine_->family_histories.Raise(compacted, low->ToString());
    if (!s.ok()) return s;
  }
  return engine_->manual_compactions.CompactRange(options, compacted, begin, end);
}

Status DBImpl::CompactFiles(const rocksdb::CompactionOptions&, ColumnFamilyHandle* family,
                            const std::vector<std::string>& input_file_names, int output_level,
                            int output_path_id, std::vector<std::string>* output_file_names,
                            rocksdb::CompactionJobInfo* info) {
  if (Status s = CheckWritable("CompactFiles", {&family, 1}); !s.ok()) return s;
  return engine_->manual_compactions.CompactFiles(SharedFamilyOf(family), input_file_names,
                                                  output_level, output_path_id, output_file_names,
                                                  info);
}

Status DBImpl::SuggestCompactRange(ColumnFamilyHandle* family, const Slice* begin,
                                   const Slice* end) {
  if (Status s = CheckWritable("SuggestCompactRange", {&family, 1}); !s.ok()) return s;
  engine_->manual_compactions.Suggest(FamilyOf(family), begin, end);
  return Status::OK();
}

Status DBImpl::PromoteL0(ColumnFamilyHandle* family, int target_level) {
  if (Status s = CheckWritable("PromoteL0", {&family, 1}); !s.ok()) return s;
  return engine_->manual_compactions.PromoteLevel0(SharedFamilyOf(family), target_level);
}

Status DBImpl::DropTables(ColumnFamilyHandle* family, const rocksdb::RangePtr* ranges, size_t n,
                          bool include_end) {
  if (Status s = CheckWritable("DeleteFilesInRanges", {&family, 1}); !s.ok()) return s;
  return engine_->manual_compactions.DropTables(SharedFamilyOf(family), ranges, n, include_end);
}

Status DBImpl::WaitUntilCompacted(const rocksdb::WaitForCompactOptions& options) {
  if (Status s = CheckWritable("WaitForCompact"); !s.ok()) return s;
  if (options.flush) {
    Status s = engine_->flusher.Flush(engine_->state.families.All(), WithoutDelay(),
                                      rocksdb::FlushReason::kManualFlush);
    if (!s.ok()) return s;
  }
  if (Status s = engine_->jobs.WaitUntilIdle(options); !s.ok()) return s;
  return options.close_db ? Close() : Status::OK();
}

Status DBImpl::PauseBackgroundWork() {
  if (Inherited()) return InheritedStatus();
  engine_->jobs.Pause();
  return Status::OK();
}

Status DBImpl::ContinueBackgroundWork() {
  return Inherited() ? InheritedStatus() : engine_->jobs.Continue();
}

void DBImpl::CancelBackgroundWork(bool wait) {
  if (!Inherited()) engine_->CancelBackgroundWork(wait);
}

Status DBImpl::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& families) {
  if (Refuses(families)) return Refusal();
  for (ColumnFamilyHandle* family : families) {
    if (Status s = SetOptions(family, {{"disable_auto_compactions", "false"}}); !s.ok()) return s;
  }
  return Status::OK();
}

void DBImpl::DisableManualCompaction() { if (!Inherited()) engine_->manual_compactions.Disable(); }

void DBImpl::EnableManualCompaction() { if (!Inherited()) engine_->manual_compactions.Enable(); }

Status DBImpl::IngestExternalFile(ColumnFamilyHandle* family,
                                  const std::vector<std::string>& external_files,
                                  const rocksdb::IngestExternalFileOptions& options) {
  rocksdb::IngestExternalFileArg arg;
  arg.column_family = family;
  arg.external_files = external_files;
  arg.options = options;
  return IngestExternalFiles({arg});
}

Status DBImpl::IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& args) {
  if (Status s = CheckWritable("IngestExternalFile"); !s.ok()) return s;
  return engine_->ingester.Ingest(args);
}

Status DBImpl::CreateColumnFamilyWithImport(
    const rocksdb::ColumnFamilyOptions& options, const std::string& name,
    const rocksdb::ImportColumnFamilyOptions& import_options,
    const rocksdb::ExportImportFilesMetaData& metadata, ColumnFamilyHandle** handle) {
  if (Status s = CheckWritable("CreateColumnFamilyWithImport"); !s.ok()) return s;
  return engine_->ingester.Import(options, name, import_options, metadata, handle);
}

Status DBImpl::ExportTable(ColumnFamilyHandle* family, const std::string& path,
                           rocksdb::LiveFileMetaData* metadata, bool* written) {
  if (Refuses(family)) return Refusal();
  *written = false;
  if (!engine_->state.config.read_only()) {
    const std::shared_ptr<ColumnFamily> exported = SharedFamilyOf(family);
    Status s = engine_->flusher.Flush({exported}, WithoutDelay(),
                                      rocksdb::FlushReason::kManualFlush);
    if (!s.ok()) return s;
    // Then some data may not be flushed.
    if (exported->dropped()) return Status::ColumnFamilyDropped(exported->name());
  }
  return engine_->table_exporter.Export(family, path, metadata, written);
}

}  // namespace compassdb
