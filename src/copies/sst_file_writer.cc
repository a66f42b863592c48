// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/sst_file_writer.h"

#include "db/families/column_family_handle.h"
#include "db/open/db_config.h"
#include "db/report/file_listeners.h"
#include "env/rocksdb/env_adapter.h"
#include "format/user_timestamp.h"
#include "manifest/table_file.h"
#include "rocksdb/file_checksum.h"
#include "util/process.h"

namespace rocksdb {

using compassdb::TableFileWriter;

struct SstFileWriter::Rep {
  Rep(const Options& o, const Comparator* c, ColumnFamilyHandle* f)
      : options(o), comparator(c), family(f), fs(compassdb::AddListeners(compassdb::FileSystemOfEnv(o.env), o.listeners, /*all=*/true)) {}

  // A child of fork() neither writes nor closes the file.
  COMPASSDB_DELETED_BY_ITS_PROCESS(Rep, process)

  Status Check(const Slice& timestamp) const {
    if (process.Inherited()) return compassdb::InheritedStatus();
    if (writer == nullptr) return Status::InvalidArgument("File is not opened");
    if (comparator->timestamp_size() != timestamp.size()) {
      return Status::InvalidArgument("Timestamp size mismatch");
    }
    return Status::OK();
  }

  Status Add(const Slice& bare_key, const Slice& timestamp, compassdb::ValueType type,
             const Slice& value) {
    if (Status s = Check(timestamp); !s.ok()) return s;
    const std::string user_key = compassdb::AppendTimestamp(bare_key, timestamp);
    if (info.num_entries > 0 && comparator->Compare(user_key, info.largest_key) <= 0) {
      return Status::InvalidArgument("Keys must be added in strict ascending order.");
    }
    key.clear();
    compassdb::AppendInternalKey(&key, user_key, 0, type);
    Status s = writer->Add(key, value);
    if (!s.ok()) return s;
    if (info.num_entries == 0) info.smallest_key = user_key;
    info.largest_key = user_key;
    ++info.num_entries;
    return s;
  }

  Status DeleteRange(const Slice& bare_begin, const Slice& bare_end, const Slice& timestamp) {
    if (Status s = Check(timestamp); !s.ok()) return s;
    const std::string begin = compassdb::AppendTimestamp(bare_begin, timestamp);
    const std::string end = compassdb::AppendTimestamp(bare_end, timestamp);
    const int order = comparator->CompareWithoutTimestamp(bare_begin, false, bare_end, false);
    if (order > 0) return Status::InvalidArgument("end key comes before start key");
    if (order == 0) return Status::OK();  // an empty range
    writer->AddRangeTombstone(
        compassdb::FromStoredBounds(begin, end, /*sequence=*/0, timestamp.size()));
    if (info.num_range_del_entries == 0 ||
        comparator->Compare(begin, info.smallest_range_del_key) < 0) {
      info.smallest_range_del_key = begin;
    }
    if (info.num_range_del_entries == 0 ||
        comparator->Compare(end, info.largest_range_del_key) > 0) {
      info.largest_range_del_key = end;
    }
    ++info.num_range_del_entries;
    return Status::OK();
  }

