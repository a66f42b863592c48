// SPDX-License-Identifier: Apache-2.0
// A file system in memory. One of its calls fails, or all from one on.
//
// Thread safety: the engine's threads may use it; the rest is the test's one thread's.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "env/sim/fault_injection_file_system.h"
#include "rocksdb/env.h"

namespace compassdb_test {

enum class Fault { kIoError, kNoSpace, kTooManyFiles, kFlippedBit, kHalfRead };
inline constexpr Fault kFaults[] = {Fault::kIoError, Fault::kNoSpace, Fault::kTooManyFiles, Fault::kFlippedBit, Fault::kHalfRead};
// A read without an error that returns a wrong bit, or half of the bytes.
inline bool IsLie(Fault fault) { return fault == Fault::kFlippedBit || fault == Fault::kHalfRead; }
const char* FaultName(Fault fault);
enum class Duration { kOnce, kForAWhile, kForGood };
const char* DurationName(Duration duration);

class FailingDisk {
 public:
  // Sealed: the engine's files are encrypted (support/sealed_env.h).
  explicit FailingDisk(bool sealed);
  ~FailingDisk();
  rocksdb::Env* env() { return sealed_ != nullptr ? sealed_.get() : env_.get(); }

  // From call number `n` on (from 1, counted from now), calls that can have the fault fail: the first, those of the
  // next few, or all. A sync that fails drops what it should have made durable, as kernels do. 0: none, only counts.
  void Arm(uint64_t n, Fault fault, Duration duration);
  void Repair();
  // Power off and on: unsynced data is lost.
  void Cut();

  // No call fails from now on.
  bool healthy() const { return nth_ == 0 || calls_.load() > last_; }
  // Since then.
  uint64_t calls() const { return calls_.load(); }
  // Whether call n of an earlier life can have `fault`. Its threads may have run in another
  // order.
  bool CanFail(uint64_t n, Fault fault) const;
  // The first failure: "sync /db/000004.log".
  std::string failed() const;
  // Whether a message names a file (or directory) where a call failed.
  bool NamesAFailedFile(const std::string& message) const;
  // Holes made since Arm().
  uint64_t punches() const { return punches_.load(); }
  bool dropped_pages() const { return dropped_.load(); }

 private:
  void OnCall(compassdb::FaultOp op, const std::string& path);
  void Fail(compassdb::FaultOp op, const std::string& path);

  const std::shared_ptr<compassdb::FaultInjectionFileSystem> fs_;
  const std::unique_ptr<rocksdb::Env> env_;
  const std::unique_ptr<rocksdb::Env> sealed_;  // over env_
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> punches_{0};
  std::atomic<bool> dropped_{false};
  uint64_t nth_ = 0;
  Fault fault_ = Fault::kIoError;
  bool once_ = false;
  std::atomic<uint64_t> last_{0};  // call that fails
  mutable std::mutex mu_;
  std::string failed_;
  std::set<std::string> failed_paths_;
  std::vector<compassdb::FaultOp> ops_;  // of all calls
  std::map<std::string, uint64_t> synced_;  // bytes of each file
};

}  // namespace compassdb_test
