// SPDX-License-Identifier: Apache-2.0
// Column families that wait for a job, first come, first served. Each is queued once.
//
// Thread safety: the caller's.
#pragma once

#include <deque>
#include <memory>
#include <unordered_set>
#include <utility>

#include "family/column_family.h"

namespace compassdb {

class FamilyQueue {
 public:
  bool empty() const { return families_.empty(); }
  int size() const { return static_cast<int>(families_.size()); }
  bool Has(const ColumnFamily& family) const { return queued_.count(&family) > 0; }
  // It is not queued.
  void Push(const std::shared_ptr<ColumnFamily>& family) {
    families_.push_back(family);
    queued_.insert(family.get());
  }
  // The queue is not empty.
  std::shared_ptr<ColumnFamily> Pop() {
    std::shared_ptr<ColumnFamily> family = std::move(families_.front());
    families_.pop_front();
    queued_.erase(family.get());
    return family;
  }
  void Remove(const std::shared_ptr<ColumnFamily>& family) {
    std::erase(families_, family);
    queued_.erase(family.get());
  }

 private:
  std::deque<std::shared_ptr<ColumnFamily>> families_;
  std::unordered_set<const ColumnFamily*> queued_;  // the same
};

}  // namespace compassdb
