// SPDX-License-Identifier: Apache-2.0
// A file system whose files notify an observer of each ended operation. It wraps another one only if there
// is an observer: otherwise files are as fast as ever.
//
// Concurrent reads (ReadBatch) are reported when the batch is waited for; abandoned ones are not. Appends
// are reported as the engine makes them, before the file's buffer.
//
// Thread safety: as FileSystem's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/file_observer.h"
#include "env/file_system.h"

namespace compassdb {

// The files that the observer is notified of.
struct ObservedPaths {
  std::function<bool(const std::string& path)> any;         // read at any place, or written
  std::function<bool(const std::string& path)> sequential;  // read from the start on
};

std::shared_ptr<FileSystem> NewObservedFileSystem(std::shared_ptr<FileSystem> base,
                                                  std::shared_ptr<FileObserver> observer,
                                                  ObservedPaths paths);

}  // namespace compassdb
