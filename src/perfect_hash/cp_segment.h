// SPDX-License-Identifier: Apache-2.0
// Builds one segment of CPHash in the paper's three steps. Mapping: 60 % of the keys to the dense
// 30 % of buckets. Ordering: largest buckets first. Searching: for each bucket a displacement pair
// that sends its keys to free slots. Pairs found before are tried first, the oldest, which have
// succeeded most often, before the younger; a bucket that none of them suits takes the first of
// all pairs that does, which joins the dictionary. So the dictionary stays small, and with
// it the codes.
//
// When no pair is left: two keys that meet under every pair need another seed, otherwise the
// segment gets more slots (the paper's 4.1.1). Either way the search starts again.
//
// Thread safety: none; one builder per thread, reused for many segments.
// Invariants: the result depends on the set of keys and the parameters only, not on their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "perfect_hash/cp_format.h"
#include "perfect_hash/cp_search.h"

namespace compassdb::perfect_hash {

struct CpSegment {
  uint8_t seed = 0;
  uint32_t slots = 0;
  std::vector<uint16_t> pairs;  // the dictionary, in order of finding
  std::vector<uint16_t> codes;  // per bucket: index into pairs
};

class CpSegmentBuilder {
 public:
  enum class Result { kDone, kRepeats, kHopeless };

  CpSegmentBuilder() : find_pair_(ChooseFindPair()) {}

  // slots >= 2 to begin with. kRepeats: some key occurs twice. kHopeless: after many tries;
  // keys drawn at random do not come to that.
  Result Build(std::span<const uint64_t> keys, uint64_t level_seed, uint32_t buckets,
               uint32_t slots, CpSegment* out);

 private:
  enum class Failure { kNone, kRepeats, kInseparable, kFull };

  bool MapAndOrder(std::span<const uint64_t> keys, uint64_t level_seed, uint32_t buckets);
  void HashUnder(uint8_t seed);
  Failure Search(CpSegment* out);
  uint32_t PairFor(const uint32_t* h0, const uint32_t* h1, uint32_t size, const CpSlots& slots,
                   CpSegment* out);
  Failure ExplainFailure(uint32_t begin, uint32_t end, uint32_t slots) const;

  const FindPairFunction find_pair_;
  std::vector<uint64_t> key_bits_;      // per key: LevelBits
  std::vector<uint32_t> key_bucket_;    // per key
  std::vector<uint64_t> bits_;          // LevelBits, grouped by bucket, buckets in order of search
  std::vector<uint32_t> h0_, h1_;       // likewise
  std::vector<uint32_t> order_;         // buckets, largest first
  std::vector<uint32_t> order_begin_;   // per place in order_, and one past: first key
  std::vector<uint32_t> size_;          // per bucket
  std::vector<uint32_t> cursor_;
  std::vector<uint32_t> occupied_;      // bitmap of slots
  std::vector<Candidate> dictionary_;   // pairs found, padded
};

}  // namespace compassdb::perfect_hash
