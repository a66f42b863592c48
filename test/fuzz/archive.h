// SPDX-License-Identifier: Apache-2.0
// Several files as one input: { name:length-prefixed bytes:length-prefixed }.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/memory_file_system.h"
#include "rocksdb/slice.h"

namespace compassdb_test {

using FileContents = std::pair<std::string, std::string>;

std::string PackFiles(const std::vector<FileContents>& files);
// What is left behind the last whole file is dropped.
std::vector<FileContents> UnpackFiles(rocksdb::Slice input);

// Fails the process: the file system is the test's.
void WriteFile(compassdb::FileSystem* fs, const std::string& path, const rocksdb::Slice& bytes);

}  // namespace compassdb_test
