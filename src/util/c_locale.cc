// SPDX-License-Identifier: Apache-2.0
#include "util/c_locale.h"

#include <locale.h>  // newlocale, uselocale
#include <stdlib.h>  // strtod_l

#include <cstdio>

namespace compassdb {
namespace {

locale_t CLocale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}
[[maybe_unused]] const locale_t locale_made_early = CLocale();  // before any fork

}  // namespace

double CLocaleStrtod(const char* text, char** end) { return strtod_l(text, end, CLocale()); }

int CLocaleVsnprintf(char* buffer, size_t size, const char* format, va_list args) {
  const locale_t of_thread = uselocale(CLocale());
  const int n = std::vsnprintf(buffer, size, format, args);
  uselocale(of_thread);
  return n;
}

int CLocaleSnprintf(char* buffer, size_t size, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const int n = CLocaleVsnprintf(buffer, size, format, args);
  va_end(args);
  return n;
}

std::string CLocaleToString(double value) {
  std::string text(CLocaleSnprintf(nullptr, 0, "%f", value), '\0');
  CLocaleSnprintf(text.data(), text.size() + 1, "%f", value);
  return text;
}

}  // namespace compassdb
