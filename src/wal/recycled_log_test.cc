// SPDX-License-Identifier: Apache-2.0
// Logs that are written over older ones.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "env/missing.h"
#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"
#include "util/coding.h"
#include "util/random.h"
#include "wal/wal_reader.h"
#include "wal/wal_recovery.h"
#include "wal/wal_writer.h"

namespace compassdb {
namespace {

using Mode = WalRecoveryMode;
constexpr Mode kAllModes[] = {Mode::kTolerateCorruptedTailRecords, Mode::kAbsoluteConsistency,
                           Mode::kPointInTimeRecovery, Mode::kSkipAnyCorruptedRecords};

// A record of this many bytes in all, at least 12.
std::string Batch(uint64_t sequence, size_t size) {
  std::string b;
  PutFixed64(&b, sequence);
  PutFixed32(&b, 1);
  b.resize(std::max<size_t>(size, b.size()), static_cast<char>('a' + sequence % 26));
  return b;
}

class RecycledLogTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(fs_.CreateDir("/wal").ok()); }

  static std::string Name(uint64_t number) { return WalFileName("/wal", number); }
  std::string Read(uint64_t number) {
    std::string data;
    EXPECT_TRUE(ReadFileToString(&fs_, Name(number), &data).ok());
    return data;
  }
  void Set(uint64_t number, const std::string& data) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile(Name(number), FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(data).ok());
  }
  static WalHeader Header(uint64_t number) {
    WalHeader header;
    header.number = number;
    header.db_id = "db-id";
    return header;
  }
  // A log of batches of these sizes; over log `old` unless that is 0. Gives the records' ends.
  std::vector<uint64_t> Write(const WalHeader& header, uint64_t old, const std::vector<size_t>& sizes,
                              std::unique_ptr<WalWriter>* left_open = nullptr) {
    std::unique_ptr<WalWriter> writer;
    Status s = old == 0 ? WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer)
                        : WalWriter::CreateOver(&fs_, "/wal", old, FileOptions(), header, &writer);
    EXPECT_TRUE(s.ok()) << s.ToString();
    std::vector<uint64_t> ends = {writer->Size()};
    for (size_t size : sizes) {
      EXPECT_TRUE(writer->AddBatch(Batch(sequence_++, size)).ok());
      ends.push_back(writer->Size());
    }
    if (left_open != nullptr) {
      EXPECT_TRUE(writer->Flush().ok());
      *left_open = std::move(writer);
    } else {
      EXPECT_TRUE(writer->Close().ok());
    }
    return ends;
  }
  struct Outcome {
    Status status;
    size_t records = 0;
    bool in_order = true;
    WalRecoveryReport report;
    bool Clean(size_t expected) const {
      return status.ok() && records == expected && in_order && !report.stopped_early &&
             report.problems.empty() && report.dropped_bytes == 0;
    }
  };
  Outcome Recover(Mode mode, const std::vector<uint64_t>& numbers, uint64_t first = 1,
                  SyncedLog synced = {}) {
    Outcome out;
    WalRecoveryOptions options;
    options.mode = mode;
    options.wal_dir = "/wal";
    options.min_number = numbers.front();
    options.db_id = "db-id";
    options.synced = synced;
    out.status = RecoverWals(
        &fs_, options, numbers,
        [&](uint64_t, const Slice& batch, const BatchPlace&) {
          out.in_order &= batch == Batch(first + out.records, batch.size());
          ++out.records;
          return Status::OK();
        },
        &out.report);
    return out;
  }
  void ExpectClean(const std::vector<uint64_t>& numbers, uint64_t first, size_t records,
                   const std::string& what) {
    for (Mode mode : kAllModes) {
      const Outcome out = Recover(mode, numbers, first);
      EXPECT_TRUE(out.Clean(records))
          << what << ", mode " << static_cast<int>(mode) << ": " << out.records << " records, "
          << out.status.ToString() << (out.report.problems.empty() ? "" : out.report.problems[0]);
    }
  }

  FaultInjectionFileSystem fs_;
  uint64_t sequence_ = 1;
};

TEST_F(RecycledLogTest, EndsCleanlyWhereverTheOlderLogsFragmentsLie) {
  for (size_t body = 0; body < 120; ++body) {
    sequence_ = 1;
    Write(Header(3), 0, std::vector<size_t>(40, 20));
    const std::string old = Read(3);
    const uint64_t first = sequence_;
    const std::vector<uint64_t> ends = Write(Header(9), 3, {100, 12 + body});
    const std::string data = Read(9);
    ASSERT_EQ(data.size(), old.size());
    ASSERT_EQ(data.substr(ends.back()), old.substr(ends.back())) << "cut or written beyond the end";
    ASSERT_TRUE(fs_.FileExists(Name(3)).IsNotFound());
    ExpectClean({9}, first, 2, "body " + std::to_string(body));
    std::unique_ptr<WalReader> reader;
    ASSERT_TRUE(WalReader::Open(&fs_, "/wal", 9, &reader).ok());
    Slice batch;
    while (reader->ReadBatch(&batch) == LogRead::kRecord) {
    }
    EXPECT_TRUE(reader->header().over_older_log);
    EXPECT_EQ(reader->EndOffset(), ends.back());
    EXPECT_EQ(reader->DroppedBytes(), 0u);
  }
}

