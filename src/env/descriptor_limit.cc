// SPDX-License-Identifier: Apache-2.0
#include "env/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <climits>

namespace compassdb {

int DescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return INT_MAX;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

}  // namespace compassdb
