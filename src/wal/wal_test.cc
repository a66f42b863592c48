// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "env/sim/fault_injection_file_system.h"
#include "format/file_names.h"
#include "format/format_version.h"
#include "log/log_writer.h"
#include "util/coding.h"
#include "util/compression.h"
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
  Outcome Recover(Mode mode, std::vector<uint64_t> numbers = {3, 4, 5}, uint64_t min = 3,
                  SyncedLog synced = {}) {
    Outcome out;
    WalRecoveryOptions options;
    options.mode = mode;
    options.wal_dir = "/wal";
    options.min_number = min;
    options.db_id = "db-id";
    options.synced = synced;
    out.status = RecoverWals(
        &fs_, options, numbers,
        [&](uint64_t, const Slice& batch, const BatchPlace&) {
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
  // Logs 3, 4, 5 of eight batches each, every second one synced, as WalSet would write them.
  // Ends of batches in log n: ends_[n].
  void WriteSyncedChain(bool seal) {
    uint64_t sequence = 1;
    std::unique_ptr<WalWriter> writer;
    for (uint64_t number : {3, 4, 5}) {
      WalHeader header;
      header.number = number;
      header.db_id = "db-id";
      std::unique_ptr<WalWriter> previous = std::move(writer);
      if (previous != nullptr) header = previous->SuccessorHeader(number);
      ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
      for (int i = 0; i < 8; ++i, ++sequence) {
        ASSERT_TRUE(writer->AddBatch(Batch(sequence, 1, "payload")).ok());
        ends_[number].push_back(writer->Size());
        if (i % 2 == 0) continue;
        if (previous != nullptr) {
          ASSERT_TRUE(previous->Close().ok());
          previous.reset();
        }
        if (number != 4) {
          ASSERT_TRUE(writer->Sync().ok());
        }
      }
    }
    if (seal) {
      ASSERT_TRUE(writer->Seal().ok());
    }
    writer.reset();
    for (uint64_t number : {3, 4, 5}) originals_[number] = Read(number);
  }
  void Flip(uint64_t number, size_t at) {
    std::string data = originals_[number];
    data[at] ^= 4;
    Set(number, data);
  }
  static bool Reports(const Outcome& out, const std::string& file) {
    return out.status.IsCorruption() &&
           out.status.ToString().find(file + " at offset ") != std::string::npos;
  }

  FaultInjectionFileSystem fs_;
  std::map<uint64_t, std::vector<uint64_t>> ends_;
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
  header.predecessor_synced = 777;
  const std::string record = EncodeWalHeader(header);
  ASSERT_TRUE(DecodeWalHeader("p", record, &back).ok());
  EXPECT_EQ(back.number, 9u);
  EXPECT_EQ(back.predecessor, 7u);
  EXPECT_EQ(back.predecessor_bytes, uint64_t{1} << 40);
  EXPECT_EQ(back.predecessor_last_sequence, 12345u);
  EXPECT_EQ(back.db_id, "some-id");
  EXPECT_EQ(back.compression, rocksdb::kZSTD);
  EXPECT_EQ(back.predecessor_synced, 777u);
  EXPECT_TRUE(DecodeWalHeader("p", record + "later fields", &back).ok());
  for (size_t n = 0; n < record.size(); ++n) {
    const Status s = DecodeWalHeader("p", Slice(record.data(), n), &back);
    EXPECT_TRUE(s.IsCorruption()) << n;
    EXPECT_NE(s.ToString().find("p at offset 0: "), std::string::npos) << s.ToString();
  }
}

TEST_F(WalTest, HeaderBehindAFailedBatch) {
  WalHeader header, back;
  header.number = 9;
  const std::string plain = EncodeWalHeader(header);
  ASSERT_TRUE(DecodeWalHeader("p", plain, &back).ok());
  EXPECT_EQ(back.predecessor_acknowledged, UINT64_MAX);
  header.predecessor_acknowledged = 968;
  EXPECT_EQ(EncodeWalHeader(header), plain + "\x02\xc8\x07") << "earlier releases skip what is behind their fields";
  for (const bool recycled : {false, true}) {
    header.over_older_log = recycled;
    ASSERT_TRUE(DecodeWalHeader("p", EncodeWalHeader(header), &back).ok());
    EXPECT_EQ(back.predecessor_acknowledged, 968u);
    EXPECT_EQ(back.over_older_log, recycled);
  }
  EXPECT_TRUE(DecodeWalHeader("p", plain + "\x02\xc8", &back).IsCorruption());
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

// Incompressible records are stored uncompressed, so that a log may name a type without support.
TEST_F(WalTest, RecordsOfAnUnknownCompressionAreNotSupported) {
  for (const uint32_t compression : {0x3f, 0xff}) {
    WriteChain();
    WalHeader header;
    header.number = 9;
    header.compression = static_cast<rocksdb::CompressionType>(compression);
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile(WalFileName("/wal", 9), FileOptions(), &file).ok());
    LogWriter writer(std::move(file), WalFileName("/wal", 9), 9);
    ASSERT_TRUE(writer.AddRecord(EncodeWalHeader(header)).ok());
    const std::string batch = Batch(1, 1, "payload");
    ASSERT_TRUE(writer.AddRecord(std::string(2, '\0') + batch).ok());
    ASSERT_TRUE(writer.AddRecord(std::string(1, '\0') + static_cast<char>(compression) + batch).ok());
    ASSERT_TRUE(writer.Close().ok());
    std::unique_ptr<WalReader> reader;
    ASSERT_TRUE(WalReader::Open(&fs_, "/wal", 9, &reader).ok());
    Slice read;
    ASSERT_EQ(reader->ReadBatch(&read), LogRead::kRecord) << reader->status().ToString();
    EXPECT_EQ(read, batch);
    EXPECT_EQ(reader->ReadBatch(&read), LogRead::kError);
    const Status s = reader->status();
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_NE(s.ToString().find("compressed with type " + std::to_string(compression)), std::string::npos) << s.ToString();
  }
}

TEST_F(WalTest, AHeaderIsReadOnce) {
  WriteChain();
  std::unique_ptr<WalReader> reader;
  ASSERT_TRUE(WalReader::Open(&fs_, "/wal", 3, &reader).ok());
  EXPECT_EQ(reader->ReadHeader(), LogRead::kRecord);
  EXPECT_EQ(reader->ReadHeader(), LogRead::kRecord);
  Slice batch;
  EXPECT_EQ(reader->ReadBatch(&batch), LogRead::kRecord);
  EXPECT_EQ(DecodeFixed64(batch.data()), 1u);
  Set(3, "");
  ASSERT_TRUE(WalReader::Open(&fs_, "/wal", 3, &reader).ok());
  EXPECT_EQ(reader->ReadHeader(), LogRead::kEnd);
  EXPECT_EQ(reader->ReadHeader(), LogRead::kEnd);
  // A reader that returns to it finds that it is another log.
  Status s = WalReader::OpenAt(&fs_, "/wal", 3, 200, &reader);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("/wal/000003.log: has no header any more"), std::string::npos) << s.ToString();
  Set(3, originals_[4]);  // nothing of it verifies here
  s = WalReader::OpenAt(&fs_, "/wal", 3, 200, &reader);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

TEST_F(WalTest, WhatIsTooShortForABatchIsNotWritten) {
  WriteChain();
  WalHeader header;
  header.number = 9;
  std::unique_ptr<WalWriter> writer;
  ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
  const Status s = writer->AddBatch("short");
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("/wal/000009.log"), std::string::npos) << s.ToString();
  EXPECT_TRUE(writer->AddBatch(Batch(1, 1, "x")).ok());
}

// An error in the second look, at what was synced, is no answer.
TEST_F(WalTest, ReadErrorsWhileLookingForWhatWasSynced) {
  WriteSyncedChain(/*seal=*/false);
  Damage(3, 2);
  const Outcome whole = Recover(Mode::kPointInTimeRecovery);
  ASSERT_TRUE(whole.status.IsCorruption()) << whole.status.ToString();
  for (const FaultOp op : {FaultOp::kOpen, FaultOp::kRead}) {
    uint64_t n = 1;
    for (;; ++n) {
      const uint64_t before = fs_.faults_injected();
      fs_.FailNth(op, n, "/wal/", Status::IOError("injected"));
      const Outcome out = Recover(Mode::kPointInTimeRecovery);
      const bool met = fs_.faults_injected() != before;
      fs_.ClearFaults();
      if (!met) break;
      EXPECT_TRUE(out.status.IsIOError()) << n << ": " << out.status.ToString();
    }
    EXPECT_GT(n, 3u);
  }
}

// An older log is known to be whole if the one after it was synced when the next one began.
TEST_F(WalTest, ALaterLogKnowsThatTheOneBeforeWasSynced) {
  for (const bool synced : {false, true}) {
    std::unique_ptr<WalWriter> writer;
    uint64_t sequence = 1;
    for (uint64_t number : {3, 4, 5}) {
      WalHeader header;
      header.number = number;
      std::unique_ptr<WalWriter> previous = std::move(writer);
      if (previous != nullptr) header = previous->SuccessorHeader(number);
      ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
      ASSERT_TRUE(writer->AddBatch(Batch(sequence++, 1, "payload")).ok());
      if (synced && number == 4) {
        ASSERT_TRUE(writer->Sync().ok());
      }
    }
    ASSERT_TRUE(writer->Close().ok());
    for (uint64_t number : {3, 4, 5}) originals_[number] = Read(number);
    Cut(3, originals_[3].size() - 1);
    const Outcome out = Recover(Mode::kPointInTimeRecovery);
    EXPECT_EQ(out.status.IsCorruption(), synced) << out.status.ToString();
    EXPECT_EQ(out.report.stopped_early, !synced);
    EXPECT_EQ(out.sequences.size(), 0u);
    // Nothing is said of it by a log that follows another one.
    WalHeader other;
    other.number = 5;
    other.predecessor = 2;
    ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), other, &writer).ok());
    ASSERT_TRUE(writer->Close().ok());
    EXPECT_TRUE(Recover(Mode::kPointInTimeRecovery).report.stopped_early);
  }
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
  // A record that is whole, but no batch.
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
  for (const std::string& record :
       {std::string("\0\x33unknown", 9), std::string(), std::string("\0\7no ZSTD at all", 16),
        std::string("\0\0too short", 11), std::string("\xff\xff\xff\7\0synced behind it", 21)}) {
    ASSERT_TRUE(raw.AddRecord(record).ok());
  }
  ASSERT_TRUE(raw.Close().ok());
  ASSERT_TRUE(WalReader::OpenAt(&fs_, "/c", 3, good, &reader).ok());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(reader->ReadBatch(&batch), LogRead::kCorruption) << i;
  EXPECT_EQ(reader->ReadBatch(&batch), LogRead::kEnd);
}

