// SPDX-License-Identifier: Apache-2.0
#include "tableless/sizing/page_contents.h"

#include "tableless/page/page_batch.h"
#include "tableless/page/page_load.h"

namespace compassdb {

namespace {

constexpr uint32_t kBatch = 64;

struct Spilled {
  uint64_t records = 0;
  uint64_t bytes = 0;  // about as many as they would be in the page
};

// By page.
std::map<uint64_t, Spilled> SpilledFrom(const Section& section, uint32_t sections) {
  std::map<uint64_t, Spilled> spilled;
  for (const OverflowIndex::Entry& entry : section.overflow->entries()) {
    Spilled& of_page = spilled[section.PageOf(MasterHashOf({.h1 = entry.hash}, sections))];
    ++of_page.records;
    of_page.bytes += entry.place.size - kOverflowEntryHeader;
  }
  return spilled;
}

}  // namespace

Status CountContents(const TablelessView& view, PageContents* contents) {
  const TablelessView::Parts& parts = view.parts();
  const uint64_t usable = parts.geometry.page_bytes - kPageHeaderBytes;
  contents->by_fill.assign(kFillParts + 1, 0);
  Status s;
  uint64_t bytes_read = 0;
  for (uint32_t i = 0; s.ok() && i < parts.sections.size(); ++i) {
    const std::map<uint64_t, Spilled> spilled =
        SpilledFrom(*parts.sections[i], parts.geometry.sections);
    const auto count = [&](uint64_t page, Slice records) {
      uint64_t pairs = 0, bytes = 0;
      PageRecord record;
      while (NextPageRecord(&records, &record)) {
        ++pairs;
        bytes += EncodedSize(record);
      }
      if (!records.empty()) return Status::Corruption("a page has a damaged record");
      const auto it = spilled.find(page);
      if (it != spilled.end()) {
        pairs += it->second.records;
        bytes += it->second.bytes;
      }
      ++contents->by_fill[FillPart(bytes, usable)];
      PageContents::ByPairs& alike = contents->by_pairs[pairs];
      ++alike.pages;
      alike.overflowing += it != spilled.end() ? 1 : 0;
      return Status::OK();
    };
    s = VisitPages(view, i, kBatch, kBatch, count, &bytes_read);
  }
  return s;
}

}  // namespace compassdb
