// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/perfect_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "perfect_hash/testing.h"

namespace compassdb::perfect_hash {
namespace {

TEST(PerfectHash, NoKeys) {
  const std::string bytes = BuildOk({});
  Function f;
  ASSERT_TRUE(Function::Open(AsBytes(bytes), &f));
  EXPECT_EQ(f.keys(), 0u);
  EXPECT_EQ(f.slots(), 0u);
  EXPECT_EQ(f(12345), 0u);
  f.Prefetch(1);
  EXPECT_LE(bytes.size(), 8u);
}

TEST(PerfectHash, OneKey) {
  const std::string bytes = BuildOk({77});
  ExpectPerfect({77}, bytes);
  EXPECT_LE(bytes.size(), 8u);
}

TEST(PerfectHash, EverySmallSize) {
  for (size_t n = 0; n <= 2000; ++n) {
    const Hashes hashes = RandomHashes(n, n);
    const std::string bytes = BuildOk(hashes);
    ExpectPerfect(hashes, bytes);
    ASSERT_LE(bytes.size(), 32 + n / 2) << n;
  }
}

TEST(PerfectHash, SizesAroundSegmentBoundaries) {
  for (const size_t n : {4095, 4096, 6143, 6144, 6145, 8191, 10000, 10240, 12288, 50000}) {
    const Hashes hashes = RandomHashes(n, n);
    ExpectPerfect(hashes, BuildOk(hashes));
  }
}

TEST(PerfectHash, LargeSetsAreSmall) {
  for (const size_t n : {100'000, 1'000'000}) {
    const Hashes hashes = RandomHashes(n, n);
    const std::string bytes = BuildOk(hashes);
    ExpectPerfect(hashes, bytes);
    EXPECT_LE(static_cast<double>(bytes.size()) * 8, 2.4 * static_cast<double>(n));
  }
}

// More segments than one scatter pass handles.
TEST(PerfectHash, TwoPassPartitioning) {
  const Hashes hashes = RandomHashes(5'000'000, 5);
  const std::string bytes = BuildOk(hashes);
  ExpectPerfect(hashes, bytes);
  EXPECT_EQ(bytes, BuildOk(Sorted(hashes), true));
}

TEST(PerfectHash, OrderDoesNotMatter) {
  for (const size_t n : {2, 7, 100, 5000, 30'000, 300'000}) {
    const Hashes hashes = RandomHashes(n, 1);
    const std::string bytes = BuildOk(hashes);
    EXPECT_EQ(bytes, BuildOk(hashes));
    EXPECT_EQ(bytes, BuildOk(Sorted(hashes), true));
    EXPECT_EQ(bytes, BuildOk(Sorted(hashes), false));
    EXPECT_EQ(bytes, BuildOk(hashes, true)) << "a wrong claim of order";
    Hashes reversed = Sorted(hashes);
    std::reverse(reversed.begin(), reversed.end());
    EXPECT_EQ(bytes, BuildOk(reversed));
  }
}

TEST(PerfectHash, ThreadsDoNotMatter) {
  for (const size_t n : {0, 100, 80'000, 700'000}) {
    const Hashes hashes = RandomHashes(n, 1);
    size_t calls = 0;
    BuildOptions options;
    options.parallel = [&](size_t tasks, const std::function<void(size_t)>& task) {
      ++calls;
      std::atomic<size_t> next = 0;
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
          for (size_t i; (i = next++) < tasks;) task(tasks - 1 - i);
        });
      }
      for (std::thread& thread : threads) thread.join();
    };
    std::string bytes;
    ASSERT_TRUE(Build(hashes, options, &bytes).ok);
    EXPECT_EQ(bytes, BuildOk(hashes));
    EXPECT_EQ(calls > 0, n > 70'000);
  }
}

TEST(PerfectHash, ThreadsOfItsOwn) {
  const Hashes hashes = RandomHashes(300'000, 1);
  for (const bool sorted : {false, true}) {
    for (const unsigned threads : {2, 5, 100}) {
      std::string bytes;
      BuildOptions options;
      options.threads = threads;
      options.sorted = sorted;
      ASSERT_TRUE(Build(sorted ? Sorted(hashes) : hashes, options, &bytes).ok);
      EXPECT_EQ(bytes, BuildOk(hashes));
    }
  }
}

TEST(PerfectHash, SeedsGiveDifferentFunctions) {
  const Hashes hashes = RandomHashes(20'000, 1);
  const std::string a = BuildOk(hashes, false, 1);
  const std::string b = BuildOk(hashes, false, ~0ull);
  EXPECT_NE(a, b);
  ExpectPerfect(hashes, a);
  ExpectPerfect(hashes, b);
}

TEST(PerfectHash, RepeatsAreOneKey) {
  for (const size_t n : {1, 2, 3, 50, 1000, 40'000}) {
    const Hashes set = RandomHashes(n, 3);
    Hashes repeated = set;
    for (size_t i = 0; i < n; i += 3) repeated.insert(repeated.end(), i % 5 + 1, set[i]);
    std::shuffle(repeated.begin(), repeated.end(), std::mt19937_64(1));
    const std::string bytes = BuildOk(set);
    EXPECT_EQ(bytes, BuildOk(repeated));
    EXPECT_EQ(bytes, BuildOk(Sorted(repeated), true));
    EXPECT_EQ(bytes, BuildOk(repeated, true));
  }
}

TEST(PerfectHash, AllHashesEqual) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{42}, ~uint64_t{0}}) {
    for (const bool sorted : {false, true}) {
      const std::string bytes = BuildOk(Hashes(100'000, value), sorted);
      ExpectPerfect({value}, bytes);
    }
  }
}

void ExpectAdversarial(const Hashes& hashes) {
  for (const bool sorted : {false, true}) {
    const Hashes input = sorted ? Sorted(hashes) : hashes;
    ExpectPerfect(hashes, BuildOk(input, sorted), 1.06);
  }
}

TEST(PerfectHashAdversarial, SequentialIntegers) {
  for (const size_t n : {2, 3, 10, 64, 1000, 6000, 100'000}) {
    Hashes hashes(n);
    std::iota(hashes.begin(), hashes.end(), 0);
    ExpectAdversarial(hashes);
    std::iota(hashes.begin(), hashes.end(), ~uint64_t{0} - n);
    ExpectAdversarial(hashes);
    for (size_t i = 0; i < n; ++i) hashes[i] = i << 40;
    ExpectAdversarial(hashes);
  }
}

TEST(PerfectHashAdversarial, SharedPrefix) {
  Hashes hashes = RandomHashes(60'000, 9);
  for (uint64_t& hash : hashes) hash = 0xabcdef0123ull << 24 | (hash >> 40);
  ExpectAdversarial(hashes);
  hashes.push_back(~uint64_t{0});  // one outlier: the range no longer fits the rest
  hashes.push_back(0);
  ExpectAdversarial(hashes);
}

TEST(PerfectHashAdversarial, SharedSuffix) {
  Hashes hashes = RandomHashes(60'000, 9);
  for (uint64_t& hash : hashes) hash = hash << 40 | 0x1234567;
  ExpectAdversarial(hashes);
}

TEST(PerfectHashAdversarial, OneBitApart) {
  Hashes hashes;
  for (int i = 0; i < 64; ++i) hashes.push_back(uint64_t{1} << i);
  hashes.push_back(0);
  ExpectAdversarial(hashes);
  hashes.clear();
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k) hashes.push_back(1ull << i | 1ull << j | 1ull << k);
    }
  }
  ExpectAdversarial(hashes);
}

TEST(PerfectHashAdversarial, Clusters) {
  Hashes hashes;
  std::mt19937_64 rng(4);
  for (int cluster = 0; cluster < 40; ++cluster) {
    const uint64_t base = rng();
    for (uint64_t i = 0; i < 3000; ++i) hashes.push_back(base + i * i);
  }
  ExpectAdversarial(hashes);
}

// Hashes that all fall into one bucket of the first level (which has 858): found by search,
// as an adversary who knows the seed could.
TEST(PerfectHashAdversarial, OneBucket) {
  Hashes hashes;
  std::mt19937_64 rng(4);
  const uint64_t level_seed = LevelSeed(0, 0);
  while (hashes.size() < 3000) {
    const uint64_t hash = rng();
    if (BucketOf(LevelBits(hash, level_seed), 858) == 17) hashes.push_back(hash);
  }
  std::string bytes;
  ASSERT_TRUE(Build(hashes, BuildOptions(), &bytes).ok);
  ExpectPerfect(hashes, bytes);
}

TEST(PerfectHash, BatchEqualsScalar) {
  for (const size_t n : {0, 1, 2, 40, 3000, 200'000}) {
    const Hashes hashes = RandomHashes(n, 8);
    const std::string bytes = BuildOk(hashes);
    Function f;
    ASSERT_TRUE(Function::Open(AsBytes(bytes), &f));
    ExpectInBounds(f, n, 5003);
    Hashes slots = hashes;
    f.Batch(slots.data(), slots.data(), slots.size());  // in place
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(slots[i], f(hashes[i]));
  }
}

TEST(PerfectHash, UnalignedBytes) {
  const Hashes hashes = RandomHashes(20'000, 8);
  const std::string bytes = BuildOk(hashes);
  for (size_t offset = 1; offset < 8; ++offset) {
    const std::string shifted = std::string(offset, 'x') + bytes;
    Function a, b;
    ASSERT_TRUE(Function::Open(AsBytes(bytes), &a));
    ASSERT_TRUE(Function::Open(AsBytes(shifted).subspan(offset), &b));
    for (const uint64_t hash : hashes) ASSERT_EQ(a(hash), b(hash));
  }
}

TEST(PerfectHashDamaged, EveryTruncationIsRefused) {
  for (const size_t n : {0, 1, 2, 5, 300, 20'000}) {
    SCOPED_TRACE(std::to_string(n) + " keys");
    ExpectCutsRefused(BuildOk(RandomHashes(n, 8)));
  }
}

TEST(PerfectHashDamaged, BitFlipsStayInBounds) {
  Hashes clusters;  // needs the mixed form
  for (uint64_t i = 0; i < 20'000; ++i) clusters.push_back(i % 2 == 0 ? i : i << 30);
  size_t opened = 0;
  for (const Hashes& hashes : {RandomHashes(2, 1), RandomHashes(3, 1), RandomHashes(60, 1),
                               RandomHashes(700, 1), RandomHashes(20'000, 1), clusters}) {
    opened += ExpectFlipsInBounds(BuildOk(hashes), 64);
  }
  EXPECT_GT(opened, 1000u);
}

TEST(PerfectHashDamaged, RandomBytesStayInBounds) {
  std::mt19937_64 rng(7);
  size_t opened = 0;
  for (int round = 0; round < 200'000; ++round) {
    // Plausible beginnings, so that some get past the first checks.
    std::string bytes{1, static_cast<char>(rng() % 4), static_cast<char>(rng() % 3)};
    bytes.push_back(static_cast<char>(rng() % 8));
    bytes.push_back(static_cast<char>(rng() % 8));
    for (size_t left = rng() % 40; left > 0; --left) {
      bytes.push_back(static_cast<char>(rng() % 3 == 0 ? rng() : rng() % 3));
    }
    const auto copy = Exact(bytes);
    Function f;
    if (!Function::Open({copy.get(), bytes.size()}, &f)) continue;
    ++opened;
    ExpectInBounds(f, round, 16);
  }
  EXPECT_GT(opened, 0u);
}

// docs/formats/perfect_hash.md: files in this form exist, so they must stay readable.
TEST(PerfectHash, ReadsTheWorkedExample) {
  const std::vector<uint8_t> bytes = {0x01, 0x00, 0x01, 0x06, 0x06, 0, 0, 0, 0, 0,   0,    0, 0,
                                      0x01, 0x02, 0,    0,    0,    0, 0, 6, 0, 0, 0x2c, 0x00};
  Function f;
  ASSERT_TRUE(Function::Open(bytes, &f));
  EXPECT_EQ(f.kind(), Kind::kPilot);
  EXPECT_EQ(f.keys(), 6u);
  EXPECT_EQ(f.slots(), 6u);
  const uint64_t expected[] = {2, 5, 0, 4, 1, 3};
  for (uint64_t i = 1; i <= 6; ++i) EXPECT_EQ(f(i * 0x9e3779b97f4a7c15ull), expected[i - 1]);
}

TEST(PerfectHash, UnknownKindIsRefused) {
  std::string bytes = "old";
  BuildOptions options;
  options.kind = static_cast<Kind>(200);
  EXPECT_FALSE(Build(Hashes{1, 2}, options, &bytes).ok);
  EXPECT_TRUE(bytes.empty());
}

}  // namespace
}  // namespace compassdb::perfect_hash
