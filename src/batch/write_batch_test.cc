// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/write_batch.h"

#include <gtest/gtest.h>

#include "batch/write_batch_internal.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::WriteBatch;

// Writes down what it is given.
class Transcript : public WriteBatch::Handler {
 public:
  std::string text;

  Status PutCF(uint32_t cf, const Slice& k, const Slice& v) override {
    return Add("Put", cf, k, v);
  }
  Status DeleteCF(uint32_t cf, const Slice& k) override { return Add("Delete", cf, k); }
  Status SingleDeleteCF(uint32_t cf, const Slice& k) override { return Add("Single", cf, k); }
  Status DeleteRangeCF(uint32_t cf, const Slice& b, const Slice& e) override {
    return Add("Range", cf, b, e);
  }
  Status MergeCF(uint32_t cf, const Slice& k, const Slice& v) override {
    return Add("Merge", cf, k, v);
  }
  void LogData(const Slice& blob) override { text += "Log(" + blob.ToString() + ")"; }
  Status MarkBeginPrepare(bool u) override {
    text += u ? "BeginUnprepared" : "Begin";
    return Status::OK();
  }
  Status MarkEndPrepare(const Slice& xid) override { return Add("End", 0, xid); }
  Status MarkNoop(bool empty) override {
    text += empty ? "Noop(empty)" : "Noop";
    return Status::OK();
  }
  Status MarkCommit(const Slice& xid) override { return Add("Commit", 0, xid); }
  Status MarkRollback(const Slice& xid) override { return Add("Rollback", 0, xid); }

 private:
  Status Add(const char* what, uint32_t cf, const Slice& a) {
    text += std::string(what) + (cf != 0 ? std::to_string(cf) : "") + "(" + a.ToString() + ")";
    return Status::OK();
  }
  Status Add(const char* what, uint32_t cf, const Slice& a, const Slice& b) {
    return Add(what, cf, a.ToString() + "," + b.ToString());
  }
};

std::string Read(const WriteBatch& batch) {
  Transcript t;
  const Status s = batch.Iterate(&t);
  return s.ok() ? t.text : t.text + "!" + s.ToString();
}

class Sink : public BatchSink {
 public:
  std::string text;
  Status Add(uint32_t cf, SequenceNumber seq, ValueType type, const Slice& k,
             const Slice& v) override {
    text += std::to_string(cf) + ":" + k.ToString() + "@" + std::to_string(seq) + "/" +
            std::to_string(type) + "=" + v.ToString() + ";";
    return Status::OK();
  }
};

TEST(WriteBatch, TheBytesAreRocksDBs) {
  WriteBatch b;
  ASSERT_TRUE(b.Put("k", "val").ok());
  ASSERT_TRUE(WriteBatchInternal::Delete(&b, 300, "x").ok());
  ASSERT_TRUE(b.PutLogData("blob").ok());
  WriteBatchInternal::SetSequence(&b, 0x0102);
  const char kExpected[] =
      "\x02\x01\x00\x00\x00\x00\x00\x00"  // sequence
      "\x02\x00\x00\x00"                  // count
      "\x01\x01k\x03val"                  // Put
      "\x04\xac\x02\x01x"                 // Delete in family 300
      "\x03\x04"
      "blob";
  EXPECT_EQ(b.Data(), std::string(kExpected, sizeof(kExpected) - 1));
}

TEST(WriteBatch, EveryKindOfRecordReadsBack) {
  WriteBatch b;
  EXPECT_EQ(Read(b), "");
  b.Put("a", "1");
  b.Delete("b");
  b.SingleDelete("c");
  b.Merge("d", "2");
  b.DeleteRange("e", "f");
  b.PutLogData("log");
  WriteBatchInternal::Put(&b, 7, "g", "3");
  WriteBatchInternal::SingleDelete(&b, 7, "h");
  WriteBatchInternal::Merge(&b, 7, "i", "4");
  WriteBatchInternal::DeleteRange(&b, 7, "j", "k");
  EXPECT_EQ(b.Count(), 9u);
  EXPECT_EQ(Read(b),
            "Put(a,1)Delete(b)Single(c)Merge(d,2)Range(e,f)Log(log)Put7(g,3)Single7(h)"
            "Merge7(i,4)Range7(j,k)");
  EXPECT_TRUE(b.HasPut() && b.HasDelete() && b.HasSingleDelete() && b.HasMerge() &&
              b.HasDeleteRange());
  EXPECT_FALSE(b.HasCommit() || b.HasPutEntity() || b.HasBeginPrepare());
}

