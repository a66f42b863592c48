// SPDX-License-Identifier: Apache-2.0
// Commits: edits go to the manifest first, then become visible.
//
// One commit at a time. The turn is a flag under the database mutex, not a
// lock, so that the mutex stays outermost: a commit waits for its turn,
// releases the mutex while it writes, and installs with the mutex held again.
//
// Thread safety: Commit, Rotate and Close are called with the database mutex
// held, and release it while they write; the rest from everywhere. (The mutex
// is another object's, so the annotations cannot say it.)
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "family/column_family.h"
#include "manifest/manifest.h"
#include "util/mutex.h"

namespace compassdb {

// One family's part in a commit.
struct CommitItem {
  std::shared_ptr<ColumnFamily> family;  // null: database-wide fields only
  VersionEdit edit;
  std::unique_ptr<Store::Prepared> prepared;
  // With the mutex held, when the turn has come / after the edit is installed.
  std::function<void(VersionEdit*)> finalize;
  std::function<void()> installed;
};

// What manifests say. Both methods are called with the database mutex held.
class ManifestSource {
 public:
  // The state as edits, for a new manifest.
  virtual std::vector<VersionEdit> Snapshot() const = 0;
  // What every record carries (sequence, log numbers), written into the first of `edits`.
  virtual void Stamp(std::vector<VersionEdit>* edits) const = 0;

 protected:
  ~ManifestSource() = default;
};

class CommitQueue {
 public:
  CommitQueue(FileSystem* fs, std::string dir, uint64_t max_manifest_bytes, Mutex* mu, const ManifestSource& source)
      : fs_(fs), dir_(std::move(dir)), max_manifest_bytes_(max_manifest_bytes), mu_(mu), source_(source), turn_(mu) {}

  uint64_t NewNumber() { return next_number_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t next_number() const { return next_number_.load(std::memory_order_relaxed); }
  void RaiseNextNumber(uint64_t at_least);

  // Writes the items as one manifest record, then installs them. On failure
  // nothing is installed. ColumnFamilyDropped if an item's family is gone. A fatal MemoryLimit if there is no memory to
  // install what is durable: nothing can be committed until the database is opened again.
  Status Commit(std::vector<CommitItem>* items, std::vector<ReadState*>* garbage);
  // Starts a new manifest from the current state.
  Status Rotate();
  Status Close();
  // Whether the last record of the manifest is a commit, and not its snapshot.
  bool committed() const { return committed_.load(std::memory_order_acquire); }
  // For a read-only database.
  void SetManifest(uint64_t number, uint64_t bytes) {
    manifest_number_.store(number);
    manifest_bytes_.store(bytes);
  }
  // With the database mutex: manifests that others have replaced, to be deleted.
  std::vector<uint64_t> TakeObsoleteManifests() { return std::exchange(obsolete_manifests_, {}); }
  void DeleteManifest(uint64_t number) const;  // with its mirror

  // True while the manifest on disk may name more than the state in memory, or CURRENT another manifest: a
  // record or a new manifest failed, and nothing has replaced it. Until then nothing is deleted or appended.
  bool in_doubt() const { return in_doubt_.load(std::memory_order_acquire); }
  // With the database mutex: the error.
  const Status& why_in_doubt() const { return why_in_doubt_; }
  // With the database mutex held, the two agree with what is installed.
  uint64_t manifest_number() const { return manifest_number_.load(std::memory_order_acquire); }
  uint64_t manifest_bytes() const { return manifest_bytes_.load(std::memory_order_acquire); }
  // The oldest write-ahead log that the manifest on disk still needs.
  uint64_t min_log_number() const { return min_log_number_.load(std::memory_order_acquire); }
  void set_min_log_number(uint64_t number) { min_log_number_.store(number); }

 private:
  void AwaitTurn();
  void EndTurn();
  Status WriteNewManifest();
  Status CommitInTurn(std::vector<CommitItem>* items, std::vector<ReadState*>* garbage);
  Status Install(std::vector<CommitItem>* items, std::vector<ReadState*>* garbage);
  void Abandon(std::vector<CommitItem>* items);
  void ReleaseAbandoned();

  FileSystem* const fs_;
  const std::string dir_;
  const uint64_t max_manifest_bytes_;
  Mutex* const mu_;
  const ManifestSource& source_;
  CondVar turn_;
  bool busy_ = false;  // mutex
  std::vector<uint64_t> obsolete_manifests_;  // mutex
  std::vector<uint64_t> doubtful_manifests_;  // mutex; of failed attempts: CURRENT may name one of them
  Status why_in_doubt_;                       // mutex
  // Mutex. Of commits that failed, while a manifest may name their files.
  std::vector<std::pair<std::weak_ptr<ColumnFamily>, VersionEdit>> abandoned_;
  // Mutex. The manifest on disk is right, the state in memory is not: in doubt until the next open.
  bool half_installed_ = false;
  std::unique_ptr<Manifest> manifest_;  // of the thread with the turn
  std::atomic<uint64_t> next_number_{1};
  std::atomic<uint64_t> manifest_number_{0};
  std::atomic<uint64_t> manifest_bytes_{0};
  std::atomic<uint64_t> min_log_number_{0};
  std::atomic<bool> in_doubt_{false};
  std::atomic<bool> committed_{false};
};

}  // namespace compassdb