TEST_F(RecycledLogTest, OlderLogsOfAnyLength) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    sequence_ = 1;
    const auto sizes = [&] {
      std::vector<size_t> result(random.Uniform(20));
      for (size_t& size : result) size = 12 + random.Skewed(16);
      return result;
    };
    std::vector<size_t> old = sizes();
    Write(Header(3), 0, old);
    const std::vector<size_t> written = round % 3 == 0 ? old : sizes();  // the same length, too
    const uint64_t first = sequence_;
    Write(Header(9), 3, written);
    ExpectClean({9}, first, written.size(), "round " + std::to_string(round));
    // Over a log that was itself written over another.
    const uint64_t second = sequence_;
    const std::vector<size_t> again = sizes();
    Write(Header(12), 9, again);
    ExpectClean({12}, second, again.size(), "again in round " + std::to_string(round));
  }
}

TEST_F(RecycledLogTest, ChainsAreWhole) {
  std::unique_ptr<WalWriter> writer;
  Write(Header(3), 0, std::vector<size_t>(30, 40), &writer);
  WalHeader next = writer->SuccessorHeader(4);
  Write(next, 0, std::vector<size_t>(10, 40), &writer);
  const uint64_t first = sequence_;
  next = writer->SuccessorHeader(5);
  Write(next, 3, std::vector<size_t>(7, 33), &writer);
  next = writer->SuccessorHeader(6);
  EXPECT_FALSE(next.over_older_log);
  Write(next, 4, std::vector<size_t>(20, 33), &writer);
  ASSERT_TRUE(writer->Seal().ok());
  ExpectClean({5, 6}, first, 27, "chain");
}

TEST_F(RecycledLogTest, CutShortAtEveryByte) {
  Write(Header(3), 0, std::vector<size_t>(40, 20));
  const uint64_t first = sequence_;
  const std::vector<uint64_t> ends = Write(Header(9), 3, {30, 12, 50, 12});
  const std::string data = Read(9);
  for (size_t n = 0; n < data.size(); ++n) {
    Set(9, data.substr(0, n));
    size_t whole = 0;  // the header and the records before n
    while (whole < ends.size() && ends[whole] <= n) ++whole;
    const size_t records = whole == 0 ? 0 : whole - 1;
    const Outcome out = Recover(Mode::kPointInTimeRecovery, {9}, first);
    EXPECT_TRUE(out.status.ok() && out.in_order) << n << out.status.ToString();
    EXPECT_EQ(out.records, records) << n;
    if (whole > 0) {
      EXPECT_TRUE(out.report.problems.empty()) << n << out.report.problems[0];
    }
    // The loss of synced data is noticed.
    for (Mode mode : {Mode::kPointInTimeRecovery, Mode::kTolerateCorruptedTailRecords,
                      Mode::kAbsoluteConsistency}) {
      const Outcome known = Recover(mode, {9}, first, {9, ends[2]});
      EXPECT_EQ(known.status.ok(), n >= ends[2])
          << n << known.status.ToString();
    }
  }
}

TEST_F(RecycledLogTest, BitFlips) {
  Write(Header(3), 0, std::vector<size_t>(40, 20));
  const uint64_t first = sequence_;
  const std::vector<uint64_t> ends = Write(Header(9), 3, {30, 12, 50, 12});
  const std::string data = Read(9);
  for (size_t n = 0; n < data.size(); ++n) {
    std::string flipped = data;
    flipped[n] ^= 1 << (n % 8);
    Set(9, flipped);
    if (n >= ends.back()) {
      ExpectClean({9}, first, 4, "flip at " + std::to_string(n));
      continue;
    }
    size_t hit = 0;  // 0: the header
    while (ends[hit] <= n) ++hit;
    const Outcome out = Recover(Mode::kPointInTimeRecovery, {9}, first);
    EXPECT_TRUE(out.status.ok() && out.in_order) << n << out.status.ToString();
    EXPECT_EQ(out.records, hit == 0 ? 0 : hit - 1) << n;
    // The loss of the last record looks like the end of the log, unless it is known that the record was synced.
    EXPECT_EQ(out.report.problems.empty(), hit == 4) << n;
    EXPECT_EQ(Recover(Mode::kAbsoluteConsistency, {9}, first).status.ok(), hit == 4) << n;
    for (Mode mode : {Mode::kPointInTimeRecovery, Mode::kTolerateCorruptedTailRecords,
                      Mode::kAbsoluteConsistency}) {
      const Outcome known = Recover(mode, {9}, first, {9, ends.back()});
      EXPECT_TRUE(known.status.IsCorruption()) << n << known.status.ToString();
    }
  }
}

