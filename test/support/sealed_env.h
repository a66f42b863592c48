// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "rocksdb/env.h"

namespace compassdb_test {

// An Env in which files are sealed (compassdb/encryption.h) on those of `base`, which outlives it;
// null where the library has none. One definition per library.
std::unique_ptr<rocksdb::Env> SealedEnvOver(rocksdb::Env* base);

}  // namespace compassdb_test
