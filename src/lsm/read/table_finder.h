// SPDX-License-Identifier: Apache-2.0
// Finds the table of a level for a user key: a search in an array with eight bytes
// of each table's smallest key. The keys themselves are spread over memory. If
// eight bytes do not decide, keys are compared.
//
// Thread safety: immutable. The tables must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lsm/version/table_handle.h"
#include "rocksdb/comparator.h"

namespace compassdb {

using rocksdb::Comparator;

class TableFinder {
 public:
  // `tables` are those of a level below 0, cut by keys.
  TableFinder(const Comparator* comparator, const std::vector<TableRef>& tables);

  // The table whose range, from smallest to largest key, holds the key; -1 if none does.
  int Find(const Slice& user_key) const;

 private:
  int FindByComparing(const Slice& user_key) const;

  const Comparator* const comparator_;
  const std::vector<TableRef>& tables_;
  // The eight bytes after the common prefix of all smallest keys, as numbers: first_ of
  // every table, ascending; last_ of the largest keys. Empty if keys are not ordered bytewise.
  std::string prefix_;
  std::vector<uint64_t> first_;
  std::vector<uint64_t> last_;
};

}  // namespace compassdb
