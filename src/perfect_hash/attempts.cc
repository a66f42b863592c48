// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/attempts.h"

#include <algorithm>
#include <vector>

#include "perfect_hash/hash_mapping.h"
#include "perfect_hash/partition.h"

namespace compassdb::perfect_hash {
namespace {

constexpr uint32_t kMixedAttempts = 4;

}  // namespace

uint64_t BuildByAttempts(std::span<const uint64_t> hashes, uint64_t seed, bool sorted,
                         const std::function<Outcome(const Attempt&)>& attempt) {
  std::vector<uint64_t> distinct;
  if (sorted) {
    bool ascending = true;
    bool repeats = false;
    for (size_t i = 1; i < hashes.size(); ++i) {
      ascending &= hashes[i - 1] <= hashes[i];
      repeats |= hashes[i - 1] == hashes[i];
    }
    sorted = ascending;
    if (ascending && repeats) {
      distinct.resize(hashes.size());
      distinct.erase(std::unique_copy(hashes.begin(), hashes.end(), distinct.begin()),
                     distinct.end());
      hashes = distinct;
    }
  }
  const auto run = [&] { return attempt({hashes, sorted, seed, false, false}) == Outcome::kDone; };
  if (run()) return hashes.size();
  if (!sorted) {
    // Repeats, or a bad spread that repeats may cause: reduce to the set and retry.
    distinct = SortDistinct(hashes);
    hashes = distinct;
    sorted = true;
    if (run()) return hashes.size();
  }
  std::vector<uint64_t> mixed(hashes.size());
  for (uint32_t i = 1;; ++i) {
    seed = NextSeed(seed);
    for (size_t k = 0; k < hashes.size(); ++k) mixed[k] = MixHash(hashes[k], seed);
    if (attempt({mixed, false, seed, true, i >= kMixedAttempts}) == Outcome::kDone) {
      return hashes.size();
    }
  }
}

}  // namespace compassdb::perfect_hash
