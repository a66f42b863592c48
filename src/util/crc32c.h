// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), by the processor's instruction where it has
// one and by tables otherwise, with equal results.
#pragma once

#include <cstddef>
#include <cstdint>

namespace compassdb {

// The checksum of A followed by data, where `crc` is that of A; 0 for an empty A.
uint32_t Crc32cExtend(uint32_t crc, const char* data, size_t n);

inline uint32_t Crc32c(const char* data, size_t n) { return Crc32cExtend(0, data, n); }

// By tables alone; for tests.
uint32_t Crc32cExtendPortable(uint32_t crc, const char* data, size_t n);

}  // namespace compassdb
