// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/option_change_migration.h"

#include <memory>

#include "rocksdb/db.h"

namespace ROCKSDB_NAMESPACE {

Status OptionChangeMigration(std::string dbname, const Options& old_opts,
                             const Options& new_opts) {
  if (new_opts.compaction_style == kCompactionStyleFIFO) {
    return Status::NotSupported("Do not know how to migrate to this compaction style", "FIFO");
  }
  if (new_opts.num_levels >= old_opts.num_levels) return Status::OK();
  Options options = old_opts;
  options.disable_auto_compactions = true;
  DB* opened = nullptr;
  Status s = DB::Open(options, dbname, &opened);
  if (!s.ok()) return s;
  const std::unique_ptr<DB> db(opened);
  CompactRangeOptions compact;
  compact.change_level = true;
  compact.target_level = new_opts.num_levels > 1 ? new_opts.num_levels - 1 : 0;
  s = db->CompactRange(compact, nullptr, nullptr);
  const Status closed = db->Close();
  return s.ok() ? closed : s;
}

}  // namespace ROCKSDB_NAMESPACE
