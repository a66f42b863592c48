// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/old_pages.h"

#include <algorithm>

namespace compassdb {

OldPages::OldPages(std::shared_ptr<const TablelessView> view, uint32_t section, uint32_t batch,
                   std::optional<std::vector<uint64_t>> wanted)
    : view_(std::move(view)), section_(section), batch_(std::max(1u, batch)), wanted_(std::move(wanted)) {
  const Section& s = *view_->parts().sections[section];
  overflow_.reserve(s.overflow->entries().size());
  for (const OverflowIndex::Entry& e : s.overflow->entries()) {
    const KeyHash hash{e.hash, 0, 0};
    overflow_.emplace_back(MasterHashOf(hash, view_->parts().geometry.sections).value, e);
  }
  std::sort(overflow_.begin(), overflow_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

Status OldPages::ForEach(uint64_t low, uint64_t high, const std::function<Status(const PageRecord&)>& f) {
  const Section& s = *view_->parts().sections[section_];
  const uint64_t last = std::min(high / s.divisor, s.meta.pages - 1);
  for (uint64_t page = low / s.divisor; page <= last; ++page) {
    pages_.erase(pages_.begin(), pages_.lower_bound(page));
    auto it = pages_.find(page);
    if (it == pages_.end()) {
      if (Status status = Load(page); !status.ok()) return status;
      it = pages_.find(page);
    }
    for (const Record& r : it->second.records) {
      if (r.master < low || r.master > high) continue;
      if (Status status = f(r.record); !status.ok()) return status;
    }
  }
  const auto by_master = [](const auto& e, uint64_t v) { return e.first < v; };
  for (auto it = std::lower_bound(overflow_.begin(), overflow_.end(), low, by_master);
       it != overflow_.end() && it->first <= high; ++it) {
    OverflowEntry entry;
    Status status = s.overflow->Read(it->second, &overflow_room_, &entry);
    if (status.ok()) status = f(entry.record);
    if (!status.ok()) return status;
    bytes_read_ += it->second.place.size;
  }
  return Status::OK();
}

Status OldPages::Load(uint64_t first) {
  const TablelessView::Parts& parts = view_->parts();
  std::vector<uint64_t> keys{PageKey(section_, first)};
  if (wanted_) {
    for (auto it = std::upper_bound(wanted_->begin(), wanted_->end(), first);
         it != wanted_->end() && keys.size() < batch_; ++it) {
      keys.push_back(PageKey(section_, *it));
    }
  } else {
    for (uint64_t page = first + 1; page < parts.sections[section_]->meta.pages && keys.size() < batch_; ++page) {
      keys.push_back(PageKey(section_, page));
    }
  }
  const size_t n = keys.size();
  const auto batch = std::make_shared<PageBatch>(view_.get());
  batch->Read(std::move(keys), /*keep=*/false);
  bytes_read_ += batch->bytes_read();
  for (size_t i = 0; i < n; ++i) {
    const uint64_t number = PageOfKey(batch->key(i));
    Page page;
    page.batch = batch;
    Slice of_page;
    if (batch->status(i).ok()) {
      of_page = batch->records(i);
    } else {
      // A flush may be writing it: it is read again until it is whole.
      page.room = std::make_shared<PageRoom>();
      Status one = view_->ReadPage(section_, number, page.room.get(), &of_page);
      if (!one.ok()) return one;
    }
    ahead_.erase(number);
    PageChange change;
    if (!batch->status(i).ok()) {
      if (view_->Uncounted(of_page, &change)) ahead_[number] = {FoldedOf(of_page), change};
    } else if (batch->uncounted(i) != nullptr) {
      ahead_[number] = {FoldedOf(of_page), *batch->uncounted(i)};
    }
    PageRecord record;
    while (NextPageRecord(&of_page, &record)) {
      const KeyHash hash = parts.hasher(record.user_key);
      page.records.push_back({record, MasterHashOf(hash, parts.geometry.sections).value});
    }
    if (!of_page.empty()) {
      return Status::Corruption(parts.sections[section_]->file->path(),
                                "page " + std::to_string(number) + " has a damaged record");
    }
    pages_[number] = std::move(page);
  }
  return Status::OK();
}

}  // namespace compassdb
