// SPDX-License-Identifier: Apache-2.0
// Flushes memtables into pages (KallaxDB 3.2, background data migration): records are sorted by page, pages
// are read, changed, and written to a journal. They are written in place later (journal_apply.cc).
//
// If the device never tears a page (tableless_atomic_page_writes), most pages are written in place at once, without a
// journal. The order that makes this safe (docs/design/page-journal.md, "Without a journal"):
//  1. the logs are synced, with everything up to the newest record of the memtables;
//  2. an edit says up to which sequence pages may have records (VersionEdit::in_place_sequence), and is durable;
//  3. pages are written, each alone, and synced. After a crash each is old or new;
//  4. the flush's edit commits the rest, and releases the log.
// After a crash or a failure before 4. the memtables are flushed again. A page's records have sequences, so nothing is
// folded into it twice. The other parts of 4. are repeated (`in_doubt`), and such pages use a journal, because it is
// not known whether they are durable as they are read. Every flush uses a journal for these pages: those that change
// together with something else (a record moves between page and overflow store, or a version is kept for a snapshot);
// those with an image in a journal, which would count instead; and all pages if there is a compaction filter.
//
// A record that does not fit is written to the overflow store. Only records of the memtables are, and those that a
// compaction filter enlarged. The page's other records stay, so readers of older views, which find the memtables'
// keys there, miss nothing. The key store gets new and deleted keys, and the versions that snapshots see.
//
// A range tombstone becomes a deletion of each key that it covers, which may be far more than a memtable holds.
// Then the flush reads its input several times, each time for a part of the pages, which bounds its memory
// (kCoveredBytes). One edit commits all.
//
// Values that wait in logs are read when their pages are. Those that overflow are read again when the
// overflow run is written, after the pages: until then only their records are in memory.
#pragma once

#include <deque>
#include <memory>
#include <functional>
#include <span>
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

// The results of one section, part by part; by the one thread that works on it.
struct SectionFlush {
  SectionCounts counts;
  std::deque<std::string> overflow_bytes;  // what the entries point to
  std::vector<OverflowEntry> overflow;
  std::vector<MemTable::Record> overflow_in_log;  // whose values overflow as they are in logs
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

void TEST_SetCoveredBytes(uint64_t bytes);  // in the whole process; 0: the default

class PageFlush {
 public:
  using FlushKeys = std::function<Status(std::shared_ptr<MemTable>)>;
  // The view is the present one, and stays so. `flush_keys` takes the records for the key store, in one or
  // several memtables that share no key.
  PageFlush(const StoreContext* context, const StoreOptions* options,
            std::shared_ptr<const TablelessView> view, const FlushRequest* request, FlushKeys flush_keys)
      : context_(context),
        options_(options),
        view_(std::move(view)),
        request_(request),
        flush_keys_(std::move(flush_keys)),
        newest_(NewestOf(*request)),
        in_doubt_until_(InDoubtUntil(*view_->state())),
        keeps_keys_(options->pages.key_store || (view_->parts().keys_whole && newest_ < in_doubt_until_)) {}

  // Pages may be written without a journal, if all other conditions hold. `may_begin` is called once before the first,
  // `tried` for each (PageWriter).
  void AllowInPlace(std::function<bool()> may_begin, std::function<void(uint64_t page_key)> tried) {
    may_begin_ = std::move(may_begin);
    tried_ = std::move(tried);
  }

  // Writes the journal and the overflow run into `file` and describes them in the edit.
  Status Run(JobFile* file, VersionEdit* edit, JobReport* report);

 private:
  // A record with its page: small, as there is one for each of the memtables.
  struct Entry {
    uint64_t page_key;
    uint32_t source;  // 0: plain_, else a number of indexes_ plus 1
    uint32_t place;   // in plain_, or an address in the memtable
  };
  // The same, decoded: only those of a few pages at a time.
  struct Item {
    uint64_t page_key;
    SequenceNumber sequence;
    ValueType type;
    Slice user_key, value;
    KeyHash hash;
    MemTable::Record record;
  };
  class SectionJob;

  // Keys are valid only until f returns.
  using KeyVisitor = std::function<void(const Slice&)>;

  static SequenceNumber NewestOf(const FlushRequest& request);
  static SequenceNumber InDoubtUntil(const PageState& state) {
    return state.folded() > state.committed() ? state.folded() : 0;
  }
  Status RunPart(const PagePart& part, PageJournalWriter* journal, std::vector<SectionFlush>* sections);
  void Collect(const PagePart& part);
  Status CollectRangeDeletions(const PagePart& part);
  // Keys of the range, in the store; perhaps more than once, and at least those of `part`.
  Status ForEachKey(const RangeTombstoneList::Fragment& range, const PagePart& part, const KeyVisitor& f) const;
  Status ForEachRange(const std::function<Status(const RangeTombstoneList::Fragment&)>& f) const;
  // The number of parts that bounds the memory of keys covered by range tombstones.
  Status CountParts(uint32_t* parts) const;
  // The page of the key. False if it is of another part.
  bool FindPage(const PagePart& part, const Slice& user_key, uint64_t* page_key) const;
  void AddPlain(uint64_t page_key, const MemTable::Record& record);
  MemTable::Record RecordOf(const Entry& entry) const {
    return entry.source == 0 ? plain_[entry.place] : indexes_[entry.source - 1]->At(entry.place);
  }
  void AddDeletion(uint64_t page_key, const Slice& user_key, SequenceNumber sequence);
  Status BeginInPlace();
  Status RunSections(PageJournalWriter* journal, std::vector<SectionFlush>* sections);
  // The values of records, which are in logs.
  Status AddFromLog(std::span<const MemTable::Record> records, uint32_t section,
                    OverflowRunWriter* overflow) const;
  Status WriteKeys(bool all);
  void NewKeys();

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const std::shared_ptr<const TablelessView> view_;
  const FlushRequest* const request_;
  const FlushKeys flush_keys_;
  std::shared_ptr<MemTable> keys_;      // for the key store
  std::vector<Entry> entries_;          // of the current part
  std::vector<MemTable::Record> plain_;
  std::vector<const MemTablePart*> indexes_;  // parts of memtables that index the log
  std::deque<std::string> range_keys_;  // records of the deletions by range tombstones
  const SequenceNumber newest_;  // of the memtables
  // Pages may have versions up to this of a flush that was not committed; 0: of none. (A replay of the log may also
  // bring versions of committed flushes again: pages, counts and key store have all that they changed.)
  const SequenceNumber in_doubt_until_;
  // The key store stays whole. If the options no longer want it, until nothing is in doubt: a range tombstone of a
  // memtable may have deleted keys of pages already, and only the key store has them.
  const bool keeps_keys_;
  std::function<bool()> may_begin_;
  std::function<void(uint64_t)> tried_;
  bool in_place_ = false;
};

}  // namespace compassdb
