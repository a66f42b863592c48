// SPDX-License-Identifier: Apache-2.0
// Keys, clock and the one way in which every function is measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace perfect_hash_bench {

// The same keys as in rivals/src/main.rs.
inline uint64_t SplitMix(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

struct KeySet {
  KeySet(size_t n, uint64_t key_seed, bool in_order) : seed(key_seed), sorted(in_order), keys(n) {
    for (size_t i = 0; i < n; ++i) keys[i] = SplitMix(seed, i);
    queries.resize(std::min<size_t>(n, 1 << 20));
    for (size_t i = 0; i < queries.size(); ++i) queries[i] = keys[SplitMix(~seed, i) % n];
    if (sorted) std::sort(keys.begin(), keys.end());
  }

  const uint64_t seed;
  const bool sorted;
  std::vector<uint64_t> keys;
  std::vector<uint64_t> queries;  // of the set, in random order, at most 2^20
};

// Per key. Negative: there is none.
struct Sample {
  double bits = -1;
  double slots = -1;
  double build_ns = -1;
  double query_ns = -1;
  double batch_ns = -1;  // in batches of 16
};

struct Contender {
  std::string name;
  std::function<Sample(const KeySet&)> measure;
};

inline double CpuNanos() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

inline volatile uint64_t sink;

// The fastest of `runs` runs; more until 30 ms have passed.
template <typename Body>
double NanosPerItem(size_t items, int runs, const Body& body) {
  double best = 1e300;
  double spent = 0;
  for (int run = 0; run < runs || (spent < 30e6 && run < 200); ++run) {
    const double start = CpuNanos();
    body();
    const double took = CpuNanos() - start;
    best = std::min(best, took);
    spent += took;
  }
  return best / static_cast<double>(items);
}

// build() makes a function f with f(key) -> slot, slots() and SizeBytes().
template <typename Build>
Sample MeasureFunction(const KeySet& set, const Build& build) {
  decltype(build()) f;
  const size_t n = set.keys.size();
  Sample sample;
  sample.build_ns = NanosPerItem(n, 1, [&] { f = build(); });
  sample.bits = static_cast<double>(f.SizeBytes()) * 8 / static_cast<double>(n);
  sample.slots = static_cast<double>(f.slots()) / static_cast<double>(n);
  std::vector<bool> taken(f.slots());
  for (const uint64_t key : set.keys) {
    const uint64_t slot = f(key);
    if (slot >= f.slots() || taken[slot]) {
      std::fprintf(stderr, "perfect_hash_bench: a function is not perfect\n");
      std::exit(1);
    }
    taken[slot] = true;
  }
  sample.query_ns = NanosPerItem(set.queries.size(), 3, [&] {
    uint64_t sum = 0;
    for (const uint64_t query : set.queries) sum += f(query);
    sink = sum;
  });
  if constexpr (requires(uint64_t* slots) { f.Batch(slots, slots, 16); }) {
    sample.batch_ns = NanosPerItem(set.queries.size(), 3, [&] {
      uint64_t slots[16];
      uint64_t sum = 0;
      for (size_t i = 0; i + 16 <= set.queries.size(); i += 16) {
        f.Batch(&set.queries[i], slots, 16);
        sum += slots[0] + slots[15];
      }
      sink = sum;
    });
  }
  return sample;
}

}  // namespace perfect_hash_bench