// Of the type with the largest sizes, in a log with another type: it is not even decompressed.
TEST_F(WalTest, RecordsOfAnotherCompressionThanTheLogsAreDamage) {
  WalHeader header;
  header.number = 3;
  header.compression = rocksdb::kZSTD;
  std::string bzip2;
  ASSERT_TRUE(Compress(rocksdb::kBZip2Compression, kDefaultCompressionLevel, Batch(1, 1, std::string(500, 'x')), &bzip2));
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs_.NewWritableFile("/wal/000003.log", FileOptions(), &file).ok());
  LogWriter log(std::move(file), "/wal/000003.log", 3);
  ASSERT_TRUE(log.AddRecord(EncodeWalHeader(header)).ok());
  ASSERT_TRUE(log.AddRecord(std::string("\0\3", 2) + bzip2).ok());
  ASSERT_TRUE(log.AddRecord(std::string(2, '\0') + Batch(2, 1, "x")).ok());
  ASSERT_TRUE(log.Close().ok());
  const Outcome out = Recover(Mode::kSkipAnyCorruptedRecords, {3});
  EXPECT_TRUE(out.status.ok()) << out.status.ToString();
  EXPECT_EQ(out.sequences, Range(2, 2));
  ASSERT_EQ(out.report.problems.size(), 1u);
  EXPECT_NE(out.report.problems[0].find("another compression"), std::string::npos) << out.report.problems[0];
}

