// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "env/fault_injection_file_system.h"
#include "log/log_reader.h"
#include "log/log_writer.h"
#include "util/coding.h"
#include "util/random.h"

namespace compassdb {
namespace {

constexpr uint64_t kNumber = 42;

class LogTest : public testing::Test {
 protected:
  std::unique_ptr<LogWriter> NewWriter(uint64_t number = kNumber) {
    std::unique_ptr<WritableFile> file;
    EXPECT_TRUE(fs_.ReopenWritableFile("/log", FileOptions(), &file).ok());
    return std::make_unique<LogWriter>(std::move(file), "/log", number);
  }
  void WriteAll(const std::vector<std::string>& records) {
    auto writer = NewWriter();
    for (const std::string& r : records) ASSERT_TRUE(writer->AddRecord(r).ok());
    ASSERT_TRUE(writer->Close().ok());
  }
  std::string FileContents() {
    std::string data;
    EXPECT_TRUE(ReadFileToString(&fs_, "/log", &data).ok());
    return data;
  }
  void SetFile(const std::string& data) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile("/log", FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(data).ok());
  }
  std::unique_ptr<LogReader> NewReader(uint64_t number = kNumber) {
    std::unique_ptr<SequentialFile> file;
    EXPECT_TRUE(fs_.NewSequentialFile("/log", &file).ok());
    return std::make_unique<LogReader>(std::move(file), "/log", number);
  }
  // Reads to the end; corruptions are passed over and counted.
  struct Outcome {
    std::vector<std::string> records;
    int corruptions = 0;
    LogRead end = LogRead::kEnd;
    std::string message;
    uint64_t dropped = 0;
    uint64_t end_offset = 0;
  };
  Outcome ReadAll() {
    auto reader = NewReader();
    Outcome out;
    while (true) {
      Slice record;
      const LogRead read = reader->ReadRecord(&record);
      if (read == LogRead::kRecord) {
        out.records.push_back(record.ToString());
      } else if (read == LogRead::kCorruption) {
        ++out.corruptions;
        out.message = reader->status().ToString();
      } else {
        out.end = read;
        if (read != LogRead::kEnd) out.message = reader->status().ToString();
        out.dropped = reader->DroppedBytes();
        out.end_offset = reader->EndOffset();
        return out;
      }
    }
  }
  FaultInjectionFileSystem fs_;
};

std::vector<std::string> RandomRecords(uint64_t seed, size_t count, int max_log) {
  Random random(seed);
  std::vector<std::string> records;
  for (size_t i = 0; i < count; ++i) records.push_back(random.Bytes(random.Skewed(max_log)));
  return records;
}

TEST_F(LogTest, RoundTripOfRecordsOfAllSizes) {
  std::vector<std::string> records = {"", "x", std::string(100000, 'y'), ""};
  for (const std::string& r : RandomRecords(1, 500, 17)) records.push_back(r);
  WriteAll(records);
  const Outcome out = ReadAll();
  EXPECT_EQ(out.records, records);
  EXPECT_EQ(out.end, LogRead::kEnd);
  EXPECT_EQ(out.corruptions, 0);
  EXPECT_EQ(out.end_offset, FileContents().size());
}

TEST_F(LogTest, EveryPositionOfABlockBoundary) {
  for (size_t left = 0; left <= 2 * kLogHeaderSize + 2; ++left) {
    SetFile("");
    const std::vector<std::string> records = {
        std::string(kLogBlockSize - kLogHeaderSize - left, 'a'), "second", "third"};
    WriteAll(records);
    const Outcome out = ReadAll();
    EXPECT_EQ(out.records, records) << left;
    EXPECT_EQ(out.end, LogRead::kEnd) << left;
    EXPECT_EQ(out.dropped, 0u) << left;
  }
}

TEST_F(LogTest, ReopenedWriterContinues) {
  const std::vector<std::string> records = RandomRecords(2, 60, 15);
  for (const std::string& r : records) WriteAll({r});
  EXPECT_EQ(ReadAll().records, records);
}

TEST_F(LogTest, EmptyFileIsACleanEnd) {
  SetFile("");
  const Outcome out = ReadAll();
  EXPECT_TRUE(out.records.empty());
  EXPECT_EQ(out.end, LogRead::kEnd);
}

TEST_F(LogTest, TruncationAtEveryByteGivesAWholePrefixAndATornTail) {
  const std::vector<std::string> records = {"first", std::string(300, 'b'), "", "third", "last"};
  WriteAll(records);
  const std::string data = FileContents();
  std::vector<size_t> ends = {0};
  for (const std::string& r : records) ends.push_back(ends.back() + kLogHeaderSize + r.size());
  ASSERT_EQ(ends.back(), data.size());
  for (size_t n = 0; n < data.size(); ++n) {
    SetFile(data.substr(0, n));
    const Outcome out = ReadAll();
    size_t whole = 0;
    while (ends[whole + 1] <= n) ++whole;
    ASSERT_EQ(out.records,
              std::vector<std::string>(records.begin(), records.begin() + static_cast<long>(whole)));
    ASSERT_EQ(out.end, n == ends[whole] ? LogRead::kEnd : LogRead::kTornTail) << n;
    ASSERT_EQ(out.corruptions, 0) << n;
    ASSERT_EQ(out.dropped, n - ends[whole]) << n;
    ASSERT_EQ(out.end_offset, ends[whole]);
  }
}

TEST_F(LogTest, TruncationInsideALongRecordIsATornTail) {
  WriteAll({"first", std::string(3 * kLogBlockSize, 'z')});
  const std::string data = FileContents();
  for (size_t n = 17; n < data.size(); n += 1009) {
    SetFile(data.substr(0, n));
    const Outcome out = ReadAll();
    ASSERT_EQ(out.records, std::vector<std::string>{"first"});
    ASSERT_EQ(out.end, LogRead::kTornTail) << n;
  }
}

TEST_F(LogTest, EveryFlippedBitIsNoticedAndCostsOneRecord) {
  const std::vector<std::string> records = {"first", std::string(100, 'b'), "", "fourth"};
  WriteAll(records);
  const std::string data = FileContents();
  std::vector<size_t> ends = {0};
  for (const std::string& r : records) ends.push_back(ends.back() + kLogHeaderSize + r.size());
  for (size_t bit = 0; bit < data.size() * 8; ++bit) {
    std::string bad = data;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    SetFile(bad);
    const Outcome out = ReadAll();
    size_t hit = 0;
    while (ends[hit + 1] <= bit / 8) ++hit;
    std::vector<std::string> expected = records;
    expected.erase(expected.begin() + static_cast<long>(hit));
    ASSERT_EQ(out.records, expected) << "bit " << bit;
    const bool last = hit + 1 == records.size();
    ASSERT_EQ(out.corruptions, last ? 0 : 1) << "bit " << bit;
    ASSERT_EQ(out.end, last ? LogRead::kTornTail : LogRead::kEnd) << "bit " << bit;
    ASSERT_NE(out.message.find("/log at offset " + std::to_string(ends[hit])), std::string::npos)
        << out.message;
    ASSERT_EQ(out.dropped, ends[hit + 1] - ends[hit]);
  }
}

TEST_F(LogTest, RandomDamageNeverInventsRecords) {
  const std::vector<std::string> records = RandomRecords(3, 120, 15);
  WriteAll(records);
  const std::string data = FileContents();
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::string bad = data;
    for (uint64_t i = random.Between(1, 4); i > 0; --i) {
      const size_t at = random.Uniform(bad.size());
      const size_t n = std::min<size_t>(bad.size() - at, random.Skewed(13));
      if (random.OneIn(2)) {
        for (size_t j = 0; j < n; ++j) bad[at + j] = static_cast<char>(random.Next());
      } else {
        std::fill_n(bad.begin() + static_cast<long>(at), n, '\0');
      }
    }
    SetFile(bad);
    const Outcome out = ReadAll();
    // What is read is a subsequence of what was written.
    size_t next = 0;
    for (const std::string& r : out.records) {
      while (next < records.size() && records[next] != r) ++next;
      ASSERT_LT(next, records.size()) << "a record that was never written";
      ++next;
    }
    ASSERT_NE(out.end, LogRead::kError);
  }
}

