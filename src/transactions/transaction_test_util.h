// SPDX-License-Identifier: Apache-2.0
// Load that only serialisable transactions survive.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/utilities/transaction.h"

namespace compassdb {

using BeginTransaction = std::function<rocksdb::Transaction*()>;

// Threads move money between accounts; the sum stays after each commit. Each
// account also counts its transfers, so that a lost update shows. Returns the
// number of commits. Accounts are keys a0, a1, ...
inline int RunTransfers(rocksdb::DB* db, const BeginTransaction& begin, int accounts, int threads,
                        int attempts) {
  auto key = [](int account) { return "a" + std::to_string(account); };
  for (int i = 0; i < accounts; ++i) {
    EXPECT_TRUE(db->Put(rocksdb::WriteOptions(), key(i), "1000").ok());
  }
  std::atomic<int> commits{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < attempts; ++i) {
        const int from = static_cast<int>(random() % static_cast<unsigned>(accounts));
        const int to = static_cast<int>(random() % static_cast<unsigned>(accounts));
        if (from == to) continue;
        std::unique_ptr<rocksdb::Transaction> txn(begin());
        std::string a, b;
        Status s = txn->GetForUpdate(rocksdb::ReadOptions(), key(from), &a);
        if (s.ok()) s = txn->GetForUpdate(rocksdb::ReadOptions(), key(to), &b);
        if (s.ok()) s = txn->Put(key(from), std::to_string(std::stoi(a) - 1));
        if (s.ok()) s = txn->Put(key(to), std::to_string(std::stoi(b) + 1));
        if (s.ok()) s = txn->Merge("transfers", "x");
        if (s.ok()) s = txn->Commit();
        if (s.ok()) ++commits;
        EXPECT_TRUE(s.ok() || s.IsBusy() || s.IsTimedOut() || s.IsTryAgain()) << s.ToString();
      }
    });
  }
  // Readers must see whole transfers only.
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      rocksdb::ReadOptions options;
      options.snapshot = db->GetSnapshot();
      int sum = 0;
      for (int i = 0; i < accounts; ++i) {
        std::string value;
        EXPECT_TRUE(db->Get(options, key(i), &value).ok());
        sum += std::stoi(value);
      }
      db->ReleaseSnapshot(options.snapshot);
      EXPECT_EQ(sum, 1000 * accounts);
    }
  });
  for (std::thread& worker : workers) worker.join();
  stop = true;
  reader.join();
  return commits;
}

// Keys that exist neither before nor after, but changed since a transaction's snapshot: its write must conflict,
// even if flushes have changed the deletions. (A compaction to the deepest level may forget them, as
// RocksDB's does.) `begin` takes a snapshot.
inline void DeletedKeysConflict(rocksdb::DB* db, const BeginTransaction& begin) {
  const auto flush = [db] { ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok()); };
  const auto put = [db](const char* key) { ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), key, "theirs").ok()); };
  const auto remove = [db](const char* key) { ASSERT_TRUE(db->Delete(rocksdb::WriteOptions(), key).ok()); };
  const auto write = [](rocksdb::Transaction* txn, const char* key) {
    Status s = txn->Put(key, "mine");
    return s.ok() ? txn->Commit() : s;
  };
  const std::vector<const char*> changed = {"one flush", "nothing", "two flushes", "old"};
  put("old");
  flush();
  std::vector<std::unique_ptr<rocksdb::Transaction>> transactions;
  for (size_t i = 0; i <= changed.size(); ++i) transactions.emplace_back(begin());
  put("one flush");
  remove("one flush");
  remove("nothing");
  put("two flushes");
  put("neighbour");
  flush();
  remove("two flushes");
  remove("old");
  flush();
  put("later");  // so that memtables do not show it
  for (size_t i = 0; i < changed.size(); ++i) {
    const Status s = write(transactions[i].get(), changed[i]);
    EXPECT_TRUE(s.IsBusy()) << changed[i] << ": " << s.ToString();
    std::string value;
    EXPECT_TRUE(db->Get(rocksdb::ReadOptions(), changed[i], &value).IsNotFound()) << changed[i];
  }
  EXPECT_TRUE(write(transactions.back().get(), "untouched").ok());
  transactions.clear();
  for (const char* key : changed) {  // a transaction that begins now has seen all that
    const std::unique_ptr<rocksdb::Transaction> txn(begin());
    EXPECT_TRUE(write(txn.get(), key).ok()) << key;
  }
  flush();
  for (const char* key : changed) {
    std::string value;
    EXPECT_TRUE(db->Get(rocksdb::ReadOptions(), key, &value).ok() && value == "mine") << key;
  }
}