// Logs of version 2 say nothing of syncs.
TEST_F(WalTest, OlderLogsAreRead) {
  for (const rocksdb::CompressionType compression : {rocksdb::kNoCompression, rocksdb::kZSTD}) {
    std::string header;
    PutFixed64(&header, kWalFormat.magic);
    PutVarint32(&header, 2);
    for (uint64_t field : {9, 0, 0, 0}) PutVarint64(&header, field);
    PutLengthPrefixedSlice(&header, "db-id");
    PutVarint32(&header, compression);
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile("/wal/000009.log", FileOptions(), &file).ok());
    LogWriter log(std::move(file), "/wal/000009.log", 9);
    const std::string kind = compression == rocksdb::kNoCompression ? "" : std::string(1, '\0');
    ASSERT_TRUE(log.AddRecord(header).ok());
    for (uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(log.AddRecord(kind + Batch(i, 1, "x")).ok());
    ASSERT_TRUE(log.Close().ok());
    const Outcome out = Recover(Mode::kAbsoluteConsistency, {9});
    EXPECT_TRUE(out.status.ok()) << out.status.ToString();
    EXPECT_EQ(out.sequences, Range(1, 3));
  }
}

// Of a compressed log of version 2: a record of nothing, of an unknown kind, and one that is compressed.
TEST_F(WalTest, KindsOfRecordsOfOlderLogs) {
  std::string header;
  PutFixed64(&header, kWalFormat.magic);
  PutVarint32(&header, 2);
  for (uint64_t field : {9, 0, 0, 0}) PutVarint64(&header, field);
  PutLengthPrefixedSlice(&header, "db-id");
  PutVarint32(&header, rocksdb::kZSTD);
  std::string compressed;
  ASSERT_TRUE(Compress(rocksdb::kZSTD, kDefaultCompressionLevel, Batch(1, 1, std::string(500, 'x')), &compressed));
  const std::string good = '\1' + compressed;
  for (const std::string& bad : {std::string(), std::string("\2") + compressed, std::string("\xff")}) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile("/wal/000009.log", FileOptions(), &file).ok());
    LogWriter log(std::move(file), "/wal/000009.log", 9);
    for (const std::string& record : {header, bad, good}) ASSERT_TRUE(log.AddRecord(record).ok());
    ASSERT_TRUE(log.Close().ok());
    const Outcome out = Recover(Mode::kSkipAnyCorruptedRecords, {9});
    EXPECT_TRUE(out.status.ok()) << out.status.ToString();
    EXPECT_EQ(out.sequences, Range(1, 1));
    ASSERT_EQ(out.report.problems.size(), 1u);
    EXPECT_NE(out.report.problems[0].find("unknown compression"), std::string::npos) << out.report.problems[0];
  }
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
  Outcome out = Recover(Mode::kAbsoluteConsistency);
  EXPECT_TRUE(out.status.IsCorruption());
  EXPECT_NE(out.status.ToString().find("/wal/000004.log at offset " +
                                       std::to_string(Offset(4, 2))), std::string::npos)
      << out.status.ToString();
  for (Mode mode : {Mode::kPointInTimeRecovery, Mode::kTolerateCorruptedTailRecords}) {
    out = Recover(mode);
    EXPECT_TRUE(out.status.ok());
    EXPECT_EQ(out.sequences, Range(1, 5));
    EXPECT_TRUE(out.report.stopped_early);
    EXPECT_EQ(out.report.stop_number, 4u);
    EXPECT_EQ(out.report.stop_offset, Offset(4, 2));
    EXPECT_FALSE(out.report.stop_reason.empty());
  }
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

