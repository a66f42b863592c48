// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "store/store.h"
#include "table/compaction_file.h"

namespace compassdb {

// The one physical file of a flush or compaction, created when the first
// extent is written (rule 8: synced, with its directory entry, before the
// manifest may name it). While it exists, and after Finish until the store
// has installed the edit, the ledger keeps the file. One thread.
class JobFile {
 public:
  // In the path of that place in the options' list.
  // `observer` (may be null) is told of it; `values`: the file is of the value store.
  JobFile(const StoreContext* context, const StoreOptions* options, size_t path, bool flush,
          JobObserver* observer, bool values = false);
  // Unfinished: the file is given back to the ledger, which deletes it.
  ~JobFile();
  JobFile(const JobFile&) = delete;
  JobFile& operator=(const JobFile&) = delete;

  Status Writer(CompactionFileWriter** writer);
  // Charges what was written since the last call to the rate limiter.
  void Throttle();
  // The data barrier: file synced and closed. The directory's entry was durable before, or is now.
  // The edit gets the file's checksum, if there is to be one.
  Status Finish(VersionEdit* edit);
  // The finished file is given back after all, at the end of this.
  void Abandon() { finished_ = false; }

  bool created() const { return writer_ != nullptr; }
  uint64_t number() const { return writer_ == nullptr ? 0 : writer_->file_number(); }
  const std::string& path() const { return path_; }  // once it is created
  uint64_t file_id() const { return writer_ == nullptr ? 0 : writer_->file_id(); }
  uint64_t bytes() const { return writer_ == nullptr ? 0 : writer_->offset(); }

 private:
  const StoreContext* const context_;
  const std::string dir_;
  const bool flush_;
  JobObserver* const observer_;
  const bool values_;
  std::string path_;
  bool finished_ = false;
  uint64_t throttled_ = 0;
  std::unique_ptr<CompactionFileWriter> writer_;
};

}  // namespace compassdb
