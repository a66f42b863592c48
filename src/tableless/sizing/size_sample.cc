// SPDX-License-Identifier: Apache-2.0
#include "tableless/sizing/size_sample.h"

#include <algorithm>
#include <map>

#include "tableless/page/page_batch.h"

namespace compassdb {

namespace {

constexpr uint64_t kSampleBytes = 4 << 20;
constexpr uint64_t kLeastSamplePages = 64;

Status Count(Slice records, std::map<uint64_t, uint64_t>* counts) {
  PageRecord record;
  while (NextPageRecord(&records, &record)) ++(*counts)[EncodedSize(record)];
  return records.empty() ? Status::OK() : Status::Corruption("a page has a damaged record");
}

// Batches of consecutive pages, evenly spread.
Status CountInPages(const TablelessView& view, uint32_t section, uint32_t batch,
                    std::map<uint64_t, uint64_t>* counts, uint64_t* bytes_read) {
  const TablelessView::Parts& parts = view.parts();
  const uint64_t pages = parts.sections[section]->meta.pages;
  const uint64_t wanted = std::max(kLeastSamplePages, kSampleBytes / parts.geometry.page_bytes);
  const uint64_t stride = std::max<uint64_t>(batch, batch * (pages / wanted));
  const auto count = [&](uint64_t, const Slice& records) { return Count(records, counts); };
  return VisitPages(view, section, batch, stride, count, bytes_read);
}

}  // namespace

Status SampleSizes(const TablelessView& view, uint32_t section, uint32_t batch, SizeDistribution* sizes,
                   uint64_t* bytes_read) {
  const Section& s = *view.parts().sections[section];
  const uint64_t usable = view.parts().geometry.page_bytes - kPageHeaderBytes;
  std::map<uint64_t, uint64_t> counts;
  Status status = CountInPages(view, section, batch, &counts, bytes_read);
  if (!status.ok()) return status;
  uint64_t counted = 0;
  for (const auto& [bytes, count] : counts) counted += count;
  const auto in_pages = static_cast<double>(s.meta.records - std::min(s.meta.records, s.meta.overflow_records));
  std::vector<SizeDistribution::Share> shares;
  for (const auto& [bytes, count] : counts) {
    shares.push_back({bytes, static_cast<double>(count) * in_pages / static_cast<double>(counted)});
  }
  std::map<uint64_t, uint64_t> overflow;
  for (const OverflowIndex::Entry& entry : s.overflow->entries()) {
    const uint64_t bytes = entry.place.size - kOverflowEntryHeader;  // as in a page, except for a byte or two
    if (bytes <= usable) ++overflow[bytes];
  }
  for (const auto& [bytes, count] : overflow) shares.push_back({bytes, static_cast<double>(count)});
  std::erase_if(shares, [](const SizeDistribution::Share& share) { return share.weight <= 0; });
  *sizes = shares.empty() ? SizeDistribution::Constant(usable) : SizeDistribution::Histogram(std::move(shares));
  return status;
}

}  // namespace compassdb
