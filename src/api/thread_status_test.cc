// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/thread_status.h"

#include <gtest/gtest.h>

namespace ROCKSDB_NAMESPACE {
namespace {

TEST(ThreadStatusTest, NamesOutOfRangeAreEmpty) {
  EXPECT_EQ("Low Pri", ThreadStatus::GetThreadTypeName(ThreadStatus::LOW_PRIORITY));
  EXPECT_EQ("", ThreadStatus::GetThreadTypeName(ThreadStatus::NUM_THREAD_TYPES));
  EXPECT_EQ("Compaction", ThreadStatus::GetOperationName(ThreadStatus::OP_COMPACTION));
  EXPECT_EQ("FlushJob::Run", ThreadStatus::GetOperationStageName(ThreadStatus::STAGE_FLUSH_RUN));
  EXPECT_EQ("Mutex Wait", ThreadStatus::GetStateName(ThreadStatus::STATE_MUTEX_WAIT));
  EXPECT_EQ("BytesWritten", ThreadStatus::GetOperationPropertyName(ThreadStatus::OP_FLUSH, 2));
  EXPECT_EQ("", ThreadStatus::GetOperationPropertyName(ThreadStatus::OP_FLUSH, 3));
}

TEST(ThreadStatusTest, PackedPropertiesComeApart) {
  const uint64_t properties[] = {1, uint64_t{2} << 32 | 3, 0b1010, 4, 5, 6};
  const std::map<std::string, uint64_t> expected = {
      {"JobID", 1},      {"BaseInputLevel", 2}, {"OutputLevel", 3},
      {"IsManual", 1},   {"IsDeletion", 0},     {"IsTrivialMove", 1},
      {"BytesRead", 5},  {"BytesWritten", 6},   {"TotalInputBytes", 4}};
  EXPECT_EQ(expected, ThreadStatus::InterpretOperationProperties(ThreadStatus::OP_COMPACTION,
                                                                 properties));
}

TEST(ThreadStatusTest, TimesForPeople) {
  EXPECT_EQ("", ThreadStatus::MicrosToString(0));
  EXPECT_EQ("9999 us", ThreadStatus::MicrosToString(9999));
  EXPECT_EQ("1234.567 ms", ThreadStatus::MicrosToString(1234567));
  EXPECT_EQ("10.500 sec", ThreadStatus::MicrosToString(10500000));
  EXPECT_EQ("01:39.000 M:S", ThreadStatus::MicrosToString(99000000));
  EXPECT_EQ("01:06:40.000 H:M:S", ThreadStatus::MicrosToString(4000000000));
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE
