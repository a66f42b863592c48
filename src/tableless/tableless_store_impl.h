// SPDX-License-Identifier: Apache-2.0
// A column family in pages.
//
// A flush writes a journal of page images, an overflow run and a run of the key store, which one
// manifest edit commits. Then tasks write the images in place, rehash sections and compact the key store.
//
// Thread safety: methods marked [mutex] in store.h run under the database mutex, which guards fields without
// annotation. A job that changes sections (a flush, the last part of a rehash) has the turn. It waits for it
// without any lock, and keeps it until its edit is installed or abandoned (tableless_install.cc).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/job_file.h"
#include "store/pages.h"
#include "tableless/sizing/page_contents.h"
#include "tableless/sizing/page_sizing.h"
#include "tableless/tableless_view.h"

namespace compassdb {

// The new number of pages of a rehash: fixed, or by the rule once the record sizes are known.
struct PageTarget {
  uint64_t pages = 0;
  Resize resize = Resize::kNone;  // used if `pages` is 0
};

// A section to be rehashed.
struct RehashPart {
  uint32_t section = 0;
  PageTarget target;
};

class TablelessStore final : public Store, private Pages {
 public:
  TablelessStore(const StoreContext* context, const StoreOptions& options,
                 std::unique_ptr<Store> keys);
  ~TablelessStore() override;

  Pages* pages() override { return this; }
  void SetOptions(const StoreOptions& changed) override;
  Status ApplyRecovered(const VersionEdit& edit) override;
  Status Open() override;
  Status Salvage(const VersionEdit& recovered, VersionEdit* edit, bool* changed,
                 SalvageReport* report) override;
  Status Flush(const FlushRequest& request, VersionEdit* edit, JobReport* report) override;
  Status Prepare(const VersionEdit& edit, std::unique_ptr<Prepared>* prepared) override;
  void Install(const VersionEdit& edit, std::unique_ptr<Prepared> prepared) override;
  void Abandon(const VersionEdit& edit) override;
  std::shared_ptr<const StoreView> view() const override { return state_->current(); }
  void Snapshot(VersionEdit* edit) const override;
  std::unique_ptr<CompactionTask> PickCompaction() override;
  bool NeedsCompaction() const override;
  SequenceNumber KeptUntil(SequenceNumber oldest) const override { return keys_->KeptUntil(oldest); }
  std::unique_ptr<CompactionTask> PickManual(const ManualCompaction& request, bool* conflict) override;
  void MarkForCompaction(const KeyRange& range) override { keys_->MarkForCompaction(range); }
  void Release(CompactionTask* task) override;
  int Level0Runs() const override;
  uint64_t PendingCompactionBytes() const override { return keys_->PendingCompactionBytes(); }
  void MarkDropped() override;

  // --- For its tasks ---

  const StoreContext* context() const { return context_; }
  std::shared_ptr<const StoreOptions> current_options() const {
    MutexLock lock(&options_mu_);
    return current_;
  }
  std::shared_ptr<const TablelessView> current() const { return state_->current(); }
  // Writes a job's records for the key store as a run of it.
  Status FlushKeys(std::shared_ptr<MemTable> keys, const std::vector<SequenceNumber>& snapshots,
                   VersionEdit* edit, JobReport* report);
  PageCache* page_cache() { return state_->cache(); }
  // The turn to change sections, in the order of the calls.
  void AwaitTurn();
  void EndTurn();
  std::string NewSectionPath(uint64_t number) const;
  std::shared_ptr<SectionFile> MakeSectionFile(const std::string& path, uint64_t number) const;
  // Pages of the section that changed since its rehash began, or since the last call, in its old geometry. Call
  // current() afterwards to read them. With the turn these are all.
  std::vector<uint64_t> TakeDirty(uint32_t section);
  uint64_t CountDirty(uint32_t section) const;
  // The file stays pinned until the edit that names it is installed.
  void PinUntilInstalled(uint64_t file_number);

