// SPDX-License-Identifier: Apache-2.0
#include "db/report/metadata.h"

#include <algorithm>
#include <map>

#include "db/copy/whole_file_checksum.h"
#include "db/report/table_properties.h"
#include "format/file_names.h"
#include "format/user_timestamp.h"
#include "table/piece/piece.h"
#include "util/compression.h"

namespace compassdb {

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

Status Metadata::ApproximateSizes(const rocksdb::SizeApproximationOptions& options, ColumnFamily* family,
                                  const rocksdb::Range* ranges, int n, uint64_t* sizes) const {
  if (!options.include_memtables && !options.include_files) {
    return Status::InvalidArgument("GetApproximateSizes: nothing is included");
  }
  ReadStatePin state(family->read_state());
  for (int i = 0; i < n; ++i) {
    sizes[i] = 0;
    const TimedRange range(&ranges[i].start, &ranges[i].limit, /*with_end=*/false,
                           family->timestamp_size());
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

void Metadata::ApproximateMemTableStats(ColumnFamily* family, const rocksdb::Range& user_range,
                                        uint64_t* count, uint64_t* size) const {
  const TimedRange range(&user_range.start, &user_range.limit, /*with_end=*/false,
                         family->timestamp_size());
  ReadStatePin state(family->read_state());
  state->mem->ApproximateStats(*range.begin(), *range.end(), count, size);
  for (const auto& immutable : state->immutables) {
    uint64_t c = 0, b = 0;
    immutable->ApproximateStats(*range.begin(), *range.end(), &c, &b);
    *count += c;
    *size += b;
  }
}

uint64_t Metadata::OldestCreationTime() const {
  uint64_t oldest = UINT64_MAX;
  for (const auto& family : families_.All()) {
    ReadStatePin state(family->read_state());
    state->view->ForEachTable([&oldest](int, const TphMeta& tph) {
      if (const uint64_t time = OldestTime(tph); time > 0) oldest = std::min(oldest, time);
    });
  }
  return oldest;
}

std::vector<rocksdb::LiveFileMetaData> Metadata::LiveFiles() const {
  std::vector<rocksdb::LiveFileMetaData> metadata;
  for (const auto& family : families_.All()) {
    ReadStatePin state(family->read_state());
    state->view->ForEachTable([&](int level, const TphMeta& tph) {
      rocksdb::LiveFileMetaData file;
      FillTable(tph, files_->dirs(), ChecksumOf(ledger_, NewestFile(tph)), &file);
      file.column_family_name = family->name();
      file.level = level;
      metadata.push_back(std::move(file));
    });
  }
  return metadata;
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

void Metadata::OfFamily(ColumnFamily* family, rocksdb::ColumnFamilyMetaData* metadata) const {
  const int levels = family->store()->options().num_levels;
  std::vector<std::vector<rocksdb::SstFileMetaData>> files(static_cast<size_t>(levels));
  std::vector<uint64_t> sizes(static_cast<size_t>(levels), 0);
  ReadStatePin state(family->read_state());
  state->view->ForEachTable([&](int level, const TphMeta& tph) {
    rocksdb::SstFileMetaData file;
    FillTable(tph, files_->dirs(), ChecksumOf(ledger_, NewestFile(tph)), &file);
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
  FillValueFiles(*state->view, files_->dirs(), ledger_, metadata);
}

std::vector<rocksdb::ColumnFamilyMetaData> Metadata::OfAllFamilies() const {
  std::vector<rocksdb::ColumnFamilyMetaData> metadata;
  for (const auto& family : families_.All()) OfFamily(family.get(), &metadata.emplace_back());
  return metadata;
}

Status Metadata::PropertiesOfTables(ColumnFamily* family, const rocksdb::Range* ranges, size_t n,
                                    rocksdb::TablePropertiesCollection* props) const {
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
