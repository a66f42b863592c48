// SPDX-License-Identifier: Apache-2.0
// What there is on disk, in RocksDB's words. A "file" there is a table here:
// tables share physical files, so sizes are those of a table's own extents.
#include <algorithm>
#include <map>

#include "db/db_impl.h"
#include "format/file_names.h"
#include "format/user_timestamp.h"
#include "options/table_factories.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table_properties.h"
#include "table/piece/piece.h"
#include "util/coding.h"
#include "util/compression.h"

namespace compassdb {

void AddCollectedCounts(rocksdb::TableProperties* props) {
  for (const auto& [name, count] :
       {std::pair(&rocksdb::TablePropertiesNames::kDeletedKeys, props->num_deletions),
        std::pair(&rocksdb::TablePropertiesNames::kMergeOperands, props->num_merge_operands)}) {
    std::string value;
    PutVarint64(&value, count);
    props->user_collected_properties[*name] = std::move(value);
  }
}

void AddOptionNames(const ColumnFamily& family, rocksdb::TableProperties* props) {
  const rocksdb::ColumnFamilyOptions options = family.options();
  props->prefix_extractor_name =
      options.prefix_extractor != nullptr ? options.prefix_extractor->AsString() : "nullptr";
  const auto policy = TableSettingsOf(options.table_factory.get()).block.filter_policy;
  props->filter_policy_name = policy != nullptr ? policy->Name() : "";
  const rocksdb::CompressionOptions& c = options.compression_opts;
  props->compression_options =
      "window_bits=" + std::to_string(c.window_bits) + "; level=" + std::to_string(c.level) +
      "; strategy=" + std::to_string(c.strategy) +
      "; max_dict_bytes=" + std::to_string(c.max_dict_bytes) +
      "; zstd_max_train_bytes=" + std::to_string(c.zstd_max_train_bytes) +
      "; enabled=" + std::to_string(c.enabled) +
      "; max_dict_buffer_bytes=" + std::to_string(c.max_dict_buffer_bytes) +
      "; use_zstd_dict_trainer=" + std::to_string(c.use_zstd_dict_trainer) + "; ";
}

void AddPieceProperties(const ColumnFamily& family, const PieceMeta& piece,
                        rocksdb::TableProperties* props) {
  props->column_family_id = family.id();
  props->column_family_name = family.name();
  props->comparator_name = family.user_comparator()->Name();
  if (family.merge_operator() != nullptr) {
    props->merge_operator_name = family.merge_operator()->Name();
  }
  props->orig_file_number = piece.extent.file_number;
  props->data_size += piece.data_bytes;
  props->num_entries += piece.num_records + piece.num_range_tombstones;
  props->num_deletions += piece.num_deletions + piece.num_range_tombstones;
  props->num_merge_operands += piece.num_merges;
  props->num_range_deletions += piece.num_range_tombstones;
  props->num_data_blocks += piece.num_blocks;
  props->raw_value_size += piece.raw_bytes;  // keys included: they are not told apart
  props->creation_time = props->file_creation_time = piece.creation_time;
  if (piece.collected != nullptr) {
    const CollectedProperties& collected = *piece.collected;
    props->property_collectors_names = collected.collectors;
    props->user_collected_properties.insert(collected.properties.begin(),
                                            collected.properties.end());
    props->readable_properties.insert(collected.readable.begin(), collected.readable.end());
  }
  AddCollectedCounts(props);
}

Status ReadPieceProperties(const ColumnFamily& family, const Piece& piece,
                           rocksdb::TableProperties* props) {
  AddPieceProperties(family, piece.meta(), props);
  AddOptionNames(family, props);
  CollectedProperties collected;
  if (Status s = piece.ReadCollected(&collected); !s.ok()) return s;
  props->user_collected_properties.merge(collected.properties);
  props->property_collectors_names = std::move(collected.collectors);
  return Status::OK();
}

uint64_t NewestFile(const TphMeta& tph) {
  uint64_t newest = tph.directory.file_number;
  for (const TphPiece& piece : tph.pieces) {
    newest = std::max(newest, piece.meta->extent.file_number);
  }
  return newest;
}

namespace {

uint64_t OldestTime(const TphMeta& tph) {
  uint64_t oldest = UINT64_MAX;
  for (const TphPiece& piece : tph.pieces) oldest = std::min(oldest, piece.meta->creation_time);
  return oldest == UINT64_MAX ? 0 : oldest;
}

// `checksum`: of the newest file.
void FillTable(const TphMeta& tph, TableDirs* dirs, FileChecksum checksum,
               rocksdb::SstFileMetaData* out) {
  out->file_number = NewestFile(tph);
  out->file_checksum = std::move(checksum.checksum);
  out->file_checksum_func_name = std::move(checksum.function);
  const std::string dir = dirs->DirOf(out->file_number);
  const std::string path = PieceFileName(dir, out->file_number);
  out->name = path.substr(path.rfind('/'));
  out->relative_filename = out->name.substr(1);
  out->directory = out->db_path = dir;
  out->size = tph.TotalBytes();
  out->smallest_seqno = tph.smallest_seq;
  out->largest_seqno = tph.largest_seq;
  out->smallestkey = tph.smallest;
  out->largestkey = tph.largest;
  out->num_entries = tph.NumRecords();
  for (const TphPiece& piece : tph.pieces) {
    out->num_deletions += piece.meta->num_deletions + piece.meta->num_range_tombstones;
  }
  out->oldest_ancester_time = OldestTime(tph);
  out->file_creation_time = out->oldest_ancester_time;
}

}  // namespace

Status DBImpl::GetApproximateSizes(const rocksdb::SizeApproximationOptions& options,
                                   ColumnFamilyHandle* handle, const Range* ranges, int n,
                                   uint64_t* sizes) {
  if (!options.include_memtables && !options.include_files) {
    return Status::InvalidArgument("GetApproximateSizes: nothing is included");
  }
  ReadStatePin state(FamilyOf(handle)->read_state());
  for (int i = 0; i < n; ++i) {
    sizes[i] = 0;
    const TimedRange range(&ranges[i].start, &ranges[i].limit, /*with_end=*/false,
                           FamilyOf(handle)->timestamp_size());
    const Slice &start = *range.begin(), &limit = *range.end();
    if (options.include_files) sizes[i] += state->view->ApproximateSize(start, limit);
    if (!options.include_memtables) continue;
    uint64_t count = 0, bytes = 0;
    state->mem->ApproximateStats(start, limit, &count, &bytes);
    sizes[i] += bytes;
    for (const auto& immutable : state->immutables) {
      immutable->ApproximateStats(start, limit, &count, &bytes);
      sizes[i] += bytes;
    }
  }
  return Status::OK();
}

void DBImpl::GetApproximateMemTableStats(ColumnFamilyHandle* handle, const Range& user_range,
                                         uint64_t* count, uint64_t* size) {
  const TimedRange range(&user_range.start, &user_range.limit, /*with_end=*/false,
                         FamilyOf(handle)->timestamp_size());
  ReadStatePin state(FamilyOf(handle)->read_state());
  state->mem->ApproximateStats(*range.begin(), *range.end(), count, size);
  for (const auto& immutable : state->immutables) {
    uint64_t c = 0, b = 0;
    immutable->ApproximateStats(*range.begin(), *range.end(), &c, &b);
    *count += c;
    *size += b;
  }
}

int DBImpl::NumberLevels(ColumnFamilyHandle* handle) {
  return FamilyOf(handle)->store()->options().num_levels;
}

int DBImpl::MaxMemCompactionLevel(ColumnFamilyHandle*) { return 0; }

int DBImpl::Level0StopWriteTrigger(ColumnFamilyHandle* handle) {
  return FamilyOf(handle)->settings.level0_stop;
}

Status DBImpl::GetCreationTimeOfOldestFile(uint64_t* creation_time) {
  uint64_t oldest = UINT64_MAX;
  for (const auto& family : families_.All()) {
    ReadStatePin state(family->read_state());
    state->view->ForEachTable([&oldest](int, const TphMeta& tph) {
      if (const uint64_t time = OldestTime(tph); time > 0) oldest = std::min(oldest, time);
    });
  }
  *creation_time = oldest;
  return Status::OK();
}

void DBImpl::GetLiveFilesMetaData(std::vector<rocksdb::LiveFileMetaData>* metadata) {
  metadata->clear();
  for (const auto& family : families_.All()) {
    ReadStatePin state(family->read_state());
    state->view->ForEachTable([&](int level, const TphMeta& tph) {
      rocksdb::LiveFileMetaData file;
      FillTable(tph, files_->dirs(), ChecksumOf(NewestFile(tph)), &file);
      file.column_family_name = family->name();
      file.level = level;
      metadata->push_back(std::move(file));
    });
  }
}

namespace {

// Files of the value store, with what their segments hold.
void FillValueFiles(const StoreView& view, TableDirs* dirs, const ExtentLedger& ledger,
                    rocksdb::ColumnFamilyMetaData* metadata) {
  struct Sum {
    uint64_t values = 0, bytes = 0, dead_values = 0, dead_bytes = 0;
  };
  std::map<uint64_t, Sum> files;
  view.ForEachValueRun([&](const ValueRunMeta& run, uint64_t dead_bytes) {
    Sum& sum = files[run.extent.file_number];
    sum.values += run.num_values;
    sum.bytes += run.extent.length;
    sum.dead_bytes += dead_bytes;
    sum.dead_values += static_cast<uint64_t>(static_cast<double>(run.num_values) * static_cast<double>(dead_bytes) /
                                             static_cast<double>(run.extent.length));
  });
  metadata->blob_file_size = 0;
  metadata->blob_file_count = files.size();
  metadata->blob_files.clear();
  for (const auto& [number, sum] : files) {
    metadata->blob_file_size += sum.bytes;
    const FileChecksum checksum = ledger.ChecksumOf(number).value_or(FileChecksum());
    metadata->blob_files.emplace_back(number, PieceFileName(".", number).substr(2), dirs->DirOf(number),
                                      sum.bytes, sum.values, sum.bytes, sum.dead_values, sum.dead_bytes,
                                      checksum.function, checksum.checksum);
  }
}

}  // namespace

void DBImpl::GetColumnFamilyMetaData(ColumnFamilyHandle* handle,
                                     rocksdb::ColumnFamilyMetaData* metadata) {
  ColumnFamily* const family = FamilyOf(handle);
  const int levels = family->store()->options().num_levels;
  std::vector<std::vector<rocksdb::SstFileMetaData>> files(static_cast<size_t>(levels));
  std::vector<uint64_t> sizes(static_cast<size_t>(levels), 0);
  ReadStatePin state(family->read_state());
  state->view->ForEachTable([&](int level, const TphMeta& tph) {
    rocksdb::SstFileMetaData file;
    FillTable(tph, files_->dirs(), ChecksumOf(NewestFile(tph)), &file);
    sizes[static_cast<size_t>(level)] += file.size;
    files[static_cast<size_t>(level)].push_back(std::move(file));
  });
  metadata->name = family->name();
  metadata->size = 0;
  metadata->file_count = 0;
  metadata->levels.clear();
  for (int level = 0; level < levels; ++level) {
    const auto i = static_cast<size_t>(level);
    metadata->size += sizes[i];
    metadata->file_count += files[i].size();
    metadata->levels.emplace_back(level, sizes[i], std::move(files[i]));
  }
  FillValueFiles(*state->view, files_->dirs(), *ledger_, metadata);
}

void DBImpl::GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) {
  metadata->clear();
  for (const auto& family : families_.All()) {
    ColumnFamilyHandleImpl handle(family, this);
    handle.set_internal();
    metadata->emplace_back();
    GetColumnFamilyMetaData(&handle, &metadata->back());
  }
}

