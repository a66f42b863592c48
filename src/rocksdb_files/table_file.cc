// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/table_file.h"

#include <algorithm>
#include <cstring>

#include "format/internal_key.h"
#include "rocksdb_files/blob_reference.h"
#include "rocksdb_files/table_properties.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb::rocksdb_files {

namespace {

constexpr uint8_t kTypeRangeDeletionStored = kTypeRangeDeletion;
constexpr uint32_t kExternalWithSequence = 2;  // version of a file for ingestion

enum IndexKind : uint32_t { kBinarySearch = 0, kHash = 1, kTwoLevels = 2, kWithFirstKey = 3 };

}  // namespace

Status TableFile::Open(std::unique_ptr<RandomAccessFile> file, uint64_t size, const std::string& name,
                       const TableFileOptions& options, std::unique_ptr<TableFile>* table) {
  std::unique_ptr<TableFile> opened(new TableFile(std::move(file), size, name, options));
  const Status s = opened->Load();
  if (!s.ok()) return opened->Name(s);
  *table = std::move(opened);
  return s;
}

Status TableFile::Name(const Status& s) const {
  const char* what = s.getState() == nullptr ? "" : s.getState();
  if (s.IsCorruption()) return Status::Corruption(what, name_);
  if (s.IsNotSupported()) return Status::NotSupported(what, name_);
  return s;
}

Status TableFile::Load() {
  Status s = LoadFooter();
  if (s.ok()) s = LoadMetaIndex();
  if (s.ok()) s = LoadProperties();
  if (s.ok()) s = LoadTombstones();
  return s;
}

Status TableFile::LoadFooter() {
  const size_t n = static_cast<size_t>(std::min<uint64_t>(size_, kMaxFooterSize));
  std::string scratch(n, '\0');
  Slice tail;
  Status s = file_->Read(size_ - n, n, &tail, scratch.data());
  if (s.ok()) s = DecodeTableFooter(tail, size_, &footer_);
  if (!s.ok()) return s;
  if (footer_.format_version < 2) compression_ = CompressionFormat::kUnsized;
  return s;
}

Status TableFile::LoadMetaIndex() {
  std::string block;
  Status s = ReadBlock(footer_.meta_index, &block);
  if (!s.ok()) return s;
  BlockCursor cursor;
  for (cursor.Start(block, BlockLayout::kIndex); cursor.Valid(); cursor.Next()) {
    meta_blocks_[cursor.key()] = cursor.place();
  }
  if (!cursor.status().ok()) return cursor.status();
  of_leveldb_ = footer_.format_version == 0 && !meta_blocks_.contains(kPropertiesBlock) && !meta_blocks_.contains(kOldPropertiesBlock);
  if (of_leveldb_) compression_ = CompressionFormat::kLevelDb;
  if (footer_.format_version >= 6) {
    const auto index = meta_blocks_.find(kIndexBlock);
    if (index == meta_blocks_.end()) return Status::Corruption("the table has no index");
    footer_.index = index->second;
  }
  return CheckPlace(footer_.index);
}

Status TableFile::LoadProperties() {
  if (of_leveldb_) return Status::OK();
  auto place = meta_blocks_.find(kPropertiesBlock);
  if (place == meta_blocks_.end()) place = meta_blocks_.find(kOldPropertiesBlock);
  if (place == meta_blocks_.end()) return Status::Corruption("the table has no properties");
  Status s = ReadProperties(place->second);
  if (s.ok()) s = InterpretProperties();
  if (s.ok()) s = FindSequence();
  const auto dictionary = meta_blocks_.find(kDictionaryBlock);
  if (s.ok() && dictionary != meta_blocks_.end()) s = ReadBlock(dictionary->second, &dictionary_);
  return s;
}

// An ingestion may have written the sequence over that of the file, which was 0. The checksum is of the file before.
Status TableFile::ReadProperties(const BlockPlace& place) {
  std::string raw, block;
  Status s = ReadRaw(place, &raw);
  if (!s.ok()) return s;
  const Status checked = CheckRaw(place, raw);
  if (!checked.ok() && static_cast<uint8_t>(raw[place.size]) != 0) return checked;
  s = Unpack(raw, Slice(), &block);
  if (!s.ok()) return s;
  bool wrong = !checked.ok();
  BlockCursor cursor;
  for (cursor.Start(block, BlockLayout::kEntries); cursor.Valid(); cursor.Next()) {
    properties_[cursor.key()] = cursor.value().ToString();
    if (wrong && cursor.key() == kGlobalSequenceProperty && cursor.value().size() == 8) {
      memset(raw.data() + (cursor.value().data() - block.data()), 0, 8);
      wrong = !CheckRaw(place, raw).ok();
    }
  }
  if (wrong) return checked;
  return cursor.status();
}

std::string TableFile::Property(const std::string& name) const {
  const auto found = properties_.find(name);
  return found == properties_.end() ? std::string() : found->second;
}

uint64_t TableFile::NumberProperty(const char* name, uint64_t if_missing) const {
  const auto found = properties_.find(name);
  if (found == properties_.end()) return if_missing;
  Slice in = found->second;
  uint64_t number;
  return GetVarint64(&in, &number) ? number : if_missing;
}

