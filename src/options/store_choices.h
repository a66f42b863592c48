// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/named_options.h"
#include "rocksdb/options.h"

namespace compassdb {

// The options that say which of the papers' systems a family is, as they are in force. Those that
// the others leave without effect are left out. `options` are sanitised (sanitize.h).
NamedValues StoreChoices(const rocksdb::ColumnFamilyOptions& options);

}  // namespace compassdb