Status DBImpl::VerifyChecksum(const ReadOptions&) {
  for (const auto& family : families_.All()) {
    if (Status s = family->read_state()->View()->Verify(); !s.ok()) return s;
  }
  return Status::OK();
}

Status DBImpl::LoadIndex(ColumnFamilyHandle* handle) {
  if (process_.Inherited()) return InheritedStatus();
  return FamilyOf(handle)->read_state()->View()->LoadIndex();
}

Status DBImpl::GetDbIdentity(std::string& identity) const {
  identity = db_id_;
  return Status::OK();
}

Status DBImpl::GetDbSessionId(std::string& session_id) const {
  session_id = config_.session_id;
  return Status::OK();
}

Status DBImpl::GetPropertiesOfAllTables(ColumnFamilyHandle* handle,
                                        rocksdb::TablePropertiesCollection* props) {
  return GetPropertiesOfTablesInRange(handle, nullptr, 0, props);
}

Status DBImpl::GetPropertiesOfTablesInRange(ColumnFamilyHandle* handle, const Range* ranges,
                                            size_t n,
                                            rocksdb::TablePropertiesCollection* props) {
  ColumnFamily* const family = FamilyOf(handle);
  const rocksdb::Comparator* comparator = family->user_comparator();
  ReadStatePin state(family->read_state());
  return state->view->ForEachPiece([&](const TphMeta& tph, const Piece& piece) {
    bool wanted = ranges == nullptr;
    for (size_t i = 0; i < n && !wanted; ++i) {
      wanted =
          comparator->CompareWithoutTimestamp(ranges[i].start, false, tph.largest, true) <= 0 &&
          comparator->CompareWithoutTimestamp(ranges[i].limit, false, tph.smallest, true) >= 0;
    }
    if (!wanted) return Status::OK();
    auto properties = std::make_shared<rocksdb::TableProperties>();
    if (Status s = ReadPieceProperties(*family, piece, properties.get()); !s.ok()) return s;
    if (piece.meta().piece_id == tph.pieces.back().meta->piece_id) {
      properties->index_size = tph.directory.length;
    }
    properties->filter_size = piece.FilterBytes();
    properties->db_id = db_id_;
    rocksdb::CompressionType compression = rocksdb::kNoCompression;
    if (Status s = piece.ReadCompression(&compression); !s.ok()) return s;
    properties->compression_name = CompressionTypeName(compression);
    (*props)[files_->PathOf(piece.meta().extent.file_number) + "#" +
             std::to_string(piece.meta().piece_id)] = std::move(properties);
    return Status::OK();
  });
}

}  // namespace compassdb
