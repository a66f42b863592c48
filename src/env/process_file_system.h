// SPDX-License-Identifier: Apache-2.0
// A file system for one database: in a child of the process that made it, it changes nothing (util/process.h). A
// callback that forks may return into the engine there, in the middle of a job.
//
// Thread safety: as FileSystem's.
#pragma once

#include <memory>

#include "env/file_system.h"

namespace compassdb {

std::shared_ptr<FileSystem> NewProcessFileSystem(std::shared_ptr<FileSystem> base);

}  // namespace compassdb
