// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_batch.h"

#include <algorithm>

#include "env/read_batch.h"
#include "tableless/page/page_reads.h"

namespace compassdb {

namespace {

// Pages with a smaller gap are read together. Journals are mostly read in order: between the pages are images that
// newer journals have replaced, and a separate read costs a device more than their bytes.
constexpr uint64_t kGapPages = 2;
constexpr uint64_t kGapBytes = 16 << 10;
constexpr uint64_t kSpanBytes = 256 << 10;
constexpr size_t kNoRequest = SIZE_MAX;

}  // namespace

Status PageBatch::Source::Open(std::shared_ptr<CompactionFile>* hold, const RandomAccessFile** file) const {
  if (section != nullptr) return section->Reader(hold, file);
  Status s = journal->run()->OpenFile(hold);
  if (s.ok()) *file = (*hold)->file();
  return s;
}

void PageBatch::AddRequest(const Source& source, uint64_t offset, size_t length) {
  sources_.push_back(source);
  ReadRequest& request = requests_.emplace_back();
  request.offset = offset;
  request.length = length;
}

PageBatch::Run* PageBatch::RunOf(const PageJournal* journal) {
  const auto it = std::find_if(runs_.begin(), runs_.end(), [&](const Run& r) { return r.journal == journal; });
  return it == runs_.end() ? nullptr : &*it;
}

void PageBatch::PlanJournaled(Page* page) {
  const PageRun& of = *page->journal->run();
  const PageJournal::Place& place = page->place;
  page->status = of.CheckPlace(place.offset, place.size);
  if (!page->status.ok()) return;
  const uint64_t end = place.offset + place.size;
  Run* run = RunOf(page->journal);
  if (run == nullptr || place.offset < run->last || place.offset - run->last > kGapBytes ||
      end - run->first > std::max<uint64_t>(kSpanBytes, place.size)) {
    if (run == nullptr) run = &runs_.emplace_back();
    *run = {page->journal, requests_.size(), place.offset, 0};
    AddRequest({nullptr, page->journal}, of.meta().extent.offset + place.offset, 0);
  }
  run->last = end;
  page->request = run->request;
  page->offset = place.offset - run->first;
  requests_[run->request].length = end - run->first;
}

void PageBatch::PlanInPlace(Page* page) {
  const TablelessView::Parts& parts = view_->parts();
  const uint64_t page_bytes = parts.geometry.page_bytes;
  const uint64_t number = PageOfKey(page->key);
  const Section& section = *parts.sections[SectionOfKey(page->key)];
  page->number = view_->cache()->Number(number);
  view_->cache()->Find(section.meta.file_number, number, &page->hold);
  if (page->hold.found()) {
    page->records = page->hold.records();
    return;
  }
  Run* run = RunOf(nullptr);
  if (run == nullptr || SectionOfKey(run->last) != SectionOfKey(page->key) || page->key - run->last > kGapPages + 1 ||
      (page->key - run->first + 1) * page_bytes > std::max(kSpanBytes, page_bytes)) {
    if (run == nullptr) run = &runs_.emplace_back();
    *run = {nullptr, requests_.size(), page->key, 0};
    AddRequest({section.file.get(), nullptr}, number * page_bytes, 0);
  }
  run->last = page->key;
  page->request = run->request;
  page->offset = (page->key - run->first) * page_bytes;
  requests_[run->request].length = page->offset + page_bytes;
}

// Finds out where each page is, and makes a request of each run of neighbours.
void PageBatch::Plan() {
  runs_.clear();
  for (Page& page : pages_) {
    page.request = kNoRequest;
    if (view_->FindInJournals(SectionOfKey(page.key), PageOfKey(page.key), &page.journal, &page.place)) {
      PlanJournaled(&page);
    } else {
      PlanInPlace(&page);
    }
  }
}

// Reads the requests [begin, end) into `room`, one after the other.
void PageBatch::ReadSome(size_t begin, size_t end, AlignedBuffer* room) {
  const uint64_t page_bytes = view_->parts().geometry.page_bytes;
  std::vector<std::shared_ptr<CompactionFile>> holds(end - begin);
  std::vector<const RandomAccessFile*> files(end - begin);
  size_t alignment = 1, total = 0;
  for (size_t i = begin; i < end; ++i) {
    requests_[i].status = sources_[i].Open(&holds[i - begin], &files[i - begin]);
    if (!requests_[i].status.ok()) continue;
    alignment = std::max(alignment, files[i - begin]->ReadAlignment());
    total += requests_[i].length;
  }
  bytes_read_ += total;
  char* at = total == 0 ? nullptr : room->Reserve(alignment, total);
  // Whole pages come first, so that they begin at multiples of the alignment.
  for (const bool whole : {true, false}) {
    for (size_t i = begin; i < end; ++i) {
      ReadRequest& request = requests_[i];
      if (!request.status.ok() || (request.length % page_bytes == 0) != whole) continue;
      if (at == nullptr) {
        request.status = Status::MemoryLimit("no memory for pages", std::to_string(total) + " bytes");
        continue;
      }
      request.scratch = at;
      at += request.length;
    }
  }
  const PageReadTimer timer(view_->statistics());
  ReadBatch batch;
  for (size_t i = begin; i < end;) {
    size_t next = i + 1;
    if (requests_[i].status.ok()) {
      while (next < end && requests_[next].status.ok() && files[next - begin] == files[i - begin]) ++next;
      files[i - begin]->AddReads(&requests_[i], next - i, &batch);
    }
    i = next;
  }
  batch.Wait();
}

void PageBatch::Check(Page* page, bool keep) {
  if (page->request == kNoRequest) return;
  const uint32_t section = SectionOfKey(page->key);
  const uint64_t file_number = view_->parts().sections[section]->meta.file_number;
  const uint64_t number = PageOfKey(page->key);
  const ReadRequest& request = requests_[page->request];
  const size_t size = page->journal != nullptr ? page->place.size : view_->parts().geometry.page_bytes;
  Status s = request.status;
  if (s.ok() && page->offset + size > request.result.size()) {
    s = Status::Corruption("the file ends before the page does");
  }
  if (s.ok()) {
    s = view_->CheckRead(Slice(request.result.data() + page->offset, size), section, number, &page->records);
  }
  ++pages_read_;
  if (s.ok() && view_->Uncounted(page->records, &page->change)) page->uncounted = true;
  if (s.ok() && keep && page->journal == nullptr && view_->MayBeKept(page->records)) {
    view_->cache()->Insert(file_number, number, page->number, page->records);
  }
  page->status = s.ok() ? s : view_->Annotate(s, section, number, page->journal, page->place);
}

void PageBatch::Read(std::vector<uint64_t> page_keys, bool keep) {
  pages_ = std::vector<Page>(page_keys.size());
  requests_.clear();
  sources_.clear();
  bytes_read_ = pages_read_ = 0;
  for (size_t i = 0; i < pages_.size(); ++i) pages_[i].key = page_keys[i];
  Plan();
  const std::vector<SectionRef>& sections = view_->parts().sections;
  const bool scarce = !sections.empty() && sections.front()->file->files().scarce();
  for (size_t begin = 0, end = 0, room = 0; begin < requests_.size(); begin = end, ++room) {
    end = scarce ? begin + 1 : requests_.size();
    while (end < requests_.size() && sources_[end] == sources_[begin]) ++end;
    if (room == rooms_.size()) rooms_.emplace_back();
    ReadSome(begin, end, &rooms_[room]);
  }
  for (Page& page : pages_) Check(&page, keep);
  CountPagesRead(view_->statistics(), pages_read_, bytes_read_);
}

Status VisitPages(const TablelessView& view, uint32_t section, uint32_t batch, uint64_t stride,
                  const std::function<Status(uint64_t page, const Slice& records)>& visit,
                  uint64_t* bytes_read) {
  const uint64_t pages = view.parts().sections[section]->meta.pages;
  PageBatch read(&view);
  Status s;
  for (uint64_t first = 0; s.ok() && first < pages; first += stride) {
    std::vector<uint64_t> keys;
    const uint64_t end = std::min(pages, first + batch);
    for (uint64_t page = first; page < end; ++page) keys.push_back(PageKey(section, page));
    const size_t n = keys.size();
    read.Read(std::move(keys), /*keep=*/false);
    *bytes_read += read.bytes_read();
    for (size_t i = 0; s.ok() && i < n; ++i) {
      const uint64_t page = first + i;
      PageRoom room;
      Slice records;
      if (read.status(i).ok()) {
        records = read.records(i);
      } else {
        s = view.ReadPage(section, page, &room, &records);
      }
      if (s.ok()) s = view.Annotate(visit(page, records), section, page);
    }
  }
  return s;
}

}  // namespace compassdb
