// SPDX-License-Identifier: Apache-2.0
// Invariants of the engine itself. Checked and sanitizer builds stop where one is broken; Release leaves them out.
// What a file says is never one: damage is Corruption.
#pragma once

namespace compassdb {

#if defined(NDEBUG)
inline constexpr bool kChecked = false;
// Not evaluated; what it names counts as used.
#define COMPASSDB_INVARIANT(condition, text) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
inline constexpr bool kChecked = true;
#define COMPASSDB_INVARIANT(condition, text) \
  ((condition) ? static_cast<void>(0)        \
               : ::compassdb::InvariantBroken(__FILE__, __LINE__, #condition, text))
#endif

// Prints where and what to stderr, and aborts.
[[noreturn]] void InvariantBroken(const char* file, int line, const char* condition, const char* text);

}  // namespace compassdb
