// SPDX-License-Identifier: Apache-2.0
// Records of a log whose checksums are right and whose content cannot be: an opening says so, and names the place.
#include "api/comparator_u64ts.h"
#include "api/wide_column_codec.h"
#include "batch/write_batch_internal.h"
#include "db/testing/db_test_util.h"
#include "format/internal_key.h"
#include "format/number_limits.h"
#include "util/coding.h"
#include "wal/wal_writer.h"

namespace compassdb {
namespace {

using rocksdb::WriteBatch;

class ForgedLogTest : public DbTest {
 protected:
  static constexpr uint64_t kNumber = 900;  // behind all that the database has

  // A database with a=1, closed, and behind its logs one with these batches.
  void Forge(const std::vector<std::string>& batches) {
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    OpenDb();
    if (options_.comparator->timestamp_size() == 0) {
      ASSERT_TRUE(Put("a", "1").ok());
    }
    CloseDb();
    WalHeader header;
    header.number = kNumber;
    std::unique_ptr<WalWriter> writer;
    ASSERT_TRUE(WalWriter::Create(fs_.get(), name_, FileOptions(), header, &writer).ok());
    for (const std::string& batch : batches) ASSERT_TRUE(writer->AddBatch(batch).ok());
    ASSERT_TRUE(writer->Close().ok());
  }
  void ExpectRefused(const std::vector<std::string>& batches, const std::string& why) {
    Forge(batches);
    for (int i = 0; i < 2; ++i) {  // also the second time
      const Status s = TryOpen();
      EXPECT_TRUE(s.IsCorruption()) << why << ": " << s.ToString();
      EXPECT_NE(s.ToString().find("/db/000900.log at offset "), std::string::npos) << s.ToString();
      EXPECT_NE(s.ToString().find(why), std::string::npos) << s.ToString();
    }
  }
  static std::string Bytes(WriteBatch* batch, uint64_t sequence = 100) {
    WriteBatchInternal::SetSequence(batch, sequence);
    return WriteBatchInternal::Contents(batch).ToString();
  }
  static std::string Marked(uint8_t tag, const std::string& xid) {
    WriteBatch empty;
    std::string bytes = Bytes(&empty);
    bytes.push_back(static_cast<char>(tag));
    PutLengthPrefixedSlice(&bytes, xid);
    return bytes;
  }
};

TEST_F(ForgedLogTest, SequencesThatNoDatabaseComesTo) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ExpectRefused({Bytes(&batch, kMaxKnownSequence + 1)}, "sequence out of range");
  WriteBatch two = batch;
  ASSERT_TRUE(two.Put("c", "3").ok());
  ExpectRefused({Bytes(&two, kMaxKnownSequence)}, "sequence out of range");
  Forge({Bytes(&batch, 100)});
  OpenDb();
  EXPECT_EQ(Scan(), "a=1,b=2");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 100u);
}

// A name that could not be opened again is not written.
TEST_F(ForgedLogTest, WithoutSequencesThereAreNoWrites) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("b", "2").ok());
  for (const uint64_t last : {kMaxKnownSequence, kMaxWritableSequence + 1, kMaxWritableSequence}) {
    Forge({Bytes(&batch, last)});
    OpenDb();
    EXPECT_EQ(db_->GetLatestSequenceNumber(), last);
    const Status s = Put("c", "3");
    EXPECT_EQ(s.ok(), last == kMaxWritableSequence) << s.ToString();
    EXPECT_TRUE(s.ok() || s.IsNotSupported()) << s.ToString();
    ASSERT_TRUE(db_->Flush({}).ok());
    OpenDb();
    EXPECT_EQ(Scan(), s.ok() ? "a=1,b=2,c=3" : "a=1,b=2");
  }
}

