// SPDX-License-Identifier: Apache-2.0
#include "util/checked.h"

#include <cstdio>
#include <cstdlib>

namespace compassdb {

void InvariantBroken(const char* file, int line, const char* condition, const char* text) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s (%s)\n", file, line, text, condition);
  std::abort();
}

}  // namespace compassdb
