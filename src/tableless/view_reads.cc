// SPDX-License-Identifier: Apache-2.0
// Reads of many pages of a view.
#include <algorithm>

#include "tableless/overflow/overflow_batch.h"
#include "tableless/page/page_batch.h"
#include "tableless/page/page_resolver.h"
#include "tableless/tableless_view.h"

namespace compassdb {

namespace {

// Pages that are read together.
constexpr size_t kBatchPages = 256;

}  // namespace

void TablelessView::FindTogether(const BlockReadOptions& read, std::span<const Wanted> wanted,
                                 const std::function<void(size_t, const PageRecord*)>& f) const {
  struct Place {
    uint64_t page_key;
    size_t i;
  };
  std::vector<Place> places;
  std::vector<size_t> overflowed;
  OverflowBatch overflow(statistics());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const MasterHash master = MasterHashOf(wanted[i].hash, parts_.geometry.sections);
    const Section& section = *parts_.sections[master.section];
    if (overflow.Add(*section.overflow, wanted[i].hash)) {
      overflowed.push_back(i);
    } else {
      places.push_back({PageKey(master.section, section.PageOf(master)), i});
    }
  }
  overflow.Read();
  for (const size_t i : overflowed) {
    PageRecord record;
    const Status s = overflow.Find(wanted[i].user_key, wanted[i].hash, &record);
    f(i, s.ok() ? &record : nullptr);
  }
  overflow.Clear();
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.page_key < b.page_key; });
  PageBatch batch(this);
  for (size_t begin = 0; begin < places.size();) {
    std::vector<uint64_t> keys;
    size_t end = begin;
    for (; end < places.size(); ++end) {
      if (!keys.empty() && keys.back() == places[end].page_key) continue;
      if (keys.size() == kBatchPages) break;
      keys.push_back(places[end].page_key);
    }
    batch.Read(std::move(keys), read.fill_cache);
    for (size_t at = 0; begin < end; ++begin) {
      while (batch.key(at) != places[begin].page_key) ++at;
      PageRecord record;
      bool damaged = false;
      const size_t i = places[begin].i;
      const bool found = batch.status(at).ok() &&
                         FindPageRecord(batch.records(at), wanted[i].user_key, &record, &damaged);
      f(i, found ? &record : nullptr);
    }
  }
}

Status TablelessView::ForEachRecord(const std::function<Status(const PageRecord&)>& f, const PagePart& part) const {
  PageBatch batch(this);
  PageRoom room;
  std::string overflow_room;
  std::vector<PageRecord> list;
  for (uint32_t i = 0; i < parts_.sections.size(); ++i) {
    const Section& section = *parts_.sections[i];
    const uint64_t end = part.End(section.meta.pages);
    for (uint64_t first = part.First(section.meta.pages); first < end; first += kBatchPages) {
      const uint64_t n = std::min<uint64_t>(kBatchPages, end - first);
      std::vector<uint64_t> keys;
      for (uint64_t page = first; page < first + n; ++page) keys.push_back(PageKey(i, page));
      batch.Read(std::move(keys), /*keep=*/false);
      for (uint64_t at = 0; at < n; ++at) {
        Slice records;
        Status s;
        if (batch.status(at).ok()) {
          records = batch.records(at);
        } else {
          s = ReadPage(i, first + at, &room, &records);  // a flush may be writing it
        }
        if (s.ok()) s = Annotate(ListPageRecords(records, &list), i, first + at);
        for (size_t r = 0; s.ok() && r < list.size(); ++r) s = f(list[r]);
        if (!s.ok()) return s;
      }
    }
    for (const OverflowIndex::Entry& e : section.overflow->entries()) {
      const uint64_t page = section.PageOf(MasterHashOf({e.hash, 0, 0}, parts_.geometry.sections));
      if (!part.Has(page, section.meta.pages)) continue;
      OverflowEntry entry;
      Status s = section.overflow->Read(e, &overflow_room, &entry);
      if (s.ok()) s = f(entry.record);
      if (!s.ok()) return s;
    }
  }
  return Status::OK();
}

// Keys that are not found in this simplest way are looked up one by one.
void TablelessView::MultiGet(const BlockReadOptions& read, std::span<PointLookup> lookups) const {
  const auto alone = [&](PointLookup& lookup) {
    lookup.status = Get(read, lookup.user_key, lookup.hash, lookup.ctx);
  };
  if (parts_.sections.empty() || read.cache_only || read.limits.clock != nullptr) {
    for (PointLookup& lookup : lookups) alone(lookup);
    return;
  }
  std::vector<Wanted> wanted;
  for (const PointLookup& lookup : lookups) wanted.push_back({lookup.user_key, lookup.hash});
  FindTogether(read, wanted, [&](size_t i, const PageRecord* r) {
    PointLookup& lookup = lookups[i];
    if (r == nullptr || r->sequence > lookup.ctx->snapshot()) return alone(lookup);
    lookup.status = Feed(*r, lookup.ctx);
  });
}

Status TablelessView::AddIterators(const BlockReadOptions& read,
                                   std::vector<InternalIteratorPtr>* iterators,
                                   RangeTombstoneSet* tombstones) const {
  if (!parts_.keys_whole) {
    return Status::NotSupported(
        "the key store of the family lacks keys",
        "it was written with tableless_key_store=false: opening it once for writing with true makes it whole");
  }
  return parts_.keys->AddIterators(read, iterators, tombstones);
}

std::unique_ptr<ValueResolver> TablelessView::NewValueResolver(const BlockReadOptions& read) const {
  return std::make_unique<PageResolver>(shared_from_this(), read);
}

}  // namespace compassdb
