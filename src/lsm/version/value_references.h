// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lsm/version/lsm_version.h"

namespace compassdb {

// Corruption, naming the key, if a reader without a snapshot would be sent to a separated value that is in no
// run. (What is older than a key's newest value may name values that were collected.) Reads all records, no values.
Status CheckValueReferences(const LsmVersion& version, const Comparator* comparator, const KeyHasher& hasher);

}  // namespace compassdb
