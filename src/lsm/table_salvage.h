// SPDX-License-Identifier: Apache-2.0
// For RepairDB: rewrites damaged tables, each as a table of one piece, with all records and range tombstones that can
// be read of its pieces. The records of one table are held in memory. One thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/job_file.h"
#include "store/salvage_report.h"
#include "store/store.h"
#include "table/table_context.h"
#include "value_store/value_salvage.h"

namespace compassdb {

class TableSalvage {
 public:
  // `values`: of the family; null: its tables name none.
  TableSalvage(const StoreContext* context, const StoreOptions* options, TableContextRef tables, ValueSalvage* values)
      : context_(context),
        options_(options),
        tables_(std::move(tables)),
        values_(values),
        file_(context, options, /*path=*/0, /*flush=*/false, /*observer=*/nullptr) {}

  // If nothing can be read, *out stays empty. The new table has the old one's id and with it its place in the level.
  Status Rewrite(int level, const TphMeta& old, std::optional<TphMeta>* out, SalvageReport* report);
  // After the last one.
  Status Finish(VersionEdit* edit) { return file_.Finish(edit); }

 private:
  using Records = std::vector<std::pair<std::string, std::string>>;  // by internal key
  Status Read(const TphMeta& old, Records* records, std::vector<RangeTombstone>* tombstones, SalvageReport* report);
  // Replaces a reference by its value. If that is lost, or the next collection would drop it, by a deletion: an older
  // value must not come back.
  Status ResolveReference(std::string* key, std::string* value, SalvageReport* report);

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const TableContextRef tables_;
  ValueSalvage* const values_;
  JobFile file_;
};

}  // namespace compassdb
