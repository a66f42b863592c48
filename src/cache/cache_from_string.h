// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "rocksdb/cache.h"

namespace compassdb {

// Cache::CreateFromString without ConfigOptions, which live in a layer above.
rocksdb::Status CacheFromString(const std::string& value, bool ignore_unknown,
                                std::shared_ptr<rocksdb::Cache>* result);

}  // namespace compassdb
