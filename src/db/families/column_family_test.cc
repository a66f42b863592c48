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
  family->mem_prepared_log = 3;
  const std::shared_ptr<MemTable> mem = family->mem;
  std::vector<ReadState*> garbage;

  comparator.exhausted = true;
  EXPECT_THROW(family->SealMemTable(/*log_number=*/5, &garbage), std::bad_alloc);
  comparator.exhausted = false;
  EXPECT_EQ(family->mem, mem);
  EXPECT_FALSE(mem->immutable());
  EXPECT_TRUE(family->immutables.empty());
  EXPECT_EQ(family->mem_prepared_log, 3u);
  db.Write(family, kTypeValue, "another key", "value");

  family->SealMemTable(/*log_number=*/5, &garbage);
  EXPECT_TRUE(mem->immutable());
  ASSERT_EQ(family->immutables.size(), 1u);
  EXPECT_EQ(family->immutables[0].prepared_log, 3u);
  for (ReadState* state : garbage) state->Unref();
}

}  // namespace
}  // namespace compassdb
