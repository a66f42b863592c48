// SPDX-License-Identifier: Apache-2.0
// Keys of databases with encrypted files (compassdb/encryption.h).
#pragma once

#include <rocksdb/env.h>

#include <memory>
#include <string>
#include <vector>

namespace compassdb_cli {

// An Env over the default one that reads files encrypted with the keys in these files, each of 32
// bytes or 64 hex digits, and writes with the first.
rocksdb::Status EnvWithKeys(const std::vector<std::string>& key_files, std::shared_ptr<rocksdb::Env>* env);

}  // namespace compassdb_cli
