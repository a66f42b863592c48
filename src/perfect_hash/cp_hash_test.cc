// SPDX-License-Identifier: Apache-2.0
// CPHash: what perfect_hash_test.cc asks of the default function, and what is particular to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "perfect_hash/cp_builder.h"
#include "perfect_hash/cp_format.h"
#include "perfect_hash/cp_search.h"
#include "perfect_hash/cp_segment.h"
#include "perfect_hash/hash_mapping.h"
#include "perfect_hash/testing.h"

namespace compassdb::perfect_hash {
namespace {

constexpr double kLoad = 1.1;  // slots per key

std::string BuildCp(const Hashes& hashes, bool sorted = false, uint64_t seed = 0) {
  return BuildOk(hashes, sorted, seed, Kind::kCpHash);
}

Function OpenOk(const std::string& bytes) {
  Function f;
  EXPECT_TRUE(Function::Open(AsBytes(bytes), &f));
  return f;
}

// Makes every search within its life use one instruction set.
class Forced {
 public:
  explicit Forced(Simd simd) : there_(ForceSimd(simd)) {}
  ~Forced() { ForceSimd(Simd::kAuto); }
  bool there() const { return there_; }

 private:
  const bool there_;
};

TEST(CpHash, EverySmallSize) {
  for (size_t n = 0; n <= 1500; ++n) {
    const Hashes hashes = RandomHashes(n, n);
    const std::string bytes = BuildCp(hashes);
    ExpectPerfect(hashes, bytes, 1.2);  // a few small sets need more slots
    ASSERT_EQ(OpenOk(bytes).kind(), Kind::kCpHash);
    ASSERT_LE(bytes.size(), 64 + n / 2) << n;
  }
}

TEST(CpHash, NoKeys) {
  const std::string bytes = BuildCp({});
  const Function f = OpenOk(bytes);
  EXPECT_EQ(f.keys(), 0u);
  EXPECT_EQ(f.slots(), 0u);
  EXPECT_EQ(f(12345), 0u);
  f.Prefetch(1);
  EXPECT_LE(bytes.size(), 8u);
}

TEST(CpHash, LargeSetsAreSmallAndAtLoad90) {
  for (const size_t n : {10'000, 33'000, 100'000, 400'000}) {
    const Hashes hashes = RandomHashes(n, n);
    const std::string bytes = BuildCp(hashes);
    ExpectPerfect(hashes, bytes, 1.102);
    EXPECT_LE(static_cast<double>(bytes.size()) * 8, 2.2 * static_cast<double>(n)) << n;
  }
}

TEST(CpHash, SegmentsFollowTheSize) {
  CpTuning tuning;
  tuning.min_segment_keys = 100;
  tuning.max_segment_keys = 500;
  for (const size_t n : {99, 1000, 6400, 40'000}) {
    const Hashes hashes = RandomHashes(n, n);
    std::string bytes;
    EXPECT_EQ(BuildCpFunction(hashes, 1, false, tuning, {}, &bytes), n);
    ExpectPerfect(hashes, bytes, 1.15);
  }
}

TEST(CpHash, OrderRepeatsAndThreadsDoNotMatter) {
  for (const size_t n : {2, 7, 100, 5000, 70'000, 150'000}) {
    const Hashes hashes = RandomHashes(n, 1);
    const std::string bytes = BuildCp(hashes);
    EXPECT_EQ(bytes, BuildCp(Sorted(hashes), true));
    EXPECT_EQ(bytes, BuildCp(Sorted(hashes), false));
    EXPECT_EQ(bytes, BuildCp(hashes, true)) << "a wrong claim of order";
    Hashes repeated = hashes;
    for (size_t i = 0; i < n; i += 3) repeated.insert(repeated.end(), i % 5 + 1, hashes[i]);
    std::shuffle(repeated.begin(), repeated.end(), std::mt19937_64(1));
    EXPECT_EQ(bytes, BuildCp(repeated));
    EXPECT_EQ(bytes, BuildCp(Sorted(repeated), true));
    BuildOptions options;
    options.kind = Kind::kCpHash;
    options.threads = 3;
    std::string threaded;
    ASSERT_TRUE(Build(repeated, options, &threaded).ok);
    EXPECT_EQ(bytes, threaded);
    EXPECT_NE(bytes, BuildCp(hashes, false, 99)) << "the seed matters";
  }
}

TEST(CpHash, AllHashesEqual) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{42}, ~uint64_t{0}}) {
    for (const bool sorted : {false, true}) {
      ExpectPerfect({value}, BuildCp(Hashes(100'000, value), sorted));
    }
  }
}

TEST(CpHash, SimdFormsGiveTheSameBytes) {
  size_t forms = 0;
  for (const size_t n : {1, 2, 10, 64, 777, 20'000, 120'000}) {
    const Hashes hashes = RandomHashes(n, n + 5);
    std::string scalar;
    {
      const Forced forced(Simd::kScalar);
      ASSERT_TRUE(forced.there());
      scalar = BuildCp(hashes);
    }
    for (const Simd simd : {Simd::kAvx2, Simd::kAvx512}) {
      const Forced forced(simd);
      if (!forced.there()) continue;
      ++forms;
      EXPECT_EQ(scalar, BuildCp(hashes)) << n;
    }
    EXPECT_EQ(scalar, BuildCp(hashes)) << n;
  }
  if (forms == 0) GTEST_SKIP() << "this processor has neither AVX2 nor AVX-512";
}

// The search alone, against equation 1 by the letter.
TEST(CpHash, SearchFindsTheFirstPairThatFits) {
  std::mt19937_64 rng(6);
  for (int round = 0; round < 1000; ++round) {
    const uint32_t slots = 2 + static_cast<uint32_t>(rng() % (round % 4 != 0 ? 100 : 70'000));
    std::vector<uint32_t> occupied(slots / 32 + 1);
    const uint32_t percent = static_cast<uint32_t>(rng() % 100);
    for (uint32_t s = 0; s < slots; ++s) {
      if (rng() % 100 < percent) occupied[s / 32] |= 1u << s % 32;
    }
    const uint32_t keys = 1 + static_cast<uint32_t>(rng() % 6);
    std::vector<uint32_t> h0(keys), h1(keys);
    for (uint32_t k = 0; k < keys; ++k) {
      const CpHash hash = CpHashOf(rng(), 3);
      h0[k] = hash.h0;
      h1[k] = hash.h1;
    }
    const uint32_t count = static_cast<uint32_t>(rng() % 300);
    std::vector<Candidate> candidates(count + kCandidatePadding);
    for (uint32_t c = 0; c < count; ++c) candidates[c] = MakeCandidate(c, rng() % kCpPairs);
    uint32_t expected = kNoCandidate;
    for (uint32_t c = 0; c < count && expected == kNoCandidate; ++c) {
      const uint64_t alpha = PairOf(candidates[c]) >> 6, beta = PairOf(candidates[c]) & 63;
      std::vector<uint64_t> at;
      for (uint32_t k = 0; k < keys; ++k) at.push_back((h0[k] + h1[k] * alpha + beta) % slots);
      std::sort(at.begin(), at.end());
      bool fits = std::adjacent_find(at.begin(), at.end()) == at.end();
      for (const uint64_t s : at) fits = fits && (occupied[s / 32] >> s % 32 & 1) == 0;
      if (fits) expected = c;
    }
    for (const Simd simd : {Simd::kScalar, Simd::kAvx2, Simd::kAvx512}) {
      const Forced forced(simd);
      if (!forced.there()) continue;
      const CpSlots table{occupied.data(), slots, FastModMultiplier(slots)};
      ASSERT_EQ(ChooseFindPair()(h0.data(), h1.data(), keys, candidates.data(), count, table),
                expected);
    }
  }
}

TEST(CpHash, FastModIsTheRemainder) {
  std::mt19937_64 rng(6);
  for (int round = 0; round < 200'000; ++round) {
    const uint32_t divisor = 2 + static_cast<uint32_t>(rng() >> (33 + rng() % 31));
    const uint32_t multiplier = FastModMultiplier(divisor);
    for (const uint32_t x : {static_cast<uint32_t>(rng()), 0u, 1u, divisor - 1, divisor, ~0u,
                             ~0u - ~0u % divisor, ~0u - ~0u % divisor - 1}) {
      ASSERT_EQ(FastMod(x, divisor, multiplier), x % divisor) << x << " mod " << divisor;
    }
  }
}

TEST(CpHash, MappingIsEquation2) {
  constexpr uint32_t kBuckets = 1000;
  std::mt19937_64 rng(6);
  std::vector<uint32_t> load(kBuckets);
  for (int i = 0; i < 1'000'000; ++i) ++load[CpBucketOf(rng(), kBuckets, DenseBuckets(kBuckets))];
  const auto sum = [&](int first, int last) {
    return std::accumulate(load.begin() + first, load.begin() + last, 0.0);
  };
  EXPECT_NEAR(sum(0, 300), 600'000, 3000);
  EXPECT_NEAR(sum(0, 150), 300'000, 3000);
  EXPECT_NEAR(sum(300, 650), 200'000, 3000);
  EXPECT_EQ(DenseBuckets(kBuckets), 300u);
}

// Two keys that meet under every pair: another seed, at the same number of slots.
TEST(CpHash, InseparableKeysAreReseeded) {
  const uint64_t level_seed = LevelSeed(0, 0);
  constexpr uint32_t kSlots = 50;
  std::mt19937_64 rng(6);
  const uint64_t first = rng();
  const CpHash a = CpHashOf(LevelBits(first, level_seed), 0);
  Hashes keys = {first};
  while (keys.size() < 2) {
    const uint64_t hash = rng();
    const CpHash b = CpHashOf(LevelBits(hash, level_seed), 0);
    if (a.h0 % kSlots == b.h0 % kSlots && a.h1 % kSlots == b.h1 % kSlots) keys.push_back(hash);
  }
  CpSegment segment;
  CpSegmentBuilder builder;
  ASSERT_EQ(builder.Build(keys, level_seed, 1, kSlots, &segment), CpSegmentBuilder::Result::kDone);
  EXPECT_GT(segment.seed, 0);
  EXPECT_EQ(segment.slots, kSlots);
}

// As many slots as keys, in one bucket: no pair fits until there are more.
TEST(CpHash, SlotsAreAddedWhenAttemptsRunOut) {
  const Hashes keys = RandomHashes(40, 3);
  CpSegment segment;
  CpSegmentBuilder builder;
  ASSERT_EQ(builder.Build(keys, 1, 4, 40, &segment), CpSegmentBuilder::Result::kDone);
  EXPECT_GT(segment.slots, 40u);
  EXPECT_LT(segment.slots, 80u);
  Hashes repeated = keys;
  repeated.push_back(keys[7]);
  EXPECT_EQ(builder.Build(repeated, 1, 4, 40, &segment), CpSegmentBuilder::Result::kRepeats);
  EXPECT_EQ(builder.Build(RandomHashes(500, 3), 1, 1, 600, &segment),
            CpSegmentBuilder::Result::kHopeless);
}

// Parameters are found once and used again: far fewer pairs than buckets.
TEST(CpHash, PairsAreReused) {
  CpSegment segment;
  CpSegmentBuilder builder;
  ASSERT_EQ(builder.Build(RandomHashes(20'000, 3), 1, 4000, 22'000, &segment),
            CpSegmentBuilder::Result::kDone);
  EXPECT_LT(segment.pairs.size(), 500u);
  Hashes distinct(segment.pairs.begin(), segment.pairs.end());
  std::sort(distinct.begin(), distinct.end());
  EXPECT_EQ(std::adjacent_find(distinct.begin(), distinct.end()), distinct.end());
}

TEST(CpHashAdversarial, EverySetGetsAFunction) {
  Hashes sequence(100'000);
  std::iota(sequence.begin(), sequence.end(), 0);
  Hashes clusters;
  for (uint64_t i = 0; i < 60'000; ++i) clusters.push_back(i % 2 == 0 ? i : i << 30);
  Hashes prefix = RandomHashes(60'000, 9);
  for (uint64_t& hash : prefix) hash = 0xabcdef0123ull << 24 | (hash >> 40);
  prefix.push_back(~uint64_t{0});
  Hashes bucket;  // one bucket of the only segment (which has 600), if the seed is known
  std::mt19937_64 rng(4);
  while (bucket.size() < 3000) {
    const uint64_t hash = rng();
    if (CpBucketOf(LevelBits(hash, LevelSeed(0, 0)), 600, DenseBuckets(600)) == 17) {
      bucket.push_back(hash);
    }
  }
  for (const Hashes& hashes : {sequence, clusters, prefix, bucket}) {
    const std::string bytes = BuildCp(hashes);
    ExpectPerfect(hashes, bytes, kLoad + 0.01);
    EXPECT_EQ(bytes, BuildCp(Sorted(hashes), true));
    EXPECT_EQ(OpenOk(bytes).kind(), Kind::kCpHash);
  }
}

// A table of few buckets is like a set that no seed can place.
TEST(CpHashAdversarial, AHopelessSetGetsTheDefaultFunction) {
  CpTuning tuning;
  tuning.keys_per_bucket = 200;
  const Hashes hashes = RandomHashes(1000, 1);
  std::string bytes;
  EXPECT_EQ(BuildCpFunction(hashes, 0, false, tuning, {}, &bytes), hashes.size());
  ExpectPerfect(hashes, bytes);
  EXPECT_EQ(bytes, BuildOk(hashes));
}

TEST(CpHash, BatchEqualsScalar) {
  for (const size_t n : {0, 1, 2, 40, 3000, 100'000}) {
    const Hashes hashes = RandomHashes(n, 8);
    const std::string bytes = BuildCp(hashes);
    const Function f = OpenOk(bytes);
    ExpectInBounds(f, n, 5003);
    Hashes slots = hashes;
    f.Batch(slots.data(), slots.data(), slots.size());  // in place
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(slots[i], f(hashes[i]));
  }
}

TEST(CpHash, UnalignedBytes) {
  const Hashes hashes = RandomHashes(40'000, 8);
  const std::string bytes = BuildCp(hashes);
  for (size_t offset = 1; offset < 8; ++offset) {
    const std::string shifted = std::string(offset, 'x') + bytes;
    Function b;
    ASSERT_TRUE(Function::Open(AsBytes(shifted).subspan(offset), &b));
    const Function a = OpenOk(bytes);
    for (const uint64_t hash : hashes) ASSERT_EQ(a(hash), b(hash));
  }
}

TEST(CpHashDamaged, EveryTruncationIsRefused) {
  for (const size_t n : {0, 1, 2, 5, 300, 40'000}) {
    SCOPED_TRACE(std::to_string(n) + " keys");
    ExpectCutsRefused(BuildCp(RandomHashes(n, 8)));
  }
}

TEST(CpHashDamaged, BitFlipsStayInBounds) {
  size_t opened = 0;
  for (const size_t n : {1, 3, 60, 700, 20'000, 40'000}) {
    opened += ExpectFlipsInBounds(BuildCp(RandomHashes(n, 1)), 80);
  }
  EXPECT_GT(opened, 1000u);
}

TEST(CpHashDamaged, RandomBytesStayInBounds) {
  std::mt19937_64 rng(7);
  size_t opened = 0;
  for (int round = 0; round < 300'000; ++round) {
    // Plausible beginnings, so that some get past the first checks.
    std::string bytes{2, static_cast<char>(rng() % 3 == 0)};
    const uint64_t slots = 2 + rng() % 8;
    bytes.push_back(static_cast<char>(rng() % (slots + 1)));
    bytes.push_back(static_cast<char>(slots));
    bytes.append(8, static_cast<char>(rng()));
    bytes.push_back(1);                               // segments
    bytes.push_back(static_cast<char>(rng() % 9));    // buckets
    bytes.push_back(static_cast<char>(rng() % 14));   // width
    bytes.push_back(static_cast<char>(rng() % 4));    // pairs
    bytes.append(7, '\0');
    bytes.push_back(static_cast<char>(rng()));
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(rng() % 6));
    bytes.push_back(static_cast<char>(slots));
    bytes.append(3, '\0');
    for (size_t left = rng() % 30; left > 0; --left) bytes.push_back(static_cast<char>(rng()));
    const auto copy = Exact(bytes);
    Function f;
    if (!Function::Open({copy.get(), bytes.size()}, &f)) continue;
    ++opened;
    ExpectInBounds(f, round, 16);
  }
  EXPECT_GT(opened, 1000u);
}

// docs/formats/perfect_hash.md: files in this form exist, so they must stay readable.
TEST(CpHash, ReadsTheWorkedExample) {
  const std::vector<uint8_t> bytes = {
      0x02, 0x00, 0x06, 0x08, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x02, 0x00, 0x01, 0, 0, 0, 0, 0,
      0,    0,    0x01, 0,    0, 0, 0, 8, 0, 0, 0, 0xc0, 0x00, 0, 0, 0, 0, 0, 0, 0, 0};
  Hashes hashes;
  for (uint64_t i = 1; i <= 6; ++i) hashes.push_back(i * 0x9e3779b97f4a7c15ull);
  EXPECT_EQ(BuildCp(hashes), std::string(bytes.begin(), bytes.end()));
  Function f;
  ASSERT_TRUE(Function::Open(bytes, &f));
  EXPECT_EQ(f.kind(), Kind::kCpHash);
  EXPECT_EQ(f.keys(), 6u);
  EXPECT_EQ(f.slots(), 8u);
  const uint64_t expected[] = {1, 2, 6, 3, 4, 0};
  for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(f(hashes[i]), expected[i]);
}

}  // namespace
}  // namespace compassdb::perfect_hash
