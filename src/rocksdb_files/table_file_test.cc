// SPDX-License-Identifier: Apache-2.0
// Tables of RocksDB that are checked in (test/rocksdb_files/make_testdata.py made them), and tables of LevelDB and of its
// forks that the test makes.
#include "rocksdb_files/table_file.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "env/sim/memory_file_system.h"
#include "util/coding.h"
#include "util/compression.h"

namespace compassdb::rocksdb_files {
namespace {

std::string TestData() { return std::filesystem::path(__FILE__).parent_path() / "testdata"; }

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class FileInMemory : public RandomAccessFile {
 public:
  explicit FileInMemory(Slice bytes) : bytes_(bytes) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    const size_t from = static_cast<size_t>(std::min<uint64_t>(offset, bytes_.size()));
    *result = Slice(bytes_.data() + from, std::min(n, bytes_.size() - from));
    return Status::OK();
  }

 private:
  const Slice bytes_;
};

std::string HexOf(const Slice& bytes) { return bytes.empty() ? "-" : bytes.ToString(true); }

// All that a reader of the file sees, or an error. Every block is read.
Status ReadTable(const Slice& bytes, std::vector<std::string>* records) {
  records->clear();
  std::unique_ptr<TableFile> table;
  TableFileOptions options;
  options.comparator = rocksdb::BytewiseComparator();
  Status s = TableFile::Open(std::make_unique<FileInMemory>(bytes), bytes.size(), "a file", options, &table);
  if (s.ok()) s = table->VerifyMetaBlocks();
  if (!s.ok()) return s;
  const auto cursor = table->NewCursor();
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    records->push_back("R " + HexOf(ExtractUserKey(cursor->key())) + " " + std::to_string(ExtractSequence(cursor->key())) +
                       " " + std::to_string(ExtractType(cursor->key())) + " " + HexOf(cursor->value()));
  }
  return cursor->status();
}

struct ListedTable {
  std::string name;
  size_t records = 0;
  std::string crc;
};

std::vector<ListedTable> ListedTables() {
  std::vector<ListedTable> tables;
  std::ifstream in(TestData() + "/tables.txt");
  for (ListedTable table; in >> table.name >> table.records >> table.crc;) tables.push_back(table);
  return tables;
}