// Every byte that a later record shows to have been synced; in every mode but the one that skips.
TEST_F(WalTest, DamageBelowWhatWasSyncedIsCorruption) {
  WriteSyncedChain(/*seal=*/false);
  for (uint64_t number : {3, 4, 5}) {
    // The last two batches of the last log are synced, but nothing behind them says so.
    const size_t known = number == 5 ? ends_[5][5] : originals_[number].size();
    for (size_t at = 0; at < originals_[number].size(); ++at) {
      Flip(number, at);
      for (Mode mode : kModes) {
        const Outcome out = Recover(mode);
        if (mode == Mode::kSkipAnyCorruptedRecords) {
          ASSERT_TRUE(out.status.ok()) << out.status.ToString();
          ASSERT_GE(out.sequences.size(), 23u);
        } else if (at < known || mode == Mode::kAbsoluteConsistency) {
          ASSERT_TRUE(Reports(out, WalFileName("/wal", number)))
              << number << " at " << at << " mode " << static_cast<int>(mode) << ": "
              << out.status.ToString();
        } else {
          ASSERT_TRUE(out.status.ok()) << out.status.ToString();
          ASSERT_EQ(out.sequences, Range(1, at < ends_[5][6] ? 22 : 23));
        }
      }
    }
    Set(number, originals_[number]);
  }
}

