// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/commit.h"

#include "format/file_names.h"
#include "util/no_memory.h"

namespace compassdb {
namespace {

template <typename F>
class AtEnd {
 public:
  explicit AtEnd(F f) : f_(std::move(f)) {}
  ~AtEnd() { f_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  const F f_;
};

}  // namespace

void CommitQueue::RaiseNextNumber(uint64_t at_least) {
  uint64_t current = next_number_.load(std::memory_order_relaxed);
  while (current < at_least && !next_number_.compare_exchange_weak(current, at_least)) {
  }
}

void CommitQueue::AwaitTurn() {
  mu_->AssertHeld();
  while (busy_) turn_.Wait();
  busy_ = true;
}

void CommitQueue::EndTurn() {
  mu_->AssertHeld();
  busy_ = false;
  turn_.SignalAll();
}

Status CommitQueue::WriteNewManifest() NO_THREAD_SAFETY_ANALYSIS {
  if (half_installed_) return why_in_doubt_;
  const uint64_t number = NewNumber();
  std::vector<VersionEdit> state;
  Status s = CatchOutOfMemory("a manifest", [&] {
    state = source_.Snapshot();
    state.front().next_number = next_number();
    source_.Stamp(&state);
    return Status::OK();
  });
  if (!s.ok()) return s;
  mu_->Unlock();
  std::unique_ptr<Manifest> fresh;
  bool given_up = false;
  s = CatchOutOfMemory("a manifest", [&] { return Manifest::Create(fs_, dir_, number, state, &fresh); });
  if (s.ok()) {
    if (manifest_ != nullptr) {
      // The old one is no longer needed, so a failure to close it does not matter.
      manifest_->Close().PermitUncheckedError();
    }
  } else if (manifest_ != nullptr) {
    // CURRENT may name the new one nevertheless (its directory was not synced).
    // Then later records of the old one would be lost.
    uint64_t named = 0;
    const Status read = CatchOutOfMemory("CURRENT", [&] { return Manifest::ReadCurrent(fs_, dir_, &named); });
    if (!read.ok() || named != manifest_->number()) {
      in_doubt_.store(true, std::memory_order_release);
    }
    given_up = read.ok() && named != number;
    // At once: the disk may be full, and no open may take it for the newest state. (Without memory it stays until the
    // next open.)
    CatchOutOfMemory("a manifest", [&] {
      if (given_up) DeleteManifest(number);
      return Status::OK();
    }).PermitUncheckedError();
  }
  mu_->Lock();
  if (s.ok()) {
    if (manifest_ != nullptr) obsolete_manifests_.push_back(manifest_->number());
    obsolete_manifests_.insert(obsolete_manifests_.end(), doubtful_manifests_.begin(), doubtful_manifests_.end());
    doubtful_manifests_.clear();
    manifest_ = std::move(fresh);
    manifest_number_.store(number, std::memory_order_release);
    manifest_bytes_.store(manifest_->size(), std::memory_order_release);
    committed_.store(false, std::memory_order_release);
    in_doubt_.store(false, std::memory_order_release);
    ReleaseAbandoned();
  } else {
    why_in_doubt_ = s;
    CatchOutOfMemory("a manifest", [&] {
      if (!given_up) doubtful_manifests_.push_back(number);
      return Status::OK();
    }).PermitUncheckedError();
  }
  return s;
}

void CommitQueue::DeleteManifest(uint64_t number) const {
  // If this fails, the next open deletes it.
  fs_->DeleteFile(ManifestFileName(dir_, number)).PermitUncheckedError();
  fs_->DeleteFile(MirrorFileName(dir_, number)).PermitUncheckedError();
}

Status CommitQueue::Rotate() {
  AwaitTurn();
  const AtEnd turn([this] { EndTurn(); });
  return WriteNewManifest();
}

Status CommitQueue::Commit(std::vector<CommitItem>* items, std::vector<ReadState*>* garbage)
    NO_THREAD_SAFETY_ANALYSIS {
  AwaitTurn();
  const AtEnd turn([this] { EndTurn(); });
  Status s = CommitInTurn(items, garbage);
  if (!s.ok()) Abandon(items);
  return s;
}

Status CommitQueue::CommitInTurn(std::vector<CommitItem>* items, std::vector<ReadState*>* garbage)
    NO_THREAD_SAFETY_ANALYSIS {
  Status s;
  for (const CommitItem& item : *items) {
    if (item.family != nullptr && item.family->dropped()) {
      s = Status::ColumnFamilyDropped(item.family->name());
    }
  }
  if (!s.ok()) return s;
  if (manifest_ == nullptr || in_doubt() || manifest_->size() >= max_manifest_bytes_) {
    s = WriteNewManifest();
    // A full manifest that cannot be replaced still takes records.
    if (!s.ok() && manifest_ != nullptr && !in_doubt()) s = Status::OK();
  }
  std::vector<VersionEdit> edits;
  if (s.ok()) {
    s = CatchOutOfMemory("a commit", [&] {
      for (CommitItem& item : *items) {
        if (item.finalize) item.finalize(&item.edit);
        edits.push_back(item.edit);
      }
      edits.front().next_number = next_number();
      source_.Stamp(&edits);
      return Status::OK();
    });
  }
  if (s.ok()) {
    mu_->Unlock();
    s = manifest_->Append(edits);
    mu_->Lock();
    // Together with the install below: these bytes of the manifest are the state in memory.
    if (s.ok()) manifest_bytes_.store(manifest_->size(), std::memory_order_release);
    committed_.store(true, std::memory_order_release);
    items->front().edit.min_log_number = edits.front().min_log_number;
    if (!s.ok()) {
      // The record may or may not be on disk: only a new manifest settles it.
      why_in_doubt_ = s;
      in_doubt_.store(true, std::memory_order_release);
      WriteNewManifest().PermitUncheckedError();
    }
  }
  if (s.ok()) {
    s = CatchOutOfMemory("a commit", [&]() NO_THREAD_SAFETY_ANALYSIS { return Install(items, garbage); });
    if (!s.ok()) {
      why_in_doubt_ = s = Status(s, Status::kFatalError);
      half_installed_ = true;
      in_doubt_.store(true, std::memory_order_release);
    }
  }
  return s;
}

// Without memory, their files stay until the database is opened again.
void CommitQueue::Abandon(std::vector<CommitItem>* items) {
  CatchOutOfMemory("a commit", [&] {
    for (CommitItem& item : *items) {
      if (item.family != nullptr) abandoned_.emplace_back(item.family, std::move(item.edit));
    }
    return Status::OK();
  }).PermitUncheckedError();
  if (!in_doubt()) ReleaseAbandoned();
}

void CommitQueue::ReleaseAbandoned() {
  for (const auto& [family, edit] : abandoned_) {
    // A destroyed family was dropped, and has released its files.
    if (const auto living = family.lock(); living != nullptr) living->store()->Abandon(edit);
  }
  abandoned_.clear();
}

Status CommitQueue::Install(std::vector<CommitItem>* items, std::vector<ReadState*>* garbage)
    NO_THREAD_SAFETY_ANALYSIS {
  mu_->AssertHeld();
  for (CommitItem& item : *items) {
    if (item.edit.min_log_number) set_min_log_number(*item.edit.min_log_number);
    if (item.family != nullptr) {
      if (item.edit.log_number) item.family->memtables().set_log_number(*item.edit.log_number);
      if (item.prepared != nullptr) {
        item.family->store()->Install(item.edit, std::move(item.prepared));
      }
    }
    if (item.installed) item.installed();
    if (item.family != nullptr) {
      item.family->LimitMemTables();
      item.family->InstallReadState(garbage);
    }
  }
  return Status::OK();
}

Status CommitQueue::Close() {
  AwaitTurn();
  Status s;
  if (manifest_ != nullptr) s = manifest_->Close();
  manifest_.reset();
  EndTurn();
  return s;
}

}  // namespace compassdb
