// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "base/file_names.h"
#include "base/format_version.h"
#include "env/fault_injection_file_system.h"
#include "util/coding.h"
#include "util/random.h"
#include "wal/wal_reader.h"
#include "wal/wal_recovery.h"
#include "wal/wal_writer.h"

namespace compassdb {
namespace {

using Mode = WalRecoveryMode;
constexpr Mode kModes[] = {Mode::kTolerateCorruptedTailRecords, Mode::kAbsoluteConsistency,
                           Mode::kPointInTimeRecovery, Mode::kSkipAnyCorruptedRecords};

std::string Batch(uint64_t sequence, uint32_t count, const std::string& body) {
  std::string b;
  PutFixed64(&b, sequence);
  PutFixed32(&b, count);
  return b + body;
}

class WalTest : public testing::Test {
 protected:
  static constexpr int kPerLog = 4;

  void SetUp() override { ASSERT_TRUE(fs_.CreateDir("/wal").ok()); }

  // Logs 3, 4, 5 of four batches each, sequences 1..12.
  void WriteChain() {
    uint64_t sequence = 1;
    std::unique_ptr<WalWriter> writer;
    for (uint64_t number : {3, 4, 5}) {
      WalHeader header;
      header.number = number;
      header.db_id = "db-id";
      if (writer != nullptr) {
        header = writer->SuccessorHeader(number);
        ASSERT_TRUE(writer->Close().ok());
      }
      ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
      for (int i = 0; i < kPerLog; ++i, ++sequence) {
        ASSERT_TRUE(writer->AddBatch(Batch(sequence, 1, "payload")).ok());
        ASSERT_EQ(writer->last_sequence(), sequence);
      }
    }
    ASSERT_TRUE(writer->Close().ok());
    for (uint64_t number : {3, 4, 5}) originals_[number] = Read(number);
  }
  std::string Read(uint64_t number) {
    std::string data;
    EXPECT_TRUE(ReadFileToString(&fs_, WalFileName("/wal", number), &data).ok());
    return data;
  }
  void Set(uint64_t number, const std::string& data) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile(WalFileName("/wal", number), FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(data).ok());
  }
  // Offset in log `number` of its record `index` (0: the header).
  size_t Offset(uint64_t number, int index) {
    const std::string& data = originals_[number];
    size_t at = 0;
    for (int i = 0; i < index; ++i) at += kLogHeaderSize + DecodeFixed16(data.data() + at + 4);
    return at;
  }
  void Damage(uint64_t number, int index) {
    std::string data = originals_[number];
    data[Offset(number, index) + kLogHeaderSize + 2] ^= 1;
    Set(number, data);
  }
  void Cut(uint64_t number, size_t size) { Set(number, originals_[number].substr(0, size)); }

