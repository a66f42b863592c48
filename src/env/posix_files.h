// SPDX-License-Identifier: Apache-2.0
// The open files of the POSIX file system. Each factory opens one file.
#pragma once

#include <memory>
#include <string>

#include "env/file_system.h"

namespace compassdb {

// Direct I/O works in units of this size, which every common device accepts.
inline constexpr size_t kDirectIoAlignment = 4096;

Status OpenPosixSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* file);
Status OpenPosixRandomAccessFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<RandomAccessFile>* file);
// Truncates if `truncate`, appends to what is there otherwise; creates in both cases.
Status OpenPosixWritableFile(const std::string& path, const FileOptions& options, bool truncate,
                             std::unique_ptr<WritableFile>* file);

}  // namespace compassdb
