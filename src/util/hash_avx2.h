// SPDX-License-Identifier: Apache-2.0
// XXH3 with 256-bit vectors, for processors that have them: the same values as Hash64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace compassdb {

#if defined(__x86_64__) && defined(__GNUC__)
#define COMPASSDB_HASH_AVX2 1
// Only where __builtin_cpu_supports("avx2").
uint64_t Hash64Avx2(const char* data, size_t n, uint64_t seed);
#endif

}  // namespace compassdb
