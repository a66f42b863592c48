// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "flags.h"
#include "generators.h"
#include "histogram.h"
#include "key_set.h"
#include "keys.h"
#include "sync_hooks.h"

namespace kvbench {
namespace {

int Parse(std::vector<const char*> args, Flags* flags) {
  args.insert(args.begin(), "kvbench");
  return ParseFlags(static_cast<int>(args.size()), const_cast<char**>(args.data()), flags);
}

TEST(FlagsTest, WorkloadNamesInAllSpellings) {
  Flags flags;
  ASSERT_EQ(-1, Parse({"--workload", "load,A,ycsb-b,readrandom", "--db", "x"}, &flags));
  ASSERT_EQ(4u, flags.workloads.size());
  EXPECT_EQ("ycsb-load", flags.workloads[0].name);
  EXPECT_EQ("ycsb-a", flags.workloads[1].name);
  EXPECT_EQ("ycsb-b", flags.workloads[2].name);
}

TEST(FlagsTest, MistakesAreUsageErrors) {
  for (const std::vector<const char*>& args : std::vector<std::vector<const char*>>{
           {"--workload", "nosuch", "--db", "x"},
           {"--workload", "a", "--db", "x"},                     // no data
           {"--workload", "a,load", "--db", "x", "--reuse-db"},  // fill after data
           {"--workload", "load", "--db", "x", "--threads", "0"},
           {"--workload", "load", "--db", "x", "--records", "-1"},
           {"--workload", "load", "--db", "x", "--key-size", "7"},
           {"--workload", "load", "--db", "x", "--value-size", "10x"},
           {"--workload", "load", "--db", "x", "--compression", "rar"},
           {"--workload", "load", "--db", "x", "--nosuchflag"},
           {"--workload", "load"},
           {}}) {
    Flags flags;
    EXPECT_EQ(2, Parse(args, &flags));
  }
}

TEST(KeysTest, EveryNumberHasItsOwnKeyAndOrderIsKept) {
  for (uint64_t size : {8, 15, 16, 20, 24, 100}) {
    for (KeyOrder order : {KeyOrder::kHashed, KeyOrder::kOrdered}) {
      const KeyMaker maker(size, order);
      std::set<std::string> keys;
      std::string key, previous;
      for (uint64_t i = 0; i < 2000; ++i) {
        maker.Make(i, &key);
        EXPECT_EQ(size, key.size());
        keys.insert(key);
        if (order == KeyOrder::kOrdered && i > 0) {
          EXPECT_LT(previous, key);
        }
        previous = key;
      }
      EXPECT_EQ(2000u, keys.size());
      maker.MakeMissing(7, &key);
      EXPECT_EQ(0u, keys.count(key));
    }
  }
}

TEST(KeysTest, HexadecimalDigits) {
  const KeyMaker maker(18, KeyOrder::kOrdered);
  std::string key = "something longer than a key";
  maker.Make(0x0123456789abcdef, &key);
  EXPECT_EQ("0123456789abcdefxx", key);
  maker.Make(0xf9a0e80d00000010, &key);
  EXPECT_EQ("f9a0e80d00000010xx", key);
}

TEST(KeysTest, ValuesCarryTheirRecord) {
  ValueMaker values(100, 1);
  const std::string value(values.Make(5));
  EXPECT_EQ(100u, value.size());
  EXPECT_TRUE(values.Matches(5, value));
  EXPECT_FALSE(values.Matches(6, value));
  EXPECT_FALSE(values.Matches(5, value.substr(1)));
  EXPECT_EQ("", ValueMaker(0, 1).Make(5));
}

TEST(ValueSizesTest, DrawnSizesAreOfTheRecord) {
  ValueSizes sizes(0);
  std::string error;
  ASSERT_TRUE(ValueSizes::Parse("40x2,1000", &sizes, &error)) << error;
  ValueMaker values(sizes, 1);
  int small = 0;
  for (uint64_t i = 0; i < 3000; ++i) {
    const std::string value(values.Make(i));
    ASSERT_TRUE(value.size() == 40 || value.size() == 1000);
    EXPECT_TRUE(values.Matches(i, value));
    EXPECT_EQ(value.size(), values.Make(i).size());
    small += value.size() == 40;
  }
  EXPECT_NEAR(small, 2000, 100);
  ASSERT_TRUE(ValueSizes::Parse("zipfian:16:8168", &sizes, &error)) << error;
  double sum = 0;
  int least = 0;
  for (uint64_t i = 0; i < 100'000; ++i) {
    const uint64_t size = sizes.Of(i);
    ASSERT_TRUE(size >= 16 && size <= 8168);
    least += size == 16;
    sum += static_cast<double>(size);
  }
  EXPECT_NEAR(sum / 100'000, 880, 30);
  EXPECT_NEAR(least, 10'100, 500);
  for (const char* bad : {"", "x", "40x", "40x0", "zipfian:10", "zipfian:10:9", "zipfian:0:99999999", "-1", "1,,2", "1,", "1 "}) {
    EXPECT_FALSE(ValueSizes::Parse(bad, &sizes, &error)) << bad;
    EXPECT_NE(error.find(std::string("'") + bad + "'"), std::string::npos) << error;
  }
}

TEST(KeysTest, CompressibleValuesEndInZeros) {
  ValueMaker values(400, 1, 50);
  for (int i = 0; i < 2; ++i) {  // a value leaves nothing behind
    const std::string value(values.Make(5));
    EXPECT_TRUE(values.Matches(5, value));
    EXPECT_EQ(std::string(200, 0), value.substr(200));
    EXPECT_GT(std::set<char>(value.begin(), value.begin() + 200).size(), 90u);
  }
  EXPECT_EQ(0u, ValueMaker(400, 1).Make(5).find_first_not_of('\0'));
  EXPECT_EQ(std::string::npos, ValueMaker(400, 1).Make(5).find('\0', 8));
}

TEST(GeneratorsTest, ZipfianFollowsItsLaw) {
  constexpr uint64_t kItems = 1000;
  constexpr int kDraws = 1'000'000;
  ZipfianGenerator zipfian(kItems);
  Random64 random(7);
  std::vector<int> counts(kItems);
  for (int i = 0; i < kDraws; ++i) ++counts.at(zipfian.Next(&random));
  double zeta = 0;
  for (uint64_t i = 1; i <= kItems; ++i)
    zeta += 1.0 / std::pow(static_cast<double>(i), kZipfianConstant);
  // The first two items are exact; the rest follows a continuous approximation.
  EXPECT_NEAR(1.0 / zeta, counts[0] / static_cast<double>(kDraws), 0.002);
  EXPECT_NEAR(std::pow(0.5, kZipfianConstant) / zeta, counts[1] / static_cast<double>(kDraws),
              0.002);
  EXPECT_GT(counts[10], counts[500]);
  EXPECT_GT(counts[999], 0);
}

TEST(SyncHooksTest, SyncsAreCountedAndMayBeSkipped) {
  constexpr int kNoFile = -1;
  EXPECT_EQ(-1, fdatasync(kNoFile));
  EXPECT_EQ(-1, sync_file_range(kNoFile, 0, 0, 0));
  SkipSyncs();
  EXPECT_EQ(0, fsync(kNoFile));
  EXPECT_EQ(0, fdatasync(kNoFile));
  EXPECT_EQ(0, sync_file_range(kNoFile, 0, 0, 0));
  EXPECT_EQ(3u, ReadSyncCounts().fsyncs);
  EXPECT_EQ(2u, ReadSyncCounts().sync_file_ranges);
}

TEST(GeneratorsTest, ZetaOfManyItems) {
  EXPECT_NEAR(26.46902820178302, ZipfianGenerator(10'000'000'000).zeta(), 1e-8);  // as YCSB has it
  double sum = 0;
  for (int i = 1; i <= 250'000; ++i) sum += std::pow(i, -0.9);
  EXPECT_NEAR(sum, ZipfianGenerator(250'000, 0.9).zeta(), 1e-8);
}

TEST(GeneratorsTest, ASmallerConstantIsLessSkewed) {
  const auto hottest = [](double theta) {
    Random64 random(3);
    KeyChooser chooser(Distribution::kZipfian, 1000, 0, theta);
    std::vector<int> counts(1000);
    for (int i = 0; i < 100'000; ++i) ++counts[chooser.Next(&random, 1000)];
    return *std::max_element(counts.begin(), counts.end());
  };
  EXPECT_LT(2 * hottest(0.9), hottest(0.99));
}

TEST(GeneratorsTest, ChoosersStayBelowTheLimit) {
  for (Distribution d : {Distribution::kZipfian, Distribution::kLatest, Distribution::kUniform}) {
    for (uint64_t limit : {1, 2, 3, 1000}) {
      KeyChooser chooser(d, limit, 100);
      Random64 random(3);
      for (int i = 0; i < 10'000; ++i)
        ASSERT_LT(chooser.Next(&random, limit + i / 1000), limit + i / 1000);
    }
  }
}

TEST(GeneratorsTest, ScrambledZipfianSpreadsItsHotItemsAndLatestDoesNot) {
  Random64 random(3);
  KeyChooser zipfian(Distribution::kZipfian, 1000, 0), latest(Distribution::kLatest, 1000, 0);
  std::vector<int> z(1000), l(1000);
  for (int i = 0; i < 100'000; ++i) {
    ++z[zipfian.Next(&random, 1000)];
    ++l[latest.Next(&random, 1000)];
  }
  EXPECT_EQ(999, std::max_element(l.begin(), l.end()) - l.begin());
  std::sort(z.rbegin(), z.rend());
  EXPECT_GT(z[0], 3000);  // one item of 26.5 expected mass units: about 3.8 %
  EXPECT_LT(z[0], 6000);
}

TEST(HistogramTest, PercentilesWithinABucket) {
  Histogram h;
  for (uint64_t i = 1; i <= 100'000; ++i) h.Add(i * 1000);
  EXPECT_EQ(100'000u, h.Count());
  EXPECT_NEAR(50'000.5, h.AverageMicros(), 1e-6);
  EXPECT_NEAR(50'000, h.PercentileMicros(0.5), 50'000 / 60);
  EXPECT_NEAR(99'000, h.PercentileMicros(0.99), 99'000 / 60);
  EXPECT_EQ(100'000, h.MaxMicros());
  EXPECT_EQ(100'000, h.PercentileMicros(1.0));
  Histogram other;
  other.Add(UINT64_MAX);
  h.Merge(other);
  EXPECT_EQ(100'001u, h.Count());
}

TEST(HistogramTest, ABufferKeepsNothing) {
  for (const uint64_t n : {0, 1, 63, 64, 200}) {
    Histogram h;
    LatencyBuffer buffer;
    for (uint64_t i = 1; i <= n; ++i) buffer.Add(i * 1000, &h);
    buffer.Flush(&h);
    buffer.Flush(&h);
    EXPECT_EQ(n, h.Count());
    EXPECT_EQ(static_cast<double>(n), h.MaxMicros());
  }
}

TEST(KeySetTest, LimitFollowsAcknowledgedInsertsOnly) {
  KeySet keys(0, 16, 10, KeyOrder::kHashed);
  keys.ReserveRoom(10);
  const uint64_t a = keys.ReserveInsert(), b = keys.ReserveInsert();
  keys.AcknowledgeInsert(b);
  EXPECT_EQ(0u, keys.limit());
  keys.AcknowledgeInsert(a);
  EXPECT_EQ(2u, keys.limit());
  EXPECT_EQ(2u * 26, keys.live_bytes());
}

TEST(KeySetTest, KnowsTheBytesOfValuesThatDiffer) {
  const std::string db = testing::TempDir() + "/kvbench_value_sizes";
  std::string error;
  ValueSizes sizes(0);
  ASSERT_TRUE(ValueSizes::Parse("10,500", &sizes, &error)) << error;
  KeySet keys(200, 16, sizes, KeyOrder::kOrdered);
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < 200; i += 3) {
    keys.Mark(i);
    bytes += 16 + sizes.Of(i);
  }
  EXPECT_EQ(bytes, keys.live_bytes());
  ASSERT_TRUE(keys.Save(db, &error)) << error;
  const auto loaded = KeySet::Load(db, &error);
  ASSERT_NE(nullptr, loaded) << error;
  EXPECT_EQ(bytes, loaded->live_bytes());
  EXPECT_EQ("10,500", loaded->value_sizes().text());
}

TEST(KeySetTest, SurvivesSaveAndLoad) {
  const std::string db = testing::TempDir() + "/kvbench_keyset";
  std::string error;
  KeySet keys(1000, 16, 10, KeyOrder::kOrdered);
  for (uint64_t i = 0; i < 1000; i += 3) keys.Mark(i);
  keys.Mark(3);
  ASSERT_TRUE(keys.Save(db, &error)) << error;
  auto loaded = KeySet::Load(db, &error);
  ASSERT_NE(nullptr, loaded) << error;
  EXPECT_EQ(keys.live_keys(), loaded->live_keys());
  EXPECT_EQ(1000u, loaded->limit());
  EXPECT_EQ(KeyOrder::kOrdered, loaded->order());
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(i % 3 == 0, loaded->Contains(i));
  std::filesystem::resize_file(KeySet::StatePath(db), 90);
  EXPECT_EQ(nullptr, KeySet::Load(db, &error));
  std::filesystem::remove(KeySet::StatePath(db));
  EXPECT_EQ(nullptr, KeySet::Load(db, &error));
}

}  // namespace
}  // namespace kvbench
