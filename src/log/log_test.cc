// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "env/sim/fault_injection_file_system.h"
#include "log/log_format.h"
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

// A fragment with a right checksum and any contents.
void PutFragment(std::string* file, LogFragmentType type, const std::string& bytes) {
  std::string covered;
  PutFixed16(&covered, static_cast<uint16_t>(bytes.size()));
  covered.push_back(static_cast<char>(type));
  PutFixed32(&covered, static_cast<uint32_t>(kNumber));
  covered += bytes;
  PutFixed32(file, Checksum32(covered, LogChecksumContext(kNumber, file->size())));
  *file += covered;
}

// A file that refuses reads that touch damaged bytes, as an encrypted one does.
class RefusingFile final : public SequentialFile {
 public:
  RefusingFile(std::string data, size_t begin, size_t end) : data_(std::move(data)), begin_(begin), end_(end) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    n = std::min(n, data_.size() - at_);
    if (at_ < fails_at_ && at_ + n > fails_at_) return Status::IOError("injected");
    const bool refused = at_ < end_ && at_ + n > begin_;
    if (refused) n = gives_part_ && at_ < begin_ ? begin_ - at_ : 0;
    memcpy(scratch, data_.data() + at_, n);
    *result = Slice(scratch, n);
    at_ += n;
    return refused ? Status::Corruption("damaged") : Status::OK();
  }
  Status Skip(uint64_t n) override {
    if (skips_fail_) return Status::IOError("cannot skip");
    at_ = std::min(at_ + n, data_.size());
    return Status::OK();
  }
  size_t fails_at_ = SIZE_MAX;
  bool skips_fail_ = false;
  bool gives_part_ = false;  // what is before the damage, as of a file that was read in two parts

 private:
  const std::string data_;
  const size_t begin_, end_;
  size_t at_ = 0;
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
    // The read records are a subsequence of the written ones.
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

// Bytes that verify, and yet make no record: they cost what they are, and no record behind them.
TEST_F(LogTest, FragmentsThatDoNotFollowEachOther) {
  const auto expect = [this](const std::string& file, const std::string& why, const std::vector<std::string>& records) {
    SetFile(file);
    const Outcome out = ReadAll();
    EXPECT_EQ(out.records, records) << why;
    EXPECT_EQ(out.corruptions, 1) << why;
    EXPECT_NE(out.message.find(why), std::string::npos) << out.message;
    EXPECT_EQ(out.end, LogRead::kEnd) << why;
  };
  std::string file;
  PutFragment(&file, LogFragmentType::kFull, "a");
  const std::string begun = file;
  PutFragment(&file, LogFragmentType::kFirst, "b");
  PutFragment(&file, LogFragmentType::kFull, "c");
  expect(file, "a record has no end", {"a", "c"});
  for (const LogFragmentType type : {LogFragmentType::kMiddle, LogFragmentType::kLast}) {
    file = begun;
    PutFragment(&file, type, "b");
    PutFragment(&file, LogFragmentType::kFull, "c");
    expect(file, "a record has no beginning", {"a", "c"});
  }
  for (const int type : {0, 5, 255}) {
    file = begun;
    PutFragment(&file, static_cast<LogFragmentType>(type), "b");
    PutFragment(&file, LogFragmentType::kFull, "c");
    expect(file, "unknown fragment type " + std::to_string(type), {"a", "c"});
  }
}

