// SPDX-License-Identifier: Apache-2.0
#include "iter/prefix_bucket_iterator.h"

#include <gtest/gtest.h>

#include "iter/test_support.h"

namespace compassdb {
namespace {

using test::InternalKeyOf;
using test::VectorIterator;

class PrefixBucketIteratorTest : public ::testing::Test {
 protected:
  std::string Forward(InternalIterator* it) {
    std::string keys;
    for (; it->Valid(); it->Next()) keys += ExtractUserKey(it->key()).ToString() + " ";
    return keys;
  }
  std::string Backward(InternalIterator* it) {
    std::string keys;
    for (; it->Valid(); it->Prev()) keys += ExtractUserKey(it->key()).ToString() + " ";
    return keys;
  }
  const InternalKeyComparator cmp_{rocksdb::BytewiseComparator()};
  const InternalIteratorPtr it_ = NewPrefixBucketIterator(
      std::make_unique<VectorIterator>(
          std::vector<test::TestRecord>{{"a", 1, kTypeValue, ""},
                                        {"aaa1", 2, kTypeValue, ""},
                                        {"aaa2", 3, kTypeValue, ""},
                                        {"bbb1", 4, kTypeValue, ""},
                                        {"bbb2", 5, kTypeValue, ""}},
          cmp_),
      std::shared_ptr<const rocksdb::SliceTransform>(rocksdb::NewFixedPrefixTransform(3)), 0);
};

TEST_F(PrefixBucketIteratorTest, HasNoEnds) {
  it_->SeekToFirst();
  EXPECT_FALSE(it_->Valid());
  it_->SeekToLast();
  EXPECT_FALSE(it_->Valid());
  EXPECT_TRUE(it_->status().ok());
}

TEST_F(PrefixBucketIteratorTest, SeekShowsOnePrefix) {
  it_->Seek(InternalKeyOf({"aaa2", 100, kTypeValue, ""}));
  EXPECT_EQ(Forward(it_.get()), "aaa2 ");
  it_->Seek(InternalKeyOf({"aaa9", 100, kTypeValue, ""}));
  EXPECT_EQ(Forward(it_.get()), "");
  it_->SeekForPrev(InternalKeyOf({"bbb9", 0, kTypeValue, ""}));
  EXPECT_EQ(Backward(it_.get()), "");
  it_->SeekForPrev(InternalKeyOf({"bbb1", 0, kTypeValue, ""}));
  EXPECT_EQ(Backward(it_.get()), "bbb1 ");
  it_->SeekForPrev(InternalKeyOf({"bbb0", 0, kTypeValue, ""}));
  EXPECT_EQ(Backward(it_.get()), "");
}

TEST_F(PrefixBucketIteratorTest, TargetWithoutPrefixShowsAll) {
  it_->Seek(InternalKeyOf({"a", 100, kTypeValue, ""}));
  EXPECT_EQ(Forward(it_.get()), "a aaa1 aaa2 bbb1 bbb2 ");
}

}  // namespace
}  // namespace compassdb
