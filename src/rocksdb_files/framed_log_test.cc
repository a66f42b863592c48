// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/framed_log.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "env/sim/memory_file_system.h"
#include "rocksdb_files/batch_records.h"
#include "rocksdb_files/checksums.h"
#include "rocksdb_files/manifest_state.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace compassdb::rocksdb_files {
namespace {

// Writes fragments as RocksDB does.
class LogBytes {
 public:
  // A number: a recycled log's.
  explicit LogBytes(std::optional<uint32_t> number = std::nullopt) : number_(number) {}
  void Record(const std::string& payload) {
    size_t at = 0;
    do {
      const size_t header = number_ ? 11 : 7;
      const size_t left = (32 << 10) - bytes.size() % (32 << 10);
      if (left < header) bytes.append(left, '\0');
      const size_t room = (32 << 10) - bytes.size() % (32 << 10) - header;
      const size_t n = std::min(room, payload.size() - at);
      const bool first = at == 0, last = at + n == payload.size();
      Fragment(static_cast<uint8_t>((first ? (last ? 1 : 2) : (last ? 4 : 3)) + (number_ ? 4 : 0)), payload.substr(at, n));
      at += n;
    } while (at < payload.size());
  }
  void Fragment(uint8_t type, const std::string& payload) {
    std::string checked(1, static_cast<char>(type));
    if (number_ && type != 9) PutFixed32(&checked, *number_);
    checked += payload;
    PutFixed32(&bytes, MaskCrc(Crc32c(checked.data(), checked.size())));
    PutFixed16(&bytes, static_cast<uint16_t>(payload.size()));
    bytes += checked;
  }
  std::string bytes;

 private:
  const std::optional<uint32_t> number_;
};

struct LogContents {
  std::vector<std::string> records;
  Status status;
  bool torn = false;
};

LogContents ReadLog(const std::string& bytes, uint64_t number = 7) {
  MemoryFileSystem fs;
  EXPECT_TRUE(fs.CreateDir("/db").ok());
  std::unique_ptr<WritableFile> out;
  EXPECT_TRUE(fs.NewWritableFile("/db/log", {}, &out).ok());
  EXPECT_TRUE(out->Append(bytes).ok() && out->Close().ok());
  std::unique_ptr<SequentialFile> file;
  EXPECT_TRUE(fs.NewSequentialFile("/db/log", &file).ok());
  FramedLog log(std::move(file), "/db/log", number);
  LogContents contents;
  Slice record;
  while (log.Next(&record)) contents.records.push_back(record.ToString());
  contents.status = log.status();
  contents.torn = log.torn();
  return contents;
}

TEST(FramedLogTest, RecordsOfAllSizes) {
  for (const std::optional<uint32_t> number : {std::optional<uint32_t>(), std::optional<uint32_t>(7)}) {
    LogBytes log(number);
    std::vector<std::string> expected;
    for (const size_t size : {0, 1, 100, 32750, 32761, 5, 100000, 7}) {
      expected.emplace_back(size, static_cast<char>('a' + size % 26));
      log.Record(expected.back());
    }
    const LogContents read = ReadLog(log.bytes);
    EXPECT_TRUE(read.status.ok()) << read.status.ToString();
    EXPECT_EQ(read.records, expected);
    EXPECT_FALSE(read.torn);
  }
}

TEST(FramedLogTest, ATornEndIsReported) {
  LogBytes log;
  log.Record("one");
  const size_t whole = log.bytes.size();
  log.Record("two");
  for (size_t size = whole + 1; size < log.bytes.size(); ++size) {
    const LogContents read = ReadLog(log.bytes.substr(0, size));
    EXPECT_TRUE(read.status.ok() && read.torn) << size;
    EXPECT_EQ(read.records.size(), 1u);
  }
  EXPECT_FALSE(ReadLog(log.bytes.substr(0, whole)).torn);
}

TEST(FramedLogTest, DamageBeforeALaterRecordIsCorruption) {
  LogBytes log;
  for (int i = 0; i < 4; ++i) log.Record(std::string(20000, static_cast<char>('a' + i)));
  for (size_t i = 0; i + 20007 < log.bytes.size(); i += 97) {
    std::string damaged = log.bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    const LogContents read = ReadLog(damaged);
    EXPECT_TRUE(read.status.IsCorruption()) << i;
  }
}

TEST(FramedLogTest, ARecycledLogEndsAtRecordsOfTheOlder) {
  LogBytes older(5), newer(7);
  for (int i = 0; i < 50; ++i) older.Record("older record " + std::to_string(i));
  newer.Record("new");
  newer.Record(std::string(30, 'n'));
  const LogContents read = ReadLog(newer.bytes + older.bytes.substr(newer.bytes.size()));
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.records, (std::vector<std::string>{"new", std::string(30, 'n')}));
  EXPECT_FALSE(read.torn);
}

