// SPDX-License-Identifier: Apache-2.0
// Snapshots of a database under timestamps of the program, ascending.
//
// Thread safety: all methods. Lock order: mu_ is taken before the locks of the database.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "rocksdb/utilities/transaction_db.h"
#include "util/mutex.h"
#include "util/process.h"

namespace compassdb {

using rocksdb::Snapshot;
using rocksdb::Status;
using rocksdb::TxnTimestamp;

class TimestampedSnapshots {
 public:
  // `db` has the snapshots, and is open as long as this exists. `process`: that opened it.
  TimestampedSnapshots(rocksdb::DB* db, const ProcessMark& process) : db_(db), process_(process) {}
  ~TimestampedSnapshots();

  std::pair<Status, std::shared_ptr<const Snapshot>> Create(TxnTimestamp ts);
  // kMaxTxnTimestamp: the newest. Null: there is none.
  std::shared_ptr<const Snapshot> Get(TxnTimestamp ts) const;
  void ReleaseOlderThan(TxnTimestamp ts);
  // From `from` to before `to`.
  Status GetRange(TxnTimestamp from, TxnTimestamp to, std::vector<std::shared_ptr<const Snapshot>>& snapshots) const;

 private:
  rocksdb::DB* const db_;
  const ProcessMark& process_;
  mutable Mutex mu_;
  std::map<TxnTimestamp, std::shared_ptr<const Snapshot>> timestamped_ GUARDED_BY(mu_);
};

}  // namespace compassdb
