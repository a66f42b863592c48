// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/external_table.h"

#include <algorithm>

#include "api/wide_column_codec.h"
#include "format/user_timestamp.h"
#include "rocksdb_files/table_file.h"
#include "rocksdb_files/table_properties.h"
#include "util/coding.h"

namespace compassdb {
namespace {

class OwnTable final : public ExternalTable {
 public:
  Status Open(const Source& source) {
    path_ = source.path;
    Status s = TableFile::Open(source.fs, source.path, source.comparator, &file_);
    if (s.ok()) info_ = file_->info();
    return s;
  }
  Status Verify() const override { return file_->piece().Verify(); }
  Status ReadRangeTombstones(std::vector<RangeTombstone>* tombstones) const override {
    return file_->piece().ReadRangeTombstones(tombstones);
  }
  InternalIteratorPtr NewIterator() const override {
    BlockReadOptions read;
    read.whole_piece = true;
    return file_->piece().NewIterator(read);
  }

 private:
  std::unique_ptr<TableFile> file_;
};

// Forward only.
class ForeignRecords final : public InternalIterator {
 public:
  explicit ForeignRecords(std::unique_ptr<rocksdb_files::TableCursor> cursor) : cursor_(std::move(cursor)) {}
  bool Valid() const override { return status_.ok() && cursor_->Valid(); }
  void SeekToFirst() override { cursor_->SeekToFirst(), Update(); }
  void Next() override { cursor_->Next(), Update(); }
  void SeekToLast() override { Refuse(); }
  void Seek(const Slice&) override { Refuse(); }
  void SeekForPrev(const Slice&) override { Refuse(); }
  void Prev() override { Refuse(); }
  Slice key() const override { return key_; }
  Slice value() const override { return cursor_->value(); }
  Status status() const override { return status_.ok() ? cursor_->status() : status_; }

 private:
  // Deletions at a time have a type of their own there.
  void Update() {
    if (!cursor_->Valid()) return;
    key_ = cursor_->key();
    if (ExtractType(key_) == kTypeDeletionWithTimestamp) key_[key_.size() - 8] = static_cast<char>(kTypeDeletion);
  }
  void Refuse() { status_ = Status::NotSupported("a table of RocksDB is read forward only"); }

  const std::unique_ptr<rocksdb_files::TableCursor> cursor_;
  std::string key_;
  Status status_;
};

class ForeignTable final : public ExternalTable {
 public:
  Status Open(const Source& source) {
    path_ = source.path;
    comparator_ = source.comparator;
    import_ = source.import;
    info_.table.smallest_seq = kMaxSequenceNumber;
    Status s = OpenFile(source);
    if (s.ok()) s = ReadProperties();
    if (s.ok()) s = ReadTombstones();
    if (s.ok()) s = ReadRecords();
    if (s.ok() && !has_bounds_) s = Status::InvalidArgument(path_, "File contain no entries");
    return s;
  }
  const std::map<std::string, std::string>* rocksdb_properties() const override { return &file_->properties(); }
  Status Verify() const override { return file_->VerifyMetaBlocks(); }
  Status ReadRangeTombstones(std::vector<RangeTombstone>* tombstones) const override {
    *tombstones = tombstones_;
    return Status::OK();
  }
  InternalIteratorPtr NewIterator() const override { return std::make_unique<ForeignRecords>(file_->NewCursor()); }

 private:
  Status OpenFile(const Source& source) {
    uint64_t size = 0;
    std::unique_ptr<RandomAccessFile> file;
    Status s = source.fs->GetFileSize(path_, &size);
    if (s.ok()) s = source.fs->NewRandomAccessFile(path_, {}, &file);
    if (!s.ok()) return s;
    rocksdb_files::TableFileOptions options;
    options.comparator = comparator_;
    options.largest_sequence = source.largest_sequence;
    s = rocksdb_files::TableFile::Open(std::move(file), size, path_, options, &file_);
    if (s.ok() && file_->of_leveldb()) s = Status::NotSupported(path_, "is a table file of LevelDB, which does not name its comparator");
    return s;
  }

  Status ReadProperties() {
    info_.comparator = file_->Property(rocksdb_files::kComparatorProperty);
    // Old versions of RocksDB did not write the name. The order of the keys is checked in any case.
    if (!info_.comparator.empty() && info_.comparator != comparator_->Name()) {
      return Status::InvalidArgument(path_, "was written with the comparator " + info_.comparator + ", not with " + comparator_->Name());
    }
    const std::string family = file_->Property(rocksdb_files::kFamilyIdProperty);
    Slice in(family);
    const uint32_t kUnknown = rocksdb::TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
    info_.column_family = kUnknown;
    if (!GetVarint32(&in, &info_.column_family)) info_.column_family = kUnknown;
    info_.for_family = info_.column_family != kUnknown;
    info_.column_family_name = file_->Property(rocksdb_files::kFamilyNameProperty);
    const std::string version = file_->Property(rocksdb_files::kExternalVersionProperty);
    if (version.size() < 4) return import_ ? Status::OK() : Status::Corruption(path_, "External file version not found");
    const uint32_t number = DecodeFixed32(version.data());
    // From version 2 on the file has one sequence, which another database gave it: the ingestion replaces it.
    has_one_sequence_ = number == 2;
    if (number == 1 || number == 2) return Status::OK();
    return Status::InvalidArgument(path_, "External file version " + std::to_string(number) + " is not supported");
  }

