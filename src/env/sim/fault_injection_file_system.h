// SPDX-License-Identifier: Apache-2.0
// A file system that fails on demand, for tests. It wraps another one (by
// default a MemoryFileSystem of its own) and adds:
//
//  * rules: the n-th call of a kind on matching paths fails, or every one;
//  * reads that return OK with other bytes than those of the file, or too few;
//  * counters of calls per kind;
//  * a hook called before each operation, from which a test may cut the power;
//  * ignored syncs: they return OK and do nothing. A crash test that does not notice
//    them tests nothing.
//
// A failed write writes the first half of its data before it fails (direct page files:
// rounded down to pages; with SetAtomicWrites to such blocks), as a full disk does. A failed sync makes
// nothing durable. Other failed calls change nothing. The power cut itself is MemoryFileSystem's: see its fault model.
//
//   FaultInjectionFileSystem fs;
//   fs.FailNth(FaultOp::kSync, 3, "MANIFEST", Status::IOError("injected"));
//   fs.FailAll(FaultOp::kWrite, ".ph", Status::NoSpace("injected"));
//   fs.PowerCut(seed, CutMode::kRandom);  fs.Restart();
//
// Thread safety: every function may be called by any thread. The hook is
// called without locks held.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "env/file_system.h"
#include "env/sim/memory_file_system.h"
#include "util/mutex.h"

namespace compassdb {

enum class FaultOp {
  kCreate,    // NewWritableFile, ReopenWritableFile, ReuseWritableFile, NewPageFile that creates
  kOpen,      // NewSequentialFile, NewRandomAccessFile, NewPageFile of an existing file
  kWrite,     // Append; Write; each request of a MultiWrite
  kFlush,
  kSync,
  kClose,
  kRead,
  kDirSync,
  kRename,    // matched against both paths; ReuseWritableFile, too
  kLink,      // matched against both paths
  kClone,     // matched against both paths
  kDelete,
  kTruncate,  // by path, and of page files
  kPunch,
  kCreateDir,
  kDeleteDir,
  kList,      // GetChildren
  kStat,      // FileExists, GetFileSize, times, link counts, free space
  kLock,
  kNumOps,
};
const char* FaultOpName(FaultOp op);

// What happens to a read that does not fail.
enum class ReadDamage { kNone, kFlippedBit, kHalf };

class FaultInjectionFileSystem : public FileSystem {
 public:
  FaultInjectionFileSystem();                                        // over memory
  explicit FaultInjectionFileSystem(FileSystem* base);               // base outlives this
  ~FaultInjectionFileSystem() override;

  // The n-th (from 1, counted from now) call of the kind on a path that contains
  // `substring` fails with `status`; later ones work again.
  void FailNth(FaultOp op, uint64_t n, const std::string& substring, const Status& status);
  // Every such call from now on fails.
  void FailAll(FaultOp op, const std::string& substring, const Status& status);
  // About one in `n` such calls fails, chosen by the seed.
  void FailOneIn(FaultOp op, uint64_t n, const std::string& substring, const Status& status,
                 uint64_t seed);
  // The n-th such read returns OK, with the damage.
  void DamageNthRead(uint64_t n, const std::string& substring, ReadDamage damage);
  // Syncs (of files and directories) whose path contains `substring` do nothing.
  void IgnoreSync(const std::string& substring);
  void ClearFaults();  // rules and ignored syncs
  uint64_t faults_injected() const { return injected_.load(std::memory_order_relaxed); }

  uint64_t Count(FaultOp op) const {
    return counts_[static_cast<size_t>(op)].load(std::memory_order_relaxed);
  }
  void ResetCounts();
  using Hook = std::function<void(FaultOp, const std::string& path)>;
  // Null: none. Returns when no other thread is in the hook before.
  void SetHook(Hook hook);

  // Only over memory: no-ops on another base (see CanCut()).
  bool CanCut() const { return memory_ != nullptr; }
  void PowerCut(uint64_t seed, CutMode mode);
  void Restart();
  bool IsDown() const;
  MemoryFileSystem* memory() { return memory_; }

  // For the wrapped files: counts, calls the hook, applies the rules.
  Status Before(FaultOp op, const std::string& path, const std::string& other = "");
  Status BeforeRead(const std::string& path, ReadDamage* damage);
  bool IsSyncIgnored(const std::string& path);

  const char* Name() const override { return "FaultInjection"; }
  Status NewSequentialFile(const std::string& path,
                           std::unique_ptr<SequentialFile>* file) override;
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override;
  Status NewWritableFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<WritableFile>* file) override;
  Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                            std::unique_ptr<WritableFile>* file) override;
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           const FileOptions& options,
                           std::unique_ptr<WritableFile>* file) override;
  Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                     std::unique_ptr<PageFile>* file) override;
  Status FileExists(const std::string& path) override;
  Status GetFileSize(const std::string& path, uint64_t* size) override;
  Status GetModificationTime(const std::string& path, uint64_t* seconds) override;
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override;
  Status CreateDir(const std::string& dir) override;
  Status DeleteDir(const std::string& dir) override;
  Status DeleteFile(const std::string& path) override;
  Status RenameFile(const std::string& from, const std::string& to) override;
  Status LinkFile(const std::string& from, const std::string& to) override;
  Status CloneFile(const std::string& from, const std::string& to) override;
  Status TruncateFile(const std::string& path, uint64_t size) override;
  Status SyncDir(const std::string& dir) override;
  Status PunchHole(const std::string& path, uint64_t offset, uint64_t length) override;
  HoleSizes HolesWorthPunching() const override { return base_->HolesWorthPunching(); }
  Status GetLinkCount(const std::string& path, uint64_t* count) override;
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override;
  Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) override;
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override;
  Status GetRealPath(const std::string& path, std::string* real) override;
  Status GetFileId(const std::string& path, std::string* id) override;

 private:
  struct Rule {
    FaultOp op;
    std::string substring;
    Status status;
    uint64_t countdown;  // fails when it reaches 0; then the rule is spent
    uint64_t one_in;     // 0: by countdown; 1: always; else at random
    Random random;
    ReadDamage damage = ReadDamage::kNone;
  };
  Status Apply(FaultOp op, const std::string& path, const std::string& other, ReadDamage* damage);
  void CallHook(FaultOp op, const std::string& path);
  void AddRule(Rule rule);

  std::unique_ptr<MemoryFileSystem> owned_;
  FileSystem* const base_;
  MemoryFileSystem* const memory_;
  std::array<std::atomic<uint64_t>, static_cast<size_t>(FaultOp::kNumOps)> counts_{};
  std::atomic<uint64_t> injected_{0};
  std::atomic<bool> active_{false};  // there are rules, ignored syncs or a hook
  Mutex mu_;
  CondVar hook_ended_{&mu_};  // a call of a hook
  std::vector<Rule> rules_ GUARDED_BY(mu_);
  std::vector<std::string> ignored_ GUARDED_BY(mu_);
  std::shared_ptr<Hook> hook_ GUARDED_BY(mu_);
  std::multiset<std::thread::id> in_hook_ GUARDED_BY(mu_);
};

}  // namespace compassdb
