// SPDX-License-Identifier: Apache-2.0
// Which segment group is collected next (HashKV 3.3). Pure: looks at a version, does nothing.
#pragma once

#include <optional>
#include <vector>

#include "util/random.h"
#include "store/value_options.h"
#include "value_store/value_version.h"

namespace compassdb {

struct ValueGcInput {
  std::vector<ValueVersion::Group> groups;
  std::vector<ValueGroup> busy;
  uint64_t now_seconds = 0;
};

// Bytes that a family's values may take: the live ones, and the reserve over them.
uint64_t ValueBound(uint64_t live_bytes, const ValueOptions& options);

// None if there is room enough, or nothing to gain.
std::optional<ValueGroup> PickValueGroup(const ValueGcInput& input, const ValueOptions& options,
                                         Random* random);

}  // namespace compassdb