TEST_F(RecycledLogTest, DamageBelowWhatTheSuccessorKnowsToBeSynced) {
  Write(Header(3), 0, std::vector<size_t>(40, 20));
  const uint64_t first = sequence_;
  std::unique_ptr<WalWriter> writer;
  const std::vector<uint64_t> ends = Write(Header(9), 3, {30, 12, 50, 12}, &writer);
  ASSERT_TRUE(writer->Sync().ok());
  const WalHeader next = writer->SuccessorHeader(10);
  ASSERT_TRUE(writer->Close().ok());
  Write(next, 0, {20});
  const std::string data = Read(9);
  for (size_t n = 0; n < data.size(); ++n) {
    std::string flipped = data;
    flipped[n] ^= 1 << (n % 8);
    Set(9, flipped);
    if (n >= ends.back()) {
      ExpectClean({9, 10}, first, 5, "flip at " + std::to_string(n));
      continue;
    }
    for (Mode mode : {Mode::kPointInTimeRecovery, Mode::kTolerateCorruptedTailRecords,
                      Mode::kAbsoluteConsistency}) {
      EXPECT_TRUE(Recover(mode, {9, 10}, first).status.IsCorruption()) << n;
    }
  }
}

// The name is the new log's, nothing is written.
TEST_F(RecycledLogTest, ACrashBeforeTheHeaderLeavesAnEmptyLog) {
  Write(Header(3), 0, std::vector<size_t>(10, 20));
  std::unique_ptr<WalWriter> writer;
  const uint64_t first = sequence_;
  Write(Header(9), 0, {20, 30}, &writer);
  ASSERT_TRUE(writer->Close().ok());
  ASSERT_TRUE(fs_.RenameFile(Name(3), Name(10)).ok());
  ExpectClean({9, 10}, first, 2, "empty log");
  // Unless something of it was synced, as the manifest or another log says.
  EXPECT_TRUE(Recover(Mode::kPointInTimeRecovery, {9, 10}, first, {10, 50}).status.IsCorruption());
  WalHeader later = Header(11);
  later.predecessor = 10;
  later.predecessor_bytes = later.predecessor_synced = 40;
  Write(later, 0, {20});
  EXPECT_TRUE(Recover(Mode::kPointInTimeRecovery, {9, 10, 11}, first).status.IsCorruption());
  // Nothing becomes a log of a lower number, and only what is whole is taken for an older one's.
  const std::string data = Read(9);
  Set(2, data);
  EXPECT_TRUE(Recover(Mode::kAbsoluteConsistency, {2}).status.IsCorruption());
  for (size_t n = 0; n < 30; ++n) {
    std::string flipped = data;
    flipped[n] ^= 1;
    Set(12, flipped);
    EXPECT_TRUE(Recover(Mode::kAbsoluteConsistency, {12}).status.IsCorruption()) << n;
  }
}

TEST_F(RecycledLogTest, ATornHeaderIsATornTail) {
  Write(Header(3), 0, std::vector<size_t>(10, 20));
  const std::string old = Read(3);
  const std::vector<uint64_t> ends = Write(Header(9), 3, {});
  const std::string data = Read(9);
  for (size_t n = 0; n < ends[0]; ++n) {
    const std::string torn = data.substr(0, n) + old.substr(n);
    Set(9, torn);
    const Outcome out = Recover(Mode::kPointInTimeRecovery, {9});
    EXPECT_TRUE(out.status.ok()) << n;
    EXPECT_EQ(out.records, 0u);
    EXPECT_EQ(out.report.problems.empty(), torn == old) << n;
    EXPECT_EQ(Recover(Mode::kAbsoluteConsistency, {9}).status.ok(), torn == old) << n;
  }
}

TEST_F(RecycledLogTest, APartOfARecordIsATornTail) {
  Write(Header(3), 0, std::vector<size_t>(40, 3000));
  const std::string old = Read(3);
  const std::vector<uint64_t> ends = Write(Header(9), 3, {20, 80000});
  const std::string data = Read(9);
  for (size_t block : {1, 2}) {  // the pages of a block did not arrive
    const size_t at = block * kLogBlockSize;
    Set(9, data.substr(0, at) + old.substr(at, kLogBlockSize) + data.substr(at + kLogBlockSize));
    const Outcome out = Recover(Mode::kPointInTimeRecovery, {9}, 41);
    EXPECT_TRUE(out.status.ok());
    EXPECT_EQ(out.records, 1u);
    EXPECT_EQ(out.report.problems.size(), 1u);
  }
  // Its first fragment is gone; the others show that there was one.
  Set(9, data.substr(0, ends[1]) + old.substr(ends[1], kLogBlockSize - ends[1]) +
             data.substr(kLogBlockSize));
  EXPECT_TRUE(Recover(Mode::kAbsoluteConsistency, {9}, 41).status.IsCorruption());
}

