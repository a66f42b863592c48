// SPDX-License-Identifier: Apache-2.0
#include "lsm/read/table_finder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "lsm/read/level_iterator.h"
#include "table/piece/key_order.h"

namespace compassdb {

namespace {

// Monotone in the bytewise order of what follows `skip` bytes.
uint64_t Number(const Slice& key, size_t skip) {
  uint64_t word = 0;
  if (key.size() >= skip + 8) {
    memcpy(&word, key.data() + skip, 8);
  } else if (key.size() > skip) {
    memcpy(&word, key.data() + skip, key.size() - skip);
  }
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  return word;
}

}  // namespace

TableFinder::TableFinder(const Comparator* comparator, const std::vector<TableRef>& tables)
    : comparator_(comparator), tables_(tables) {
  if (!KeyOrder(comparator).bytewise() || tables.empty()) return;
  const std::string& front = tables.front()->meta().smallest;
  prefix_ = front.substr(0, CommonPrefixLength(front, tables.back()->meta().smallest));
  first_.reserve(tables.size());
  last_.reserve(tables.size());
  for (const TableRef& table : tables) {
    const std::string& largest = table->meta().largest;
    first_.push_back(Number(table->meta().smallest, prefix_.size()));
    // A key without the prefix is behind all keys with it.
    last_.push_back(Slice(largest).starts_with(prefix_) ? Number(largest, prefix_.size())
                                                        : UINT64_MAX);
  }
}

int TableFinder::Find(const Slice& user_key) const {
  if (first_.empty() || !user_key.starts_with(prefix_)) [[unlikely]] {
    return FindByComparing(user_key);
  }
  const uint64_t number = Number(user_key, prefix_.size());
  // How many tables begin at or before the number, by halving without branches on the outcome.
  const uint64_t* base = first_.data();
  for (size_t n = first_.size(); n > 1;) {
    const size_t half = n / 2;
    base += base[half] <= number ? half : 0;
    n -= half;
  }
  int i = static_cast<int>(base - first_.data()) - (*base <= number ? 0 : 1);
  while (i >= 0 && first_[i] == number && user_key.compare(tables_[i]->meta().smallest) < 0) --i;
  if (i < 0 || number > last_[i]) return -1;
  if (number == last_[i] && user_key.compare(tables_[i]->meta().largest) > 0) return -1;
  return i;
}

int TableFinder::FindByComparing(const Slice& user_key) const {
  const int i = FindTable(comparator_, tables_, user_key);
  return i < 0 || comparator_->Compare(user_key, tables_[i]->meta().largest) > 0 ? -1 : i;
}

}  // namespace compassdb
