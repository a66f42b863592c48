// SPDX-License-Identifier: Apache-2.0
// Pieces and tables in a file system in memory, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/sim/memory_file_system.h"
#include "format/file_names.h"
#include "table/directory/directory.h"
#include "table/file/file_cache.h"
#include "table/piece/piece.h"
#include "table/piece/piece_builder.h"
#include "table/piece/piece_reader.h"
#include "table/tph.h"
#include "util/random.h"

namespace compassdb {

#define ASSERT_OK(expr)                          \
  do {                                           \
    const Status _s = (expr);                    \
    ASSERT_TRUE(_s.ok()) << _s.ToString();       \
  } while (0)
#define EXPECT_OK(expr)                          \
  do {                                           \
    const Status _s = (expr);                    \
    EXPECT_TRUE(_s.ok()) << _s.ToString();       \
  } while (0)

struct TestRecord {
  std::string key;
  SequenceNumber seq = 0;
  ValueType type = kTypeValue;
  std::string value;
};

inline std::string IKey(const Slice& key, SequenceNumber seq, ValueType type = kTypeValue) {
  std::string s;
  AppendInternalKey(&s, key, seq, type);
  return s;
}

// Orders by length first; different bytes are different keys, so it is hashable.
class LengthFirstComparator : public Comparator {
 public:
  const char* Name() const override { return "test.LengthFirst"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
};

// Case does not matter: different bytes may be one key.
class NoCaseComparator : public Comparator {
 public:
  const char* Name() const override { return "test.NoCase"; }
  static std::string Lower(const Slice& s) {
    std::string out = s.ToString();
    for (char& c : out) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
    return out;
  }
  int Compare(const Slice& a, const Slice& b) const override {
    return Slice(Lower(a)).compare(Lower(b));
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class TableTest : public ::testing::Test {
 protected:
  static constexpr const char* kDir = "/db";

  TableTest() {
    EXPECT_TRUE(fs_.CreateDir(kDir).ok());
    build_.comparator = rocksdb::BytewiseComparator();
    build_.hasher = KeyHasher(42);
    build_.block_size = 512;
    options_.comparator = build_.comparator;
    NewFileCache();
  }
  ~TableTest() override { TEST_SetKeyHashMask(UINT64_MAX); }

  void NewFileCache(size_t max_open = 0) {
    files_ = std::make_unique<FileCache>(&fs_, kDir, FileOptions(), max_open);
  }
  void UseComparator(const Comparator* comparator) {
    build_.comparator = options_.comparator = comparator;
  }
  std::string PathOf(uint64_t number) const { return PieceFileName(kDir, number); }

  void Sort(std::vector<TestRecord>* records) const {
    std::sort(records->begin(), records->end(), [&](const TestRecord& a, const TestRecord& b) {
      const int c = build_.comparator->Compare(a.key, b.key);
      return c != 0 ? c < 0 : a.seq > b.seq;
    });
  }

  // A file of its own with one piece in it.
  Status BuildPiece(std::vector<TestRecord> records, const std::vector<RangeTombstone>& tombstones,
                    PieceMeta* meta, PieceHashes* hashes) {
    Sort(&records);
    const uint64_t number = ++last_number_;
    std::unique_ptr<CompactionFileWriter> file;
    Status s = CompactionFileWriter::Create(&fs_, PathOf(number), number, 1000 + number,
                                            FileOptions(), &file);
    if (!s.ok()) return s;
    PieceBuilder builder(build_, file.get(), number);
    for (const TestRecord& r : records) {
      s = builder.Add(IKey(r.key, r.seq, r.type), r.value);
      if (!s.ok()) return s;
    }
    for (const RangeTombstone& t : tombstones) builder.AddRangeTombstone(t);
    s = builder.Finish(meta, hashes);
    return s.ok() ? file->Finish() : s;
  }

  TableContextRef Context() const {
    return std::make_shared<const TableContext>(files_.get(), options_);
  }
  // With its index loaded.
  std::shared_ptr<Piece> OpenPiece(const PieceMeta& meta) const {
    auto piece = std::make_shared<Piece>(Context(), meta, IndexMode::kResident);
    PieceRef ref;
    EXPECT_OK(piece->Open({}, &ref));
    return piece;
  }
  Status TryOpenPiece(const PieceMeta& meta) const {
    PieceRef ref;
    return Piece(Context(), meta, IndexMode::kResident).Open({}, &ref);
  }
  static std::vector<RangeTombstone> TombstonesOf(const Piece& piece) {
    std::vector<RangeTombstone> tombstones;
    EXPECT_OK(piece.ReadRangeTombstones(&tombstones));
    return tombstones;
  }

  std::string ReadFile(uint64_t number) {
    std::string data;
    EXPECT_OK(ReadFileToString(&fs_, PathOf(number), &data));
    return data;
  }
  void WriteFile(uint64_t number, const std::string& data) {
    files_->Evict(number);
    std::unique_ptr<WritableFile> file;
    ASSERT_OK(fs_.NewWritableFile(PathOf(number), FileOptions(), &file));
    ASSERT_OK(file->Append(data));
    ASSERT_OK(file->Close());
  }

  // Everything in the piece, or the error of reading it.
  Status Dump(const Piece& piece, std::vector<TestRecord>* out) {
    out->clear();
    auto iter = piece.NewIterator(BlockReadOptions());
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
      ParsedInternalKey k;
      EXPECT_TRUE(ParseInternalKey(iter->key(), &k));
      out->push_back({k.user_key.ToString(), k.sequence, k.type, iter->value().ToString()});
    }
    return iter->status();
  }

  MemoryFileSystem fs_;
  PieceBuildOptions build_;
  TableReaderOptions options_;
  std::unique_ptr<FileCache> files_;
  uint64_t last_number_ = 0;
};

inline bool operator==(const TestRecord& a, const TestRecord& b) {
  return a.key == b.key && a.seq == b.seq && a.type == b.type && a.value == b.value;
}

inline std::string NumberedKey(uint64_t n) {
  char buffer[32];
  snprintf(buffer, sizeof(buffer), "key%08llu", static_cast<unsigned long long>(n));
  return buffer;
}

}  // namespace compassdb