  struct Outcome {
    Status status;
    std::vector<uint64_t> sequences;
    WalRecoveryReport report;
  };
  Outcome Recover(Mode mode, std::vector<uint64_t> numbers = {3, 4, 5}, uint64_t min = 3) {
    Outcome out;
    WalRecoveryOptions options;
    options.mode = mode;
    options.wal_dir = "/wal";
    options.min_number = min;
    options.db_id = "db-id";
    out.status = RecoverWals(
        &fs_, options, numbers,
        [&](uint64_t, const Slice& batch) {
          out.sequences.push_back(DecodeFixed64(batch.data()));
          return Status::OK();
        },
        &out.report);
    return out;
  }
  static std::vector<uint64_t> Range(uint64_t first, uint64_t last) {
    std::vector<uint64_t> v;
    for (uint64_t i = first; i <= last; ++i) v.push_back(i);
    return v;
  }
  FaultInjectionFileSystem fs_;
  std::map<uint64_t, std::string> originals_;
};

TEST_F(WalTest, HeaderRoundTripAndTruncation) {
  WalHeader header, back;
  header.number = 9;
  header.predecessor = 7;
  header.predecessor_bytes = uint64_t{1} << 40;
  header.predecessor_last_sequence = 12345;
  header.db_id = "some-id";
  header.compression = rocksdb::kZSTD;
  const std::string record = EncodeWalHeader(header);
  ASSERT_TRUE(DecodeWalHeader("p", record, &back).ok());
  EXPECT_EQ(back.number, 9u);
  EXPECT_EQ(back.predecessor, 7u);
  EXPECT_EQ(back.predecessor_bytes, uint64_t{1} << 40);
  EXPECT_EQ(back.predecessor_last_sequence, 12345u);
  EXPECT_EQ(back.db_id, "some-id");
  EXPECT_EQ(back.compression, rocksdb::kZSTD);
  EXPECT_TRUE(DecodeWalHeader("p", record + "later fields", &back).ok());
  for (size_t n = 0; n < record.size(); ++n) {
    EXPECT_TRUE(DecodeWalHeader("p", Slice(record.data(), n), &back).IsCorruption()) << n;
  }
}

TEST_F(WalTest, NewerVersionIsNotSupportedAndSaysSo) {
  std::string record;
  PutFixed64(&record, kWalFormat.magic);
  PutVarint32(&record, kWalFormat.current + 1);
  WalHeader header;
  Status s = DecodeWalHeader("/wal/000003.log", record, &header);
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("/wal/000003.log"), std::string::npos);
}

TEST_F(WalTest, CompressedRecordsComeBackOrAreDamage) {
  WalHeader header;
  header.number = 3;
  header.compression = rocksdb::kZSTD;
  std::unique_ptr<WalWriter> writer;
  ASSERT_TRUE(fs_.CreateDir("/c").ok());
  ASSERT_TRUE(WalWriter::Create(&fs_, "/c", FileOptions(), header, &writer).ok());
  EXPECT_EQ(writer->SuccessorHeader(4).compression, rocksdb::kZSTD);
  std::vector<std::string> batches;
  for (size_t size : {12, 13, 100, 50000, 200000}) {  // short ones are stored as they are
    batches.push_back(std::string(8, '\1') + std::string(4, '\0') + std::string(size - 12, 'x'));
    ASSERT_TRUE(writer->AddBatch(batches.back()).ok());
  }
  EXPECT_LT(writer->Size(), 1500u);
  // A record that is whole, but no batch: an unknown kind, nothing, and what does not uncompress.
  const uint64_t good = writer->Size();
  ASSERT_TRUE(writer->Close().ok());
  std::unique_ptr<WalReader> reader;
  ASSERT_TRUE(WalReader::Open(&fs_, "/c", 3, &reader).ok());
  Slice batch;
  std::vector<uint64_t> ends;
  for (const std::string& expected : batches) {
    ASSERT_EQ(reader->ReadBatch(&batch), LogRead::kRecord);
    EXPECT_EQ(batch, expected);
    ends.push_back(reader->EndOffset());
  }
  EXPECT_EQ(reader->ReadBatch(&batch), LogRead::kEnd);
  EXPECT_EQ(reader->EndOffset(), good);
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    ASSERT_TRUE(WalReader::OpenAt(&fs_, "/c", 3, ends[i], &reader).ok());
    ASSERT_EQ(reader->ReadBatch(&batch), LogRead::kRecord);
    EXPECT_EQ(batch, batches[i + 1]);
  }
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs_.ReopenWritableFile("/c/000003.log", FileOptions(), &file).ok());
  LogWriter raw(std::move(file), "/c/000003.log", 3);
  for (const char* record : {"\7unknown", "", "\1no ZSTD at all"}) {
    ASSERT_TRUE(raw.AddRecord(record).ok());
  }
  ASSERT_TRUE(raw.Close().ok());
  ASSERT_TRUE(WalReader::OpenAt(&fs_, "/c", 3, good, &reader).ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reader->ReadBatch(&batch), LogRead::kCorruption) << i;
  EXPECT_EQ(reader->ReadBatch(&batch), LogRead::kEnd);
}

