// SPDX-License-Identifier: Apache-2.0
// Databases, as files in a directory.
#pragma once

#include <filesystem>
#include <string>

#include "rocksdb/env.h"

namespace compassdb_test {

// All of these say what is wrong. `env`: null is the default one.
bool MakeDatabase(const std::string& layout, const std::filesystem::path& path, rocksdb::Env* env);
// A copy of it is read, written, compacted, and read again.
bool OpensWithExactData(const std::string& layout, const std::filesystem::path& fixture, rocksdb::Env* env);
// For each part of a database with a version of its own.
bool NewerVersionsAreRefused(const std::string& layout, const std::filesystem::path& fixture);
// Of opening it and reading everything.
rocksdb::Status FirstError(const std::string& layout, const std::string& path, rocksdb::Env* env);
// Checks that it is the refusal of a newer file below `path`.
bool IsRefusal(const rocksdb::Status& s, const std::string& path, const std::string& what);

}  // namespace compassdb_test
