// SPDX-License-Identifier: Apache-2.0
// Space, build time and query time of the perfect hash functions, one thread, process CPU time.
//
//   perfect_hash_bench [--sizes=10000,100000,...] [--seconds=S] [--lambda=L] [--load=A]
//                      [--segment=K]      (what these mean: PilotTuning)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "perfect_hash/perfect_hash.h"
#include "perfect_hash/pilot_builder.h"

namespace {

using compassdb::perfect_hash::BuildPilotFunction;
using compassdb::perfect_hash::Function;
using compassdb::perfect_hash::PilotTuning;

double seconds_per_point = 0.3;

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Nanoseconds per item of the fastest of several runs of `body`, which handles `items` items.
template <typename Body>
double NanosPerItem(size_t items, const Body& body) {
  double best = 1e300;
  double spent = 0;
  for (int round = 0; round < 3 || (spent < seconds_per_point && round < 1000); ++round) {
    const double start = CpuSeconds();
    body();
    const double took = CpuSeconds() - start;
    best = std::min(best, took);
    spent += took;
  }
  return best * 1e9 / static_cast<double>(items);
}

volatile uint64_t sink;

void Measure(size_t n, const PilotTuning& tuning) {
  std::mt19937_64 rng(n);
  std::vector<uint64_t> hashes(n);
  for (uint64_t& hash : hashes) hash = rng();
  std::vector<uint64_t> sorted = hashes;
  std::sort(sorted.begin(), sorted.end());

  std::string bytes;
  const double build_sorted =
      NanosPerItem(n, [&] { BuildPilotFunction(sorted, 1, true, tuning, {}, &bytes); });
  const double build_unsorted =
      NanosPerItem(n, [&] { BuildPilotFunction(hashes, 1, false, tuning, {}, &bytes); });

  Function f;
  if (!Function::Open({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, &f)) {
    std::fprintf(stderr, "the function does not open\n");
    std::exit(1);
  }
  std::vector<bool> taken(f.slots());
  for (const uint64_t hash : hashes) {
    if (taken[f(hash)]) {
      std::fprintf(stderr, "the function is not perfect\n");
      std::exit(1);
    }
    taken[f(hash)] = true;
  }

  std::vector<uint64_t> queries(std::min<size_t>(n, 1 << 20));
  for (uint64_t& query : queries) query = hashes[rng() % n];
  const double throughput = NanosPerItem(queries.size(), [&] {
    uint64_t sum = 0;
    for (const uint64_t query : queries) sum += f(query);
    sink = sum;
  });
  const double dependent = NanosPerItem(queries.size(), [&] {
    uint64_t slot = 0;
    for (const uint64_t query : queries) slot = f(query + (slot >> 63));  // adds 0
    sink = slot;
  });
  const double batch = NanosPerItem(queries.size(), [&] {
    uint64_t slots[16];
    uint64_t sum = 0;
    for (size_t i = 0; i + 16 <= queries.size(); i += 16) {
      f.Batch(&queries[i], slots, 16);
      sum += slots[0] + slots[15];
    }
    sink = sum;
  });
  const double bits = static_cast<double>(bytes.size()) * 8 / static_cast<double>(n);
  const double slots = static_cast<double>(f.slots()) / static_cast<double>(n);
  std::printf("%10zu  %7.3f  %7.4f  %7.2f  %9.1f  %9.1f  %9.1f  %9.1f  %9.1f\n", n, bits, slots,
              bits + 12 * slots, build_sorted, build_unsorted, throughput, dependent, batch);
  std::fflush(stdout);
}

bool Flag(const char* arg, const char* name, double* value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(arg, name, length) != 0 || arg[length] != '=') return false;
  *value = std::atof(arg + length + 1);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  PilotTuning tuning;
  std::vector<size_t> sizes = {10'000, 100'000, 1'000'000, 10'000'000};
  for (int i = 1; i < argc; ++i) {
    const char* arg = argv[i];
    if (std::strncmp(arg, "--sizes=", 8) == 0) {
      sizes.clear();
      for (const char* p = arg + 8; *p != '\0'; p += *p == ',') {
        char* end;
        const size_t size = std::strtoull(p, &end, 10);
        if (end == p) break;
        if (size > 0) sizes.push_back(size);
        p = end;
      }
    } else if (!Flag(arg, "--seconds", &seconds_per_point) &&
               !Flag(arg, "--lambda", &tuning.keys_per_bucket) &&
               !Flag(arg, "--load", &tuning.load) &&
               !Flag(arg, "--segment", &tuning.segment_keys)) {
      std::fprintf(stderr, "perfect_hash_bench: unknown argument %s\n", arg);
      return 2;
    }
  }
  std::printf("%10s  %7s  %7s  %7s  %9s  %9s  %9s  %9s  %9s\n", "keys", "bits", "slots", "bits",
              "build ns", "build ns", "query ns", "query ns", "query ns");
  std::printf("%10s  %7s  %7s  %7s  %9s  %9s  %9s  %9s  %9s\n", "", "/key", "/key", "+12/slot",
              "sorted", "unsorted", "thruput", "depend.", "batch 16");
  for (const size_t n : sizes) Measure(n, tuning);
  return 0;
}
