// SPDX-License-Identifier: Apache-2.0
// Memtables go into pages (KallaxDB 3.2, background data migration): their records are sorted by page, the
// pages read, changed, and written to a journal. In place they come later (journal_apply.cc).
//
// Where the device never tears a page (tableless_atomic_page_writes), most are written in place at once, without a
// journal. The order that makes this safe (docs/design/page-journal.md, "Without a journal"):
//  1. the logs are synced, with everything up to the newest record of the memtables;
//  2. an edit says how far pages may go from now on (VersionEdit::in_place_sequence), and is durable;
//  3. pages are written, each by itself, and synced. A crash leaves any of them old and any new;
//  4. the flush's edit commits all the rest, and gives up the log.
// After a crash or a failure before 4. the memtables come once more. A page's records have sequences, so that what is
// in it is not folded into it twice; what else 4. would have said is said again (`in_doubt`), and goes through a
// journal, since nobody knows whether such a page is durable as it reads. So does, of every flush, a page that is not
// all that changes: a record goes between it and the overflow store, or a version is put aside for a snapshot; one
// that waits in a journal, since its image would count instead; and all pages where a compaction filter decides.
//
// A record that does not fit goes to the overflow store. Only records of the memtables do, and what a compaction
// filter made too large: what the page holds besides stays, so that readers of older views, who find the memtables'
// keys there, miss nothing. The key store learns of keys that come and go, and takes the versions that snapshots see.
//
// A range tombstone becomes a deletion of each key that it covers, which may be far more than a memtable holds.
// Then the flush goes over its input several times, each time for a part of the pages: what is in memory
// at a time is bounded (kCoveredBytes). One edit commits all.
#pragma once

#include <deque>
#include <memory>
#include <functional>
#include <string>
#include <vector>

#include "store/job_file.h"
#include "store/store.h"
#include "tableless/overflow/overflow_index.h"
#include "tableless/page/key_fold.h"
#include "tableless/page/page_edit.h"
#include "tableless/page/page_journal.h"
#include "tableless/tableless_view.h"

namespace compassdb {

// What one section contributes, part for part; made by the one thread that works on it.
struct SectionFlush {
  SectionCounts counts;
  std::deque<std::string> overflow_bytes;  // what the entries point to
  std::vector<OverflowEntry> overflow;
  OverflowEntryNames replaced;  // of the present overflow store, by these
  uint64_t records = 0;
  uint64_t bytes_read = 0;

  void Add(const SectionCounts& more) {
    counts.records += more.records;
    counts.bytes += more.bytes;
    counts.overflow_records += more.overflow_records;
    counts.overflow_bytes += more.overflow_bytes;
  }
  uint64_t pages_in_place = 0;
};

void TEST_SetCoveredBytes(uint64_t bytes);  // in the whole process; 0: as usual

class PageFlush {
 public:
  using FlushKeys = std::function<Status(std::shared_ptr<MemTable>)>;
  // The view is the present one, and stays so. `flush_keys` takes what the key store is to learn, in one or
  // several memtables that have no key in common.
  PageFlush(const StoreContext* context, const StoreOptions* options,
            std::shared_ptr<const TablelessView> view, const FlushRequest* request, FlushKeys flush_keys)
      : context_(context),
        options_(options),
        view_(std::move(view)),
        request_(request),
        flush_keys_(std::move(flush_keys)),
        newest_(NewestOf(*request)),
        in_doubt_until_(view_->folded()),
        keeps_keys_(options->pages.key_store || (view_->parts().keys_whole && newest_ < in_doubt_until_)) {}

  // Pages may be written without a journal, if this and the rest allows it. `may_begin` is asked once before the first,
  // `tried` is told of each (PageWriter).
  void AllowInPlace(std::function<bool()> may_begin, std::function<void(uint64_t page_key)> tried) {
    may_begin_ = std::move(may_begin);
    tried_ = std::move(tried);
  }

  // Writes the journal and the overflow run into `file` and describes them in the edit.
  Status Run(JobFile* file, VersionEdit* edit, JobReport* report);

 private:
  struct Item {
    uint64_t page_key;
    SequenceNumber sequence;
    ValueType type;
    Slice user_key, value;
    KeyHash hash;
  };
  class SectionJob;

  // f's are called with keys that stay only until it returns.
  using KeyVisitor = std::function<void(const Slice&)>;

  static SequenceNumber NewestOf(const FlushRequest& request);
  Status RunPart(const PagePart& part, PageJournalWriter* journal, std::vector<SectionFlush>* sections);
  void Collect(const PagePart& part);
  Status CollectRangeDeletions(const PagePart& part);
  // Of the range, in the store; perhaps more than once, and those of `part` at least.
  Status ForEachKey(const RangeTombstoneList::Fragment& range, const PagePart& part, const KeyVisitor& f) const;
  Status ForEachRange(const std::function<Status(const RangeTombstoneList::Fragment&)>& f) const;
  // How many parts keep what range tombstones cover within bounds.
  Status CountParts(uint32_t* parts) const;
  // False if it is of another part. What slices point to is the caller's.
  bool AddItem(const PagePart& part, const Slice& user_key, SequenceNumber sequence, ValueType type,
               const Slice& value);
  Status BeginInPlace();
  Status RunSections(PageJournalWriter* journal, std::vector<SectionFlush>* sections);
  Status TellKeys(bool all);
  void NewKeys();

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const std::shared_ptr<const TablelessView> view_;
  const FlushRequest* const request_;
  const FlushKeys flush_keys_;
  std::shared_ptr<MemTable> keys_;      // for the key store
  std::vector<Item> items_;             // of the part at hand
  std::deque<std::string> range_keys_;  // that range tombstones delete
  const SequenceNumber newest_;          // of the memtables
  const SequenceNumber in_doubt_until_;  // pages may have versions up to this already
  // The key store stays whole. Where it is wanted no more, until nothing is in doubt: pages may have lost keys to a
  // range of a memtable that is still to come, and nothing else tells of these.
  const bool keeps_keys_;
  std::function<bool()> may_begin_;
  std::function<void(uint64_t)> tried_;
  bool in_place_ = false;
};

}  // namespace compassdb
