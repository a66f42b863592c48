// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "rocksdb/env.h"

namespace compassdb_test {

// Of the header of an encrypted file (docs/formats/sealed_file.md).
inline constexpr size_t kSealedHeader = 64;

// An Env of encrypted files (compassdb/encryption.h) on those of `base`, which outlives it; null
// where the library has none. One definition per library.
std::unique_ptr<rocksdb::Env> SealedEnvOver(rocksdb::Env* base);

}  // namespace compassdb_test