  Status ReadTombstones() {
    for (const RangeTombstone& t : file_->range_tombstones()) {
      const int order = comparator_->Compare(t.start, t.end);
      if (order > 0) return Status::Corruption(path_, "a range deletion ends before its start");
      if (order == 0) continue;
      tombstones_.push_back(t);
      NoteSequence(t.sequence);
      NoteBounds(t.start, t.end);
    }
    info_.table.largest_exclusive = has_bounds_;
    return Status::OK();
  }

  // All of them, so that an ingestion does not end in the middle.
  Status ReadRecords() {
    const size_t timestamp_size = comparator_->timestamp_size();
    const auto cursor = file_->NewCursor();
    std::string first, last;
    uint64_t count = 0;
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++count) {
      const Slice user_key = ExtractUserKey(cursor->key());
      if (const Status s = CheckRecord(cursor->key(), cursor->value()); !s.ok()) return s;
      if (count == 0) first.assign(user_key.data(), user_key.size());
      if (count > 0 && !import_ && comparator_->Compare(last, user_key) >= 0) {
        return Status::Corruption(path_, "has two records of a key");
      }
      last.assign(user_key.data(), user_key.size());
      NoteSequence(ExtractSequence(cursor->key()));
    }
    if (!cursor->status().ok()) return cursor->status();
    if (count == 0) return Status::OK();
    if (timestamp_size != 0) {
      first = BeforeAllTimes(StripTimestamp(first, timestamp_size), timestamp_size);
      last = BehindAllTimes(StripTimestamp(last, timestamp_size), timestamp_size);
    }
    if (!has_bounds_ || comparator_->Compare(last, info_.table.largest) >= 0) info_.table.largest_exclusive = false;
    NoteBounds(first, last);
    return Status::OK();
  }

  Status CheckRecord(const Slice& key, const Slice& value) const {
    switch (ExtractType(key)) {
      case kTypeBlobIndex:
        return Status::NotSupported(path_, "refers to values in blob files of RocksDB");
      case kTypeWideColumnEntity: {
        rocksdb::WideColumns columns;
        const Status s = DecodeWideColumns(value, &columns);
        return s.ok() ? s : Status::NotSupported(path_, "has an entity of wide columns that cannot be read: " + s.ToString());
      }
      default:
        return Status::OK();
    }
  }

  void NoteSequence(SequenceNumber sequence) {
    if (has_one_sequence_ && !import_) return;
    info_.table.smallest_seq = std::min(info_.table.smallest_seq, sequence);
    info_.table.largest_seq = std::max(info_.table.largest_seq, sequence);
  }

  void NoteBounds(const std::string& from, const std::string& to) {
    TphMeta& table = info_.table;
    if (!has_bounds_ || comparator_->Compare(from, table.smallest) < 0) table.smallest = from;
    if (!has_bounds_ || comparator_->Compare(to, table.largest) > 0) table.largest = to;
    has_bounds_ = true;
  }

  const Comparator* comparator_ = nullptr;
  std::unique_ptr<rocksdb_files::TableFile> file_;
  std::vector<RangeTombstone> tombstones_;
  bool import_ = false;
  bool has_one_sequence_ = false;
  bool has_bounds_ = false;
};

}  // namespace

Status IsRocksDbTable(FileSystem* fs, const std::string& path, bool* is) {
  constexpr size_t kMagicSize = 8;
  *is = false;
  uint64_t size = 0;
  std::unique_ptr<RandomAccessFile> file;
  Status s = fs->GetFileSize(path, &size);
  if (!s.ok() || size < kMagicSize) return s;
  s = fs->NewRandomAccessFile(path, {}, &file);
  char scratch[kMagicSize];
  Slice magic;
  if (s.ok()) s = file->Read(size - kMagicSize, kMagicSize, &magic, scratch);
  if (s.ok() && magic.size() == kMagicSize) *is = rocksdb_files::IsTableMagic(DecodeFixed64(magic.data()));
  return s;
}

Status ExternalTable::Open(const Source& source, std::shared_ptr<const ExternalTable>* table) {
  bool of_rocksdb = false;
  Status s = IsRocksDbTable(source.fs, source.path, &of_rocksdb);
  if (!s.ok()) return s;
  if (of_rocksdb) return OpenRocksDbs(source, table);
  auto own = std::make_shared<OwnTable>();
  s = own->Open(source);
  if (s.ok()) *table = std::move(own);
  return s;
}

Status ExternalTable::OpenRocksDbs(const Source& source, std::shared_ptr<const ExternalTable>* table) {
  auto foreign = std::make_shared<ForeignTable>();
  const Status s = foreign->Open(source);
  if (s.ok()) *table = std::move(foreign);
  return s;
}

}  // namespace compassdb
