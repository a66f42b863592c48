// SPDX-License-Identifier: Apache-2.0
#include "family/column_family.h"

#include <gtest/gtest.h>

#include <new>

#include "db/testing/family_test_util.h"

namespace compassdb {
namespace {

// Memory runs out when a memtable is made.
class ExhaustedComparator final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "exhausted"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override {
    if (exhausted) throw std::bad_alloc();
    return true;
  }
  bool exhausted = false;
};

TEST(ColumnFamilyTest, AMemTableWithoutASuccessorTakesWrites) {
  ExhaustedComparator comparator;
  rocksdb::ColumnFamilyOptions options;
  options.comparator = &comparator;
  FamilyHarness db;
  ColumnFamily* const family = db.Add("other", options);
  db.Write(family, kTypeValue, "key", "value");
  MutexLock lock(&db.mu);
  MemTables& memtables = family->memtables();
  memtables.KeepPreparedLog(3);
  const std::shared_ptr<MemTable> mem = memtables.active();
  std::vector<ReadState*> garbage;

  comparator.exhausted = true;
  EXPECT_THROW(family->SealMemTable(/*log_number=*/5, db.last_sequence, &garbage), std::bad_alloc);
  comparator.exhausted = false;
  EXPECT_EQ(memtables.active(), mem);
  EXPECT_FALSE(mem->immutable());
  EXPECT_EQ(memtables.immutable_count(), 0u);
  EXPECT_EQ(memtables.OldestPreparedLog(0), 3u);
  db.Write(family, kTypeValue, "another key", "value");

  family->SealMemTable(/*log_number=*/5, db.last_sequence, &garbage);
  EXPECT_TRUE(mem->immutable());
  EXPECT_EQ(memtables.immutable_count(), 1u);
  EXPECT_EQ(memtables.OldestPreparedLog(0), 3u);
  for (ReadState* state : garbage) state->Unref();
}

}  // namespace
}  // namespace compassdb
