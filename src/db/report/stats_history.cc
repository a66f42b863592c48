// SPDX-License-Identifier: Apache-2.0
#include "db/report/stats_history.h"

#include <utility>

namespace compassdb {
namespace {

size_t BytesOf(const StatsHistory::Values& values) {
  size_t bytes = sizeof(values);
  for (const auto& [name, value] : values) bytes += name.capacity() + sizeof(name) + sizeof(value);
  return bytes;
}

class Iterator final : public rocksdb::StatsHistoryIterator {
 public:
  Iterator(const StatsHistory* history, uint64_t begin, uint64_t end)
      : history_(history), end_(end), valid_(history->Find(begin, end, &seconds_, &growth_)) {}
  bool Valid() const override { return valid_; }
  void Next() override { valid_ = valid_ && history_->Find(seconds_ + 1, end_, &seconds_, &growth_); }
  uint64_t GetStatsTime() const override { return seconds_; }
  const std::map<std::string, uint64_t>& GetStatsMap() const override { return growth_; }
  rocksdb::Status status() const override { return rocksdb::Status::OK(); }

 private:
  const StatsHistory* const history_;
  const uint64_t end_;
  uint64_t seconds_ = 0;
  StatsHistory::Values growth_;
  bool valid_;
};

}  // namespace

void StatsHistory::Trim(size_t max_bytes) {
  while (bytes_ > max_bytes && !periods_.empty()) {
    bytes_ -= BytesOf(periods_.begin()->second);
    periods_.erase(periods_.begin());
  }
}

void StatsHistory::Add(uint64_t seconds, Values tickers, size_t max_bytes) {
  MutexLock lock(&mu_);
  if (has_last_) {
    Values growth;
    for (const auto& [name, value] : tickers) {
      const auto before = last_.find(name);
      const uint64_t had = before == last_.end() ? 0 : before->second;
      growth[name] = value >= had ? value - had : value;  // Statistics::Reset
    }
    const auto [at, added] = periods_.try_emplace(seconds);
    if (!added) bytes_ -= BytesOf(at->second);
    for (const auto& [name, value] : growth) at->second[name] += value;
    bytes_ += BytesOf(at->second);
    Trim(max_bytes);
  }
  last_ = std::move(tickers);
  has_last_ = true;
}

void StatsHistory::Limit(size_t max_bytes) {
  MutexLock lock(&mu_);
  Trim(max_bytes);
}

bool StatsHistory::Find(uint64_t begin, uint64_t end, uint64_t* seconds, Values* growth) const {
  MutexLock lock(&mu_);
  const auto it = periods_.lower_bound(begin);
  if (it == periods_.end() || it->first >= end) return false;
  *seconds = it->first;
  *growth = it->second;
  return true;
}

std::unique_ptr<rocksdb::StatsHistoryIterator> NewStatsHistoryIterator(const StatsHistory* history,
                                                                       uint64_t begin,
                                                                       uint64_t end) {
  return std::make_unique<Iterator>(history, begin, end);
}

}  // namespace compassdb