// Larger ones would be logged, and could never be flushed.
TEST(WriteBatch, ARecordFitsIntoAPiece) {
  const uint64_t most = UINT32_MAX - (1 << 20);
  for (const auto& [key, value] : {std::pair(uint64_t{0}, most), std::pair(most, uint64_t{0}), std::pair(most / 2, most / 2)}) {
    EXPECT_TRUE(WriteBatchInternal::CheckSizes(key, value).ok()) << key << " " << value;
  }
  for (const auto& [key, value] : {std::pair(uint64_t{1}, most), std::pair(most, uint64_t{1}), std::pair(uint64_t{10}, uint64_t{UINT32_MAX}),
                                   std::pair(uint64_t{UINT32_MAX}, uint64_t{0}), std::pair(UINT64_MAX, UINT64_MAX)}) {
    const Status s = WriteBatchInternal::CheckSizes(key, value);
    EXPECT_TRUE(s.IsInvalidArgument()) << key << " " << value;
    EXPECT_NE(s.ToString().find("a key of " + std::to_string(key) + " bytes"), std::string::npos) << s.ToString();
  }
}

TEST(WriteBatch, PartsAreJoined) {
  WriteBatch b;
  const Slice key[] = {"k", "e", "y"};
  const Slice value[] = {"", "value"};
  ASSERT_TRUE(b.Put(rocksdb::SliceParts(key, 3), rocksdb::SliceParts(value, 2)).ok());
  ASSERT_TRUE(b.Delete(rocksdb::SliceParts(key, 2)).ok());
  EXPECT_EQ(Read(b), "Put(key,value)Delete(ke)");
}

TEST(WriteBatch, RecordsAreNumberedFromTheSequence) {
  WriteBatch b;
  b.Put("a", "1");
  b.PutLogData("x");
  b.DeleteRange("b", "c");
  WriteBatchInternal::SetSequence(&b, 100);
  Sink sink;
  SequenceNumber next = 0;
  ASSERT_TRUE(WriteBatchInternal::InsertInto(&b, &sink, &next).ok());
  EXPECT_EQ(sink.text, "0:a@100/1=1;0:b@101/15=c;");
  EXPECT_EQ(next, 102u);
}

TEST(WriteBatch, ABatchFromBytesKnowsItsKinds) {
  WriteBatch b;
  b.Merge("a", "1");
  WriteBatch copy(b.Data());
  EXPECT_TRUE(copy.HasMerge());
  EXPECT_FALSE(copy.HasPut());
  EXPECT_EQ(Read(copy), "Merge(a,1)");
}

TEST(WriteBatch, AppendAddsRecordsUpToTheTerminationPoint) {
  WriteBatch a, b;
  a.Put("a", "1");
  b.Delete("b");
  b.MarkWalTerminationPoint();
  b.Merge("c", "2");
  WriteBatch whole(a), wal(a);
  ASSERT_TRUE(WriteBatchInternal::Append(&whole, &b).ok());
  ASSERT_TRUE(WriteBatchInternal::Append(&wal, &b, /*wal_only=*/true).ok());
  EXPECT_EQ(Read(whole), "Put(a,1)Delete(b)Merge(c,2)");
  EXPECT_EQ(Read(wal), "Put(a,1)Delete(b)");
  EXPECT_TRUE(whole.HasMerge());
  EXPECT_FALSE(wal.HasMerge());
}

