// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// Brings a closed database, last used with old_opts, into a state that can be opened with
// new_opts: fewer levels need their data moved up. The compaction style does not matter, but
// NotSupported is the answer to FIFO. Only the default column family is looked at.
Status OptionChangeMigration(std::string dbname, const Options& old_opts, const Options& new_opts);

}  // namespace ROCKSDB_NAMESPACE
