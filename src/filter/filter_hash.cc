// SPDX-License-Identifier: Apache-2.0
#include "filter/filter_hash.h"

#include "util/coding.h"

namespace compassdb {

namespace {

constexpr uint64_t kPrime32A = 0x9E3779B1, kPrime32B = 0x85EBCA77, kPrime32C = 0xC2B2AE3D;
constexpr uint64_t kPrimeA = 0x9E3779B185EBCA87, kPrimeB = 0xC2B2AE3D27D4EB4F,
                   kPrimeC = 0x165667B19E3779F9, kPrimeD = 0x85EBCA77C2B2AE63,
                   kPrimeE = 0x27D4EB2F165667C5;

constexpr size_t kSecretBytes = 192;
constexpr unsigned char kSecret[kSecretBytes] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

// For keys of more bytes than kMidBytes.
constexpr size_t kMidBytes = 240;
constexpr size_t kLanes = 8;
constexpr size_t kStripe = 64;
constexpr size_t kSecretStep = 8;  // per stripe
constexpr size_t kStripesPerRound = (kSecretBytes - kStripe) / kSecretStep;
constexpr size_t kLastStripeSecret = kSecretBytes - kStripe - 7;
constexpr size_t kMergeSecret = 11;
// For keys of 129 bytes and more.
constexpr size_t kMidSecret = 3;
constexpr size_t kMidLastSecret = 136 - 17;

uint64_t Secret(size_t at) { return DecodeFixed64(reinterpret_cast<const char*>(kSecret) + at); }

uint64_t Fold(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Avalanche(uint64_t h) {
  h ^= h >> 37;
  h *= kPrimeC;
  return h ^ h >> 32;
}

uint64_t Mix16(const char* p, size_t secret) {
  return Fold(DecodeFixed64(p) ^ Secret(secret), DecodeFixed64(p + 8) ^ Secret(secret + 8));
}

uint64_t HashUpTo16(const char* p, size_t n) {
  if (n > 8) {
    const uint64_t low = DecodeFixed64(p) ^ Secret(0);
    const uint64_t high = DecodeFixed64(p + n - 8) ^ Secret(8);
    return Avalanche(n + low + high + Fold(low, high));
  }
  if (n >= 4) {
    const uint64_t both = DecodeFixed32(p) | uint64_t{DecodeFixed32(p + n - 4)} << 32;
    const uint64_t keyed = both ^ Secret(0);
    const uint64_t mixed = n + (keyed ^ keyed >> 51) * kPrime32A;
    return Avalanche((mixed ^ mixed >> 47) * kPrimeB);
  }
  if (n > 0) {
    const auto byte = [p](size_t i) { return uint64_t{static_cast<unsigned char>(p[i])}; };
    const uint64_t all = byte(0) | byte(n >> 1) << 8 | byte(n - 1) << 16 | uint64_t{n} << 24;
    return Avalanche((all ^ (Secret(0) & UINT32_MAX)) * kPrimeA);
  }
  return Fold(Secret(0), kPrimeB);
}

// From both ends towards the middle.
uint64_t HashUpTo128(const char* p, size_t n) {
  uint64_t sum = n * kPrimeA;
  for (size_t i = 0; 32 * i < n; ++i) {
    sum += Mix16(p + 16 * i, 32 * i) + Mix16(p + n - 16 * (i + 1), 32 * i + 16);
  }
  return Avalanche(sum);
}

uint64_t HashUpTo240(const char* p, size_t n) {
  uint64_t sum = n * kPrimeA;
  size_t i = 0;
  for (; i < 8; ++i) sum += Mix16(p + 16 * i, 16 * i);
  sum = Avalanche(sum);
  for (; i < n / 16; ++i) sum += Mix16(p + 16 * i, 16 * (i - 8) + kMidSecret);
  return Avalanche(sum + Mix16(p + n - 16, kMidLastSecret));
}

void AddStripe(const char* p, size_t secret, uint64_t* lanes) {
  for (size_t i = 0; i < kLanes; ++i) {
    const uint64_t value = DecodeFixed64(p + 8 * i);
    const uint64_t keyed = value ^ Secret(secret + 8 * i);
    lanes[i] += value + (keyed & UINT32_MAX) * (keyed >> 32);
  }
}

uint64_t HashLong(const char* p, size_t n) {
  uint64_t lanes[kLanes] = {kPrime32C, kPrimeA, kPrimeB, kPrimeC,
                            kPrimeD,   kPrime32B, kPrimeE, kPrime32A};
  for (size_t stripe = 0; stripe < n / kStripe; ++stripe) {
    const size_t step = stripe % kStripesPerRound;
    AddStripe(p + stripe * kStripe, step * kSecretStep, lanes);
    if (step + 1 < kStripesPerRound) continue;
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] = ((lanes[i] ^ lanes[i] >> 47) ^ Secret(kSecretBytes - kStripe + 8 * i)) * kPrime32A;
    }
  }
  if (n % kStripe != 0) AddStripe(p + n - kStripe, kLastStripeSecret, lanes);
  uint64_t sum = n * kPrimeA;
  for (size_t i = 0; i < kLanes; i += 2) {
    sum += Fold(lanes[i] ^ Secret(kMergeSecret + 8 * i),
                lanes[i + 1] ^ Secret(kMergeSecret + 8 * i + 8));
  }
  return Avalanche(sum);
}

}  // namespace

uint64_t FilterHash(const rocksdb::Slice& key) {
  const char* const p = key.data();
  const size_t n = key.size();
  if (n <= 16) return HashUpTo16(p, n);
  if (n <= 128) return HashUpTo128(p, n);
  return n <= kMidBytes ? HashUpTo240(p, n) : HashLong(p, n);
}

}  // namespace compassdb