TEST(FramedLogTest, ZerosAfterTheLastRecordAreItsEnd) {
  LogBytes log;
  log.Record("one");
  const LogContents read = ReadLog(log.bytes + std::string(100000, '\0'));
  EXPECT_TRUE(read.status.ok() && !read.torn);
  EXPECT_EQ(read.records.size(), 1u);
}

TEST(FramedLogTest, MarksAndCompressedRecords) {
  LogBytes log;
  std::string type;
  PutFixed32(&type, 7);
  log.Fragment(9, type);
  log.Fragment(10, "sizes of timestamps");
  log.Fragment(130, "the log before");
  log.Fragment(200, "of a newer version");
  const std::string record(50000, 'r');
  std::string packed(ZSTD_compressBound(record.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), record.data(), record.size(), 1));
  log.Record(packed);
  const LogContents read = ReadLog(log.bytes);
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.records, std::vector<std::string>{record});
  LogBytes unknown;
  unknown.Fragment(77, "");
  EXPECT_TRUE(ReadLog(unknown.bytes).status.IsNotSupported());
}

std::string BatchOf(uint64_t sequence, uint32_t count, const std::string& records) {
  std::string batch;
  PutFixed64(&batch, sequence);
  PutFixed32(&batch, count);
  return batch + records;
}

std::string Text(const std::string& text) {
  std::string out;
  PutLengthPrefixedSlice(&out, text);
  return out;
}

TEST(BatchRecordsTest, EveryKindOfRecord) {
  const std::string records = std::string("\x01") + Text("k1") + Text("v1") + '\0' + Text("k2") + "\x05\x03" + Text("k3") + Text("v3") +
                              "\x0d" + "\x03" + Text("log data") + "\x0e\x02" + Text("a") + Text("b") + "\x18" + Text("k4") +
                              Text("v4" + std::string(8, 't'));
  BatchHead head;
  std::vector<std::string> seen;
  const auto take = [&](const BatchRecord& r) {
    seen.push_back(std::to_string(r.sequence) + " " + std::to_string(r.type) + " " + std::to_string(r.family) + " " + r.key.ToString() +
                   " " + r.value.ToString());
    return Status::OK();
  };
  const std::string batch = BatchOf(100, 5, records);
  ASSERT_TRUE(ReadBatchRecords(batch, &head, take).ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"100 1 0 k1 v1", "101 0 0 k2 ", "102 1 3 k3 v3", "103 15 2 a b", "104 1 0 k4 v4"}));
  for (size_t size = 0; size < batch.size(); ++size) {
    EXPECT_FALSE(ReadBatchRecords(Slice(batch.data(), size), &head, take).ok()) << size;
  }
  EXPECT_TRUE(ReadBatchRecords(BatchOf(1, 0, "\x12"), &head, take).IsNotSupported());
  EXPECT_TRUE(ReadBatchRecords(BatchOf(1, 0, "\x55"), &head, take).IsNotSupported());
  EXPECT_TRUE(ReadBatchRecords(BatchOf(1, 4, records), &head, take).IsCorruption());
}

TEST(ManifestReplayTest, GroupsAreAppliedWhenTheyAreWhole) {
  const auto table = [](uint64_t number, uint32_t left) {
    std::string edit;
    PutVarint32(&edit, 7);
    PutVarint32(&edit, 0);
    PutVarint64(&edit, number);
    PutVarint64(&edit, 1000);
    edit += Text("a1234567") + Text("b1234567");
    PutVarint32(&edit, 300);
    PutVarint32(&edit, left);
    return edit;
  };
  ManifestReplay replay;
  ASSERT_TRUE(replay.Apply(table(1, 1)).ok());
  EXPECT_TRUE(replay.state().families.at(0).tables.empty());
  ASSERT_TRUE(replay.Apply(table(2, 0)).ok());
  EXPECT_EQ(replay.state().families.at(0).tables.size(), 2u);
  EXPECT_TRUE(replay.Apply(table(2, 0)).IsCorruption());
}

TEST(ManifestReplayTest, FamiliesDeletedFilesAndUnknownTags) {
  ManifestReplay replay;
  std::string edit;
  PutVarint32(&edit, 200);
  PutVarint32(&edit, 4);
  PutVarint32(&edit, 201);
  edit += Text("four");
  PutVarint32(&edit, 1);
  edit += Text("an.order");
  PutVarint32(&edit, 8192 + 500);
  edit += Text("of a newer version");
  ASSERT_TRUE(replay.Apply(edit).ok());
  EXPECT_EQ(replay.state().families.at(4).name, "four");
  EXPECT_EQ(replay.state().families.at(4).comparator, "an.order");
  std::string drop;
  PutVarint32(&drop, 200);
  PutVarint32(&drop, 4);
  PutVarint32(&drop, 202);
  ASSERT_TRUE(replay.Apply(drop).ok());
  EXPECT_EQ(replay.state().families.count(4), 0u);
  std::string unknown;
  PutVarint32(&unknown, 500);
  EXPECT_TRUE(replay.Apply(unknown).IsCorruption());
}

}  // namespace
}  // namespace compassdb::rocksdb_files
