// SPDX-License-Identifier: Apache-2.0
// Reads a block-based table of RocksDB (format_version 0 to 7) or a table of LevelDB.
//
// Every block that is read is checked and decompressed. What an ingestion or a later version of RocksDB stores
// otherwise is put right: a file's one sequence, timestamps that were left out, values with a time, values in the
// same file.
//
// Thread safety: a TableFile may be read by several threads; a TableCursor by one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "format/range_tombstone.h"
#include "rocksdb_files/block_cursor.h"
#include "rocksdb_files/block_decompressor.h"
#include "rocksdb_files/table_footer.h"

namespace compassdb::rocksdb_files {

// Record types of RocksDB that the engine does not have.
inline constexpr uint8_t kTypeValueWithTime = 0x18;  // the last eight bytes are a time

struct TableFileOptions {
  // The order of the keys, which is then checked. Null: not known.
  const Comparator* comparator = nullptr;
  // By the manifest. A file that was ingested may have it instead of its records.
  std::optional<SequenceNumber> largest_sequence;
};

class TableCursor;

class TableFile {
 public:
  // `name` is for messages.
  static Status Open(std::unique_ptr<RandomAccessFile> file, uint64_t size, const std::string& name,
                     const TableFileOptions& options, std::unique_ptr<TableFile>* table);
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  uint32_t format_version() const { return footer_.format_version; }
  bool of_leveldb() const { return of_leveldb_; }
  // Empty without such a property.
  std::string Property(const std::string& name) const;
  const std::map<std::string, std::string>& properties() const { return properties_; }
  const std::vector<RangeTombstone>& range_tombstones() const { return range_tombstones_; }

  // Before the first entry: call SeekToFirst.
  std::unique_ptr<TableCursor> NewCursor() const;
  // Reads all blocks that a cursor does not read: filters, the hash of an index.
  Status VerifyMetaBlocks() const;

 private:
  friend class TableCursor;
  TableFile(std::unique_ptr<RandomAccessFile> file, uint64_t size, std::string name, const TableFileOptions& options)
      : file_(std::move(file)), size_(size), name_(std::move(name)), options_(options) {}

  Status Load();
  Status LoadFooter();
  Status LoadMetaIndex();
  Status LoadProperties();
  Status ReadProperties(const BlockPlace& place);
  Status InterpretProperties();
  Status FindSequence();
  Status LoadTombstones();

  // Checks the place.
  Status CheckPlace(const BlockPlace& place) const;
  // The block with its trailer, unchecked.
  Status ReadRaw(const BlockPlace& place, std::string* raw) const;
  Status CheckRaw(const BlockPlace& place, const Slice& raw) const;
  Status Unpack(const Slice& raw, const Slice& dictionary, std::string* block) const;
  Status ReadBlock(const BlockPlace& place, std::string* block) const;
  uint64_t NumberProperty(const char* name, uint64_t if_missing) const;
  Status Name(const Status& s) const;
  // Adds what a file without timestamps leaves out at the end of a user key.
  void AddTimestamp(std::string* user_key) const { user_key->append(stripped_timestamp_, '\0'); }

  const std::unique_ptr<RandomAccessFile> file_;
  const uint64_t size_;
  const std::string name_;
  const TableFileOptions options_;
  TableFooter footer_;
  std::map<std::string, BlockPlace> meta_blocks_;
  std::map<std::string, std::string> properties_;
  std::string dictionary_;
  std::vector<RangeTombstone> range_tombstones_;
  CompressionFormat compression_ = CompressionFormat::kSized;
  bool of_leveldb_ = false;
  bool two_levels_ = false;
  bool index_of_user_keys_ = false;
  bool values_inside_ = false;  // values in the file itself
  BlockLayout index_layout_ = BlockLayout::kIndex;
  IndexExtra index_extra_ = IndexExtra::kNothing;
  size_t stripped_timestamp_ = 0;
  std::optional<SequenceNumber> sequence_;  // of all records
};

// Walks the records of a table in the order of internal keys.
class TableCursor {
 public:
  void SeekToFirst();
  bool Valid() const { return valid_; }
  void Next();
  // After it is not valid: OK at the end.
  const Status& status() const { return status_; }
  // The internal key. Its type is one of the engine's.
  const std::string& key() const { return key_; }
  Slice value() const { return value_; }
  // Up to which byte the file was read.
  uint64_t BytesRead() const { return window_begin_ + window_.size(); }

 private:
  friend class TableFile;
  explicit TableCursor(const TableFile* table) : table_(table) {}

  bool NextBlock();
  bool OpenIndexPart();
  bool OpenDataBlock(const BlockPlace& place);
  bool ReadAhead(const BlockPlace& place, Slice* raw);
  bool TakeEntry();
  bool TakeValue(uint8_t type, const Slice& value);
  bool CheckOrder(const std::string& key);
  bool CheckAgainstIndex();
  bool CheckCount();
  bool Fail(const Status& s);

  const TableFile* const table_;
  std::string window_;  // bytes of the file from window_begin_ on
  uint64_t window_begin_ = 0;
  std::string top_block_, index_block_, data_block_;
  BlockCursor top_, index_, data_;
  bool started_ = false;
  bool valid_ = false;
  Status status_;
  std::string separator_;  // of the block before
  bool has_separator_ = false;
  std::string stored_key_;  // the last, as stored
  std::string key_;
  Slice value_;
  std::string value_inside_;
  uint64_t count_ = 0;
};

}  // namespace compassdb::rocksdb_files
