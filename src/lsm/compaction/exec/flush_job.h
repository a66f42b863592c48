// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lsm/compaction/exec/job_file.h"
#include "store/store.h"

namespace compassdb {

// Writes memtables as one table of one piece for level 0. Without records and
// tombstones the edit stays empty and no file is made. One thread.
class FlushJob {
 public:
  FlushJob(const StoreContext* context, const StoreOptions* options)
      : context_(context), options_(options), file_(context, options, /*path=*/0, /*flush=*/true) {}
  Status Run(const FlushRequest& request, VersionEdit* edit, JobReport* report);
  uint64_t output_file() const { return file_.number(); }

 private:
  Status WritePiece(const FlushRequest& request, PieceMeta* piece, PieceHashes* hashes,
                    std::vector<RangeTombstone>* tombstones, JobReport* report);

  const StoreContext* const context_;
  const StoreOptions* const options_;
  JobFile file_;
};

}  // namespace compassdb