TEST_F(WalTest, CleanChainReplaysInEveryMode) {
  WriteChain();
  for (Mode mode : kModes) {
    const Outcome out = Recover(mode);
    ASSERT_TRUE(out.status.ok()) << out.status.ToString();
    EXPECT_EQ(out.sequences, Range(1, 12));
    EXPECT_EQ(out.report.records, 12u);
    EXPECT_EQ(out.report.logs, 3u);
    EXPECT_FALSE(out.report.stopped_early);
    EXPECT_TRUE(out.report.problems.empty());
    EXPECT_EQ(out.report.end_number, 5u);
    EXPECT_EQ(out.report.end_offset, originals_[5].size());
  }
}

TEST_F(WalTest, TornTailOfTheLastLog) {
  WriteChain();
  for (size_t n = Offset(5, 4) + 1; n < originals_[5].size(); ++n) {
    Cut(5, n);
    for (Mode mode : kModes) {
      const Outcome out = Recover(mode);
      EXPECT_EQ(out.sequences, Range(1, 11));
      if (mode == Mode::kAbsoluteConsistency) {
        EXPECT_TRUE(out.status.IsCorruption());
        EXPECT_NE(out.status.ToString().find("/wal/000005.log"), std::string::npos);
      } else {
        EXPECT_TRUE(out.status.ok()) << out.status.ToString();
        EXPECT_EQ(out.report.dropped_bytes, n - Offset(5, 4));
        EXPECT_EQ(out.report.problems.size(), 1u);
      }
      EXPECT_EQ(out.report.stopped_early, mode == Mode::kPointInTimeRecovery ||
                                              mode == Mode::kTolerateCorruptedTailRecords);
    }
  }
}

TEST_F(WalTest, EveryTruncationOfTheLastLogKeepsAPrefix) {
  WriteChain();
  for (size_t n = 0; n < originals_[5].size(); ++n) {
    Cut(5, n);
    for (Mode mode : kModes) {
      const Outcome out = Recover(mode);
      ASSERT_LE(out.sequences.size(), 12u);
      ASSERT_GE(out.sequences.size(), 8u);
      ASSERT_EQ(out.sequences, Range(1, out.sequences.size()));
      ASSERT_EQ(out.status.ok(), mode != Mode::kAbsoluteConsistency || out.report.problems.empty());
    }
  }
}

