// SPDX-License-Identifier: Apache-2.0
// Checks everything that a version names.
#include "lsm/version/lsm_version.h"
#include "lsm/version/value_references.h"

namespace compassdb {

Status LsmVersion::Verify() const {
  for (size_t level = 0; level < levels_.size(); ++level) {
    const auto& tables = levels_[level];
    for (size_t i = 0; i < tables.size(); ++i) {
      const TphMeta& meta = tables[i]->meta();
      Status s = AnnotateWithTable(tables[i]->tph().Verify(), static_cast<int>(level), meta);
      if (!s.ok()) return s;
      if (level == 0 || i == 0) continue;
      const TphMeta& before = tables[i - 1]->meta();
      if (before.hash_range != meta.hash_range) {
        return AnnotateWithTable(
            Status::Corruption("tables of one level are cut by keys and by hashes"),
            static_cast<int>(level), meta);
      }
      if (meta.hash_range) {
        if (before.search.last < meta.search.first) continue;
        return AnnotateWithTable(Status::Corruption("tables overlap"), static_cast<int>(level), meta);
      }
      const int c = comparator_->Compare(before.largest, meta.smallest);
      if (c > 0 || (c == 0 && !before.largest_exclusive)) {
        return AnnotateWithTable(Status::Corruption("tables overlap"), static_cast<int>(level), meta);
      }
    }
  }
  for (const ValueRunRef& run : values_->runs()) {
    if (Status s = run->Verify(); !s.ok()) return s;
  }
  return values_->expected() ? CheckValueReferences(*this, comparator_, hasher_) : Status::OK();
}

}  // namespace compassdb