TEST_F(LogTest, AFileThatRefusesDamagedBytesIsReadAroundThem) {
  std::vector<std::string> records;
  for (int i = 0; i < 900; ++i) records.push_back(std::to_string(i) + std::string(89, 'r'));
  WriteAll(records);
  const std::string data = FileContents();
  ASSERT_GT(data.size(), 2 * kLogBlockSize);
  const auto read = [&](std::unique_ptr<RefusingFile> file, LogRead* end, Status* status) {
    LogReader reader(std::move(file), "/log", kNumber);
    std::vector<std::string> found;
    while (true) {
      Slice record;
      *end = reader.ReadRecord(&record);
      if (*end == LogRead::kRecord) {
        found.push_back(record.ToString());
      } else if (*end != LogRead::kCorruption) {
        *status = reader.status();
        return found;
      }
    }
  };
  LogRead end;
  Status status;
  // One byte, the end of a block, a block and more, and longer than is looked at byte by byte.
  for (const auto& [begin, stop] : std::vector<std::pair<size_t, size_t>>{
           {500, 501}, {kLogBlockSize - 300, kLogBlockSize}, {kLogBlockSize, 2 * kLogBlockSize}, {1000, kLogBlockSize + 1000}}) {
    for (const bool gives_part : {false, true}) {
      auto refusing = std::make_unique<RefusingFile>(data, begin, stop);
      refusing->gives_part_ = gives_part;
      const std::vector<std::string> found = read(std::move(refusing), &end, &status);
      EXPECT_EQ(end, LogRead::kEnd) << begin << status.ToString();
      const size_t damaged = (stop - begin) / 100 + 3;
      EXPECT_GE(found.size(), records.size() - damaged) << begin;
      EXPECT_LT(found.size(), records.size()) << begin;
      EXPECT_EQ(found.back(), records.back()) << begin;
    }
  }
  auto file = std::make_unique<RefusingFile>(data, 500, 501);
  file->fails_at_ = 600;
  EXPECT_EQ(read(std::move(file), &end, &status).size(), 0u);
  EXPECT_EQ(end, LogRead::kError);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  file = std::make_unique<RefusingFile>(data, 500, 501);
  file->skips_fail_ = true;
  read(std::move(file), &end, &status);
  EXPECT_EQ(end, LogRead::kError);
  EXPECT_NE(status.ToString().find("cannot skip"), std::string::npos) << status.ToString();
  file = std::make_unique<RefusingFile>(data, 0, 0);
  file->skips_fail_ = true;
  LogReader reader(std::move(file), "/log", kNumber);
  EXPECT_TRUE(reader.SkipTo(2 * kLogBlockSize).IsIOError());
}

// Like a file that cannot be decrypted: reads do not find an end.
TEST_F(LogTest, AFileThatRefusesAllReadsEnds) {
  class Refusing final : public SequentialFile {
   public:
    Status Read(size_t, Slice* result, char* scratch) override {
      *result = Slice(scratch, 0);
      return Status::Corruption("damaged");
    }
    Status Skip(uint64_t) override { return Status::OK(); }
  };
  LogReader reader(std::make_unique<Refusing>(), "/log", kNumber);
  Slice record;
  EXPECT_EQ(reader.ReadRecord(&record), LogRead::kError);
  EXPECT_TRUE(reader.status().IsCorruption());
  EXPECT_NE(reader.status().ToString().find("/log: refuses to be read"), std::string::npos) << reader.status().ToString();
}

// A power cut may leave an encrypted file with its length and without its pages.
TEST_F(LogTest, ManyBytesThatAreRefusedAreNoError) {
  class Hole final : public SequentialFile {
   public:
    Status Read(size_t, Slice* result, char* scratch) override {
      *result = Slice(scratch, 0);
      return at_ < kLogBlockSize * 1000 ? Status::Corruption("damaged") : Status::OK();
    }
    Status Skip(uint64_t n) override {
      at_ += n;
      return Status::OK();
    }

   private:
    uint64_t at_ = 0;
  };
  LogReader reader(std::make_unique<Hole>(), "/log", kNumber);
  Slice record;
  EXPECT_EQ(reader.ReadRecord(&record), LogRead::kTornTail) << reader.status().ToString();
}

// The search for the next record meets an error: that is not the end of the log.
TEST_F(LogTest, ReadErrorBehindDamageIsReported) {
  WriteAll(RandomRecords(3, 2000, 9));
  std::string data = FileContents();
  ASSERT_GT(data.size(), kLogBlockSize);
  for (size_t i = 100; i < kLogBlockSize; ++i) data[i] = 'x';
  SetFile(data);
  fs_.FailNth(FaultOp::kRead, 2, "/log", Status::IOError("injected"));
  const Outcome out = ReadAll();
  EXPECT_EQ(out.end, LogRead::kError);
  EXPECT_NE(out.message.find("injected"), std::string::npos) << out.message;
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
