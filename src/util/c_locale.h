// SPDX-License-Identifier: Apache-2.0
// Numbers as text in the "C" locale, independent of the program's locale.
//
// A program may call setlocale or std::locale::global. Then strtod, printf and streams use its decimal
// comma and its digit groups. Text that is stored or parsed must not depend on that, so the engine and its
// tools read and write floating-point numbers only with these functions. `test/tidy` checks it.
//
// Thread safety: all functions.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <string>

namespace compassdb {

// As strtod.
double CLocaleStrtod(const char* text, char** end);
// As snprintf and vsnprintf.
__attribute__((format(printf, 3, 4))) int CLocaleSnprintf(char* buffer, size_t size, const char* format, ...);
__attribute__((format(printf, 3, 0))) int CLocaleVsnprintf(char* buffer, size_t size, const char* format, va_list args);
// As std::to_string: six decimals.
std::string CLocaleToString(double value);

// For ASCII alone.
inline bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsAsciiSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace compassdb
