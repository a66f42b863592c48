// SPDX-License-Identifier: Apache-2.0
// Locks on keys, exclusive or shared, by column family and key.
//
// A family's locks are divided into stripes by a hash of the key; each has a
// mutex and a condition variable for threads that wait for a lock of it.
//
// Thread safety: all of it. Lock order: a stripe's mutex, then the deadlock
// detector's; GetStatus takes all stripes of a family in order.
// Invariants: a lock with several owners is shared; an owner is in a lock's
// list as often as it requested to share it, and no other owner has it twice.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/transaction_db_mutex.h"
#include "transactions/deadlock_detector.h"
#include "transactions/tracked_keys.h"
#include "util/process.h"

namespace compassdb {

using rocksdb::KeyLockInfo;
using rocksdb::Status;

// Notified of what an owner waits for.
class LockWaiter {
 public:
  virtual ~LockWaiter() = default;
  virtual void WaitingFor(const std::vector<TransactionID>& owners, uint32_t family,
                          const std::string& key) = 0;
  virtual void WaitingEnded() = 0;
};

struct LockRequest {
  TransactionID owner = 0;
  bool exclusive = true;
  uint64_t expires_micros = 0;  // when others may take the lock; 0: never
  int64_t timeout_micros = 0;   // below 0: none
  bool detect_deadlock = false;
  int64_t max_depth = 0;
  LockWaiter* waiter = nullptr;
};

class PointLocks {
 public:
  struct Options {
    size_t stripes = 16;
    int64_t max_locks = -1;  // of a family; not positive: no limit
    uint32_t deadlocks_kept = 5;
    std::shared_ptr<rocksdb::TransactionDBMutexFactory> mutexes;
    rocksdb::Env* env = nullptr;  // borrowed; the clock
    // Asks an expired owner to release its locks; false if it is being
    // committed.
    std::function<bool(TransactionID)> steal;
  };
  explicit PointLocks(Options options);

  // In a child of fork() nothing is locked or unlocked, and Lock says why.
  void AddFamily(uint32_t family);
  // Threads that wait for one of its locks get an error: there is no such family.
  void RemoveFamily(uint32_t family);

  // TimedOut(kLockTimeout), Busy(kDeadlock), Busy(kLockLimit), or what the
  // mutexes return. A held lock may be requested again; exclusive turns a lock
  // without other owners into an exclusive one and back.
  Status Lock(const LockRequest& request, uint32_t family, const std::string& key);
  void Unlock(TransactionID owner, uint32_t family, const std::string& key);
  void Unlock(TransactionID owner, const TrackedKeys& keys);

  std::unordered_multimap<uint32_t, KeyLockInfo> GetStatus();
  DeadlockDetector* detector() { return &detector_; }

 private:
  struct Owner {
    TransactionID id;
    uint64_t expires_micros;
  };
  struct Held {
    bool exclusive;
    std::vector<Owner> owners;
  };
  struct Stripe {
    std::shared_ptr<rocksdb::TransactionDBMutex> mutex;
    std::shared_ptr<rocksdb::TransactionDBCondVar> changed;
    std::unordered_map<std::string, Held> held;
  };
  struct Family {
    std::vector<Stripe> stripes;
    std::atomic<int64_t> locks{0};
    std::atomic<bool> removed{false};
  };
  // Why a lock was not granted at once.
  struct Conflict {
    std::vector<TransactionID> owners;
    uint64_t expires_micros = 0;
  };

  std::shared_ptr<Family> Find(uint32_t family) const;
  static Stripe* StripeOf(Family* family, const std::string& key);
  Status TryGrant(const LockRequest& request, Family* family, Stripe* stripe,
                  const std::string& key, Conflict* conflict);
  // Whether there is no other owner, or all of them have expired.
  bool OthersExpired(const LockRequest& request, const Held& held, Conflict* conflict);
  Status AwaitChange(const LockRequest& request, uint32_t family, Stripe* stripe,
                     const std::string& key, const Conflict& conflict, uint64_t end_micros);

  const ProcessMark process_;
  const Options options_;
  DeadlockDetector detector_;
  mutable std::shared_mutex families_mu_;
  std::map<uint32_t, std::shared_ptr<Family>> families_;  // families_mu_
};

}  // namespace compassdb