TEST(WriteBatch, SavePointsNest) {
  WriteBatch b;
  EXPECT_TRUE(b.RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(b.PopSavePoint().IsNotFound());
  b.SetSavePoint();
  b.Put("a", "1");
  b.SetSavePoint();
  b.Delete("b");
  b.SetSavePoint();
  b.Merge("c", "1");
  ASSERT_TRUE(b.PopSavePoint().ok());
  ASSERT_TRUE(b.RollbackToSavePoint().ok());
  EXPECT_EQ(Read(b), "Put(a,1)");
  EXPECT_FALSE(b.HasDelete());
  ASSERT_TRUE(b.RollbackToSavePoint().ok());
  EXPECT_EQ(b.Count(), 0u);
  EXPECT_TRUE(b.RollbackToSavePoint().IsNotFound());
}

TEST(WriteBatch, AFullBatchRefusesAndStaysWhole) {
  WriteBatch b(0, 24);
  ASSERT_TRUE(b.Put("a", "12345678").ok());
  EXPECT_TRUE(b.Put("b", "12345678").IsMemoryLimit());
  EXPECT_TRUE(b.PutLogData("12345678").IsMemoryLimit());
  EXPECT_EQ(Read(b), "Put(a,12345678)");
  b.SetMaxBytes(0);
  EXPECT_TRUE(b.Put("b", "12345678").ok());
}

TEST(WriteBatch, CopiesAndMoves) {
  WriteBatch a;
  a.Put("a", "1");
  a.SetSavePoint();
  a.Put("b", "2");
  WriteBatch copy(a);
  ASSERT_TRUE(copy.RollbackToSavePoint().ok());
  EXPECT_EQ(Read(copy), "Put(a,1)");
  WriteBatch moved(std::move(a));
  EXPECT_EQ(Read(moved), "Put(a,1)Put(b,2)");
  EXPECT_EQ(a.Count(), 0u);  // NOLINT: a moved-from batch is an empty one
  copy = std::move(moved);
  EXPECT_EQ(Read(copy), "Put(a,1)Put(b,2)");
  copy.Clear();
  EXPECT_EQ(Read(copy), "");
  EXPECT_FALSE(copy.HasPut());
}

TEST(WriteBatch, TwoPhaseMarks) {
  WriteBatch b;
  WriteBatchInternal::InsertNoop(&b);
  b.Put("a", "1");
  ASSERT_TRUE(WriteBatchInternal::MarkEndPrepare(&b, "xid").ok());
  WriteBatchInternal::MarkCommit(&b, "xid");
  WriteBatchInternal::MarkRollback(&b, "other");
  EXPECT_EQ(Read(b), "BeginPut(a,1)End(xid)Commit(xid)Rollback(other)");
  EXPECT_TRUE(b.HasBeginPrepare() && b.HasEndPrepare() && b.HasCommit() && b.HasRollback());
  Sink sink;
  EXPECT_TRUE(WriteBatchInternal::InsertInto(&b, &sink, nullptr).IsNotSupported());
  WriteBatch plain;
  plain.Put("a", "1");
  EXPECT_TRUE(WriteBatchInternal::MarkEndPrepare(&plain, "xid").IsInvalidArgument());
}

TEST(WriteBatch, PreparingEndsSavePoints) {
  WriteBatch b;
  WriteBatchInternal::InsertNoop(&b);
  b.SetSavePoint();
  b.SetSavePoint();
  ASSERT_TRUE(WriteBatchInternal::MarkEndPrepare(&b, "xid").ok());
  EXPECT_TRUE(b.PopSavePoint().IsNotFound());
}

TEST(WriteBatch, ASinkMayRenumberAtMarks) {
  class Sections : public BatchSink {
   public:
    Status Add(uint32_t, SequenceNumber sequence, ValueType, const Slice& key,
               const Slice&) override {
      text += key.ToString() + "@" + std::to_string(sequence) + " ";
      return Status::OK();
    }
    Status Mark(const BatchRecord& mark, SequenceNumber* next) override {
      if (mark.tag == kTypeBeginPrepareXID) start = *next;
      if (mark.tag == kTypeEndPrepareXID) *next = start;
      if (mark.tag == kTypeCommitXID) *next += 5;
      return Status::OK();
    }
    std::string text;
    SequenceNumber start = 0;
  };
  WriteBatch b;
  WriteBatchInternal::InsertNoop(&b);
  b.Put("a", "1");
  ASSERT_TRUE(WriteBatchInternal::MarkEndPrepare(&b, "xid").ok());
  b.Put("b", "1");
  WriteBatchInternal::MarkCommit(&b, "xid");
  b.Put("c", "1");
  WriteBatchInternal::SetSequence(&b, 10);
  Sections sink;
  SequenceNumber next = 0;
  ASSERT_TRUE(WriteBatchInternal::InsertInto(&b, &sink, &next).ok());
  EXPECT_EQ(sink.text, "a@10 b@10 c@16 ");
  EXPECT_EQ(next, 17u);
}

TEST(WriteBatch, DefaultHandlersKnowOnlyTheDefaultFamily) {
  class Plain : public WriteBatch::Handler {
   public:
    std::string keys;
    void Put(const Slice& k, const Slice&) override { keys += k.ToString(); }
  };
  WriteBatch b;
  b.Put("a", "1");
  WriteBatchInternal::Put(&b, 1, "b", "2");
  Plain h;
  EXPECT_TRUE(b.Iterate(&h).IsInvalidArgument());
  EXPECT_EQ(h.keys, "a");
}

TEST(WriteBatch, AHandlerMayStopOrAskAgain) {
  class Stops : public Transcript {
   public:
    bool Continue() override { return text.empty(); }
  };
  class Again : public Transcript {
   public:
    int refusals = 1;
    Status DeleteCF(uint32_t cf, const Slice& k) override {
      return refusals-- > 0 ? Status::TryAgain() : Transcript::DeleteCF(cf, k);
    }
  };
  WriteBatch b;
  b.Delete("a");
  b.Delete("b");
  Stops stops;
  ASSERT_TRUE(b.Iterate(&stops).ok());
  EXPECT_EQ(stops.text, "Delete(a)");
  Again once, twice;
  ASSERT_TRUE(b.Iterate(&once).ok());
  EXPECT_EQ(once.text, "Delete(a)Delete(b)");
  twice.refusals = 2;
  EXPECT_TRUE(b.Iterate(&twice).IsCorruption());
}

TEST(WriteBatch, WhatIsNotSupportedIsRefused) {
  WriteBatch b;
  EXPECT_TRUE(b.PutEntity(nullptr, "k", {}).IsInvalidArgument());
  EXPECT_TRUE(b.Put(nullptr, "k", "ts", "v").IsInvalidArgument());
  WriteBatch with_protection(0, 0, 7, 0);
  EXPECT_TRUE(with_protection.Put("a", "1").IsNotSupported());
  with_protection.Clear();
  EXPECT_TRUE(with_protection.Delete("a").IsNotSupported());
}

// Every byte of a protected batch behind its header, changed behind its back.
TEST(WriteBatch, ProtectionNoticesChanges) {
  WriteBatch b(0, 0, 8, 0);
  EXPECT_EQ(b.GetProtectionBytesPerKey(), 8u);
  const Slice parts[] = {"k", "ey"};
  ASSERT_TRUE(b.Put("a", "1").ok());
  ASSERT_TRUE(b.Put(rocksdb::SliceParts(parts, 2), rocksdb::SliceParts(parts, 2)).ok());
  ASSERT_TRUE(b.Delete("b").ok());
  ASSERT_TRUE(b.DeleteRange("c", "d").ok());
  ASSERT_TRUE(b.VerifyChecksum().ok());
  Sink sink;
  ASSERT_TRUE(WriteBatchInternal::InsertInto(&b, &sink, nullptr).ok());
  std::string& bytes = const_cast<std::string&>(b.Data());
  for (size_t i = 12; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    EXPECT_FALSE(b.VerifyChecksum().ok()) << i;
    EXPECT_FALSE(WriteBatchInternal::InsertInto(&b, &sink, nullptr).ok()) << i;
    bytes[i] ^= 1;
  }
  EXPECT_TRUE(b.VerifyChecksum().ok());
}

TEST(WriteBatch, ProtectionFollowsTheBatch) {
  WriteBatch b(0, 0, 8, 0), plain;
  ASSERT_TRUE(b.Put("a", "1").ok());
  b.SetSavePoint();
  ASSERT_TRUE(b.Merge("b", "2").ok());
  ASSERT_TRUE(b.RollbackToSavePoint().ok());
  ASSERT_TRUE(b.SingleDelete("c").ok());
  EXPECT_TRUE(b.VerifyChecksum().ok());
  ASSERT_TRUE(plain.Put("d", "3").ok());
  ASSERT_TRUE(plain.PutLogData("log").ok());
  WriteBatch copy(b);
  ASSERT_TRUE(WriteBatchInternal::Append(&copy, &plain).ok());
  ASSERT_TRUE(WriteBatchInternal::Append(&copy, &b).ok());
  EXPECT_TRUE(copy.VerifyChecksum().ok());
  EXPECT_EQ(copy.Count(), 5u);
  WriteBatch moved(std::move(copy));
  EXPECT_EQ(moved.GetProtectionBytesPerKey(), 8u);
  EXPECT_TRUE(moved.VerifyChecksum().ok());
  ASSERT_TRUE(moved.UpdateTimestamps("T", [](uint32_t) { return size_t{1}; }).ok());
  EXPECT_TRUE(moved.VerifyChecksum().ok());
  moved.Clear();
  ASSERT_TRUE(moved.Put("e", "4").ok());
  EXPECT_TRUE(moved.VerifyChecksum().ok());
  ASSERT_TRUE(WriteBatchInternal::Protect(&plain).ok());
  EXPECT_EQ(plain.GetProtectionBytesPerKey(), 8u);
  EXPECT_TRUE(plain.VerifyChecksum().ok());
}

TEST(WriteBatch, ErrorsNameWhatWasBeingRead) {
  const auto error = [](const std::string& tail, uint32_t count = 1) {
    std::string rep(12, '\0');
    rep[8] = static_cast<char>(count);
    return WriteBatch(rep + tail).Iterate(std::make_unique<Transcript>().get()).ToString();
  };
  EXPECT_EQ(error("\x01\x05"), "Corruption: bad WriteBatch Put");
  EXPECT_EQ(error(std::string("\x00\x05", 2)), "Corruption: bad WriteBatch Delete");
  EXPECT_EQ(error("\x02\x01k\x09"), "Corruption: bad WriteBatch Merge");
  EXPECT_EQ(error("\x0e\xff"), "Corruption: bad WriteBatch DeleteRange");
  EXPECT_EQ(error("\x03\x7f"), "Corruption: bad WriteBatch Blob");
  EXPECT_EQ(error("\x63"), "Corruption: unknown WriteBatch tag");
  EXPECT_EQ(error(""), "Corruption: WriteBatch has wrong count");
  EXPECT_EQ(WriteBatch(std::string("short")).Iterate(std::make_unique<Transcript>().get())
                .ToString(),
            "Corruption: malformed WriteBatch (too small)");
  EXPECT_EQ(WriteBatch(std::string("short")).Count(), 0u);
  EXPECT_TRUE(WriteBatch(std::string("short")).Put("a", "b").IsCorruption());
}

// Every truncation and every flipped bit: an answer, never a read out of bounds
// (the sanitizer builds see to that), and a whole batch only if it is one.
TEST(WriteBatch, DamagedBytesNeverCrash) {
  WriteBatch b;
  b.Put("key", "value");
  b.Delete("gone");
  b.DeleteRange("a", "b");
  WriteBatchInternal::Merge(&b, 70000, "m", "1");
  b.PutLogData("blob");
  const std::string good = b.Data();
  for (size_t n = 0; n < good.size(); ++n) {
    Transcript t;
    Sink sink;
    // A heap block of exactly this size.
    WriteBatch cut(std::string(good.data(), n));
    const Status s = cut.Iterate(&t);
    // Without its LogData the batch is still one.
    EXPECT_EQ(s.ok(), n == good.size() - 6) << n;
    EXPECT_EQ(WriteBatchInternal::InsertInto(&cut, &sink, nullptr).ok(), s.ok());
    cut.HasPut();
  }
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    bad.shrink_to_fit();
    WriteBatch damaged(bad);
    Transcript t;
    Sink sink;
    const Status s = damaged.Iterate(&t);
    EXPECT_TRUE(s.ok() || s.IsCorruption() || s.IsNotSupported() || s.IsInvalidArgument());
    (void)WriteBatchInternal::InsertInto(&damaged, &sink, nullptr);
    damaged.HasCommit();
  }
}

TEST(WriteBatch, RandomBytesNeverCrash) {
  Random rnd(301);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = rnd.Bytes(rnd.Uniform(40));
    for (char& c : bytes) {
      if (rnd.OneIn(2)) c = static_cast<char>(c & 0x17);
    }
    WriteBatch batch(bytes);
    Transcript t;
    (void)batch.Iterate(&t);
    batch.HasPut();
  }
}

}  // namespace
}  // namespace compassdb
