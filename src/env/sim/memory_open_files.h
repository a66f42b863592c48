// SPDX-License-Identifier: Apache-2.0
// The open files of MemoryFileSystem: they keep what they are of alive, and die with the power.
#pragma once

#include <memory>
#include <string>

#include "env/file_system.h"
#include "env/sim/memory_file.h"
#include "env/sim/power.h"

namespace compassdb {

// `power` outlives what is made.
std::unique_ptr<SequentialFile> NewMemorySequentialFile(const Power* power,
                                                        const std::string& path,
                                                        std::shared_ptr<MemoryFile> file);
std::unique_ptr<RandomAccessFile> NewMemoryRandomAccessFile(const Power* power,
                                                            const std::string& path,
                                                            std::shared_ptr<MemoryFile> file);
std::unique_ptr<WritableFile> NewMemoryWritableFile(const Power* power,
                                                    const std::string& path,
                                                    std::shared_ptr<MemoryFile> file);
// Writes over what the file holds, from its beginning on.
std::unique_ptr<WritableFile> NewMemoryReusedFile(const Power* power,
                                                  const std::string& path,
                                                  std::shared_ptr<MemoryFile> file);
std::unique_ptr<PageFile> NewMemoryPageFile(const Power* power, const std::string& path,
                                            const FileOptions& options,
                                            std::shared_ptr<MemoryFile> file);

}  // namespace compassdb
