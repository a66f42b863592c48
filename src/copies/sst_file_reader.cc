// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/sst_file_reader.h"

#include "copies/foreign_table.h"
#include "db/read/db_iter.h"
#include "db/report/table_properties.h"
#include "env/rocksdb/env_adapter.h"
#include "manifest/table_file.h"
#include "rocksdb/convenience.h"
#include "rocksdb/snapshot.h"
#include "util/compression.h"
#include "util/process.h"

namespace rocksdb {

struct SstFileReader::Rep {
  explicit Rep(const Options& o) : options(o), fs(compassdb::FileSystemOfEnv(o.env)) {}
  COMPASSDB_DELETED_BY_ITS_PROCESS(Rep, process)

  const compassdb::ProcessMark process;
  const Options options;
  const std::shared_ptr<compassdb::FileSystem> fs;
  bool opened() const { return file != nullptr || foreign != nullptr; }
  // One of them.
  std::unique_ptr<compassdb::TableFile> file;
  std::shared_ptr<const compassdb::ExternalTable> foreign;  // RocksDB's
};

SstFileReader::SstFileReader(const Options& options) : rep_(std::make_unique<Rep>(options)) {}
SstFileReader::~SstFileReader() = default;

Status SstFileReader::Open(const std::string& file_path) {
  if (rep_->process.Inherited()) return compassdb::InheritedStatus();
  bool foreign = false;
  if (Status s = compassdb::IsRocksDbTable(rep_->fs.get(), file_path, &foreign); !s.ok()) return s;
  rep_->file.reset();
  rep_->foreign.reset();
  if (foreign) {
    return compassdb::ExternalTable::OpenRocksDbs(
        {.fs = rep_->fs.get(), .path = file_path, .comparator = rep_->options.comparator, .import = true}, &rep_->foreign);
  }
  return compassdb::TableFile::Open(rep_->fs.get(), file_path, rep_->options.comparator,
                                    &rep_->file);
}

Iterator* SstFileReader::NewIterator(const ReadOptions& read) {
  if (rep_->process.Inherited()) return NewErrorIterator(compassdb::InheritedStatus());
  if (!rep_->opened()) return NewErrorIterator(Status::InvalidArgument("File is not opened"));
  const Options& options = rep_->options;
  const size_t timestamp_size = options.comparator->timestamp_size();
  const auto fits = [timestamp_size](const Slice* timestamp) {
    return (timestamp == nullptr ? 0 : timestamp->size()) == timestamp_size;
  };
  if (!fits(read.timestamp) || (read.iter_start_ts != nullptr && !fits(read.iter_start_ts))) {
    const std::string& path = rep_->file != nullptr ? rep_->file->path() : rep_->foreign->path();
    return NewErrorIterator(Status::InvalidArgument("Timestamp sizes mismatch", path));
  }
  compassdb::DBIterSource source(options.comparator);
  compassdb::BlockReadOptions block;
  block.verify_checksums = read.verify_checksums;
  block.readahead_bytes = read.readahead_size;
  source.iter = rep_->file != nullptr ? rep_->file->piece().NewIterator(block)
                                      : compassdb::NewForeignIterator(*rep_->foreign, options.comparator);
  if (read.snapshot != nullptr) source.snapshot = read.snapshot->GetSequenceNumber();
  compassdb::DBIterOptions iter;
  iter.comparator = options.comparator;
  if (read.timestamp != nullptr) iter.timestamp = read.timestamp->ToString();
  if (read.iter_start_ts != nullptr) iter.start_timestamp = read.iter_start_ts->ToString();
  iter.merge.op = options.merge_operator.get();
  iter.lower_bound = read.iterate_lower_bound;
  iter.upper_bound = read.iterate_upper_bound;
  iter.prefix_extractor = read.prefix_same_as_start ? options.prefix_extractor : nullptr;
  iter.prefix_same_as_start = read.prefix_same_as_start;
  iter.pin_data = read.pin_data;
  return compassdb::NewDBIterator(iter, std::move(source));
}

std::shared_ptr<const TableProperties> SstFileReader::GetTableProperties() const {
  if (rep_->process.Inherited() || !rep_->opened()) return nullptr;
  if (rep_->foreign != nullptr) return compassdb::ForeignProperties(*rep_->foreign);
  const compassdb::TableFileInfo& info = rep_->file->info();
  auto props = std::make_shared<TableProperties>();
  props->comparator_name = info.comparator;
  if (info.for_family) {
    props->column_family_id = info.column_family;
    props->column_family_name = info.column_family_name;
  }
  if (rep_->options.merge_operator != nullptr) {
    props->merge_operator_name = rep_->options.merge_operator->Name();
  }
  const compassdb::PieceMeta& piece = *info.table.pieces[0].meta;
  props->data_size = piece.data_bytes;
  props->index_size = piece.extent.length - piece.data_bytes;
  props->num_entries = piece.num_records + piece.num_range_tombstones;
  props->num_deletions = piece.num_deletions + piece.num_range_tombstones;
  props->num_merge_operands = piece.num_merges;
  props->num_range_deletions = piece.num_range_tombstones;
  props->num_data_blocks = piece.num_blocks;
  props->raw_value_size = piece.raw_bytes;  // includes keys: they are not counted separately
  props->creation_time = piece.creation_time;
  props->file_creation_time = piece.creation_time;
  rocksdb::CompressionType compression = kNoCompression;
  if (rep_->file->piece().ReadCompression(&compression).ok()) {
    props->compression_name = compassdb::CompressionTypeName(compression);
  }
  compassdb::CollectedProperties collected;
  // Verified when the file was opened. If this read fails, they are left out.
  if (rep_->file->piece().ReadCollected(&collected).ok()) {
    props->user_collected_properties = std::move(collected.properties);
    props->property_collectors_names = std::move(collected.collectors);
  }
  compassdb::AddCollectedCounts(props.get());
  return props;
}

Status SstFileReader::VerifyChecksum(const ReadOptions&) {
  if (rep_->process.Inherited()) return compassdb::InheritedStatus();
  if (!rep_->opened()) return Status::InvalidArgument("File is not opened");
  return rep_->file != nullptr ? rep_->file->piece().Verify() : compassdb::VerifyForeignTable(*rep_->foreign);
}

Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                             const std::string& file_path) {
  return VerifySstFileChecksum(options, env_options, ReadOptions(), file_path);
}

Status VerifySstFileChecksum(const Options& options, const EnvOptions&, const ReadOptions& read,
                             const std::string& file_path, const SequenceNumber&) {
  SstFileReader reader(options);
  Status s = reader.Open(file_path);
  return s.ok() ? reader.VerifyChecksum(read) : s;
}

}  // namespace rocksdb
