// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "env/sim/fault_injection_file_system.h"
#include "rocksdb/env.h"

namespace compassdb_test {

// The env that makes DB::Open use `fs`; one definition per library
// (disk_env_compassdb.cc, disk_env_rocksdb.cc).
std::unique_ptr<rocksdb::Env> MakeEnvOver(std::shared_ptr<compassdb::FileSystem> fs);
// The suffix of the library's table files.
const char* TableFileSuffix();
// The number of the oldest log that recovery of the database in `dir` has to read; 0: any may be.
uint64_t FirstNeededLog(rocksdb::Env* env, const std::string& dir);

// A kind of sync. If an engine leaves it out, a crash test must notice.
enum class SyncKind { kNone, kWal, kManifest, kTable, kValues, kCurrent, kDirectory, kPages };

// The event at the chosen moment.
struct Cut {
  compassdb::CutMode mode = compassdb::CutMode::kDropUnsynced;
  // The process dies instead of a power cut: all that was written stays readable, and unsynced data
  // may still be lost in the next cut.
  bool kill = false;
  // The moment is counted in changes of files that are written in place alone, pages of table-less families.
  bool at_pages = false;
  // It is counted in punches alone.
  bool at_punches = false;
};

// The state of the write-ahead logs after a cut.
struct LogDamage {
  bool newest_torn = false;   // it does not end after a record for certain; never of a recycled one
  bool any = false;           // some log is torn, or an older one short
  std::string newest;
};

// A simulated disk whose power can be cut at a chosen operation.
// Thread safety: the engine's threads may use it at the same time; the test's
// own calls come from one thread.
// Changes are calls that alter the disk (create, write, sync, rename, delete,
// ...) on any file except the info log, whose loss does not matter.
class Disk {
 public:
  // Sealed: the engine's files are encrypted (support/sealed_env.h).
  explicit Disk(bool sealed);

  rocksdb::Env* env() { return sealed_ != nullptr ? sealed_.get() : env_.get(); }
  // Forgets earlier counts and cuts; then the power fails just before the n-th
  // change, respectively sync (0: never).
  void Arm(uint64_t cut_at_change, uint64_t cut_at_sync, uint64_t seed, const Cut& cut);
  void CutNow();
  // With its parents, durably.
  void MakeDirectory(const std::string& path);
  void Restart();
  bool IsDown() const;
  // Of the logs that a recovery of the database in `dir` reads; judged by what the engine handed over
  // in each append, one record at a time.
  LogDamage Logs(const std::string& dir);
  // Of all files' names, sizes and numbers of zero pages. The contents of files are left out, because
  // random ids make them different in every run.
  uint64_t Fingerprint();
  // Names and sizes of all files, for the reader of a failure.
  std::string Listing();
  uint64_t changes() const { return changes_.load(); }
  uint64_t syncs() const { return syncs_.load(); }
  // Holes made in files, with the power on, over all lives; and cuts just before one.
  uint64_t punches() const { return punches_.load(); }
  uint64_t cuts_at_punches() const { return cuts_at_punches_.load(); }
  // From now on blocks of this size are written in place whole or not at all (MemoryFileSystem::SetAtomicWrites).
  void SetAtomicWrites(uint64_t bytes);
  // From now on such syncs return OK and do nothing.
  void LeaveOut(SyncKind kind);
  // Of one file, until the next restart: those of separated values (kValues) are not recognised by their names.
  void LeaveOutFile(const std::string& path);
  // The operation before which the power failed.
  std::string cut_at() const;

 private:
  class FileSystem;
  // A log as it would be if no power had been cut.
  struct Log {
    std::set<uint64_t> ends;  // sizes between appends
    std::string bytes;
    bool over = false;  // there was a cut: no more is appended
    bool recycled = false;  // written over an older one, whose bytes are behind its own
  };
  void OnOperation(compassdb::FaultOp op, const std::string& path);
  void NoteAppend(const std::string& path);
  void NoteLateAppend(const std::string& path);
  bool IsEmptySealed(const std::string& path, const std::string& bytes);
  void NoteReuse(compassdb::FaultOp op, const std::string& path);
  void NoteLogs();
  std::string ReadFile(const std::string& path);
  void Walk(const std::string& dir, std::vector<std::string>* files);

  std::shared_ptr<FileSystem> fs_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::Env> sealed_;  // over env_
  std::atomic<uint64_t> changes_ = 0;
  std::atomic<uint64_t> page_changes_ = 0;
  std::atomic<uint64_t> syncs_ = 0;
  std::atomic<uint64_t> punches_ = 0;
  std::atomic<uint64_t> punches_of_life_ = 0;
  std::atomic<uint64_t> cuts_at_punches_ = 0;
  std::atomic<uint64_t> cut_at_change_ = 0;
  std::atomic<uint64_t> cut_at_sync_ = 0;
  uint64_t seed_ = 0;
  Cut cut_;
  SyncKind left_out_ = SyncKind::kNone;
  std::atomic<bool> killed_ = false;
  std::map<std::string, Log> logs_;  // cut_mutex_
  std::thread::id renamed_by_;  // the thread whose last operation on a log was to rename one
  mutable std::mutex cut_mutex_;
  std::mutex down_mutex_;  // before cut_mutex_
  std::string cut_at_;
};

}  // namespace compassdb_test
