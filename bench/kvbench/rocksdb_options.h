// SPDX-License-Identifier: Apache-2.0
// The options with which an engine of RocksDB's API is opened.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>

#include <memory>

#include "flags.h"

namespace kvbench {

// The options of the flags, before --preset and --options-string; *cache: the block cache, if it is one of
// kvbench's own.
rocksdb::Options MakeOptions(const Flags& flags, std::shared_ptr<rocksdb::Cache>* cache);
rocksdb::Status ApplyPreset(const Flags& flags, rocksdb::Options* options);

}  // namespace kvbench
