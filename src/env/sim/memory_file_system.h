// SPDX-License-Identifier: Apache-2.0
// A file system in memory that simulates power cuts.
//
// Fault model. There are two states: the visible one, which every call uses, and
// the durable one.
//
//  * File data. Append, Write, TruncateFile and re-creation change the visible data.
//    Sync copies data and size to the durable state. A cut finds, per file,
//    one of: the durable data; the visible data; the durable data with a prefix
//    of the unsynced append. The prefix is torn at a byte, or at 4 KiB pages. Some
//    may read as zeros, as when the size was journaled before the pages.
//  * Writes in place, to page files and reused ones. A torn cut decides for each write since the
//    last Sync separately, in any order: it is kept, it is lost, or it is torn. It is torn at a
//    byte (the old bytes follow), or by the 4 KiB pages of the file: some are new and some old.
//    With SetAtomicWrites it is torn only by such blocks. Any number of writes may be torn. Of two
//    writes to one place that are both there, the later one shows. Changes of size are a
//    journal: where one is lost, later writes do not reach beyond the size before it.
//  * Holes are durable at once, without a sync: a hole that is punched too
//    early must be noticed.
//  * Names. Creation, link, rename, deletion and CreateDir append to one journal of
//    directory changes. SyncDir(d) makes the entries of the journal that touch
//    d durable (and entries of other directories that a cross-directory rename
//    ties to them). A cut applies a prefix of the rest: none of it, all of it,
//    or up to a random place; with kRandom every second time any part of it, as on a
//    disk without a journal. A directory whose own entry in its parent is not
//    durable is lost with all its files. Renames are atomic.
//
// After PowerCut every call and every open file fails with IOError; Restart()
// brings the file system up in the durable state, and handles and locks from before
// the cut stay dead.
//
// Thread safety: as FileSystem; PowerCut and Restart may come from any thread.
// Lock order: mu_, then power_'s, then a file's own mutex.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "env/sim/power.h"
#include "util/mutex.h"
#include "util/random.h"

namespace compassdb {

// What happens to changes that were never synced.
enum class CutMode {
  kDropUnsynced,  // nothing that was not synced survives
  kKeepUnsynced,  // everything survives, as after kill -9
  kTornBytes,     // a random prefix of each unsynced append and of the journal; all, nothing or a
                  // prefix of each unsynced write in place
  kTornPages,     // the same in 4 KiB pages: of appends some are zero, of writes some are old
  kRandom,        // one of the above for each file
};

class MemoryFile;

class MemoryFileSystem : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;

  // The same seed on the same state gives the same result.
  void PowerCut(uint64_t seed, CutMode mode);
  void Restart();
  // From now on the disk writes blocks of this many bytes, at multiples of that, whole or not at all, if a write in
  // place consists of such blocks. 0, the default: it does not.
  void SetAtomicWrites(uint64_t bytes) { atomic_bytes_.store(bytes); }
  uint64_t atomic_writes() const { return atomic_bytes_.load(); }
  // From now on runs of this many bytes are punched, because a test's tables are small. Before a database is opened.
  void SetLeastHole(uint64_t bytes) { least_hole_.store(bytes); }
  HoleSizes HolesWorthPunching() const override {
    const uint64_t least = least_hole_.load();
    return least == 0 ? HoleSizes() : HoleSizes{.least = least, .large = least};
  }
  bool IsDown() const { return down_.load(std::memory_order_acquire); }
  // Bytes in files, holes counted as freed; for space tests.
  uint64_t AllocatedBytes() const;

  const char* Name() const override { return "Memory"; }
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
  Status GetLinkCount(const std::string& path, uint64_t* count) override;
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override;
  Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) override;
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override;

 private:
  struct Node;
  struct Change;
  class Lock;
  using NodePtr = std::shared_ptr<Node>;

  Status CheckPowered(const char* operation, const std::string& path) const;
  NodePtr Find(const std::vector<std::string>& parts) const REQUIRES(mu_);
  Status FindFile(const char* operation, const std::string& path, NodePtr* node) REQUIRES(mu_);
  Status FindParent(const char* operation, const std::string& path, NodePtr* dir,
                    std::string* name) REQUIRES(mu_);
  Status FindOrCreateFile(const char* operation, const std::string& path, NodePtr* node)
      REQUIRES(mu_);
  static std::shared_ptr<MemoryFile> FileOf(const NodePtr& node);
  // Change the visible state and note the change in the journal. A null node removes.
  void SetEntry(const NodePtr& dir, const std::string& name, const NodePtr& node) REQUIRES(mu_);
  static void ApplyDurably(const Change& change);
  void CutFile(Node* node, Random* random, CutMode mode);
  void CutTree(Node* dir, Random* random, CutMode mode,
                      std::vector<const Node*>* seen);

  std::atomic<bool> down_{false};
  std::atomic<uint64_t> atomic_bytes_{0};
  std::atomic<uint64_t> least_hole_{0};  // 0: as other file systems
  Power power_;
  mutable Mutex mu_;
  NodePtr root_ GUARDED_BY(mu_);
  std::list<Change> journal_ GUARDED_BY(mu_);
  std::map<const Node*, uint64_t> locked_ GUARDED_BY(mu_);  // to the epoch of the lock
};

}  // namespace compassdb
