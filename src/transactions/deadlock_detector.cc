// SPDX-License-Identifier: Apache-2.0
#include "transactions/deadlock_detector.h"

#include <algorithm>
#include <utility>

namespace compassdb {

bool DeadlockDetector::BeginWait(TransactionID waiter, Waiting waiting, int64_t max_depth,
                                 int64_t now) {
  MutexLock lock(&mu_);
  const Waiting& entry = waits_[waiter] = std::move(waiting);
  for (const TransactionID owner : entry.owners) ++waited_for_[owner];
  if (waited_for_.count(waiter) == 0) return true;

  // Breadth first from the owners; `from` is the place of the one that led there.
  struct Reached {
    TransactionID id;
    int from;
  };
  std::vector<Reached> queue;
  auto reach = [&](const std::vector<TransactionID>& owners, int from) {
    for (const TransactionID owner : owners) {
      if (static_cast<int64_t>(queue.size()) >= max_depth) return;
      queue.push_back({owner, from});
    }
  };
  reach(entry.owners, -1);
  bool found = false;
  size_t head = 0;
  for (; static_cast<int64_t>(head) < max_depth; ++head) {
    if (head == queue.size()) return true;  // no more waiters
    if (queue[head].id == waiter) {
      found = true;
      break;
    }
    auto next = waits_.find(queue[head].id);
    if (next != waits_.end()) reach(next->second.owners, static_cast<int>(head));
  }
  if (found) {
    std::vector<DeadlockInfo> path;
    for (int at = static_cast<int>(head); at >= 0; at = queue[static_cast<size_t>(at)].from) {
      const TransactionID id = queue[static_cast<size_t>(at)].id;
      const Waiting& link = waits_.at(id);
      path.push_back({id, link.family, link.exclusive, link.key});
    }
    std::reverse(path.begin(), path.end());
    Record(DeadlockPath(std::move(path), now));
  } else {
    Record(DeadlockPath(now, /*limit=*/true));
  }
  for (const TransactionID owner : entry.owners) {
    if (--waited_for_[owner] == 0) waited_for_.erase(owner);
  }
  waits_.erase(waiter);
  return false;
}

void DeadlockDetector::EndWait(TransactionID waiter) {
  MutexLock lock(&mu_);
  auto it = waits_.find(waiter);
  if (it == waits_.end()) return;
  for (const TransactionID owner : it->second.owners) {
    if (--waited_for_[owner] == 0) waited_for_.erase(owner);
  }
  waits_.erase(it);
}

std::vector<DeadlockPath> DeadlockDetector::Paths() const {
  MutexLock lock(&mu_);
  return {paths_.begin(), paths_.end()};
}

void DeadlockDetector::KeepPaths(uint32_t count) {
  MutexLock lock(&mu_);
  paths_kept_ = count;
  while (paths_.size() > count) paths_.pop_back();
}

void DeadlockDetector::Record(DeadlockPath path) {
  if (paths_kept_ == 0) return;
  paths_.push_front(std::move(path));
  while (paths_.size() > paths_kept_) paths_.pop_back();
}

}  // namespace compassdb
