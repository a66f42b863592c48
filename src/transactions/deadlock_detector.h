// SPDX-License-Identifier: Apache-2.0
// The graph of waiting transactions: would one more close a circle?
//
// Only transactions with deadlock detection are in the graph. A search that is
// deeper than its transaction allows counts as a deadlock.
//
// Thread safety: all of it. The mutex is a leaf; locks of keys may be held.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "rocksdb/utilities/transaction_db.h"
#include "util/mutex.h"

namespace compassdb {

using rocksdb::DeadlockInfo;
using rocksdb::DeadlockPath;
using rocksdb::TransactionID;

class DeadlockDetector {
 public:
  explicit DeadlockDetector(uint32_t paths_kept) : paths_kept_(paths_kept) {}

  struct Waiting {
    std::vector<TransactionID> owners;  // of the lock
    uint32_t family = 0;
    bool exclusive = false;
    std::string key;
  };

  // `waiter` is about to wait. False: it would be a deadlock, which is
  // recorded with the time `now` (seconds); nothing is entered. True: EndWait
  // must follow.
  bool BeginWait(TransactionID waiter, Waiting waiting, int64_t max_depth, int64_t now);
  void EndWait(TransactionID waiter);

  // Newest first.
  std::vector<DeadlockPath> Paths() const;
  void KeepPaths(uint32_t count);

 private:
  void Record(DeadlockPath path) REQUIRES(mu_);

  mutable Mutex mu_;
  std::unordered_map<TransactionID, Waiting> waits_ GUARDED_BY(mu_);
  std::unordered_map<TransactionID, int> waited_for_ GUARDED_BY(mu_);  // by how many
  std::deque<DeadlockPath> paths_ GUARDED_BY(mu_);                     // newest first
  uint32_t paths_kept_ GUARDED_BY(mu_);
};

}  // namespace compassdb
