// SPDX-License-Identifier: Apache-2.0
// The common part of CHD and PTHash: keys grouped by bucket, the largest buckets first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace perfect_hash_bench {

struct Buckets {
  std::vector<uint32_t> order;  // buckets, largest first
  std::vector<uint64_t> begin;  // per place in `order`, and one past
  std::vector<uint64_t> keys;   // what key_of gave, grouped

  template <typename BucketOf, typename KeyOf>
  void Fill(std::span<const uint64_t> hashes, uint32_t buckets, BucketOf bucket_of, KeyOf key_of) {
    std::vector<uint32_t> size(buckets, 0);
    for (const uint64_t hash : hashes) ++size[bucket_of(hash)];
    uint32_t largest = 0;
    for (const uint32_t s : size) largest = s > largest ? s : largest;
    std::vector<uint32_t> place(largest + 2, 0);
    for (const uint32_t s : size) ++place[largest - s + 1];
    for (uint32_t i = 0; i <= largest; ++i) place[i + 1] += place[i];
    order.resize(buckets);
    for (uint32_t b = 0; b < buckets; ++b) order[place[largest - size[b]]++] = b;
    begin.resize(buckets + 1);
    std::vector<uint64_t> cursor(buckets);
    uint64_t sum = 0;
    for (uint32_t o = 0; o < buckets; ++o) {
      begin[o] = cursor[order[o]] = sum;
      sum += size[order[o]];
    }
    begin[buckets] = sum;
    keys.resize(hashes.size());
    for (const uint64_t hash : hashes) keys[cursor[bucket_of(hash)]++] = key_of(hash);
  }
};

class Bitmap {
 public:
  explicit Bitmap(uint64_t bits) : words_(bits / 64 + 1) {}
  bool Get(uint64_t i) const { return (words_[i >> 6] >> (i & 63) & 1) != 0; }
  void Set(uint64_t i) { words_[i >> 6] |= uint64_t{1} << (i & 63); }
  void Clear(uint64_t i) { words_[i >> 6] &= ~(uint64_t{1} << (i & 63)); }

 private:
  std::vector<uint64_t> words_;
};

// Tries candidates 0, 1, ... until position(key, candidate) sends every key to a free slot of its
// own, which it takes. `limit` if there is none.
template <typename Position>
uint32_t Place(std::span<const uint64_t> keys, uint32_t limit, Bitmap* taken,
               const Position& position) {
  for (uint32_t c = 0; c < limit; ++c) {
    size_t k = 0;
    while (k < keys.size() && !taken->Get(position(keys[k], c))) ++k;
    if (k < keys.size()) continue;
    for (k = 0; k < keys.size() && !taken->Get(position(keys[k], c)); ++k) {
      taken->Set(position(keys[k], c));
    }
    if (k == keys.size()) return c;
    while (k-- > 0) taken->Clear(position(keys[k], c));  // two keys met
  }
  return limit;
}

}  // namespace perfect_hash_bench