TEST_F(WalTest, DamageInTheMiddleByMode) {
  WriteChain();
  Damage(4, 2);  // sequence 6
  Outcome out = Recover(Mode::kTolerateCorruptedTailRecords);
  EXPECT_TRUE(out.status.IsCorruption());
  EXPECT_NE(out.status.ToString().find("/wal/000004.log at offset " +
                                       std::to_string(Offset(4, 2))), std::string::npos)
      << out.status.ToString();
  out = Recover(Mode::kAbsoluteConsistency);
  EXPECT_TRUE(out.status.IsCorruption());
  out = Recover(Mode::kPointInTimeRecovery);
  EXPECT_TRUE(out.status.ok());
  EXPECT_EQ(out.sequences, Range(1, 5));
  EXPECT_TRUE(out.report.stopped_early);
  EXPECT_EQ(out.report.stop_number, 4u);
  EXPECT_EQ(out.report.stop_offset, Offset(4, 2));
  EXPECT_FALSE(out.report.stop_reason.empty());
  out = Recover(Mode::kSkipAnyCorruptedRecords);
  EXPECT_TRUE(out.status.ok());
  EXPECT_EQ(out.sequences, (std::vector<uint64_t>{1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(out.report.dropped_bytes, Offset(4, 3) - Offset(4, 2));
}

TEST_F(WalTest, TornLogWithASuccessorByMode) {
  WriteChain();
  Cut(4, originals_[4].size() - 3);
  Outcome out;
  for (Mode mode : {Mode::kPointInTimeRecovery, Mode::kTolerateCorruptedTailRecords}) {
    out = Recover(mode);
    EXPECT_TRUE(out.status.ok());
    EXPECT_EQ(out.sequences, Range(1, 7)) << "a hole was replayed over";
    EXPECT_EQ(out.report.stop_number, 4u);
    EXPECT_EQ(out.report.stop_offset, Offset(4, 4));
  }
  out = Recover(Mode::kAbsoluteConsistency);
  EXPECT_TRUE(out.status.IsCorruption());
  out = Recover(Mode::kSkipAnyCorruptedRecords);
  EXPECT_TRUE(out.status.ok());
  EXPECT_EQ(out.sequences.size(), 11u);
}

TEST_F(WalTest, LogCutAtARecordBoundaryIsNoticedThroughItsSuccessor) {
  WriteChain();
  Cut(4, Offset(4, 4));
  Outcome out;
  for (Mode mode : {Mode::kPointInTimeRecovery, Mode::kTolerateCorruptedTailRecords}) {
    out = Recover(mode);
    EXPECT_TRUE(out.status.ok());
    EXPECT_EQ(out.sequences, Range(1, 7));
    EXPECT_TRUE(out.report.stopped_early);
  }
  out = Recover(Mode::kAbsoluteConsistency);
  EXPECT_TRUE(out.status.IsCorruption());
}

TEST_F(WalTest, JunkAfterACompleteLogDoesNotStopTheReplay) {
  WriteChain();
  Set(4, originals_[4] + std::string(100, '\0'));
  for (Mode mode : {Mode::kPointInTimeRecovery, Mode::kTolerateCorruptedTailRecords}) {
    const Outcome out = Recover(mode);
    EXPECT_TRUE(out.status.ok());
    EXPECT_EQ(out.sequences, Range(1, 12));
    EXPECT_FALSE(out.report.stopped_early);
  }
}

TEST_F(WalTest, MissingLogIsCorruption) {
  WriteChain();
  for (Mode mode : kModes) {
    const Outcome out = Recover(mode, {3, 5});
    switch (mode) {
      case Mode::kTolerateCorruptedTailRecords:
      case Mode::kAbsoluteConsistency:
      case Mode::kPointInTimeRecovery:
        EXPECT_TRUE(out.status.IsCorruption());
        EXPECT_NE(out.status.ToString().find("log 4, which is missing"), std::string::npos);
        break;
      case Mode::kSkipAnyCorruptedRecords:
        EXPECT_TRUE(out.status.ok());
        EXPECT_EQ(out.sequences.size(), 8u);
        break;
    }
  }
  // The first of the chain is missed as well, unless it is no longer needed.
  EXPECT_TRUE(Recover(Mode::kAbsoluteConsistency, {4, 5}, 3).status.IsCorruption());
  EXPECT_TRUE(Recover(Mode::kAbsoluteConsistency, {4, 5}, 4).status.ok());
}

TEST_F(WalTest, EmptyLastLogIsHarmless) {
  WriteChain();
  Set(5, "");
  for (Mode mode : kModes) {
    const Outcome out = Recover(mode);
    EXPECT_TRUE(out.status.ok()) << out.status.ToString();
    EXPECT_EQ(out.sequences, Range(1, 8));
    EXPECT_FALSE(out.report.stopped_early);
  }
}

TEST_F(WalTest, FlippedBitsNeverInventOrReorder) {
  WriteChain();
  for (uint64_t number : {3, 4, 5}) {
    for (size_t bit = 0; bit < originals_[number].size() * 8; bit += 3) {
      std::string bad = originals_[number];
      bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
      Set(number, bad);
      for (Mode mode : kModes) {
        const Outcome out = Recover(mode);
        uint64_t last = 0;
        for (uint64_t sequence : out.sequences) {
          ASSERT_GT(sequence, last);
          ASSERT_LE(sequence, 12u);
          last = sequence;
        }
        if (mode == Mode::kPointInTimeRecovery || mode == Mode::kTolerateCorruptedTailRecords) {
          ASSERT_EQ(out.sequences, Range(1, out.sequences.size())) << "a hole";
        }
        if (mode == Mode::kAbsoluteConsistency) {
          ASSERT_TRUE(out.status.IsCorruption()) << number << " bit " << bit;
        }
        ASSERT_FALSE(out.report.problems.empty() && out.status.ok());
      }
    }
    Set(number, originals_[number]);
  }
}

TEST_F(WalTest, LogOfAnotherDatabaseIsRefused) {
  WriteChain();
  WalRecoveryOptions options;
  options.wal_dir = "/wal";
  options.db_id = "other";
  WalRecoveryReport report;
  Status s = RecoverWals(&fs_, options, {3},
                         [](uint64_t, const Slice&) { return Status::OK(); }, &report);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find("belongs to the database db-id"), std::string::npos);
}

TEST_F(WalTest, CallbackAndReadErrorsEndTheReplay) {
  WriteChain();
  WalRecoveryOptions options;
  options.wal_dir = "/wal";
  options.mode = Mode::kSkipAnyCorruptedRecords;
  WalRecoveryReport report;
  Status s = RecoverWals(&fs_, options, {3, 4, 5},
                         [](uint64_t, const Slice&) { return Status::Aborted("stop"); }, &report);
  EXPECT_TRUE(s.IsAborted());
  fs_.FailAll(FaultOp::kRead, "000004.log", Status::IOError("injected"));
  EXPECT_TRUE(Recover(Mode::kSkipAnyCorruptedRecords).status.IsIOError());
  fs_.ClearFaults();
  EXPECT_TRUE(Recover(Mode::kSkipAnyCorruptedRecords, {3, 4, 5, 6}).status.IsIOError());
}

TEST_F(WalTest, ListFindsLogsInOrder) {
  WriteChain();
  Set(12, "");
  ASSERT_TRUE(WriteFileAtomically(&fs_, "/wal/CURRENT", "x").ok());
  std::vector<uint64_t> numbers;
  ASSERT_TRUE(ListWals(&fs_, "/wal", 4, &numbers).ok());
  EXPECT_EQ(numbers, (std::vector<uint64_t>{4, 5, 12}));
}

TEST_F(WalTest, SyncedBatchesSurviveEveryKindOfCut) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    FaultInjectionFileSystem fs;
    std::unique_ptr<WalWriter> writer;
    WalHeader header;
    header.number = 3;
    ASSERT_TRUE(WalWriter::Create(&fs, "/", FileOptions(), header, &writer).ok());
    ASSERT_TRUE(fs.SyncDir("/").ok());
    uint64_t synced = 0;
    const uint64_t batches = random.Between(1, 30);
    for (uint64_t i = 1; i <= batches; ++i) {
      ASSERT_TRUE(writer->AddBatch(Batch(i, 1, random.Bytes(random.Skewed(14)))).ok());
      if (random.OneIn(5)) {
        ASSERT_TRUE(writer->Sync().ok());
        ASSERT_EQ(writer->SyncedSize(), writer->Size());
        synced = i;
      }
    }
    fs.PowerCut(seed, static_cast<CutMode>(random.Uniform(5)));
    fs.Restart();
    WalRecoveryOptions options;
    options.wal_dir = "/";
    WalRecoveryReport report;
    std::vector<uint64_t> got;
    Status s = RecoverWals(&fs, options, {3},
                           [&](uint64_t, const Slice& batch) {
                             got.push_back(DecodeFixed64(batch.data()));
                             return Status::OK();
                           },
                           &report);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(got, Range(1, got.size())) << "seed " << seed;
    ASSERT_GE(got.size(), synced) << "seed " << seed;
  }
}

}  // namespace
}  // namespace compassdb
