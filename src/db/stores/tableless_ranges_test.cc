// SPDX-License-Identifier: Apache-2.0
// Range deletions of a table-less family that cover more keys than a flush has in memory at a time.
#include "db/testing/tableless_test_util.h"
#include "tableless/flush/page_flush.h"
#include "util/random.h"

namespace compassdb {
namespace {

class TablelessRangesTest : public TablelessDbTest, public ::testing::WithParamInterface<bool> {
 protected:
  ~TablelessRangesTest() override { TEST_SetCoveredBytes(0); }
  void DeleteRange(const std::string& begin, const std::string& end) {
    ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), begin, end).ok());
    model_.erase(model_.lower_bound(begin), model_.lower_bound(end));
  }
  void Write(int i, const std::string& value) {
    ASSERT_TRUE(Put(Key(i), value).ok());
    model_[Key(i)] = value;
  }
  void Check(const std::map<std::string, std::string>& model, const rocksdb::Snapshot* snapshot) {
    std::string all;
    for (int i = 0; i < kKeys; ++i) {
      const auto found = model.find(Key(i));
      ASSERT_EQ(Get(Key(i), snapshot), found == model.end() ? "NOT_FOUND" : found->second) << i;
      if (found != model.end()) all += (all.empty() ? "" : ",") + Key(i) + "=" + found->second;
    }
    if (!GetParam()) return;
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    EXPECT_EQ(Scan(read), all);
  }

  static constexpr int kKeys = 6000;
  std::map<std::string, std::string> model_;
};

// Overlapping ranges of several flushes, snapshots, writes before and after them, overflow and operands.
TEST_P(TablelessRangesTest, PartForPart) {
  piece_.tableless_key_store = GetParam();
  piece_.tableless_pages = 200;
  piece_.tableless_max_overflow_percent = 100;
  UsePieces();
  options_.write_buffer_size = 4 << 20;
  for (const uint64_t bytes : {0u, 500000u, 20000u, 1u}) {
    SCOPED_TRACE(bytes);
    TEST_SetCoveredBytes(bytes);
    Random rnd(bytes + 5);
    model_.clear();
    OpenDb();
    for (int i = 0; i < kKeys; ++i) Write(i, Value(i, 20 + rnd.Uniform(300)));
    Flush();
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 300; ++i) Write(static_cast<int>(rnd.Uniform(kKeys)), Value(i, 50));
      const auto before = model_;
      const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
      const int from = static_cast<int>(rnd.Uniform(kKeys / 4));
      DeleteRange(Key(from), Key(from + kKeys / 2));
      for (int i = 0; i < 300; ++i) Write(static_cast<int>(rnd.Uniform(kKeys)), Value(i + 1, 80));
      DeleteRange(Key(from + kKeys / 4), Key(from + kKeys / 2 + 200));
      for (int i = 0; i < 100; ++i) {
        const int key = from + static_cast<int>(rnd.Uniform(kKeys / 2));
        ASSERT_TRUE(db_->Merge({}, Key(key), "operand").ok());
        std::string& value = model_[Key(key)];
        value += value.empty() ? "operand" : ",operand";
      }
      Flush();
      Check(model_, nullptr);
      Check(before, snapshot);
      if (round == 1) Settle();
      Check(before, snapshot);
      db_->ReleaseSnapshot(snapshot);
    }
    OpenDb();
    Check(model_, nullptr);
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(IntProperty("rocksdb.estimate-num-keys"), model_.size());
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// All of the ranges or nothing, after a power cut at any place: the parts are one edit.
TEST_P(TablelessRangesTest, PowerCutsBetweenParts) {
  piece_.tableless_key_store = GetParam();
  UsePieces();
  options_.write_buffer_size = 4 << 20;
  TEST_SetCoveredBytes(20000);
  int cuts = 0;
  for (int n = 1; n <= 8; ++n) {
    model_.clear();
    OpenDb();
    for (int i = 0; i < kKeys; ++i) Write(i, Value(i, 60));
    Flush();
    DeleteRange(Key(100), Key(5000));
    ASSERT_TRUE(db_->SyncWAL().ok());
    CutBefore(n % 2 == 0 ? FaultOp::kSync : FaultOp::kWrite, "/db/", (n + 1) / 2);
    db_->Flush({}).PermitUncheckedError();
    cuts += Reopen() ? 1 : 0;
    Check(model_, nullptr);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
  EXPECT_GT(cuts, 3);
}

INSTANTIATE_TEST_SUITE_P(KeyStore, TablelessRangesTest, ::testing::Bool());

}  // namespace
}  // namespace compassdb