// The layouts in which that is looked at.
inline std::vector<PieceTableOptions> LayoutsOfDeletions() {
  std::vector<PieceTableOptions> layouts(3);
  layouts[1].store = layouts[2].store = StoreKind::kTableless;
  layouts[1].tableless_sections = layouts[2].tableless_sections = 2;
  layouts[2].tableless_key_store = false;
  return layouts;
}

// Each transaction reads some registers and writes its number into some. The
// commits are serialisable if the graph of reads-from and overwrites between
// transactions has no circle. Registers hold "writer:version", where the
// writer raises the version, so the order of the writes of a register shows.
class HistoryChecker {
 public:
  struct Access {
    int reg;
    int version;  // read, or written over: what it wrote is one more
    bool write;
  };
  void Committed(int id, std::vector<Access> accesses) {
    std::lock_guard<std::mutex> lock(mu_);
    history_.emplace_back(id, std::move(accesses));
  }
  // Empty if there is an order in which all of it could have happened one after the other.
  std::string Check() const {
    std::map<std::pair<int, int>, int> writer;  // (register, version) -> place in history
    for (size_t i = 0; i < history_.size(); ++i) {
      for (const Access& a : history_[i].second) {
        if (!a.write) continue;
        if (!writer.emplace(std::make_pair(a.reg, a.version + 1), static_cast<int>(i)).second) {
          return "two writers made version " + std::to_string(a.version + 1) + " of register " +
                 std::to_string(a.reg);
        }
      }
    }
    std::vector<std::vector<int>> before(history_.size());  // edges: i happened before these
    for (size_t i = 0; i < history_.size(); ++i) {
      for (const Access& a : history_[i].second) {
        auto made = writer.find({a.reg, a.version});
        if (made != writer.end()) before[made->second].push_back(static_cast<int>(i));
        auto next = writer.find({a.reg, a.version + 1});
        if (next != writer.end() && next->second != static_cast<int>(i)) {
          before[i].push_back(next->second);
        }
      }
    }
    std::vector<int> pending(history_.size(), 0);
    for (const auto& edges : before) {
      for (int to : edges) ++pending[to];
    }
    std::vector<int> ready;
    for (size_t i = 0; i < pending.size(); ++i) {
      if (pending[i] == 0) ready.push_back(static_cast<int>(i));
    }
    size_t done = 0;
    while (!ready.empty()) {
      const int at = ready.back();
      ready.pop_back();
      ++done;
      for (int to : before[at]) {
        if (--pending[to] == 0) ready.push_back(to);
      }
    }
    return done == history_.size() ? "" : "transactions depend on each other in a circle";
  }
  size_t size() const { return history_.size(); }

 private:
  std::mutex mu_;
  std::vector<std::pair<int, std::vector<Access>>> history_;
};

inline void RunRegisters(const BeginTransaction& begin, int registers, int threads, int attempts,
                         HistoryChecker* checker) {
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t) + 100);
      for (int i = 0; i < attempts; ++i) {
        std::unique_ptr<rocksdb::Transaction> txn(begin());
        std::vector<HistoryChecker::Access> accesses;
        Status s;
        for (int n = 0; n < 3 && s.ok(); ++n) {
          const int reg = static_cast<int>(random() % static_cast<unsigned>(registers));
          bool again = false;
          for (const auto& access : accesses) again = again || access.reg == reg;
          if (again) continue;
          const std::string key = "r" + std::to_string(reg);
          std::string value;
          const bool write = random() % 2 == 0;
          s = txn->GetForUpdate(rocksdb::ReadOptions(), key, &value, /*exclusive=*/write);
          if (s.IsNotFound()) {
            s = Status::OK();
            value = "0";
          }
          if (!s.ok()) break;
          const int version = std::stoi(value);
          if (write) s = txn->Put(key, std::to_string(version + 1));
          accesses.push_back({reg, version, write});
        }
        if (s.ok()) s = txn->Commit();
        if (s.ok()) checker->Committed(t * attempts + i, std::move(accesses));
        EXPECT_TRUE(s.ok() || s.IsBusy() || s.IsTimedOut() || s.IsTryAgain()) << s.ToString();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

}  // namespace compassdb
