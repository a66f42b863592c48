// SPDX-License-Identifier: Apache-2.0
// What transactions need of the database beyond its public interface.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "util/mutex.h"

namespace compassdb {

using rocksdb::Status;

// How a transaction's batch is written.
struct TransactionWrite {
  // Asked at the front of the write queue, when nothing else is being written;
  // an error ends the write with that error. Null: no question.
  const std::function<Status()>* check = nullptr;
  // A prepared section: logged and not inserted. Its log is kept until
  // DBImpl::ForgetPrepared. `logged_in` receives the log's number.
  bool prepare = false;
  uint64_t* logged_in = nullptr;
  // The batch commits what was prepared in this log, which is therefore kept
  // until the data is in the store; 0: nothing was.
  uint64_t prepared_log = 0;
};

// A prepared section that recovery found without its end.
struct RecoveredTransaction {
  rocksdb::WriteBatch batch;  // a Noop, then the records
  uint64_t log_number = 0;    // the log that holds it
};
using RecoveredTransactions = std::map<std::string, RecoveredTransaction>;  // by xid

// The logs that hold prepared sections whose end is not written.
// Thread safety: all of it. The mutex is a leaf.
class PreparedLogs {
 public:
  void Add(uint64_t log_number) {
    MutexLock lock(&mu_);
    logs_.insert(log_number);
  }
  void Remove(uint64_t log_number) {
    MutexLock lock(&mu_);
    auto it = logs_.find(log_number);
    if (it != logs_.end()) logs_.erase(it);
  }
  // UINT64_MAX if there are none.
  uint64_t Oldest() const {
    MutexLock lock(&mu_);
    return logs_.empty() ? UINT64_MAX : *logs_.begin();
  }

 private:
  mutable Mutex mu_;
  std::multiset<uint64_t> logs_ GUARDED_BY(mu_);
};

}  // namespace compassdb
