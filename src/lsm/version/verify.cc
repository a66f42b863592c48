// SPDX-License-Identifier: Apache-2.0
// Checks everything that a version names. Damage does not end the check.
#include "lsm/version/lsm_version.h"
#include "lsm/version/value_references.h"
#include "util/findings.h"

namespace compassdb {
namespace {

// That a table lies after the one before it on its level.
Status CheckOrder(const Comparator* comparator, const TphMeta& before, const TphMeta& meta) {
  if (before.hash_range != meta.hash_range) {
    return Status::Corruption("tables of one level are cut by keys and by hashes");
  }
  if (meta.hash_range) {
    if (before.search.last < meta.search.first) return Status::OK();
    return Status::Corruption("tables overlap");
  }
  const int c = comparator->Compare(before.largest, meta.smallest);
  if (c > 0 || (c == 0 && !before.largest_exclusive)) return Status::Corruption("tables overlap");
  return Status::OK();
}

}  // namespace

Status LsmVersion::Verify() const {
  Findings findings;
  for (size_t level = 0; level < levels_.size(); ++level) {
    const auto& tables = levels_[level];
    for (size_t i = 0; i < tables.size(); ++i) {
      const TphMeta& meta = tables[i]->meta();
      findings.Add(AnnotateWithTable(tables[i]->tph().Verify(), static_cast<int>(level), meta));
      if (level == 0 || i == 0) continue;
      findings.Add(AnnotateWithTable(CheckOrder(comparator_, tables[i - 1]->meta(), meta),
                                     static_cast<int>(level), meta));
    }
  }
  for (const ValueRunRef& run : values_->runs()) findings.Add(run->Verify());
  const Status s = findings.ToStatus();
  if (!s.ok() || !values_->expected()) return s;
  return CheckValueReferences(*this, comparator_, hasher_);
}

}  // namespace compassdb