TEST_F(LogTest, ZerosAfterTheLastRecordAreATornTail) {
  WriteAll({"one"});
  const std::string data = FileContents();
  for (size_t zeros : {1, 5, 100, 40000, 70000}) {
    SetFile(data + std::string(zeros, '\0'));
    const Outcome out = ReadAll();
    EXPECT_EQ(out.records.size(), 1u);
    EXPECT_EQ(out.end, LogRead::kTornTail);
    EXPECT_EQ(out.dropped, zeros);
  }
}

TEST_F(LogTest, BlocksOfAnotherLogOrPlaceDoNotVerify) {
  WriteAll({std::string(kLogBlockSize - kLogHeaderSize, 'a'),
            std::string(kLogBlockSize - kLogHeaderSize, 'b'), "end"});
  const std::string data = FileContents();
  // Swapped blocks: both are bad, the third record is still found.
  SetFile(data.substr(kLogBlockSize, kLogBlockSize) + data.substr(0, kLogBlockSize) +
          data.substr(2 * kLogBlockSize));
  const Outcome out = ReadAll();
  EXPECT_EQ(out.records, std::vector<std::string>{"end"});
  EXPECT_EQ(out.corruptions, 1);
  // The right file under the wrong number.
  SetFile(data);
  auto reader = NewReader(kNumber + 1);
  Slice record;
  EXPECT_EQ(reader->ReadRecord(&record), LogRead::kTornTail);
  EXPECT_NE(reader->status().ToString().find("belongs to log number 42"), std::string::npos)
      << reader->status().ToString();
}

