// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "env/file_system.h"

namespace compassdb {

// Locks a file (made if missing) against other processes and against other
// callers in this process. Released with *lock, or when the process ends.
Status LockPosixFile(const std::string& path, std::unique_ptr<FileLock>* lock);

}  // namespace compassdb
