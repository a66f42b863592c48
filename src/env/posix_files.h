// SPDX-License-Identifier: Apache-2.0
// The files of the POSIX file system.
#pragma once

#include <memory>
#include <string>

#include "env/file_system.h"

namespace compassdb {

// Direct I/O works in units of this size, which every common device accepts.
inline constexpr size_t kDirectIoAlignment = 4096;
static_assert(kPageWriteAlignment == kDirectIoAlignment);

Status OpenPosixSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* file);
Status OpenPosixRandomAccessFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<RandomAccessFile>* file);
// Reads of an open file, whose descriptor is the result's from then on.
std::unique_ptr<RandomAccessFile> NewPosixRandomAccessFile(const std::string& path, int fd,
                                                           bool direct);
Status OpenPosixPageFile(const std::string& path, const FileOptions& options, bool create,
                         std::unique_ptr<PageFile>* file);
// What becomes of what the file holds already.
enum class OldContents {
  kCutOff,
  kAppendTo,
  kWriteOver,  // from the beginning on; the file never gets shorter
};
// Creates what is missing.
Status OpenPosixWritableFile(const std::string& path, const FileOptions& options, OldContents old,
                             std::unique_ptr<WritableFile>* file);

// By sharing blocks; `to` must not exist.
Status ClonePosixFile(const std::string& from, const std::string& to);

}  // namespace compassdb
