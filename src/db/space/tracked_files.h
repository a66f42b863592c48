// SPDX-License-Identifier: Apache-2.0
// The files of one database in its DBOptions::sst_file_manager. Without a manager files are deleted at once.
//
// Thread safety: all methods.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "services/sst_file_manager.h"

namespace compassdb {

class TrackedFiles {
 public:
  // `manager` may be null.
  TrackedFiles(std::shared_ptr<FileSystem> fs, rocksdb::SstFileManager* manager)
      : fs_(std::move(fs)), space_(dynamic_cast<FileSpace*>(manager)) {}

  // A deleted file is not tracked.
  void Track(const std::string& path) {
    uint64_t bytes = 0;
    if (space_ != nullptr && fs_->GetFileSize(path, &bytes).ok()) space_->Track(path, bytes);
  }
  void Untrack(const std::string& path) {
    if (space_ != nullptr) space_->Untrack(path);
  }
  void UntrackDirectory(const std::string& dir) {
    if (space_ != nullptr) space_->UntrackDirectory(dir);
  }
  // The files have reached the allowed space.
  bool Full() const { return space_ != nullptr && space_->IsMaxAllowedSpaceReached(); }
  // Bytes per second; 0: no limit.
  uint64_t DeleteRate() const {
    const int64_t rate = space_ == nullptr ? 0 : space_->GetDeleteRateBytesPerSecond();
    return rate > 0 ? static_cast<uint64_t>(rate) : 0;
  }
  // Deletes an obsolete file: now, or at the rate.
  Status Delete(const std::string& path) {
    return space_ == nullptr ? fs_->DeleteFile(path) : space_->Delete(fs_, path);
  }
  // Deletes a file whose deletion was pending when the database was closed.
  Status DeleteTrash(const std::string& path) {
    return space_ == nullptr ? fs_->DeleteFile(path) : space_->DeleteTrash(fs_, path);
  }

 private:
  const std::shared_ptr<FileSystem> fs_;
  FileSpace* const space_;
};

}  // namespace compassdb
