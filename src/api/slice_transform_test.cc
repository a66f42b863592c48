// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/slice_transform.h"

#include <gtest/gtest.h>

#include "rocksdb/config_options.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace {

using Transform = std::unique_ptr<const SliceTransform>;

TEST(SliceTransformTest, FixedPrefixNeedsItsLength) {
  const Transform t(NewFixedPrefixTransform(3));
  EXPECT_STREQ("rocksdb.FixedPrefix", t->Name());
  EXPECT_EQ("rocksdb.FixedPrefix.3", t->AsString());
  EXPECT_FALSE(t->InDomain("ab"));
  EXPECT_TRUE(t->InDomain("abc"));
  EXPECT_EQ("abc", t->Transform("abcd").ToString());
  EXPECT_TRUE(t->SameResultWhenAppended("abc"));
  EXPECT_FALSE(t->SameResultWhenAppended("ab"));
  size_t length = 0;
  EXPECT_TRUE(t->FullLengthEnabled(&length));
  EXPECT_EQ(3u, length);
}

TEST(SliceTransformTest, CappedPrefixTakesWhatThereIs) {
  const Transform t(NewCappedPrefixTransform(3));
  EXPECT_EQ("rocksdb.CappedPrefix.3", t->AsString());
  EXPECT_EQ("ab", t->Transform("ab").ToString());
  EXPECT_EQ("abc", t->Transform("abcd").ToString());
  EXPECT_FALSE(t->SameResultWhenAppended("ab"));
  EXPECT_TRUE(t->SameResultWhenAppended("abcd"));
}

TEST(SliceTransformTest, NoopIsTheWholeKey) {
  const Transform t(NewNoopTransform());
  EXPECT_EQ("rocksdb.Noop", t->AsString());
  EXPECT_EQ("abcd", t->Transform("abcd").ToString());
  EXPECT_FALSE(t->SameResultWhenAppended("abcd"));
}

TEST(SliceTransformTest, MadeFromItsId) {
  ConfigOptions config;
  std::shared_ptr<const SliceTransform> t;
  for (const char* id : {"rocksdb.FixedPrefix.8", "rocksdb.CappedPrefix.0", "rocksdb.Noop"}) {
    ASSERT_TRUE(SliceTransform::CreateFromString(config, id, &t).ok());
    EXPECT_EQ(id, t->GetId());
  }
  ASSERT_TRUE(SliceTransform::CreateFromString(config, "fixed:4", &t).ok());
  EXPECT_TRUE(t->IsInstanceOf("rocksdb.FixedPrefix.4"));
  EXPECT_TRUE(t->IsInstanceOf("rocksdb.FixedPrefix"));
  EXPECT_TRUE(t->IsInstanceOf("fixed"));
  for (const char* id : {"", "nullptr"}) {
    ASSERT_TRUE(SliceTransform::CreateFromString(config, id, &t).ok());
    EXPECT_EQ(nullptr, t);
  }
  config.ignore_unsupported_options = false;
  for (const char* id : {"fixed:x", "fixed:-", "fixed:", "rocksdb.FixedPrefix.4.5", "nope"}) {
    EXPECT_TRUE(SliceTransform::CreateFromString(config, id, &t).IsNotSupported()) << id;
    EXPECT_EQ(nullptr, t);
  }
  EXPECT_TRUE(SliceTransform::CreateFromString(config, "fixed:18446744073709551616", &t)
                  .IsInvalidArgument());
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
