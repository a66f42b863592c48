// SPDX-License-Identifier: Apache-2.0
// Prints 1.5 and 1000 by the C library and by a stream, so that `run` sees whether the locale is in force.
#include <cstdio>
#include <iostream>

int main() {
  std::printf("%.1f ", 1.5);
  std::fflush(stdout);
  std::ostream text(std::cout.rdbuf());
  text << 1000 << '\n';
}
