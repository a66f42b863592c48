// SPDX-License-Identifier: Apache-2.0
#include "perfect_hash/cp_search.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

// Scalar code is for processors without AVX2.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "perfect_hash/cp_search.cc"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace compassdb::perfect_hash {
namespace HWY_NAMESPACE {

// Whether no two keys meet under the pair.
HWY_ATTR inline bool Separates(uint32_t pair, const uint32_t* h0, const uint32_t* h1,
                               uint32_t keys, const CpSlots& slots) {
  uint32_t at[kCpMaxBucketSize];
  for (uint32_t k = 0; k < keys; ++k) {
    at[k] = FastMod(CpSum({h0[k], h1[k]}, pair), slots.slots, slots.multiplier);
    for (uint32_t i = 0; i < k; ++i) {
      if (at[i] == at[k]) return false;
    }
  }
  return true;
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

uint32_t FindPair(const uint32_t* h0, const uint32_t* h1, uint32_t keys,
                  const Candidate* candidates, uint32_t count, const CpSlots& slots) {
  for (uint32_t c = 0; c < count; ++c) {
    const uint32_t pair = PairOf(candidates[c]);
    uint32_t k = 0;
    for (; k < keys; ++k) {
      const uint32_t at = FastMod(CpSum({h0[k], h1[k]}, pair), slots.slots, slots.multiplier);
      if ((slots.occupied[at >> 5] >> (at & 31) & 1) != 0) break;
    }
    if (k == keys && Separates(pair, h0, h1, keys, slots)) return c;
  }
  return kNoCandidate;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<uint32_t>;
using Vector = hn::Vec<Lanes>;
using Mask = hn::Mask<Lanes>;

constexpr uint32_t kMaxChunk = 128;

#if HWY_TARGET == HWY_AVX2
// By bits of a mask: the lanes set, a nibble each, lowest first.
constexpr std::array<uint32_t, 256> kSelected = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t bits = 0; bits < 256; ++bits) {
    uint32_t shift = 0;
    for (uint32_t lane = 0; lane < 8; ++lane) {
      if ((bits >> lane & 1) == 0) continue;
      table[bits] |= lane << shift;
      shift += 4;
    }
  }
  return table;
}();
#endif

// Upper halves of the 64-bit products of 32-bit lanes; all lanes of b are equal.
HWY_ATTR HWY_INLINE Vector MulHigh32(Vector a, Vector b) {
  const Lanes d;
  const hn::RepartitionToWide<Lanes> wide;
  const auto odd_a = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a)));
  const auto even = hn::ShiftRight<32>(hn::MulEven(a, b));
  const auto odd = hn::MulEven(odd_a, b);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even));
}

// Appends the lanes of v that mask selects to a list with room for a whole vector more. Returns the
// new length.
HWY_ATTR HWY_INLINE uint32_t Append(Vector v, Mask mask, uint32_t* list, uint32_t length) {
  const Lanes d;
#if HWY_TARGET == HWY_AVX2
  // hn::Compress of Highway 1.0 copies its table to the stack at every call.
  uint8_t bits[8];
  hn::StoreMaskBits(d, mask, bits);
  const Vector shifts = hn::ShiftLeft<2>(hn::Iota(d, 0));
  const Vector lanes = hn::And(hn::Shr(hn::Set(d, kSelected[bits[0]]), shifts), hn::Set(d, 7));
  hn::StoreU(hn::TableLookupLanes(v, hn::IndicesFromVec(d, lanes)), d, list + length);
  return length + static_cast<uint32_t>(std::popcount(bits[0]));
#else
  hn::StoreU(hn::Compress(v, mask), d, list + length);
  return length + static_cast<uint32_t>(hn::CountTrue(d, mask));
#endif
}

struct Key {
  Vector h0, h1;
};

