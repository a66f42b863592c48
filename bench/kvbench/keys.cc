// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kvbench {
namespace {

constexpr size_t kTagSize = 8;
constexpr size_t kPoolSize = 1 << 20;

void Tag(uint64_t number, char* out) {
  const uint64_t tag = Mix64(number ^ 0x5bd1e9955bd1e995ULL);
  std::memcpy(out, &tag, kTagSize);
}

// `bits` as eight hexadecimal digits. A client's own time counts against the fastest engine most.
void EightDigits(uint32_t bits, char* out) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t ones = 0x0101010101010101ULL;
  uint64_t x = __builtin_bswap32(bits);
  x = (x | x << 16) & 0x0000ffff0000ffffULL;
  x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
  x = (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0fULL;
  const uint64_t letters = (x + 6 * ones) >> 4 & ones;
  x += '0' * ones + letters * ('a' - '0' - 10);
  std::memcpy(out, &x, 8);
}

}  // namespace

uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

void KeyMaker::Make(uint64_t number, std::string* key) const {
  if (order_ == KeyOrder::kHashed) number = Mix64(number);
  key->resize(key_size_);
  const size_t digits = key_size_ >= 24 ? 24 : key_size_ >= 16 ? 16 : 8;
  std::memset(key->data() + digits, 'x', key_size_ - digits);
  if (key_size_ >= 24) {
    std::memcpy(key->data(), "user", 4);
    for (int i = 23; i >= 4; --i, number /= 10) (*key)[i] = static_cast<char>('0' + number % 10);
  } else if (key_size_ >= 16) {
    EightDigits(static_cast<uint32_t>(number >> 32), key->data());
    EightDigits(static_cast<uint32_t>(number), key->data() + 8);
  } else {
    for (int i = 7; i >= 0; --i, number >>= 8) (*key)[i] = static_cast<char>(number & 255);
  }
}

void KeyMaker::MakeMissing(uint64_t number, std::string* key) const {
  Make(number, key);
  key->push_back('.');
}

ValueMaker::ValueMaker(ValueSizes sizes, uint64_t seed, uint64_t compressible)
    : sizes_(std::move(sizes)), compressible_(compressible), random_(seed) {
  static const char kAlphabet[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
  pool_.resize(kPoolSize);
  for (size_t i = 0; i < pool_.size(); i += 8) {
    uint64_t bits = random_.Next();
    if (compressible > 0) {
      std::memcpy(pool_.data() + i, &bits, 8);
      continue;
    }
    for (size_t j = 0; j < 8; ++j, bits >>= 6) pool_[i + j] = kAlphabet[bits & 63];
  }
  buffer_.resize(sizes_.largest());
}

std::string_view ValueMaker::Make(uint64_t number) {
  const uint64_t size = sizes_.Of(number);
  const uint64_t random_size = size - size * compressible_ / 100;
  for (uint64_t at = 0; at < random_size;) {
    const uint64_t from = random_.Uniform(kPoolSize / 2);
    const uint64_t n = std::min<uint64_t>(kPoolSize / 2, random_size - at);
    std::memcpy(buffer_.data() + at, pool_.data() + from, n);
    at += n;
  }
  // A longer one may have been made before.
  if (compressible_ > 0) std::memset(buffer_.data() + random_size, 0, size - random_size);
  if (size >= kTagSize) Tag(number, buffer_.data());
  return {buffer_.data(), size};
}

bool ValueMaker::Matches(uint64_t number, std::string_view value) const {
  if (value.size() != sizes_.Of(number)) return false;
  if (value.size() < kTagSize) return true;
  char tag[kTagSize];
  Tag(number, tag);
  return std::memcmp(tag, value.data(), kTagSize) == 0;
}

}  // namespace kvbench
