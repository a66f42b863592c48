// SPDX-License-Identifier: Apache-2.0
// The pages of a family, its overflow store and its key store at one moment (KallaxDB 3.2).
//
// A view is immutable except for the pages, which are written in place. No reader sees that, because:
//  - an image is in the view (journals) before its page is written, and counts
//    instead of the page;
//  - readers of older views find the changes of a flush in the memtables that they pin. For a merge operand,
//    its base may have moved from its page to the overflow store, and is searched in newer views;
//  - versions that held snapshots see, and that a page no longer has, are in the key store before
//    the page is written. A reader whose snapshot is older than the pages searches there, in the
//    newest view; one without a snapshot gets TryAgain;
//  - a page that is read while it is written fails its checksum, and is searched in a newer view, or,
//    without a journal, among the images in flight.
// Pages that a flush writes without a journal (page_flush.h) change before its view is installed: also for readers of
// the present view the memtables have the changes of the flush. Before that no record of such a page is moved to the
// overflow store or the key store.
// A read-only open next to a primary that writes gets no newer views. Pages show that they were
// written since (PageState::WrittenByPrimary), and records that they no longer have are an error.
#pragma once

#include <memory>
#include <vector>

#include "env/aligned_reads.h"
#include "store/store.h"
#include "tableless/page/page_journal.h"
#include "tableless/page/page_state.h"
#include "tableless/page/section.h"

namespace compassdb {

// The memory of a page's records.
struct PageRoom {
  AlignedBuffer page;
  std::string image;  // of a journal
};

// A newest version, and its memory.
struct PageLookup {
  PageRecord record;
  bool found = false;
  bool written_by_primary = false;  // its page (PageState::WrittenByPrimary), if it was read
  PageRoom room;
  PageCache::Hold hold;
};

class TablelessView final : public StoreView, public std::enable_shared_from_this<TablelessView> {
 public:
  struct Parts {
    PageGeometry geometry;               // no sections: nothing was flushed yet
    std::vector<SectionRef> sections;
    std::vector<PageJournalRef> journals;  // oldest first
    std::vector<OverflowRunRef> runs;      // of the overflow store, by id
    std::shared_ptr<const StoreView> keys;
    KeyHasher hasher;
    bool keys_whole = true;  // the key store has every key
  };
  // For the next current view.
  TablelessView(std::shared_ptr<PageState> state, Parts parts)
      : state_(std::move(state)),
        number_(state_->number() + 1),
        folded_(state_->folded()),
        committed_(state_->committed()),
        parts_(std::move(parts)) {}

  void CheckInvariants() const;

  const Parts& parts() const { return parts_; }
  PageState* state() const { return state_.get(); }
  SequenceNumber folded() const { return state_->folded(); }

  Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
             GetContext* ctx) const override;
  void MultiGet(const BlockReadOptions& read, std::span<PointLookup> lookups) const override;
  Status AddIterators(const BlockReadOptions& read, std::vector<InternalIteratorPtr>* iterators,
                      RangeTombstoneSet* tombstones) const override;
  std::unique_ptr<ValueResolver> NewValueResolver(const BlockReadOptions& read) const override;
  ValueStats Values() const override { return {}; }
  void ForEachValueRun(const std::function<void(const ValueRunMeta&, uint64_t)>&) const override {}
  uint64_t ApproximateSize(const Slice& begin, const Slice& end) const override;
  std::vector<LevelStats> Levels() const override { return parts_.keys->Levels(); }
  uint64_t StoredBytes() const override { return parts_.keys->StoredBytes() + Pages().stored_bytes; }
  IndexMemory Index() const override;
  Status LoadIndex() const override { return parts_.keys->LoadIndex(); }
  void ForEachTable(const std::function<void(int level, const TphMeta&)>& f) const override {
    parts_.keys->ForEachTable(f);
  }
  Status ForEachPiece(const PieceVisitor& f) const override { return parts_.keys->ForEachPiece(f); }
  Status Verify() const override;
  PageStats Pages() const override;

  // The checked records of a page, in `room`.
  Status ReadPage(uint32_t section, uint64_t page, PageRoom* room, Slice* records) const;
  // All records of pages and overflow store, each valid until f returns; stops at f's error. `part`: only those
  // pages, and overflow records of these pages.
  Status ForEachRecord(const std::function<Status(const PageRecord&)>& f, const PagePart& part = {}) const;
  // Searches keys that are read together (PageBatch, OverflowBatch), and calls f for each: its index and its
  // record, null if it was not found so or could not be read. There must be sections.
  struct Wanted {
    Slice user_key;
    KeyHash hash;
  };
  void FindTogether(const BlockReadOptions& read, std::span<const Wanted> wanted,
                    const std::function<void(size_t, const PageRecord*)>& f) const;
  // A page of this view, as CheckPage returned it: see PageState.
  bool Uncounted(const Slice& records, PageChange* change) const { return state_->Uncounted(records, change); }
  bool MayBeKept(const Slice& records) const {  // in the page cache, which keeps no headers
    PageChange change;
    return !state_->WrittenByPrimary(records) && !state_->Uncounted(records, &change);
  }
  // The newest journal that has an image of the page.
  bool FindInJournals(uint32_t section, uint64_t page, const PageJournal** journal,
                      PageJournal::Place* place) const;
  PageCache* cache() const { return state_->cache(); }
  rocksdb::Statistics* statistics() const { return state_->statistics(); }
  const rocksdb::MergeOperator* merge_operator() const { return state_->merge_operator(); }
  // An error of a page, with the file and place where the page was read: of the section or, if there is one,
  // the journal.
  Status Annotate(const Status& s, uint32_t section, uint64_t page, const PageJournal* journal = nullptr,
                  const PageJournal::Place& place = {}) const;
  // CheckPage; and Corruption of a page that only a primary can have written, if there is none.
  Status CheckRead(const Slice& image, uint32_t section, uint64_t page, Slice* records) const;
  // The key's newest version here, from its page or the overflow store.
  Status Lookup(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                PageLookup* result) const;
  // The version that `snapshot`, which is held, sees; not `found` if the key did not exist then. A record that
  // is unfolded is found if it has versions for the snapshot: Feed picks them.
  Status LookupAt(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                  SequenceNumber snapshot, PageLookup* result) const;

  // A record of any type that was found, for a read that is at its key.
  static Status Feed(const PageRecord& record, GetContext* ctx);

 private:
  bool PagesMayBeNewer(uint32_t section) const;
  // For the page or for a record of its keys.
  Status ChangedByPrimary(uint32_t section, uint64_t page) const;
  Status ReadOnce(uint32_t section, uint64_t page, PageRoom* room, Slice* records) const;
  Status LookupInPage(const BlockReadOptions& read, uint32_t section, uint64_t page, const Slice& user_key,
                      PageLookup* result) const;
  // Among versions that were put aside for snapshots.
  Status LookupOldVersion(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                     SequenceNumber snapshot, PageLookup* result) const;

  const std::shared_ptr<PageState> state_;
  const uint64_t number_;
  const SequenceNumber folded_, committed_;  // of the state, when this was made
  const Parts parts_;
};

}  // namespace compassdb
