// SPDX-License-Identifier: Apache-2.0
// docs/formats/table_file.md
#include "manifest/table_file.h"

#include <algorithm>
#include <random>

#include "format/format_version.h"
#include "format/user_timestamp.h"
#include "table/piece/piece_reader.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {
namespace {

constexpr uint64_t kNumber = 1;  // in the header of every table file
constexpr size_t kTrailerBytes = 32;

uint64_t RandomNumber() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

uint32_t TrailerChecksum(uint64_t file_id, const Slice& description, const Slice& trailer) {
  std::string bytes = description.ToString();
  bytes.append(trailer.data(), kTrailerBytes - 12);
  return Checksum32(bytes, MixContext(file_id, kTableFileFormat.magic));
}

}  // namespace

Status TableFileWriter::Create(FileSystem* fs, const std::string& path, PieceBuildOptions options,
                               std::unique_ptr<TableFileWriter>* out,
                               std::unique_ptr<rocksdb::FileChecksumGenerator> checksum) {
  std::unique_ptr<TableFileWriter> writer(new TableFileWriter());
  Status s = CompactionFileWriter::Create(fs, path, kNumber, RandomNumber(), FileOptions(),
                                          &writer->file_, std::move(checksum));
  if (!s.ok()) return s;
  options.hasher = KeyHasher(RandomNumber());
  options.data_order = DataOrder::kKey;
  writer->options_ = options;
  writer->piece_ = std::make_unique<PieceBuilder>(options, writer->file_.get(), kNumber);
  *out = std::move(writer);
  return s;
}

void TableFileWriter::AddRangeTombstone(const RangeTombstone& tombstone) {
  piece_->AddRangeTombstone(tombstone);
  tombstones_.push_back(tombstone);
}

uint64_t TableFileWriter::Bytes() const {
  return bytes_ != 0 ? bytes_ : file_->offset() + piece_->EstimatedBytes();
}

Status TableFileWriter::Finish(uint64_t creation_time, TableFileInfo* info) {
  PieceMeta piece;
  piece.creation_time = creation_time;
  PieceHashes hashes;
  Status s = piece_->Finish(&piece, &hashes);
  if (!s.ok()) return s;
  TphMeta& table = info->table;
  table = TphMeta();
  table.tph_id = kNumber;
  table.num_keys = piece.num_keys;
  table.smallest = Slice(piece.smallest).ToString();
  table.largest = Slice(piece.largest).ToString();
  const size_t timestamp_size = options_.comparator->timestamp_size();
  if (timestamp_size != 0 && piece.num_records > 0) {  // whole keys, as tables of a database have them
    table.smallest = BeforeAllTimes(StripTimestamp(piece.smallest, timestamp_size), timestamp_size);
    table.largest = BehindAllTimes(StripTimestamp(piece.largest, timestamp_size), timestamp_size);
  }
  table.smallest_seq = piece.smallest_seq;
  table.largest_seq = piece.largest_seq;
  bool any = piece.num_records > 0;
  for (const RangeTombstone& t : tombstones_) {
    if (!any || options_.comparator->Compare(t.start, table.smallest) < 0) table.smallest = t.start;
    if (!any || options_.comparator->Compare(t.end, table.largest) > 0) {
      table.largest = t.end;
      table.largest_exclusive = true;
    }
    any = true;
  }
  table.pieces.push_back({std::make_shared<const PieceMeta>(piece), piece.num_keys});

  VersionEdit edit;
  edit.comparator = info->comparator;
  if (info->for_family) {
    edit.column_family = info->column_family;
    edit.add_column_family = info->column_family_name;
  }
  edit.added.push_back({0, table});
  std::string description, trailer;
  edit.EncodeTo(&description);
  PutFixed64(&trailer, file_->offset());
  PutFixed64(&trailer, description.size());
  PutFixed32(&trailer, kTableFileFormat.current);
  PutFixed32(&trailer, TrailerChecksum(file_->file_id(), description, trailer));
  PutFixed64(&trailer, kTableFileFormat.magic);
  s = file_->Append(description);
  if (s.ok()) s = file_->Append(trailer);
  bytes_ = file_->offset();
  return s.ok() ? file_->Finish() : s;
}

