// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "rocksdb/env.h"

namespace compassdb {

// A logger that writes lines "2026/11/21-07:00:00.123456 <thread> <text>" to a
// file of `env`, which outlives it. Truncates an existing file.
rocksdb::Status NewEnvLogger(rocksdb::Env* env, const std::string& path,
                             std::shared_ptr<rocksdb::Logger>* logger);

}  // namespace compassdb
