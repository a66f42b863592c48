// SPDX-License-Identifier: Apache-2.0
// Page images that are committed and not yet written in place (docs/formats/tableless.md). They make
// writes in place safe: an image counts from the commit of its journal on, and not the page's own place.
// A write in place that a crash tears is repeated from here.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "tableless/page/page_hash.h"
#include "tableless/page/page_run.h"
#include "util/mutex.h"

namespace compassdb {

// Writes one journal as an extent. Append from several threads at once.
class PageJournalWriter {
 public:
  // The numbers of the sections' files, by section.
  PageJournalWriter(CompactionFileWriter* file, std::vector<uint64_t> section_files);

  struct Image {
    uint64_t page = 0;
    uint32_t offset = 0;  // in the buffer
    uint32_t size = 0;
  };
  // Finished images of one section (page_format.h), one after the other in `buffer`.
  Status Append(uint32_t section, const std::vector<Image>& images, const Slice& buffer);
  // After the last image: writes the directory, and sets the manifest's data.
  Status Finish(uint64_t run_id, PageRunMeta* meta);
  uint64_t count() {
    MutexLock lock(&mu_);
    return entries_.size();
  }

 private:
  struct Entry {
    uint64_t key;
    uint64_t offset;
    uint32_t size;
  };
  CompactionFileWriter* const file_;
  const std::vector<uint64_t> section_files_;
  const uint64_t begin_;
  Mutex mu_;
  std::vector<Entry> entries_ GUARDED_BY(mu_);
};

// Reads one. Immutable once open.
class PageJournal {
 public:
  // Corruption if there is an image of more than `page_bytes`.
  static Status Open(FileCache* files, ExtentLedger* ledger, const PageRunMeta& meta, uint32_t page_bytes,
                     std::shared_ptr<PageJournal>* journal);
  // Corruption if it has an image of a page that does not exist in the section.
  Status CheckPages(const PageSectionMeta& section) const;

  PageRun* run() { return &run_; }
  const PageRun* run() const { return &run_; }
  const PageRunMeta& meta() const { return run_.meta(); }

  struct Place {
    uint64_t offset = 0;  // in the run
    uint32_t size = 0;
  };
  // The image of a page of that file; false if it has none.
  bool Find(uint32_t section, uint64_t file_number, uint64_t page, Place* place) const;
  // As it was written; the caller calls CheckPage.
  Status Read(const Place& place, std::string* room, Slice* image) const {
    return run_.Read(place.offset, place.size, room, image);
  }
  // By key (PageKey), ascending.
  size_t size() const { return keys_.size(); }
  uint64_t key(size_t i) const { return keys_[i]; }
  Place place(size_t i) const { return {offsets_[i], sizes_[i]}; }
  size_t Begin(uint32_t section) const {  // where the section's images begin
    return std::lower_bound(keys_.begin(), keys_.end(), PageKey(section, 0)) - keys_.begin();
  }
  // 0 if it has nothing of the section.
  uint64_t section_file(uint32_t section) const {
    return section < section_files_.size() ? section_files_[section] : 0;
  }
  size_t MemoryBytes() const { return keys_.size() * (8 + 8 + 4) + sizeof(*this); }

 private:
  PageJournal(FileCache* files, ExtentLedger* ledger, const PageRunMeta& meta)
      : run_(files, ledger, meta) {}
  Status Load(uint32_t page_bytes);

  PageRun run_;
  std::vector<uint64_t> section_files_;
  std::vector<uint64_t> keys_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> sizes_;
};

using PageJournalRef = std::shared_ptr<PageJournal>;

}  // namespace compassdb