Status TableFile::InterpretProperties() {
  const std::string kind = Property(kIndexKindProperty);
  const uint32_t index = kind.size() >= 4 ? DecodeFixed32(kind.data()) : uint32_t{kBinarySearch};
  if (index > kWithFirstKey) return Status::NotSupported("a table with an index of kind " + std::to_string(index));
  two_levels_ = index == kTwoLevels;
  if (index == kWithFirstKey) index_extra_ = IndexExtra::kFirstKey;
  index_of_user_keys_ = NumberProperty(kIndexOfUserKeysProperty, 0) != 0;
  if (NumberProperty(kDeltaIndexProperty, 0) != 0) index_layout_ = BlockLayout::kDeltaIndex;
  values_inside_ = properties_.contains(kValuesInsideProperty);
  if (NumberProperty(kForeignIndexProperty, 0) != 0) {
    return Status::NotSupported("a table whose only index is of the application (user_defined_index_factory)");
  }
  if (NumberProperty(kTimestampsKeptProperty, 1) == 0) {
    if (options_.comparator == nullptr) return Status::NotSupported("a table without its timestamps, of an unknown comparator");
    stripped_timestamp_ = options_.comparator->timestamp_size();
  }
  return Status::OK();
}

Status TableFile::FindSequence() {
  const std::string version = Property(kExternalVersionProperty);
  if (version.size() < 4 || DecodeFixed32(version.data()) != kExternalWithSequence) return Status::OK();
  const std::string stored = Property(kGlobalSequenceProperty);
  SequenceNumber sequence = stored.size() == 8 ? DecodeFixed64(stored.data()) : 0;
  if (options_.largest_sequence) {
    if (sequence == 0) sequence = *options_.largest_sequence;
    if (sequence != *options_.largest_sequence) {
      return Status::Corruption("the sequence of the ingested table is not that of the manifest");
    }
  }
  if (sequence > kMaxSequenceNumber) return Status::Corruption("the sequence of the ingested table is too large");
  sequence_ = sequence;
  return Status::OK();
}

Status TableFile::LoadTombstones() {
  const auto place = meta_blocks_.find(kRangeDeletionsBlock);
  if (place == meta_blocks_.end()) return Status::OK();
  std::string block;
  const Status s = ReadBlock(place->second, &block);
  if (!s.ok()) return s;
  BlockCursor cursor;
  for (cursor.Start(block, BlockLayout::kEntries); cursor.Valid(); cursor.Next()) {
    ParsedInternalKey key;
    if (!ParseInternalKey(cursor.key(), &key) || key.type != kTypeRangeDeletionStored) {
      return Status::Corruption("a range deletion of the table is damaged");
    }
    std::string start = key.user_key.ToString(), end = cursor.value().ToString();
    AddTimestamp(&start);
    AddTimestamp(&end);
    const size_t timestamp = options_.comparator == nullptr ? 0 : options_.comparator->timestamp_size();
    if (start.size() < timestamp || end.size() < timestamp) return Status::Corruption("a range deletion has no timestamp");
    range_tombstones_.push_back(FromStoredBounds(start, end, sequence_.value_or(key.sequence), timestamp));
  }
  return cursor.status();
}

Status TableFile::CheckPlace(const BlockPlace& place) const {
  const uint64_t end = size_ - footer_.size;
  if (place.offset > end || place.size > end - place.offset || end - place.offset - place.size < kTrailerSize) {
    return Status::Corruption("the table names a block outside of the file");
  }
  return Status::OK();
}

Status TableFile::ReadRaw(const BlockPlace& place, std::string* raw) const {
  Status s = CheckPlace(place);
  if (!s.ok()) return s;
  const size_t n = static_cast<size_t>(place.size + kTrailerSize);
  raw->resize(n);
  Slice result;
  s = file_->Read(place.offset, n, &result, raw->data());
  if (!s.ok()) return s;
  if (result.size() != n) return Status::Corruption("the file is shorter than its size");
  if (result.data() != raw->data()) raw->assign(result.data(), n);
  return s;
}

Status TableFile::CheckRaw(const BlockPlace& place, const Slice& raw) const {
  if (footer_.checksum == ChecksumKind::kNone) return Status::OK();
  const uint32_t computed = BlockChecksum(footer_.checksum, Slice(raw.data(), raw.size() - 4)) +
                            ContextModifier(footer_.context_base, place.offset);
  if (ChecksumHolds(DecodeFixed32(raw.data() + raw.size() - 4), computed)) return Status::OK();
  return Status::Corruption("the checksum of the block at offset " + std::to_string(place.offset) + " is wrong");
}

Status TableFile::Unpack(const Slice& raw, const Slice& dictionary, std::string* block) const {
  const size_t size = raw.size() - kTrailerSize;
  return DecompressFileBlock(compression_, static_cast<uint8_t>(raw[size]), Slice(raw.data(), size), dictionary, block);
}

Status TableFile::ReadBlock(const BlockPlace& place, std::string* block) const {
  std::string raw;
  Status s = ReadRaw(place, &raw);
  if (s.ok()) s = CheckRaw(place, raw);
  if (s.ok()) s = Unpack(raw, Slice(), block);
  return s;
}

Status TableFile::VerifyMetaBlocks() const {
  for (const auto& [name, place] : meta_blocks_) {
    if (name == kPropertiesBlock || name == kOldPropertiesBlock) continue;  // Open has read them
    std::string raw;
    Status s = ReadRaw(place, &raw);
    if (s.ok()) s = CheckRaw(place, raw);
    if (!s.ok()) return Name(s);
  }
  return Status::OK();
}

std::unique_ptr<TableCursor> TableFile::NewCursor() const { return std::unique_ptr<TableCursor>(new TableCursor(this)); }

}  // namespace compassdb::rocksdb_files