namespace {

Status ReadDescription(const CompactionFile& file, TableFileInfo* info) {
  const Status damaged = Status::Corruption(file.path(), "is not a table file, or damaged");
  char scratch[kTrailerBytes];
  Slice trailer;
  if (file.size() < kTrailerBytes) return damaged;
  Status s = file.file()->Read(file.size() - kTrailerBytes, kTrailerBytes, &trailer, scratch);
  if (!s.ok()) return s;
  if (trailer.size() != kTrailerBytes ||
      DecodeFixed64(trailer.data() + 24) != kTableFileFormat.magic) {
    return damaged;
  }
  const uint32_t version = DecodeFixed32(trailer.data() + 16);
  if (!CanReadVersion(kTableFileFormat, version)) {
    return Status::NotSupported(file.path(), "table file format version " +
                                                 std::to_string(version) +
                                                 " is not known to this release");
  }
  const uint64_t offset = DecodeFixed64(trailer.data());
  const uint64_t length = DecodeFixed64(trailer.data() + 8);
  if (offset > file.size() || length != file.size() - kTrailerBytes - offset) return damaged;
  std::string description(length, '\0');
  Slice bytes;
  s = file.file()->Read(offset, length, &bytes, description.data());
  if (!s.ok()) return s;
  VersionEdit edit;
  if (bytes.size() != length ||
      !ChecksumHolds(DecodeFixed32(trailer.data() + 20), TrailerChecksum(file.file_id(), bytes, trailer)) ||
      !edit.DecodeFrom(bytes).ok() || edit.added.size() != 1 || !edit.comparator ||
      edit.added[0].tph.pieces.size() != 1) {
    return damaged;
  }
  info->comparator = *edit.comparator;
  info->for_family = edit.add_column_family.has_value();
  info->column_family = edit.column_family;
  info->column_family_name = edit.add_column_family.value_or("");
  info->table = std::move(edit.added[0].tph);
  return Status::OK();
}

// The comparator that a file was written with: `own` or one that every program has; null if neither.
const Comparator* WriterOf(const std::string& name, const Comparator* own) {
  for (const Comparator* known :
       {own, rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator()}) {
    if (name == known->Name()) return known;
  }
  return nullptr;
}

// A file of another comparator is accepted if its keys are in this one's order, too.
bool InOrderOf(const Comparator* cmp, const Piece& piece, const TphMeta& table, Status* s) {
  const auto inside = [&](const Slice& key) {
    return cmp->Compare(table.smallest, key) <= 0 && cmp->Compare(key, table.largest) <= 0;
  };
  std::vector<RangeTombstone> tombstones;
  *s = piece.ReadRangeTombstones(&tombstones);
  for (const RangeTombstone& t : tombstones) {
    if (!inside(t.start) || !inside(t.end) || cmp->Compare(t.start, t.end) >= 0) return false;
  }
  if (!s->ok()) return false;
  const InternalIteratorPtr records = piece.NewIterator(BlockReadOptions());
  std::string last;
  bool first = true;
  for (records->SeekToFirst(); records->Valid(); records->Next(), first = false) {
    const Slice key = ExtractUserKey(records->key());
    if (!inside(key) || (!first && key != Slice(last) && cmp->Compare(last, key) >= 0)) return false;
    last.assign(key.data(), key.size());
  }
  *s = records->status();
  return s->ok();
}

}  // namespace

Status TableFile::Open(FileSystem* fs, const std::string& path, const Comparator* comparator,
                       std::unique_ptr<TableFile>* out) {
  std::unique_ptr<TableFile> table(new TableFile());
  Status s = CompactionFile::Open(fs, path, kNumber, FileOptions(), &table->file_);
  if (s.ok()) s = ReadDescription(*table->file_, &table->info_);
  if (!s.ok()) return s;
  table->files_ = std::make_unique<FileCache>(fs, "", FileOptions(), 0);
  table->files_->Insert(table->file_);
  const Status other =
      Status::InvalidArgument(path, "was written with the comparator " + table->info_.comparator +
                                        " and is not known to be in the order of " + comparator->Name());
  TableReaderOptions options;
  options.comparator = WriterOf(table->info_.comparator, comparator);
  if (options.comparator == nullptr ||
      options.comparator->timestamp_size() != comparator->timestamp_size()) {
    return other;
  }
  auto context = std::make_shared<const TableContext>(table->files_.get(), options);
  table->piece_ = std::make_unique<Piece>(context, *table->info_.table.pieces[0].meta,
                                          IndexMode::kResident);
  PieceRef index;
  s = table->piece_->Open(BlockReadOptions(), &index);
  if (!s.ok()) return s;
  if (options.comparator != comparator &&
      !InOrderOf(comparator, *table->piece_, table->info_.table, &s)) {
    return s.ok() ? other : s;
  }
  *out = std::move(table);
  return s;
}

}  // namespace compassdb
