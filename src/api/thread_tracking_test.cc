// SPDX-License-Identifier: Apache-2.0
#include "api/thread_tracking.h"

#include <gtest/gtest.h>

#include <thread>

namespace compassdb {
namespace {

using rocksdb::ThreadStatus;

TEST(ThreadTracking, ShowsPoolThreadsAndWhatTheyDo) {
  EXPECT_TRUE(TrackedThreads().empty());
  { TrackedOperation none(true, ThreadStatus::OP_FLUSH, "/db", "default", 1); }
  std::thread([] {
    TrackedThread self(ThreadStatus::HIGH_PRIORITY);
    {
      TrackedOperation unwanted(false, ThreadStatus::OP_FLUSH, "/db", "default", 1);
      ASSERT_EQ(TrackedThreads().size(), 1u);
      EXPECT_EQ(TrackedThreads()[0].operation_type, ThreadStatus::OP_UNKNOWN);
      EXPECT_EQ(TrackedThreads()[0].thread_type, ThreadStatus::HIGH_PRIORITY);
    }
    {
      TrackedOperation flush(true, ThreadStatus::OP_FLUSH, "/db", "family", 7);
      const ThreadStatus status = TrackedThreads()[0];
      EXPECT_EQ(status.operation_type, ThreadStatus::OP_FLUSH);
      EXPECT_EQ(status.db_name, "/db");
      EXPECT_EQ(status.cf_name, "family");
      EXPECT_EQ(status.op_properties[ThreadStatus::FLUSH_JOB_ID], 7u);
    }
    EXPECT_EQ(TrackedThreads()[0].operation_type, ThreadStatus::OP_UNKNOWN);
    EXPECT_EQ(TrackedThreads()[0].db_name, "");
  }).join();
  EXPECT_TRUE(TrackedThreads().empty());
}

}  // namespace
}  // namespace compassdb
