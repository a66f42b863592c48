// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace compassdb {

// From now on forks are noticed (util/process.h). Called once. Returns true.
bool WatchForks();

}  // namespace compassdb