TEST_F(RecycledLogTest, AReaderOfALogThatIsRecycledMissesIt) {
  const std::vector<uint64_t> ends = Write(Header(3), 0, std::vector<size_t>(60, 3000));
  std::unique_ptr<WalReader> first, second;
  ASSERT_TRUE(WalReader::Open(&fs_, "/wal", 3, &first).ok());
  ASSERT_TRUE(WalReader::Open(&fs_, "/wal", 3, &second).ok());
  Slice batch;
  ASSERT_EQ(first->ReadBatch(&batch), LogRead::kRecord);
  Write(Header(9), 3, std::vector<size_t>(30, 2000));
  LogRead read = LogRead::kRecord;
  uint64_t records = 1;
  while ((read = first->ReadBatch(&batch)) == LogRead::kRecord) {
    ASSERT_EQ(batch, Batch(++records, 3000));
  }
  EXPECT_EQ(read, LogRead::kError);
  EXPECT_TRUE(IsMissing(first->status())) << first->status().ToString();
  EXPECT_LT(records, 20u);  // what was buffered
  EXPECT_EQ(second->ReadBatch(&batch), LogRead::kError);
  EXPECT_TRUE(IsMissing(second->status())) << second->status().ToString();
}

TEST_F(RecycledLogTest, TheEndIsFoundWithoutASearch) {
  Write(Header(3), 0, std::vector<size_t>(100, 3000));
  const std::vector<uint64_t> ends = Write(Header(9), 3, {100, 200});
  const uint64_t before = fs_.Count(FaultOp::kRead);
  std::unique_ptr<WalReader> reader;
  ASSERT_TRUE(WalReader::Open(&fs_, "/wal", 9, &reader).ok());
  reader->SearchLeftovers(false);
  Slice batch;
  ASSERT_EQ(reader->ReadBatch(&batch), LogRead::kRecord);
  ASSERT_EQ(reader->ReadBatch(&batch), LogRead::kRecord);
  EXPECT_EQ(reader->ReadBatch(&batch), LogRead::kEnd);
  EXPECT_EQ(reader->EndOffset(), ends.back());
  EXPECT_EQ(fs_.Count(FaultOp::kRead), before + 1);
}

TEST_F(RecycledLogTest, AFileSystemThatTruncatesTheFile) {
  class TruncatingFileSystem final : public FaultInjectionFileSystem {
   public:
    Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options,
                             std::unique_ptr<WritableFile>* file) override {
      return FileSystem::ReuseWritableFile(path, old_path, options, file);
    }
  } fs;
  ASSERT_TRUE(fs.CreateDir("/wal").ok());
  std::unique_ptr<WalWriter> writer;
  ASSERT_TRUE(WalWriter::Create(&fs, "/wal", FileOptions(), Header(3), &writer).ok());
  ASSERT_TRUE(writer->Close().ok());
  ASSERT_TRUE(WalWriter::CreateOver(&fs, "/wal", 3, FileOptions(), Header(4), &writer).ok());
  ASSERT_TRUE(writer->Close().ok());
  std::unique_ptr<WalReader> reader;
  ASSERT_TRUE(WalReader::Open(&fs, "/wal", 4, &reader).ok());
  ASSERT_EQ(reader->ReadHeader(), LogRead::kRecord);
  EXPECT_FALSE(reader->header().over_older_log);
}

TEST_F(RecycledLogTest, HeaderRoundTrip) {
  WalHeader header = Header(9), back;
  const std::string plain = EncodeWalHeader(header);
  header.over_older_log = true;
  const std::string marked = EncodeWalHeader(header);
  EXPECT_EQ(marked, plain + '\1') << "earlier releases skip what is behind their fields";
  ASSERT_TRUE(DecodeWalHeader("p", marked, &back).ok());
  EXPECT_TRUE(back.over_older_log);
  ASSERT_TRUE(DecodeWalHeader("p", plain, &back).ok());
  EXPECT_FALSE(back.over_older_log);
  ASSERT_TRUE(DecodeWalHeader("p", marked + "later fields", &back).ok());
  EXPECT_TRUE(back.over_older_log);
  EXPECT_TRUE(DecodeWalHeader("p", plain + '\x81', &back).IsCorruption());
}

}  // namespace
}  // namespace compassdb
