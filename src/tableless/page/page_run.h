// SPDX-License-Identifier: Apache-2.0
// An extent of a compaction file that belongs to a table-less store. Released with the last view that
// names it. Thread safe; the constructor's arguments outlive it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "manifest/extent_ledger.h"
#include "manifest/page_store_meta.h"
#include "table/file/file_cache.h"

namespace compassdb {

class PageRun {
 public:
  PageRun(FileCache* files, ExtentLedger* ledger, const PageRunMeta& meta)
      : files_(files), ledger_(ledger), meta_(meta) {}
  ~PageRun() {
    if (obsolete_.load(std::memory_order_relaxed)) ledger_->Release(meta_.extent);
  }
  PageRun(const PageRun&) = delete;
  PageRun& operator=(const PageRun&) = delete;

  const PageRunMeta& meta() const { return meta_; }
  // The edit that removes it is committed.
  void MarkObsolete() { obsolete_.store(true, std::memory_order_relaxed); }

  // n bytes from there on; Corruption if the run or its file ends before. They may be in `room`.
  Status Read(uint64_t offset, size_t n, std::string* room, Slice* bytes) const;
  // Corruption if n bytes from there on are not all in the run.
  Status CheckPlace(uint64_t offset, size_t n) const;
  Status OpenFile(std::shared_ptr<CompactionFile>* file) const;
  Status Corruption(uint64_t offset, const std::string& what) const;

 private:
  FileCache* const files_;
  ExtentLedger* const ledger_;
  const PageRunMeta meta_;
  std::atomic<bool> obsolete_{false};
};

}  // namespace compassdb
