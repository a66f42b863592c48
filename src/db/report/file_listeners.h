// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "rocksdb/listener.h"

namespace compassdb {

// A file system that notifies the listeners that want to hear of file IO, or `fs` itself
// if none does. `all`: of any file; else of logs, manifests, tables, values and pages by their names.
// As with RocksDB, reads from a file's start on are reported of manifests only.
std::shared_ptr<FileSystem> AddListeners(
    std::shared_ptr<FileSystem> fs,
    const std::vector<std::shared_ptr<rocksdb::EventListener>>& listeners, bool all = false);

}  // namespace compassdb
