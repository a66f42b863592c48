// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace compassdb {

// How many descriptors the process may have open at a time; as many as an int counts if there is no limit.
int DescriptorLimit();

}  // namespace compassdb
