// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lsm/compaction/job_file.h"
#include "lsm/compaction/value_separator.h"
#include "store/store.h"

namespace compassdb {

// Writes memtables as one table of one piece for level 0. Without records and
// tombstones the edit stays empty and no file is created. Large values are written to another file. One thread.
class FlushJob {
 public:
  // `version`: what is in tables already.
  FlushJob(const StoreContext* context, const StoreOptions* options, const LsmVersion* version,
           uint32_t group_bits, JobObserver* observer)
      : context_(context),
        options_(options),
        files_(context, options, /*path=*/0, /*flush=*/true, observer),
        values_(context, options,
                {.file = &files_.values, .group_bits = group_bits, .fresh_from = 0, .version = version}) {}
  Status Run(const FlushRequest& request, VersionEdit* edit, JobReport* report);

 private:
  Status WriteTable(const FlushRequest& request, VersionEdit* edit, JobReport* report);
  Status WritePiece(const FlushRequest& request, PieceMeta* piece, PieceHashes* hashes,
                    std::vector<RangeTombstone>* tombstones, JobReport* report);

  const StoreContext* const context_;
  const StoreOptions* const options_;
  JobFiles files_;
  ValueSeparator values_;
};

}  // namespace compassdb