TEST_F(LogTest, LostBlockInsideALongRecord) {
  WriteAll({"before", std::string(3 * kLogBlockSize, 'x'), "after"});
  std::string data = FileContents();
  std::fill_n(data.begin() + kLogBlockSize, kLogBlockSize, '\0');
  SetFile(data);
  const Outcome out = ReadAll();
  EXPECT_EQ(out.records, (std::vector<std::string>{"before", "after"}));
  EXPECT_EQ(out.corruptions, 1);
  EXPECT_NE(out.message.find("at offset 17"), std::string::npos) << out.message;
}

TEST_F(LogTest, NothingIsWrittenAfterAFailure) {
  for (FaultOp op : {FaultOp::kWrite, FaultOp::kFlush, FaultOp::kSync}) {
    SetFile("");
    auto writer = NewWriter();
    ASSERT_TRUE(writer->AddRecord("good").ok());
    ASSERT_TRUE(writer->Sync().ok());
    fs_.FailNth(op, 1, "/log", Status::IOError("injected"));
    Status s = writer->AddRecord("doubtful");
    if (s.ok()) s = writer->Flush();
    if (s.ok()) s = writer->Sync();
    EXPECT_TRUE(s.IsIOError());
    const std::string before = FileContents();
    EXPECT_TRUE(writer->AddRecord("never").IsIOError());
    EXPECT_TRUE(writer->Flush().IsIOError());
    EXPECT_TRUE(writer->Sync().IsIOError());
    EXPECT_TRUE(writer->status().IsIOError());
    EXPECT_EQ(FileContents(), before);
    EXPECT_EQ(ReadAll().records[0], "good");
  }
}

TEST_F(LogTest, ReadErrorIsReportedAndNotTakenForTheEnd) {
  WriteAll(RandomRecords(5, 20, 15));
  auto reader = NewReader();
  fs_.FailAll(FaultOp::kRead, "/log", Status::IOError("injected"));
  Slice record;
  EXPECT_EQ(reader->ReadRecord(&record), LogRead::kError);
  EXPECT_TRUE(reader->status().IsIOError());
  EXPECT_EQ(reader->ReadRecord(&record), LogRead::kError);
}

}  // namespace
}  // namespace compassdb