TEST_F(ForgedLogTest, SectionsWithoutBeginOrEnd) {
  WriteBatch section;
  ASSERT_TRUE(WriteBatchInternal::InsertNoop(&section).ok());
  ASSERT_TRUE(section.Put("b", "2").ok());
  const size_t without_end = section.GetDataSize();
  ASSERT_TRUE(WriteBatchInternal::MarkEndPrepare(&section, "xid").ok());
  ExpectRefused({Bytes(&section).substr(0, without_end)}, "prepared section without its end");
  ExpectRefused({Marked(kTypeEndPrepareXID, "xid")}, "prepared section without its begin");
  ExpectRefused({Marked(99, "xid")}, "");
}

// Prepared sections are recovered with all kinds of records, and commit. An unknown one that commits was flushed.
TEST_F(ForgedLogTest, SectionsWithEveryKindOfRecord) {
  options_.merge_operator = std::make_shared<AppendOperator>();
  WriteBatch section;
  ASSERT_TRUE(WriteBatchInternal::InsertNoop(&section).ok());
  ASSERT_TRUE(section.Put("b", "2").ok());
  ASSERT_TRUE(section.Put("c", "3").ok());
  ASSERT_TRUE(section.Put("d", "4").ok());
  ASSERT_TRUE(section.Put("e", "5").ok());
  ASSERT_TRUE(section.Delete("c").ok());
  ASSERT_TRUE(section.SingleDelete("e").ok());
  ASSERT_TRUE(section.Merge("b", "+").ok());
  ASSERT_TRUE(section.DeleteRange("d", "dd").ok());
  std::string entity;
  ASSERT_TRUE(EncodeWideColumns({{"", "6"}, {"column", "7"}}, &entity).ok());
  ASSERT_TRUE(WriteBatchInternal::PutEntity(&section, 0, "f", entity).ok());
  ASSERT_TRUE(WriteBatchInternal::MarkEndPrepare(&section, "xid").ok());
  WriteBatch commit, of_nothing, rollback;
  ASSERT_TRUE(WriteBatchInternal::MarkCommit(&commit, "xid").ok());
  ASSERT_TRUE(WriteBatchInternal::MarkCommit(&of_nothing, "other").ok());
  ASSERT_TRUE(WriteBatchInternal::MarkRollback(&rollback, "xid").ok());
  Forge({Bytes(&section), Bytes(&of_nothing), Bytes(&commit)});
  OpenDb();
  EXPECT_EQ(Scan(), "a=1,b=2,+,f=6");
  rocksdb::PinnableWideColumns columns;
  ASSERT_TRUE(db_->GetEntity(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), "f", &columns).ok());
  EXPECT_EQ(columns.columns().size(), 2u);
  Forge({Bytes(&section), Bytes(&rollback), Bytes(&commit)});
  OpenDb();
  EXPECT_EQ(Scan(), "a=1");
}

TEST_F(ForgedLogTest, KeysWithoutTheirTimestamps) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  WriteBatch put, range, prepared, commit;
  ASSERT_TRUE(WriteBatchInternal::Put(&put, 0, "short", "v").ok());
  ExpectRefused({Bytes(&put)}, "a key without timestamp, column family: default");
  ASSERT_TRUE(WriteBatchInternal::DeleteRange(&range, 0, "begin678", "end").ok());
  ExpectRefused({Bytes(&range)}, "a key without timestamp, column family: default");
  ASSERT_TRUE(WriteBatchInternal::InsertNoop(&prepared).ok());
  ASSERT_TRUE(WriteBatchInternal::Put(&prepared, 0, std::string("key\0\0\0\0\0\0\0\0", 11), "v").ok());
  ASSERT_TRUE(WriteBatchInternal::MarkEndPrepare(&prepared, "xid").ok());
  ASSERT_TRUE(WriteBatchInternal::MarkCommitWithTimestamp(&commit, "xid", "123").ok());
  Forge({Bytes(&prepared), Bytes(&commit)});
  EXPECT_FALSE(TryOpen().ok());  // of three bytes where eight are wanted
}

}  // namespace
}  // namespace compassdb
