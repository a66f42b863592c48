// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/utilities/transaction_db.h"
#include "support/model.h"

namespace compassdb_test {

// Two-phase transactions of a database whose power is cut:
//  - "batch" is a batch of the history that is prepared, and committed soon after: it is in the database, or it is
//    prepared, never both, and not neither once its Prepare was acknowledged with sync;
//  - "held" is prepared with sync, stays so over writes, flushes, switches of logs and cuts, and is rolled back in the
//    end: until then every opening must find it.
// What an open found stays, like everything else. Thread safety: none.
class TwoPhase {
 public:
  // The open database; null: none. Handles of transactions are deleted with it.
  void SetDb(rocksdb::TransactionDB* db);

  // Writes batch `number` of the history; `between` is called while it is prepared.
  rocksdb::Status Write(const std::vector<WriteItem>& items, uint64_t number,
                        const std::vector<rocksdb::ColumnFamilyHandle*>& families, bool sync_prepare, bool sync,
                        const std::function<rocksdb::Status()>& between);
  // Prepares the one that is held, or rolls it back.
  rocksdb::Status HoldOrRollBack(bool sync_rollback);
  // At the beginning of a life: a batch that was left prepared is rolled back.
  rocksdb::Status RollBackBatch();
  // After an opening that found `batches` of the history. What is wrong, if anything.
  std::optional<std::string> Check(uint64_t batches);
  // Opens that found a prepared section.
  uint64_t found() const { return found_; }

 private:
  enum class State { kNone, kEither, kPrepared };

  rocksdb::TransactionDB* db_ = nullptr;
  std::unique_ptr<rocksdb::Transaction> held_handle_;
  State batch_ = State::kNone;
  uint64_t batch_number_ = 0;
  State held_ = State::kNone;
  uint64_t found_ = 0;
};

}  // namespace compassdb_test
