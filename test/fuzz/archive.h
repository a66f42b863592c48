// SPDX-License-Identifier: Apache-2.0
// Several files as one input: { name:length-prefixed bytes:length-prefixed }.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/sim/memory_file_system.h"
#include "manifest/version_edit.h"
#include "rocksdb/slice.h"

namespace compassdb_test {

using FileContents = std::pair<std::string, std::string>;

std::string PackFiles(const std::vector<FileContents>& files);
// Bytes behind the last whole file are dropped.
std::vector<FileContents> UnpackFiles(rocksdb::Slice input);

// Fails the process: the file system is the test's.
void WriteFile(compassdb::FileSystem* fs, const std::string& path, const rocksdb::Slice& bytes);

// A version edit, under the name "edit", and the piece files that it speaks of, which are written to
// `dir`. False if there is no edit or it does not decode.
bool UnpackEdit(rocksdb::Slice input, compassdb::FileSystem* fs, const std::string& dir, compassdb::VersionEdit* edit);

}  // namespace compassdb_test
