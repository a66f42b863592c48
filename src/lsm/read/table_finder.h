// SPDX-License-Identifier: Apache-2.0
// Which table of a level a user key belongs to: a search among eight bytes of each
// table's smallest key, side by side, in place of the keys themselves, which
// lie anywhere. Where eight bytes do not tell, keys are compared.
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
  // Of the eight bytes behind what all smallest keys share, as numbers: first_, of
  // every table, ascending; last_, of the largest keys. Empty if keys are not ordered bytewise.
  std::string prefix_;
  std::vector<uint64_t> first_;
  std::vector<uint64_t> last_;
};

}  // namespace compassdb
