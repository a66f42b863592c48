// SPDX-License-Identifier: Apache-2.0
// Pages of one view that are read together, over all sections: from memory, from journals, and the others by
// concurrent reads; while descriptors are scarce, of one file after the other.
//
// Thread safety: one thread at a time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "env/aligned_reads.h"
#include "tableless/page/page_format.h"
#include "tableless/tableless_view.h"

namespace compassdb {

class PageBatch {
 public:
  // `view` must outlive this.
  explicit PageBatch(const TablelessView* view) : view_(view) {}

  // The pages of these keys (PageKey), ascending and each once; earlier pages are released. `keep`: pages that
  // were not in the page cache are added to it.
  void Read(std::vector<uint64_t> page_keys, bool keep);

  uint64_t key(size_t i) const { return pages_[i].key; }
  // Corruption also for a page that is being written at that time: TablelessView::ReadPage handles that.
  const Status& status(size_t i) const { return pages_[i].status; }
  // The checked records of a page whose status is OK, valid until the next Read.
  const Slice& records(size_t i) const { return pages_[i].records; }
  // The same with the page's header, of a page that was in a journal.
  Slice image(size_t i) const {
    const Slice& records = pages_[i].records;
    return Slice(records.data() - kPageHeaderBytes, records.size() + kPageHeaderBytes);
  }
  // The part of the page that does not count in its section yet (PageState::Uncounted). Null: all of it does.
  const PageChange* uncounted(size_t i) const { return pages_[i].uncounted ? &pages_[i].change : nullptr; }
  // By the last Read, of pages that were not in memory.
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Page {
    uint64_t key = 0;
    Status status;
    Slice records;
    PageCache::Hold hold;
    uint64_t number = 0;  // of its stripe in the page cache
    const PageJournal* journal = nullptr;
    PageJournal::Place place;
    size_t request = 0;
    uint64_t offset = 0;  // of the page in what the request reads
    bool uncounted = false;
    PageChange change;
  };
  // Neighbours that are read together: the newest request of the sections, and of each journal. Pages
  // of journals are between others, which must not end the runs.
  struct Run {
    const PageJournal* journal = nullptr;  // null: of the sections
    size_t request = 0;
    uint64_t first = 0, last = 0;  // keys; in a journal, the offsets where it begins and ends
  };
  // The file of a request: the one that is not null says.
  struct Source {
    const SectionFile* section = nullptr;
    const PageJournal* journal = nullptr;
    Status Open(std::shared_ptr<CompactionFile>* hold, const RandomAccessFile** file) const;
    bool operator==(const Source&) const = default;
  };
  void AddRequest(const Source& source, uint64_t offset, size_t length);
  void Plan();
  Run* RunOf(const PageJournal* journal);  // null: there is none yet
  void PlanJournaled(Page* page);
  void PlanInPlace(Page* page);
  void ReadSome(size_t begin, size_t end, AlignedBuffer* room);
  void Check(Page* page, bool keep);

  const TablelessView* const view_;
  std::vector<Page> pages_;
  std::vector<ReadRequest> requests_;
  std::vector<Run> runs_;
  std::vector<Source> sources_;      // of the requests
  std::deque<AlignedBuffer> rooms_;  // the second and later ones only while descriptors are scarce
  uint64_t bytes_read_ = 0;
  size_t pages_read_ = 0;
};

// Calls `visit` for pages of a section: for `batch` neighbours, which are read together, then for
// those that are `stride` behind them. A page that is being written is read again until it is
// whole. Adds to *bytes_read.
Status VisitPages(const TablelessView& view, uint32_t section, uint32_t batch, uint64_t stride,
                  const std::function<Status(uint64_t page, const Slice& records)>& visit,
                  uint64_t* bytes_read);

}  // namespace compassdb
