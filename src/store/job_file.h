// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/store.h"
#include "table/file/compaction_file.h"
#include "util/mutex.h"

namespace compassdb {

// The one physical file of a flush or compaction, created when the first
// extent is written (rule 8: synced, with its directory entry, before the
// manifest may name it). While it exists, and after Finish until the store
// has installed the edit, the ledger keeps the file.
//
// Thread safety: Writer and Throttle, if the file is shared; the rest by one thread while no other writes.
class JobFile {
 public:
  // `path` is an index into StoreOptions::paths. `observer` (may be null) is notified;
  // `values`: the file is of the value store.
  JobFile(const StoreContext* context, const StoreOptions* options, size_t path, bool flush,
          JobObserver* observer, bool values = false);
  // An unfinished file is returned to the ledger, which deletes it.
  ~JobFile();
  JobFile(const JobFile&) = delete;
  JobFile& operator=(const JobFile&) = delete;

  // Several threads write extents (CompactionFileWriter::Share). Before anything else.
  void Share(size_t most_held) { most_held_ = most_held; }

  Status Writer(CompactionFileWriter** writer);
  // Charges what was written since the last call to the rate limiter.
  void Throttle();
  // Syncs and closes the file. Its directory entry is durable, too.
  // Adds the file's checksum to the edit, if the options want one.
  Status Finish(VersionEdit* edit);
  // The destructor returns the finished file to the ledger, as if unfinished.
  void Abandon() { finished_ = false; }

  bool created() const { return Created() != nullptr; }
  uint64_t number() const { return created() ? Created()->file_number() : 0; }
  const std::string& path() const { return path_; }  // once it is created
  uint64_t bytes() const { return created() ? Created()->offset() : 0; }

 private:
  // It stays once it exists.
  CompactionFileWriter* Created() const {
    MutexLock lock(&mu_);
    return writer_.get();
  }
  Status Create() REQUIRES(mu_);
  // The record of the job, at the end of the file.
  Status Describe(const VersionEdit& edit, CompactionFileWriter* writer) const;

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const std::string dir_;
  const bool flush_;
  JobObserver* const observer_;
  const bool values_;
  std::optional<size_t> most_held_;  // if it is shared
  bool finished_ = false;
  std::string path_;
  mutable Mutex mu_;  // held by the first thread that needs the file, while it creates it
  std::unique_ptr<CompactionFileWriter> writer_ GUARDED_BY(mu_);
  uint64_t throttled_ GUARDED_BY(mu_) = 0;
};

}  // namespace compassdb
