// SPDX-License-Identifier: Apache-2.0
// Loaded into a program by LD_PRELOAD: it runs as desktop programs do, under the user's locale.
//
// LC_ALL must name a locale whose decimal point is a comma. Anything else ends the program, since a run without
// such a locale would show nothing.
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <locale>

namespace {

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

__attribute__((constructor)) void UseLocale() {
  if (setlocale(LC_ALL, "") == nullptr || std::strcmp(localeconv()->decimal_point, ",") != 0) {
    std::fprintf(stderr, "use_locale: no locale with a decimal comma: LC_ALL=%s\n", std::getenv("LC_ALL"));
    std::abort();
  }
  std::locale::global(std::locale(std::locale::classic(), new Commas));
  setlocale(LC_ALL, "");  // std::locale::global has set the C library's, too
}

}  // namespace
