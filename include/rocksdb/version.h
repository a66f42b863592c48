// SPDX-License-Identifier: Apache-2.0
//
// Two versions: that of the programming interface, which is RocksDB's, and that of this library.

#pragma once

#include <string>
#include <unordered_map>

#include "rocksdb/rocksdb_namespace.h"

// The RocksDB release whose interface these headers offer.
#define ROCKSDB_MAJOR 7
#define ROCKSDB_MINOR 8
#define ROCKSDB_PATCH 3

// Older spellings, which applications still test.
#define __ROCKSDB_MAJOR__ ROCKSDB_MAJOR
#define __ROCKSDB_MINOR__ ROCKSDB_MINOR
#define __ROCKSDB_PATCH__ ROCKSDB_PATCH

// Defined by this library only.
#define COMPASSDB_MAJOR 0
#define COMPASSDB_MINOR 1
#define COMPASSDB_PATCH 0
#define COMPASSDB_VERSION "0.1.0"

namespace ROCKSDB_NAMESPACE {

// How the library was built: compiler, flags, version.
const std::unordered_map<std::string, std::string>& GetRocksBuildProperties();

// "7.8.3", or "7.8" without the patch number.
std::string GetRocksVersionAsString(bool with_patch = true);

// One line for `program --version`; with the build properties, one per line, if verbose.
std::string GetRocksBuildInfoAsString(const std::string& program, bool verbose = false);

}  // namespace ROCKSDB_NAMESPACE
