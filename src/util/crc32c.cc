// SPDX-License-Identifier: Apache-2.0
#include "util/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace compassdb {

namespace {

using Table = std::array<std::array<uint32_t, 256>, 8>;

// table[0][b]: the remainder of the byte b; table[k][b]: the same with k zero bytes after it.
constexpr Table MakeTable() {
  Table table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[0][byte] = crc;
  }
  for (size_t k = 1; k < table.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = table[k - 1][byte];
      table[k][byte] = (before >> 8) ^ table[0][before & 0xff];
    }
  }
  return table;
}

constexpr Table kTable = MakeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ExtendBySse42(uint32_t crc, const char* data, size_t n) {
  uint64_t state = crc ^ 0xffffffffu;
  for (; n >= sizeof(uint64_t); data += sizeof(uint64_t), n -= sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, data, sizeof(word));
    state = _mm_crc32_u64(state, word);
  }
  auto rest = static_cast<uint32_t>(state);
  for (; n > 0; ++data, --n) rest = _mm_crc32_u8(rest, static_cast<uint8_t>(*data));
  return rest ^ 0xffffffffu;
}
#endif

}  // namespace

uint32_t Crc32cExtendPortable(uint32_t crc, const char* data, size_t n) {
  uint32_t state = crc ^ 0xffffffffu;
  for (; n >= sizeof(uint64_t); data += sizeof(uint64_t), n -= sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, data, sizeof(word));
    word ^= state;
    state = 0;
    for (size_t i = 0; i < 8; ++i) state ^= kTable[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; n > 0; ++data, --n) {
    state = (state >> 8) ^ kTable[0][(state ^ static_cast<uint8_t>(*data)) & 0xff];
  }
  return state ^ 0xffffffffu;
}

uint32_t Crc32cExtend(uint32_t crc, const char* data, size_t n) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ExtendBySse42(crc, data, n);
#endif
  return Crc32cExtendPortable(crc, data, n);
}

}  // namespace compassdb
