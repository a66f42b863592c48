// SPDX-License-Identifier: Apache-2.0
// Memtables go into pages (KallaxDB 3.2, background data migration): their records are sorted by page, the
// pages read, changed, and written to a journal. In place they come later (journal_apply.cc).
//
// A record that does not fit goes to the overflow store. Only records of the memtables do: what the
// page holds besides stays, so that readers of older views, who find the memtables' keys there, miss
// nothing. The key store learns of keys that come and go, and takes the versions that snapshots see.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/job_file.h"
#include "store/store.h"
#include "tableless/key_fold.h"
#include "tableless/overflow_index.h"
#include "tableless/page_edit.h"
#include "tableless/page_journal.h"
#include "tableless/tableless_view.h"

namespace compassdb {

// What one section contributes; made by the one thread that works on it.
struct SectionFlush {
  SectionCounts counts;
  std::deque<std::string> overflow_bytes;  // what the entries point to
  std::vector<OverflowEntry> overflow;
  OverflowEntryNames replaced;
  uint64_t records = 0;
  uint64_t bytes_read = 0;
};

class PageFlush {
 public:
  // The view is the present one, and stays so. `keys` takes what the key store is to learn.
  PageFlush(const StoreContext* context, const StoreOptions* options,
            std::shared_ptr<const TablelessView> view, const FlushRequest* request,
            MemTable* keys)
      : context_(context), options_(options), view_(std::move(view)), request_(request), keys_(keys) {}

  // Writes the journal and the overflow run into `file` and describes them in the edit. `replaced` gets the
  // entries of the present overflow store whose keys are in the new run.
  Status Run(JobFile* file, VersionEdit* edit, OverflowEntryNames* replaced, JobReport* report);

 private:
  struct Item {
    uint64_t page_key;
    SequenceNumber sequence;
    ValueType type;
    Slice user_key, value;
    KeyHash hash;
  };
  class SectionJob;

  void Collect();
  Status CollectRangeDeletions();
  Status KeysOfStore(const RangeTombstoneList::Fragment& range, std::set<std::string>* found) const;
  void AddItem(const Slice& user_key, SequenceNumber sequence, ValueType type, const Slice& value);
  Status RunSections(PageJournalWriter* journal, std::vector<SectionFlush>* sections);

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const std::shared_ptr<const TablelessView> view_;
  const FlushRequest* const request_;
  MemTable* const keys_;
  std::vector<Item> items_;
  std::deque<std::string> range_keys_;  // that range tombstones delete
  SequenceNumber newest_ = 0;
};

}  // namespace compassdb
