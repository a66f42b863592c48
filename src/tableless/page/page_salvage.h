// SPDX-License-Identifier: Apache-2.0
// For RepairDB: rewrites a damaged family in pages into new files, with what can be read. Of a page that is
// the newest image that can be read, in a journal or in place; of a key, the newest record. The key store
// is rebuilt from the records.
//
// Thread safety: one thread, while no other uses the database.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/job_file.h"
#include "tableless/overflow/overflow_run.h"
#include "tableless/page/page_journal.h"
#include "tableless/tableless_view.h"

namespace compassdb {

class PageSalvage {
 public:
  struct Calls {
    std::function<std::string(uint64_t)> existing_path;  // of a section's file, by its number
    std::function<std::string(uint64_t)> new_path;
    std::function<Status(std::shared_ptr<MemTable>)> flush_keys;
  };
  // `pages` is the manifest's data; it has a geometry. Damage is reported to context->log_info.
  PageSalvage(const StoreContext* context, const StoreOptions* options, const VersionEdit& pages, Calls calls);

  // Reads everything. *whole: nothing of it is damaged or missing. Other errors are returned.
  Status Check(bool* whole);
  // Pages, images and overflow records that cannot be read, and files of them.
  uint64_t damages() const { return damages_; }
  // The highest sequence in pages that were read, even if the manifest has a lower one.
  SequenceNumber newest() const { return newest_; }
  // Writes new files. The edit removes all old ones.
  Status Rebuild(VersionEdit* edit);

 private:
  struct Spilled {
    const OverflowRun* run = nullptr;
    OverflowPlace place;
    SequenceNumber sequence = 0;
  };
  // The contents of a page, as slices of the read bytes.
  struct PageImage {
    SequenceNumber folded = 0;
    std::vector<PageRecord> records;
    Status Decode(const Slice& image, uint64_t file_number, uint64_t page);
  };
  void Damaged(const std::string& what, const Status& s);
  void OpenRuns();
  void OpenSection(uint32_t section);
  // The newest that can be read in a journal, into room_.image; false: none.
  bool ReadImage(uint64_t page, PageImage* found);
  Status ReadInPlace(uint64_t page, PageImage* found);  // into room_.page
  // The newest that can be read, of both; none: empty. Until the next call.
  void ReadPage(uint64_t page, std::vector<PageRecord>* records);
  Status RebuildSection(OverflowRunWriter* overflow, PageSectionMeta* meta);
  Status BuildPage(uint64_t page, uint64_t file_number, std::string* out, OverflowRunWriter* overflow,
                   PageSectionMeta* meta);
  Status Mark(const PageRecord& record);

  const StoreContext* const context_;
  const StoreOptions* const options_;
  const VersionEdit& pages_;
  const Calls calls_;
  const PageGeometry geometry_;
  uint64_t damages_ = 0;
  SequenceNumber newest_ = 0;
  Status failed_;  // the first error that is not about contents
  std::vector<PageJournalRef> journals_;  // oldest first
  std::vector<OverflowRunRef> runs_;
  std::vector<std::map<std::string, Spilled>> overflow_;  // by section, by key
  // The current section:
  PageSectionMeta meta_;
  std::unique_ptr<RandomAccessFile> file_;  // null: it is missing
  uint64_t pages_there_ = 0;  // of it, at most; the manifest may name any number
  std::multimap<uint64_t, const std::pair<const std::string, Spilled>*> by_page_;
  PageRoom room_;
  std::shared_ptr<MemTable> keys_;
};

}  // namespace compassdb
