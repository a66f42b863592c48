// SPDX-License-Identifier: Apache-2.0
// A file system whose files tell an observer of each operation when it has ended. Put before another one
// only where somebody wants to be told: files are as fast as ever otherwise.
//
// Reads that go on by themselves (ReadBatch) are told of when the batch is waited for; those that are
// abandoned are not. Appends are told of as the engine makes them, which is before the file's buffer.
//
// Thread safety: as FileSystem's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/file_observer.h"
#include "env/file_system.h"

namespace compassdb {

// Of which files the observer is told.
struct ObservedPaths {
  std::function<bool(const std::string& path)> any;         // read at any place, or written
  std::function<bool(const std::string& path)> sequential;  // read from the start on
};

std::shared_ptr<FileSystem> NewObservedFileSystem(std::shared_ptr<FileSystem> base,
                                                  std::shared_ptr<FileObserver> observer,
                                                  ObservedPaths paths);

}  // namespace compassdb
