// SPDX-License-Identifier: Apache-2.0
// One client thread: performs its share of a workload's operations, one after
// the other, and times each.
//
// Thread safety: a Client belongs to its thread; done() and Stop() from any.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine.h"
#include "flags.h"
#include "generators.h"
#include "histogram.h"
#include "key_set.h"

namespace kvbench {

enum class Op { kRead, kUpdate, kInsert, kScan, kRmw, kMultiRead };
inline constexpr int kOps = 6;
const char* OpName(Op op);

struct ClientResult {
  rocksdb::Status status;
  std::array<Histogram, kOps> latency;
  uint64_t user_bytes_written = 0;
  uint64_t user_bytes_read = 0;
  uint64_t not_found = 0;
  uint64_t scanned_records = 0;
  uint64_t longest_delay_nanos = 0;  // with --rate: from when an operation was due to its end
};

class Client {
 public:
  // Thread `index` of those of `flags`, to perform `operations` operations;
  // those of a fillseq or load take their numbers from the shared key set.
  Client(const Flags& flags, const WorkloadSpec& spec, Engine* engine, KeySet* keys, int index,
         uint64_t operations);

  // Runs all operations, or until one fails or Stop() is called.
  void Run();
  // Reads this client's share of all records, without counting.
  rocksdb::Status WarmUp();
  // Runs as the writer of readwhilewriting, next to its readers.
  void RunWriter();
  void Stop() { stop_.store(true, std::memory_order_relaxed); }

  uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  const ClientResult& result() const { return result_; }

 private:
  using Clock = std::chrono::steady_clock;

  void RunOperations();
  Clock::time_point WaitUntilDue(Clock::time_point begin, uint64_t i) const;
  Op ChooseOp();
  rocksdb::Status Perform(Op op, uint64_t n);
  rocksdb::Status Read(uint64_t number);
  rocksdb::Status ReadMissing();
  rocksdb::Status MultiRead(uint64_t n);
  rocksdb::Status CheckRead(uint64_t number, bool expected, const std::string& key,
                            const rocksdb::Status& s, const rocksdb::Slice& value);
  rocksdb::Status Put(uint64_t number);
  rocksdb::Status Insert();
  rocksdb::Status Scan();
  uint64_t ChooseExisting();

  const Flags& flags_;
  const WorkloadSpec& spec_;
  Engine* const engine_;
  KeySet* const keys_;
  const int index_;
  const uint64_t operations_;
  const KeyMaker key_maker_;
  Random64 random_;
  ValueMaker values_;
  KeyChooser chooser_;
  std::string key_;
  rocksdb::PinnableSlice value_;
  // Of MultiRead:
  std::vector<uint64_t> numbers_;
  std::vector<std::string> batch_keys_;
  std::vector<rocksdb::Slice> batch_slices_;
  std::vector<rocksdb::PinnableSlice> batch_values_;
  std::vector<rocksdb::Status> batch_statuses_;
  std::array<LatencyBuffer, kOps> latest_;  // not in result_ yet
  ClientResult result_;
  std::atomic<uint64_t> done_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace kvbench