// Which candidates send the key to a free slot.
HWY_ATTR HWY_INLINE Mask Free(Key key, Vector candidates, Vector size, Vector multiplier,
                              const uint32_t* occupied) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> signed_lanes;
  const Vector beta_mask = hn::Set(d, (1u << kCpBetaBits) - 1);
  const Vector alpha_mask = hn::Set(d, (kCpPairs >> kCpBetaBits) - 1);
  const Vector alpha = hn::And(hn::ShiftRight<kCpBetaBits>(candidates), alpha_mask);
  const Vector sum =
      hn::Add(hn::Add(key.h0, hn::Mul(key.h1, alpha)), hn::And(candidates, beta_mask));
  const Vector rest = hn::Sub(sum, hn::Mul(MulHigh32(sum, multiplier), size));
  const Vector at = hn::Min(rest, hn::Sub(rest, size));
  const Vector words =
      hn::GatherIndex(d, occupied, hn::BitCast(signed_lanes, hn::ShiftRight<5>(at)));
  const Vector bit = hn::Shl(hn::Set(d, 1), hn::And(at, hn::Set(d, 31)));
  return hn::Eq(hn::And(words, bit), hn::Zero(d));
}

uint32_t FindPair(const uint32_t* h0, const uint32_t* h1, uint32_t keys,
                  const Candidate* candidates, uint32_t count, const CpSlots& slots) {
  const Lanes d;
  const uint32_t lanes = static_cast<uint32_t>(hn::Lanes(d));
  const Vector size = hn::Set(d, slots.slots);
  const Vector multiplier = hn::Set(d, slots.multiplier);
  uint32_t survivors[kMaxChunk + 2 * kCandidatePadding];
  uint32_t chunk = 32;  // growing: early in a build the first candidates succeed
  for (uint32_t begin = 0; begin < count; begin += chunk, chunk = kMaxChunk) {
    const uint32_t end = std::min(begin + chunk, count);
    uint32_t left = 0;
    {
      const Key key{hn::Set(d, h0[0]), hn::Set(d, h1[0])};
      for (uint32_t i = begin; i < end; i += lanes) {
        const Vector v = hn::LoadU(d, candidates + i);
        const Mask mask = hn::And(Free(key, v, size, multiplier, slots.occupied),
                                  hn::FirstN(d, end - i));
        left = Append(v, mask, survivors, left);
      }
    }
    for (uint32_t k = 1; k < keys && left > 0; ++k) {
      const Key key{hn::Set(d, h0[k]), hn::Set(d, h1[k])};
      const uint32_t before = left;
      left = 0;
      for (uint32_t i = 0; i < before; i += lanes) {  // writes never pass what is still to be read
        const Vector v = hn::LoadU(d, survivors + i);
        const Mask mask = hn::And(Free(key, v, size, multiplier, slots.occupied),
                                  hn::FirstN(d, before - i));
        left = Append(v, mask, survivors, left);
      }
    }
    for (uint32_t s = 0; s < left; ++s) {
      if (keys == 1 || Separates(PairOf(survivors[s]), h0, h1, keys, slots)) {
        return survivors[s] >> kCpPairBits;
      }
    }
  }
  return kNoCandidate;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace compassdb::perfect_hash
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace compassdb::perfect_hash {
namespace {

std::atomic<FindPairFunction> forced{nullptr};

}  // namespace

FindPairFunction ChooseFindPair() {
  const FindPairFunction function = forced.load(std::memory_order_relaxed);
  if (function != nullptr) return function;
  const int64_t supported = hwy::SupportedTargets();
  (void)supported;
#if HWY_TARGETS & HWY_AVX3
  if ((supported & HWY_AVX3) != 0) return &N_AVX3::FindPair;
#endif
#if HWY_TARGETS & HWY_AVX2
  if ((supported & HWY_AVX2) != 0) return &N_AVX2::FindPair;
#endif
  return HWY_STATIC_DISPATCH(FindPair);
}

bool ForceSimd(Simd simd) {
  const int64_t supported = hwy::SupportedTargets();
  (void)supported;
  FindPairFunction function = nullptr;
  switch (simd) {
    case Simd::kAuto:
      forced = nullptr;
      return true;
    case Simd::kScalar:
      function = HWY_STATIC_DISPATCH(FindPair);
      break;
    case Simd::kAvx2:
#if HWY_TARGETS & HWY_AVX2
      if ((supported & HWY_AVX2) != 0) function = &N_AVX2::FindPair;
#endif
      break;
    case Simd::kAvx512:
#if HWY_TARGETS & HWY_AVX3
      if ((supported & HWY_AVX3) != 0) function = &N_AVX3::FindPair;
#endif
      break;
  }
  if (function != nullptr) forced = function;
  return function != nullptr;
}

}  // namespace compassdb::perfect_hash
#endif