  const compassdb::ProcessMark process;
  const Options options;
  const Comparator* const comparator;
  ColumnFamilyHandle* const family;
  const std::shared_ptr<compassdb::FileSystem> fs;
  compassdb::StoreOptions store;  // of the writer; outlives it
  std::unique_ptr<TableFileWriter> writer;  // null: not open
  ExternalSstFileInfo info;
  std::string key;
};

SstFileWriter::SstFileWriter(const EnvOptions&, const Options& options,
                             const Comparator* user_comparator, ColumnFamilyHandle* column_family,
                             bool, Env::IOPriority, bool)
    : rep_(std::make_unique<Rep>(
          options,
          column_family != nullptr ? column_family->GetComparator() : user_comparator,
          column_family)) {}

SstFileWriter::~SstFileWriter() = default;

Status SstFileWriter::Open(const std::string& file_path) {
  if (rep_->process.Inherited()) return compassdb::InheritedStatus();
  rep_->info = ExternalSstFileInfo();
  rep_->info.file_path = file_path;
  ColumnFamilyOptions family = rep_->options;
  if (rep_->family != nullptr) family = compassdb::FamilyOf(rep_->family)->options();
  compassdb::StoreOptions& store = rep_->store;
  Status s = compassdb::ProjectFamilyOptions(0, "", family, &store);
  if (!s.ok()) return s;
  compassdb::PieceBuildOptions build;
  build.comparator = rep_->comparator;
  build.block_size = store.block_size;
  build.block_size_deviation = store.block_size_deviation;
  if (!store.compression.empty()) build.compression = store.compression.back();
  build.compression_level = store.compression_level;
  build.collectors = &store.collectors;
  build.collector_context.column_family_id =
      rep_->family != nullptr ? rep_->family->GetID()
                              : TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
  std::unique_ptr<FileChecksumGenerator> checksum;
  if (rep_->options.file_checksum_gen_factory != nullptr) {
    checksum = rep_->options.file_checksum_gen_factory->CreateFileChecksumGenerator({file_path, ""});
  }
  return TableFileWriter::Create(rep_->fs.get(), file_path, build, &rep_->writer,
                                 std::move(checksum));
}

Status SstFileWriter::Add(const Slice& user_key, const Slice& value) { return Put(user_key, value); }
Status SstFileWriter::Put(const Slice& user_key, const Slice& value) {
  return rep_->Add(user_key, Slice(), compassdb::kTypeValue, value);
}
Status SstFileWriter::Put(const Slice& user_key, const Slice& timestamp, const Slice& value) {
  return rep_->Add(user_key, timestamp, compassdb::kTypeValue, value);
}
Status SstFileWriter::Merge(const Slice& user_key, const Slice& value) {
  return rep_->Add(user_key, Slice(), compassdb::kTypeMerge, value);
}
Status SstFileWriter::Delete(const Slice& user_key) {
  return rep_->Add(user_key, Slice(), compassdb::kTypeDeletion, Slice());
}
Status SstFileWriter::Delete(const Slice& user_key, const Slice& timestamp) {
  return rep_->Add(user_key, timestamp, compassdb::kTypeDeletion, Slice());
}
Status SstFileWriter::DeleteRange(const Slice& begin_key, const Slice& end_key) {
  return rep_->DeleteRange(begin_key, end_key, Slice());
}
Status SstFileWriter::DeleteRange(const Slice& begin_key, const Slice& end_key,
                                  const Slice& timestamp) {
  return rep_->DeleteRange(begin_key, end_key, timestamp);
}

Status SstFileWriter::Finish(ExternalSstFileInfo* file_info) {
  Rep* const r = rep_.get();
  if (r->process.Inherited()) return compassdb::InheritedStatus();
  if (r->writer == nullptr) return Status::InvalidArgument("File is not opened");
  if (r->info.num_entries == 0 && r->info.num_range_del_entries == 0) {
    return Status::InvalidArgument("Cannot create sst file with no entries");
  }
  compassdb::TableFileInfo info;
  info.comparator = r->comparator->Name();
  if (r->family != nullptr) {
    info.for_family = true;
    info.column_family = r->family->GetID();
    info.column_family_name = r->family->GetName();
  }
  Status s = r->writer->Finish(compassdb::ClockOfEnv(r->options.env)->NowMicros() / 1000000, &info);
  r->info.file_size = r->writer->Bytes();
  r->info.version = 2;
  const FileChecksumGenerator* const checksum = r->writer->checksum();
  r->info.file_checksum = checksum == nullptr ? kUnknownFileChecksum : checksum->GetChecksum();
  r->info.file_checksum_func_name =
      checksum == nullptr ? kUnknownFileChecksumFuncName : checksum->Name();
  r->writer.reset();
  if (!s.ok()) {
    r->fs->DeleteFile(r->info.file_path).PermitUncheckedError();
    return s;
  }
  if (file_info != nullptr) *file_info = r->info;
  return s;
}

// Without records 0, though the file has a header.
uint64_t SstFileWriter::FileSize() {
  const ExternalSstFileInfo& info = rep_->info;
  if (rep_->writer == nullptr) return info.file_size;
  return info.num_entries + info.num_range_del_entries == 0 ? 0 : rep_->writer->Bytes();
}

}  // namespace rocksdb