// Data that was not synced at a power cut may be lost in any order: that is a normal end.
TEST_F(WalTest, DamageAboveWhatWasSyncedIsATornTail) {
  WalHeader header;
  header.number = 3;
  header.db_id = "db-id";
  std::unique_ptr<WalWriter> writer;
  ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
  for (uint64_t sequence = 1; sequence <= 9; ++sequence) {
    ASSERT_TRUE(writer->AddBatch(Batch(sequence, 1, "payload")).ok());
    if (sequence == 3) {
      ASSERT_TRUE(writer->Sync().ok());
    }
    ends_[3].push_back(writer->Size());
  }
  originals_[3] = Read(3);
  for (size_t at = 0; at < originals_[3].size(); ++at) {
    Flip(3, at);
    const Outcome out = Recover(Mode::kPointInTimeRecovery, {3});
    if (at < ends_[3][2]) {
      ASSERT_TRUE(Reports(out, "/wal/000003.log")) << at << out.status.ToString();
    } else {
      ASSERT_TRUE(out.status.ok()) << out.status.ToString();
      ASSERT_EQ(out.sequences, Range(1, out.sequences.size()));
      ASSERT_TRUE(out.report.stopped_early);
    }
  }
}

// A log that was closed says that it is whole: no damage passes for a torn tail.
TEST_F(WalTest, EveryFlippedBitOfASealedLogIsReported) {
  WriteSyncedChain(/*seal=*/true);
  ASSERT_GT(originals_[5].size(), ends_[5][7]);
  for (uint64_t number : {3, 4, 5}) {
    for (size_t at = 0; at < originals_[number].size(); ++at) {
      Flip(number, at);
      const Outcome out = Recover(Mode::kPointInTimeRecovery);
      if (number == 5 && at >= ends_[5][7]) {  // in the record that says so
        ASSERT_TRUE(out.status.ok());
        ASSERT_EQ(out.sequences, Range(1, 24));
      } else {
        ASSERT_TRUE(Reports(out, WalFileName("/wal", number))) << number << " at " << at;
      }
    }
    Set(number, originals_[number]);
  }
  EXPECT_EQ(Recover(Mode::kAbsoluteConsistency).sequences, Range(1, 24));
}

TEST_F(WalTest, TruncationOfAMiddleLogThatWasSyncedIsCorruption) {
  WriteSyncedChain(/*seal=*/false);
  for (uint64_t number : {3, 4}) {
    for (size_t size = 0; size < originals_[number].size(); ++size) {
      Cut(number, size);
      for (Mode mode : kModes) {
        if (mode == Mode::kSkipAnyCorruptedRecords) continue;
        ASSERT_TRUE(Recover(mode).status.IsCorruption()) << number << " at " << size;
      }
    }
    Set(number, originals_[number]);
  }
}

// The successor was begun before its predecessor was synced, and is all that reached the disk.
TEST_F(WalTest, AnUnsyncedLogMayBeShorterThanItsSuccessorSays) {
  WriteSyncedChain(/*seal=*/false);
  std::string second = originals_[5].substr(0, Offset(5, 3));  // two batches, nothing synced
  for (size_t size = Offset(4, 1); size < originals_[4].size(); ++size) {
    Cut(4, size);
    Set(5, second);
    const Outcome out = Recover(Mode::kPointInTimeRecovery);
    ASSERT_TRUE(out.status.ok()) << out.status.ToString();
    ASSERT_EQ(out.sequences, Range(1, out.sequences.size()));
    ASSERT_LT(out.sequences.size(), 16u);
  }
}

TEST_F(WalTest, TheManifestKnowsWhatWasSynced) {
  WriteSyncedChain(/*seal=*/false);
  const SyncedLog synced{5, ends_[5][7]};
  for (Mode mode : kModes) {
    const Outcome whole = Recover(mode, {3, 4, 5}, 3, synced);
    EXPECT_TRUE(whole.status.ok());
    EXPECT_EQ(whole.sequences, Range(1, 24));
    const bool skips = mode == Mode::kSkipAnyCorruptedRecords;
    for (size_t size = 0; size < ends_[5][7]; ++size) {
      Cut(5, size);
      const Outcome out = Recover(mode, {3, 4, 5}, 3, synced);
      ASSERT_EQ(out.status.ok(), skips) << size << " " << out.status.ToString();
      ASSERT_TRUE(skips || Reports(out, "/wal/000005.log"));
      ASSERT_FALSE(out.report.problems.empty());
    }
    EXPECT_EQ(Recover(mode, {3, 4}, 3, synced).status.ok(), skips) << "the log is missing";
    EXPECT_TRUE(Recover(mode, {}, 6, synced).status.ok()) << "no longer needed";
    Set(5, originals_[5]);
  }
  // Also of the logs before the one that it names.
  Set(5, "");
  Cut(4, originals_[4].size() - 1);
  EXPECT_TRUE(Recover(Mode::kPointInTimeRecovery, {3, 4, 5}, 3, {5, 100}).status.IsCorruption());
}