 private:
  // Pages.
  LogValues* log_values() override {
    return options_.pages.memtable_as_log_index ? context_->log_values : nullptr;
  }
  KeyHasher hasher() const override { return context_->hasher; }
  Status Complete(VersionEdit* edit, bool* changed) override;
  void ForgetFlush() override;
  bool WritesInPlace() const override { return applying_ || flush_in_place_.load(); }
  std::vector<std::string> FilesInPlace() const override;
  uint64_t Rehashing() const override;
  std::unique_ptr<CompactionTask> PickLongWork() override;
  bool NeedsLongWork() const override { return NeedsOverflowRewrite() || !SectionsToRehash().empty(); }
  Status CountContents(PageContents* contents) const override {
    return compassdb::CountContents(*current(), contents);
  }

  struct PreparedPages;

  Status CheckKeys(const VersionEdit& recovered, bool* whole);
  Status FlushPages(const FlushRequest& request, VersionEdit* edit, JobReport* report);
  bool BeginInPlace();
  void NoteDirty(uint64_t page_key);
  void MarkDirty(uint64_t page_key) REQUIRES(turn_mu_);
  Status MakeSections(const FlushRequest& request, TablelessView::Parts* parts, VersionEdit* edit);
  Status PreparePages(const VersionEdit& edit, const TablelessView::Parts& parts, PreparedPages* pages) const;
  Status OpenRecovered(TablelessView::Parts* parts) const;
  // Files of sections that the edit adds, by number.
  std::vector<uint64_t> NewSections(const VersionEdit& edit) const;
  void Unpin(const VersionEdit& edit);  // the files of its page runs
  // The next indexes, one for each section, if the edit changes sections.
  Status PrepareOverflow(const VersionEdit& edit, const TablelessView::Parts& parts,
                         std::vector<OverflowIndexBuilder>* indexes, PreparedPages* pages) const;
  Status OpenSection(const PageSectionMeta& meta, const PageGeometry& geometry,
                     std::shared_ptr<SectionFile>* file) const;
  std::string FindSectionPath(uint64_t number) const;
  // Whether the section should have another number of pages, and which.
  bool WantsRehash(const Section& section, PageTarget* target) const;
  std::unique_ptr<CompactionTask> PickApply();
  // By the next task: at most as many as it may have threads.
  std::vector<RehashPart> SectionsToRehash() const;
  std::unique_ptr<CompactionTask> StartRehash(std::vector<RehashPart> sections, bool filter);
  bool NeedsOverflowRewrite() const;  // and no task rewrites it

  const StoreContext* const context_;
  const std::unique_ptr<Store> keys_;
  const std::shared_ptr<PageState> state_;
  VersionEdit recovered_;  // until Open: the recovered state of pages

  bool dropped_ = false;
  bool applying_ = false;
  std::atomic<bool> flush_in_place_{false};  // cleared with the mutex
  uint64_t held_journal_ = 0;  // the last one added while no pages could be written in place
  bool rewriting_overflow_ = false;
  bool others_turn_ = false;  // the last task that was picked was an apply
  std::set<uint32_t> rehashing_;  // sections
  std::set<const CompactionTask*> own_tasks_;

  mutable Mutex options_mu_;
  std::shared_ptr<const StoreOptions> current_ GUARDED_BY(options_mu_);

  mutable Mutex turn_mu_;
  CondVar turn_changed_{&turn_mu_};
  uint64_t turn_ GUARDED_BY(turn_mu_) = 0;  // the number of its present or next owner
  uint64_t next_turn_ GUARDED_BY(turn_mu_) = 0;
  bool flush_has_turn_ GUARDED_BY(turn_mu_) = false;
  std::map<uint32_t, std::vector<bool>> dirty_ GUARDED_BY(turn_mu_);  // pages, of rehashing_
  std::set<uint64_t> pinned_files_ GUARDED_BY(turn_mu_);
  std::set<uint64_t> new_sections_ GUARDED_BY(turn_mu_);  // files, prepared and not installed
};

}  // namespace compassdb