TEST(TableFileTest, ReadsWhatRocksDbWrote) {
  ASSERT_GE(ListedTables().size(), 28u);
  for (const ListedTable& listed : ListedTables()) {
    std::vector<std::string> records;
    const Status s = ReadTable(ReadAll(TestData() + "/" + listed.name), &records);
    ASSERT_TRUE(s.ok()) << listed.name << ": " << s.ToString();
    EXPECT_EQ(records.size(), listed.records) << listed.name;
    std::sort(records.begin(), records.end());
    std::string text;
    for (const std::string& record : records) text += (text.empty() ? "" : "\n") + record;
    char crc[16];
    snprintf(crc, sizeof(crc), "%08lx", crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
    EXPECT_EQ(crc, listed.crc) << listed.name;
  }
}

TEST(TableFileTest, EveryTruncationIsAnError) {
  for (const ListedTable& listed : ListedTables()) {
    const std::string bytes = ReadAll(TestData() + "/" + listed.name);
    std::vector<std::string> records;
    for (size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_FALSE(ReadTable(Slice(bytes.data(), size), &records).ok()) << listed.name << " of " << size;
    }
  }
}

// Padding and the like may be damaged without harm; nothing else is ever read.
TEST(TableFileTest, NoFlippedBitChangesWhatIsRead) {
  for (const ListedTable& listed : ListedTables()) {
    std::string bytes = ReadAll(TestData() + "/" + listed.name);
    std::vector<std::string> expected, records;
    ASSERT_TRUE(ReadTable(bytes, &expected).ok());
    size_t unnoticed = 0;
    for (size_t i = 0; i < bytes.size(); i += 3) {
      const char bit = static_cast<char>(1 << (i * 7 + i / 8) % 8);
      bytes[i] = static_cast<char>(bytes[i] ^ bit);
      if (ReadTable(bytes, &records).ok()) {
        ASSERT_EQ(records, expected) << listed.name << " at " << i;
        ++unnoticed;
      }
      bytes[i] = static_cast<char>(bytes[i] ^ bit);
    }
    // Padding between aligned blocks, and partitions of filters.
    const bool unread = listed.name.find("aligned") != std::string::npos || listed.name.find("two_levels") != std::string::npos;
    if (!unread) {
      EXPECT_LT(unnoticed, 20u) << listed.name;
    }
  }
}

// Makes tables as LevelDB does, of one data block.
class LevelDbTable {
 public:
  explicit LevelDbTable(uint8_t type) : type_(type) {}

  static std::string Block(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string block;
    for (const auto& [key, value] : entries) {
      PutVarint32(&block, 0);
      PutVarint32(&block, static_cast<uint32_t>(key.size()));
      PutVarint32(&block, static_cast<uint32_t>(value.size()));
      block += key + value;
    }
    PutFixed32(&block, 0);
    PutFixed32(&block, 1);
    return block;
  }

  static std::string Internal(const std::string& key, SequenceNumber sequence, ValueType type) {
    std::string internal;
    AppendInternalKey(&internal, key, sequence, type);
    return internal;
  }

  // How the type is stored: 2 is Zstandard unless `zlib`.
  std::string Make(bool zlib) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (int i = 0; i < 50; ++i) {
      entries.emplace_back(Internal("key" + std::to_string(100 + i), static_cast<SequenceNumber>(i + 1), kTypeValue),
                           std::string(40, static_cast<char>('a' + i % 3)));
    }
    const std::string data = Add(Pack(Block(entries), zlib), type_);
    const std::string meta = Add(Block({}), 0);
    const std::string index = Add(Block({{entries.back().first, data}}), 0);
    std::string footer = meta + index;
    footer.resize(40);
    PutFixed64(&footer, 0xdb4775248b80fb57u);
    return file_ + footer;
  }

 private:
  std::string Pack(const std::string& block, bool zlib) const {
    std::string out;
    if (type_ == 0) return block;
    if (type_ == 1) {
      EXPECT_TRUE(Compress(rocksdb::kSnappyCompression, 0, block, &out));
      return out;
    }
    out.resize(block.size() + 1000);
    if (type_ == 2 && !zlib) {
      out.resize(ZSTD_compress(out.data(), out.size(), block.data(), block.size(), 3));
      return out;
    }
    z_stream z{};
    EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, type_ == 4 ? -15 : 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
    z.avail_in = static_cast<uInt>(block.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
    out.resize(out.size() - z.avail_out);
    deflateEnd(&z);
    return out;
  }

  std::string Add(const std::string& block, uint8_t type) {
    std::string place;
    PutVarint64(&place, file_.size());
    PutVarint64(&place, block.size());
    std::string checked = block;
    checked.push_back(static_cast<char>(type));
    file_ += checked;
    PutFixed32(&file_, BlockChecksum(ChecksumKind::kCrc32c, checked));
    return place;
  }

  const uint8_t type_;
  std::string file_;
};

TEST(TableFileTest, ReadsLevelDbsTablesAndThoseOfItsForks) {
  struct {
    uint8_t type;
    bool zlib;
  } const kinds[] = {{0, false}, {1, false}, {2, false}, {2, true}, {4, true}};
  for (const auto& kind : kinds) {
    const std::string bytes = LevelDbTable(kind.type).Make(kind.zlib);
    std::vector<std::string> records;
    const Status s = ReadTable(bytes, &records);
    ASSERT_TRUE(s.ok()) << int{kind.type} << s.ToString();
    ASSERT_EQ(records.size(), 50u);
    EXPECT_EQ(records[7], "R " + Slice("key107").ToString(true) + " 8 1 " + Slice(std::string(40, 'b')).ToString(true));
    for (size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_FALSE(ReadTable(Slice(bytes.data(), size), &records).ok()) << size;
    }
  }
  std::vector<std::string> records;
  const Status s = ReadTable(LevelDbTable(3).Make(true), &records);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
}

TEST(TableFileTest, NamesWhatItDoesNotRead) {
  std::string bytes(200, 'x');
  std::vector<std::string> records;
  EXPECT_TRUE(ReadTable(bytes, &records).IsCorruption());
  EncodeFixed64(bytes.data() + 192, 0x8242229663bf9564u);
  EXPECT_TRUE(ReadTable(bytes, &records).IsNotSupported());
  EncodeFixed64(bytes.data() + 192, 0x88e241b785f4cff7u);
  EncodeFixed32(bytes.data() + 188, 8);
  const Status s = ReadTable(bytes, &records);
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("format_version 8"), std::string::npos) << s.ToString();
}

TEST(TableFileTest, KeysMustBeInTheOrderOfTheComparator) {
  const std::string bytes = LevelDbTable(0).Make(false);
  std::unique_ptr<TableFile> table;
  TableFileOptions options;
  options.comparator = rocksdb::ReverseBytewiseComparator();
  ASSERT_TRUE(TableFile::Open(std::make_unique<FileInMemory>(bytes), bytes.size(), "f", options, &table).ok());
  const auto cursor = table->NewCursor();
  cursor->SeekToFirst();
  while (cursor->Valid()) cursor->Next();
  EXPECT_TRUE(cursor->status().IsCorruption());
}

}  // namespace
}  // namespace compassdb::rocksdb_files
