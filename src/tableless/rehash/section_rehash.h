// SPDX-License-Identifier: Apache-2.0
// Writes a section to a new file with another number of pages (KallaxDB 3.2, background rehash). Old and new
// pages are both in the order of the master hash, so the new file is written front to back from batches of
// consecutive old pages. Records that fit no new page are written to an overflow run at once: no values stay in
// memory. Flushes continue, into the old pages. The new pages that they affect are written again, in rounds while
// flushes run (CatchUp), and again while flushes wait (Conclude). Later entries of the overflow run replace
// earlier ones of such a page.
//
// Thread safety: one thread at a time.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/job_file.h"
#include "tableless/page/key_fold.h"
#include "tableless/page/old_pages.h"
#include "tableless/page/page_edit.h"
#include "tableless/tableless_store_impl.h"

namespace compassdb {

class SectionRehash {
 public:
  // `filtered`: a pass for the compaction filter.
  SectionRehash(TablelessStore* store, std::shared_ptr<const TablelessView> view, const RehashPart& part,
                bool filtered);
  // Deletes the new file, unless an edit names it.
  ~SectionRehash();
  SectionRehash(const SectionRehash&) = delete;
  SectionRehash& operator=(const SectionRehash&) = delete;

  uint32_t section() const { return part_.section; }

  // Without the turn: the whole file, durable.
  Status WriteAll(const std::atomic<bool>* cancel);
  // Without the turn: rounds of changed pages, until a round has few, or hardly fewer than the one before.
  Status CatchUp(const std::atomic<bool>* cancel);
  // With the turn: pages that changed since. All that the edit names is then durable. `keys` gets the records for the
  // key store (null: none).
  Status Conclude(const std::atomic<bool>* cancel, VersionEdit* edit, std::shared_ptr<MemTable>* keys);
  // The edit with the files was made.
  void Keep();

  void Report(JobReport* report) const;
  // How many pages were written again, and of these while flushes waited.
  uint64_t pages_again() const { return pages_again_; }
  uint64_t pages_held_up() const { return pages_held_up_; }

 private:
  // A record in the overflow run, by its newest entry there.
  struct Spilled {
    std::string key;
    SequenceNumber sequence = 0;
    uint64_t bytes = 0;  // as the section counts them
    bool unfolded = false;
  };
  // Results of a page other than its image.
  struct Rest {
    std::vector<Spilled> spilled;
    SectionCounts change;           // by the filter
    std::vector<std::string> gone;  // keys that the filter removed
  };

  // The new number of pages; reads a sample of the section if record sizes decide.
  Status ChoosePages();
  Status WriteFile(const std::atomic<bool>* cancel);
  // Pages of the old section with changes, which `view` has.
  Status Repeat(std::shared_ptr<const TablelessView> view, const std::vector<uint64_t>& dirty,
                const std::atomic<bool>* cancel);
  // Appends the image of a new page, padded.
  Status Build(OldPages* old, uint64_t page, std::string* out);
  Status Filter(const PageRecord& record, KeyOutcome* outcome, Rest* rest);
  Status Spill(const PageRecord& record, const std::vector<Spilled>& before, Rest* rest);
  Status AddEntry(const OverflowEntry& entry);
  void Note(const OldPages& read, const std::vector<uint64_t>& dirty);
  uint64_t LastHash(uint64_t page) const;
  Status DeleteKeys(SequenceNumber committed, std::shared_ptr<MemTable>* keys) const;

  TablelessStore* const store_;
  const StoreContext* const context_;
  const std::shared_ptr<const StoreOptions> options_;
  const std::shared_ptr<const TablelessView> view_;  // that it began with
  const RehashPart part_;
  const size_t page_bytes_;
  const uint64_t file_number_;
  const std::string path_;
  uint64_t pages_ = 0;
  uint64_t divisor_ = 1;
  bool made_ = false, kept_ = false;
  std::unique_ptr<rocksdb::CompactionFilter> owned_filter_;
  FoldOptions fold_;
  JobFile file_;  // of the overflow run
  std::unique_ptr<OverflowRunWriter> run_;
  std::map<uint64_t, Rest> rest_;              // by new page
  std::map<uint64_t, OldPages::Ahead> ahead_;  // by old page
  uint64_t bytes_read_ = 0, bytes_written_ = 0;
  uint64_t records_in_ = 0, records_out_ = 0;
  uint64_t pages_again_ = 0, pages_held_up_ = 0;
};

}  // namespace compassdb
