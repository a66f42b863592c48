// SPDX-License-Identifier: Apache-2.0
// The queue of writers: group commit with a leader and followers.
//
// The writer at the front leads. It joins the writers behind it that fit to a
// group, and does the log write for all. It inserts all batches into the
// memtables itself, or lets every follower insert its own. While a leader works,
// no other group writes to memtables or write-ahead logs, and the set of column
// families does not change. Exclusive changes (a memtable switch, the drop of a family) enter
// the same queue with EnterExclusive.
//
// Thread safety: all methods. Lock order: the queue's mutex is a leaf; the
// place at the front of the queue is taken before the database mutex.
// Invariants: exactly the writer at the front is the leader; a follower's
// Writer stays in the queue until its leader calls ExitGroup.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "util/checked.h"
#include "util/mutex.h"
#include "wal/log_values.h"

namespace compassdb {

struct PreparedSection;
using rocksdb::Status;

class WriteThread {
 public:
  enum class State : int {
    kWaiting,
    kLeader,
    kInsert,  // insert your batch, then call CompleteInsert
    kDone,    // status is the result
  };

  struct Writer {
    rocksdb::WriteBatch* batch = nullptr;
    bool sync = false;
    bool disable_wal = false;
    bool no_slowdown = false;
    bool low_pri = false;
    bool exclusive = false;  // not a write
    // Called at the front, before any write; may refuse. Such a write is a group of its own.
    const std::function<Status()>* check = nullptr;
    // A prepared section: not inserted, takes no sequence. Null: none.
    const std::shared_ptr<PreparedSection>* section = nullptr;
    const std::string* ends = nullptr;  // commits, or rolls back, the open section of this name
    size_t bytes = 0;        // of the batch
    uint32_t count = 0;      // sequence numbers that the batch takes
    SequenceNumber sequence = 0;  // of its first record, set by the leader
    LoggedBatch logged;           // set by the leader, for memtables that are an index of the log
    Status status;

   private:
    friend class WriteThread;
    std::atomic<State> state{State::kWaiting};
    bool blocked = false;          // waits on `wake`; guarded by the queue's mutex
    CondVar* wake = nullptr;
    std::atomic<int>* running = nullptr;  // of the group, while in kInsert
    Writer* leader = nullptr;
  };

  struct Options {
    size_t max_group_bytes = 0;  // unless a single batch is larger
    // How long a waiting writer gives its processor to others before it sleeps; 0: not at all.
    uint64_t max_yield_nanos = 0;
    // A longer yield means that others need the processor: after three of them it sleeps.
    uint64_t slow_yield_nanos = 0;
  };
  explicit WriteThread(const Options& options) : options_(options) {}

  // Queues the writer. Returns kLeader, kInsert, or kDone (a leader has done
  // all, or no_slowdown is set and writes are stalled).
  State Join(Writer* w);

  // Leader: itself and the followers that may be in its group.
  std::vector<Writer*> BuildGroup(Writer* leader);
  // Leader: every member of the group inserts its own batch. The leader comes
  // back at once, inserts its own, then waits for the others in AwaitInserts.
  void StartParallelInsert(const std::vector<Writer*>& group, std::atomic<int>* running);
  void AwaitInserts(Writer* leader, std::atomic<int>* running);
  // Follower in kInsert: reports that its batch is inserted (status set), then waits for the end.
  void CompleteInsert(Writer* w);
  // Leader: statuses are set; wakes the followers and hands over the lead.
  void ExitGroup(std::span<Writer* const> group);

  // Waits for the front without a batch. Not to be called by a thread that leads.
  void EnterExclusive(Writer* w);
  void ExitExclusive(Writer* w);  // allocates nothing

  // In Checked builds: this thread leads, or has entered with EnterExclusive. LockWAL and UnlockWAL may be
  // called by different threads; then the first one counts.
  void AssertAtFront() const {
    COMPASSDB_INVARIANT(front_.IsThisThread(), "this thread is at the front of the write queue");
  }

  // Leader, around a stall: those with no_slowdown do not wait behind it.
  void BeginStall();
  void EndStall();

 private:
  void CheckInvariants() const REQUIRES(mu_);
  State Queue(Writer* w);
  State Await(Writer* w, State not_this);
  // Waits without sleeping, as long as that pays. Returns whether `done` became true.
  template <typename Done>
  bool AwaitAwake(const Done& done);
  template <typename Done>
  bool AwaitYielding(const Done& done) const;
  void Wake(Writer* w, State state) REQUIRES(mu_);

  const Options options_;
  // Above zero if recent waits ended before a writer would have slept. A hint: updates may
  // be lost.
  std::atomic<int> yield_credit_{0};
  [[no_unique_address]] MutexOwner front_;
  Mutex mu_;
  std::deque<Writer*> queue_ GUARDED_BY(mu_);
  bool stalled_ GUARDED_BY(mu_) = false;
};

// Holds the front of the queue for a scope.
class ExclusiveWrite {
 public:
  explicit ExclusiveWrite(WriteThread* thread) : thread_(thread) { thread_->EnterExclusive(&writer_); }
  ~ExclusiveWrite() { thread_->ExitExclusive(&writer_); }
  ExclusiveWrite(const ExclusiveWrite&) = delete;
  ExclusiveWrite& operator=(const ExclusiveWrite&) = delete;

 private:
  WriteThread* const thread_;
  WriteThread::Writer writer_;
};

}  // namespace compassdb
