// SPDX-License-Identifier: Apache-2.0
// Writes pages of one section in place, in batches, with asynchronous I/O where the file is opened directly.
//
// Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/aligned_reads.h"
#include "env/file_system.h"
#include "store/store.h"
#include "tableless/page/in_flight_pages.h"
#include "tableless/page/page_cache.h"

namespace compassdb {

class PageWriter {
 public:
  // `cache` must outlive this. Null: the file has no readers yet.
  PageWriter(const StoreContext* context, std::string path, uint64_t file_number, size_t page_bytes, PageCache* cache)
      : context_(context), path_(std::move(path)), file_number_(file_number), page_bytes_(page_bytes), cache_(cache) {}
  // For images without a journal: readers find them in `in_flight` while they are written. `tried` is called for each
  // page whose write was tried, before the image is removed from `in_flight`.
  void WithoutJournal(InFlightPages* in_flight, std::function<void(uint64_t page)> tried) {
    in_flight_ = in_flight;
    tried_ = std::move(tried);
  }

  // Pages ascend. An image may be shorter than the page: the rest is zeros.
  Status Add(uint64_t page, const Slice& image);
  // Makes all added pages durable.
  Status Finish();
  uint64_t pages() const { return pages_; }

 private:
  Status Flush();

  const StoreContext* const context_;
  const std::string path_;
  const uint64_t file_number_;
  const size_t page_bytes_;
  PageCache* const cache_;
  InFlightPages* in_flight_ = nullptr;
  std::function<void(uint64_t)> tried_;
  std::unique_ptr<PageFile> file_;
  AlignedBuffer buffer_;
  size_t used_ = 0;
  uint64_t pages_ = 0;
  std::vector<WriteRequest> requests_;
};

}  // namespace compassdb
