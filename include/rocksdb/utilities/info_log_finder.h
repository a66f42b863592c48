// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"

namespace ROCKSDB_NAMESPACE {

// The names, without directory, of the database's LOG files, old ones included.
Status GetInfoLogList(DB* db, std::vector<std::string>* info_log_list);

}  // namespace ROCKSDB_NAMESPACE
