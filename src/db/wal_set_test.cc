// SPDX-License-Identifier: Apache-2.0
#include "db/wal_set.h"

#include <gtest/gtest.h>

#include <new>

#include "env/fault_injection_file_system.h"

namespace compassdb {
namespace {

// Runs out of memory wherever a file is made.
class NoMemoryForFiles final : public FaultInjectionFileSystem {
 public:
  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override {
    if (exhausted) throw std::bad_alloc();
    return FaultInjectionFileSystem::NewWritableFile(path, options, file);
  }
  bool exhausted = false;
};

class WalSetTest : public ::testing::TestWithParam<size_t> {};

TEST_P(WalSetTest, ALogForWhichThereIsNoMemoryIsNone) {
  NoMemoryForFiles fs;
  ASSERT_TRUE(fs.CreateDir("/wal").ok());
  uint64_t numbers = 0;
  WalSet::Options options;
  options.recycle = GetParam();
  WalSet logs(&fs, "/wal", options, [&numbers] { return ++numbers; }, nullptr);
  ASSERT_TRUE(logs.StartFirst(WalHeader(), "id").ok());
  const std::string batch(12, '\0');
  ASSERT_TRUE(logs.Append(batch, /*sync=*/true).ok());
  const uint64_t first = logs.current_number();
  fs.exhausted = true;
  EXPECT_TRUE(logs.Start(/*give_up_failed=*/false).IsMemoryLimit());
  EXPECT_EQ(logs.current_number(), first);
  // Who tries again, as DB::Resume does, finds the log that was the current one.
  EXPECT_TRUE(logs.Start(/*give_up_failed=*/true).IsMemoryLimit());
  fs.exhausted = false;
  Status s = logs.Append(batch, /*sync=*/true);
  EXPECT_TRUE(s.ok()) << s.ToString();
  s = logs.Start(/*give_up_failed=*/true);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_NE(logs.current_number(), first);
  s = logs.Append(batch, /*sync=*/true);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(logs.Close().ok());
}

INSTANTIATE_TEST_SUITE_P(Recycled, WalSetTest, ::testing::Values(0, 2));

}  // namespace
}  // namespace compassdb