TEST_F(WalTest, AFailedLogPromisesOnlyWhatWasSynced) {
  WalHeader header;
  header.number = 3;
  header.db_id = "db-id";
  std::unique_ptr<WalWriter> writer;
  ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
  ASSERT_TRUE(writer->AddBatch(Batch(1, 1, "payload")).ok());
  ASSERT_TRUE(writer->Sync().ok());
  const uint64_t synced = writer->Size();
  fs_.FailNth(FaultOp::kWrite, 1, ".log", Status::NoSpace("injected"));
  EXPECT_FALSE(writer->AddBatch(Batch(2, 1, "payload")).ok());
  // Nothing is ever appended behind a write that failed.
  const std::string bytes = Read(3);
  EXPECT_FALSE(writer->AddBatch(Batch(2, 1, "payload")).ok());
  EXPECT_FALSE(writer->Sync().ok());
  EXPECT_EQ(Read(3), bytes);
  EXPECT_EQ(writer->SuccessorHeader(4).predecessor_bytes, synced);
  std::unique_ptr<WalWriter> next;
  ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), writer->SuccessorHeader(4), &next).ok());
  ASSERT_TRUE(next->AddBatch(Batch(3, 1, "payload")).ok());
  ASSERT_TRUE(next->Sync().ok());
  ASSERT_TRUE(next->AddBatch(Batch(4, 1, "payload")).ok());
  const Outcome out = Recover(Mode::kPointInTimeRecovery, {3, 4});
  EXPECT_TRUE(out.status.ok()) << out.status.ToString();
  EXPECT_EQ(out.sequences, (std::vector<uint64_t>{1, 3, 4}));
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
        EXPECT_NE(out.status.ToString().find("/wal/000005.log at offset 0: follows log 4, which is missing"),
                  std::string::npos) << out.status.ToString();
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

// Logs that were created in advance and never begun change nothing, in any place and with any damage.
TEST_F(WalTest, EmptyLogsThatNoneFollowsAreNoLinks) {
  std::vector<uint64_t> begun = {10, 20, 30};
  uint64_t sequence = 1;
  std::unique_ptr<WalWriter> writer;
  for (uint64_t number : begun) {
    WalHeader header;
    header.number = number;
    std::unique_ptr<WalWriter> previous = std::move(writer);
    if (previous != nullptr) header = previous->SuccessorHeader(number);
    ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
    for (int i = 0; i < 6; ++i, ++sequence) {
      ASSERT_TRUE(writer->AddBatch(Batch(sequence, 1, "payload")).ok());
      if (i != 3 || number == 20) continue;
      if (previous != nullptr) {
        ASSERT_TRUE(previous->Close().ok());
        previous.reset();
      }
      ASSERT_TRUE(writer->Sync().ok());
    }
  }
  ASSERT_TRUE(writer->Close().ok());
  for (uint64_t number : begun) originals_[number] = Read(number);
  const std::vector<uint64_t> with_empty = {7, 10, 15, 16, 20, 25, 30, 31, 32};
  for (uint64_t number : {7, 15, 16, 25, 31, 32}) Set(number, "");
  int refused = 0, stopped = 0, whole = 0;
  const auto compare = [&](const std::string& what) {
    for (Mode mode : kModes) {
      for (const SyncedLog& synced : {SyncedLog(), SyncedLog{20, originals_[20].size()}}) {
        const Outcome plain = Recover(mode, begun, 3, synced);
        const Outcome out = Recover(mode, with_empty, 3, synced);
        ASSERT_EQ(out.status.ToString(), plain.status.ToString()) << what;
        ASSERT_EQ(out.sequences, plain.sequences) << what;
        ASSERT_EQ(out.report.problems, plain.report.problems) << what;
        ASSERT_EQ(out.report.stopped_early, plain.report.stopped_early) << what;
        ASSERT_EQ(out.report.stop_number, plain.report.stop_number) << what;
        ASSERT_EQ(out.report.end_number, plain.report.end_number) << what;
        ASSERT_EQ(out.report.end_offset, plain.report.end_offset) << what;
        ++(!out.status.ok() ? refused : out.report.stopped_early ? stopped : whole);
      }
    }
  };
  compare("nothing is damaged");
  EXPECT_EQ(refused + stopped, 0);
  for (uint64_t number : begun) {
    for (size_t size = 0; size < originals_[number].size(); ++size) {
      Cut(number, size);
      compare("log " + std::to_string(number) + " cut at " + std::to_string(size));
      std::string flipped = originals_[number];
      flipped[size] ^= 4;
      Set(number, flipped);
      compare("log " + std::to_string(number) + " flipped at " + std::to_string(size));
    }
    Set(number, originals_[number]);
  }
  Cut(10, 0);
  Cut(20, 0);
  compare("two are empty");
  Cut(10, originals_[10].size() - 3);
  compare("one is torn, and the next one empty");
  EXPECT_EQ(Recover(Mode::kPointInTimeRecovery, begun, 0).report.stop_number, 10u);
  EXPECT_GT(refused, 100);
  EXPECT_GT(stopped, 100);
  EXPECT_GT(whole, 100);
}

// A log that failed before any of it was synced is followed from its beginning on: nothing of it is missing.
TEST_F(WalTest, ALogOfWhichNothingIsAskedMayBeEmpty) {
  std::unique_ptr<WalWriter> writer;
  WalHeader header;
  header.number = 3;
  ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
  ASSERT_TRUE(writer->AddBatch(Batch(1, 1, "a")).ok());
  ASSERT_TRUE(writer->Close().ok());
  header = writer->SuccessorHeader(5);
  header.predecessor = 4;
  header.predecessor_bytes = header.predecessor_synced = 0;
  ASSERT_TRUE(WalWriter::Create(&fs_, "/wal", FileOptions(), header, &writer).ok());
  ASSERT_TRUE(writer->AddBatch(Batch(2, 1, "b")).ok());
  ASSERT_TRUE(writer->Sync().ok());
  ASSERT_TRUE(writer->AddBatch(Batch(3, 1, "c")).ok());
  ASSERT_TRUE(writer->Close().ok());
  Set(4, "");
  for (Mode mode : kModes) {
    const Outcome out = Recover(mode, {3, 4, 5});
    EXPECT_TRUE(out.status.ok()) << out.status.ToString();
    EXPECT_EQ(out.sequences, Range(1, 3));
    EXPECT_TRUE(out.report.problems.empty());
  }
  // But nothing shows that the log before it is whole.
  const std::string whole = Read(3);
  Set(3, whole.substr(0, whole.size() - 1));
  const Outcome out = Recover(Mode::kPointInTimeRecovery, {3, 4, 5});
  EXPECT_TRUE(out.sequences.empty());
  EXPECT_TRUE(out.report.stopped_early);
  EXPECT_EQ(out.report.stop_number, 3u);
}

TEST_F(WalTest, EmptyLogsAtTheEndAreDropped) {
  WriteChain();
  for (uint64_t number : {6, 7, 9}) Set(number, "");
  Set(4, "");
  std::vector<uint64_t> numbers = {3, 4, 5, 6, 7, 8, 9}, dropped;  // 8 is gone
  DropEmptyTail(&fs_, "/wal", 0, &numbers, &dropped);
  EXPECT_EQ(numbers, Range(3, 5));
  EXPECT_EQ(dropped, (std::vector<uint64_t>{9, 7, 6}));
  numbers = Range(3, 9);
  DropEmptyTail(&fs_, "/wal", 7, &numbers, &dropped);
  EXPECT_EQ(numbers, Range(3, 7));
  Set(6, "torn");
  DropEmptyTail(&fs_, "/wal", 0, &numbers, &dropped);
  EXPECT_EQ(numbers, Range(3, 6));
  Set(6, "");
  fs_.FailAll(FaultOp::kRead, "/wal", Status::IOError("injected"));
  DropEmptyTail(&fs_, "/wal", 0, &numbers, &dropped);
  EXPECT_EQ(numbers, Range(3, 6));
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
                         [](uint64_t, const Slice&, const BatchPlace&) { return Status::OK(); }, &report);
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
                         [](uint64_t, const Slice&, const BatchPlace&) { return Status::Aborted("stop"); }, &report);
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
                           [&](uint64_t, const Slice& batch, const BatchPlace&) {
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
