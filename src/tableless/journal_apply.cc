// SPDX-License-Identifier: Apache-2.0
// Journaled images are written in place, the newest of each page, in the order of pages; then the
// journals go (KallaxDB 3.2: sections have writers of their own).
#include <algorithm>
#include <map>

#include "env/aligned_reads.h"
#include "tableless/page_format.h"
#include "tableless/tableless_tasks.h"
#include "util/parallel.h"

namespace compassdb {

namespace {

constexpr size_t kBatchBytes = 2 << 20;

// Writes the pages of one section, whose keys ascend.
class SectionApply {
 public:
  SectionApply(const TablelessView& view, uint32_t section, const StoreContext* context,
               const std::atomic<bool>* cancel, PageCache* cache)
      : section_(*view.parts().sections[section]),
        page_bytes_(view.parts().geometry.page_bytes),
        context_(context),
        cancel_(cancel),
        cache_(cache) {}

  struct Image {
    uint64_t page;
    const PageJournal* journal;
    PageJournal::Place place;
  };

  Status Run(const std::vector<Image>& images) {
    Status s = section_.file->Writer(context_->write_options, &writer_);
    std::string one;
    for (const Image& image : images) {
      if (!s.ok()) return s;
      if (cancel_ != nullptr && cancel_->load()) return Status::ShutdownInProgress("pages");
      Slice bytes, records;
      s = image.journal->Read(image.place, &one, &bytes);
      // What is damaged stays in its journal.
      if (s.ok()) s = CheckPage(bytes, section_.meta.file_number, image.page, &records);
      if (s.IsCorruption()) {
        s = image.journal->run()->Corruption(image.place.offset, "image of page " +
                                             std::to_string(image.page) + ": " + s.ToString());
      }
      if (s.ok()) s = Add(image.page, bytes);
    }
    if (s.ok()) s = Flush();
    return s.ok() ? writer_->Sync() : s;
  }

 private:
  Status Add(uint64_t page, const Slice& image) {
    if (buffer_.data() == nullptr && buffer_.Reserve(kPageWriteAlignment, kBatchBytes) == nullptr) {
      return Status::MemoryLimit("pages to be written in place");
    }
    Status s;
    if (used_ + page_bytes_ > kBatchBytes) s = Flush();
    char* const to = buffer_.data() + used_;
    memcpy(to, image.data(), image.size());
    memset(to + image.size(), 0, page_bytes_ - image.size());
    const uint64_t offset = page * page_bytes_;
    if (!requests_.empty() && requests_.back().offset + requests_.back().data.size() == offset) {
      requests_.back().data = Slice(requests_.back().data.data(),
                                    requests_.back().data.size() + page_bytes_);
    } else {
      WriteRequest& request = requests_.emplace_back();
      request.offset = offset;
      request.data = Slice(to, page_bytes_);
    }
    used_ += page_bytes_;
    return s;
  }

  Status Flush() {
    if (requests_.empty()) return Status::OK();
    writer_->MultiWrite(requests_.data(), requests_.size());
    for (const WriteRequest& request : requests_) {
      for (uint64_t at = 0; cache_->enabled() && at < request.data.size(); at += page_bytes_) {
        cache_->Erase(section_.meta.file_number, (request.offset + at) / page_bytes_);
      }
    }
    for (const WriteRequest& request : requests_) {
      if (!request.status.ok()) return request.status;
    }
    if (context_->throttle) context_->throttle(used_, false);
    requests_.clear();
    used_ = 0;
    return Status::OK();
  }

  const Section& section_;
  const size_t page_bytes_;
  const StoreContext* const context_;
  const std::atomic<bool>* const cancel_;
  PageCache* const cache_;
  PageFile* writer_ = nullptr;
  AlignedBuffer buffer_;
  size_t used_ = 0;
  std::vector<WriteRequest> requests_;
};

}  // namespace

Status ApplyTask::Run(const std::vector<SequenceNumber>&, const std::atomic<bool>* cancel,
                      VersionEdit* edit, JobReport* report) {
  const StoreContext* const context = store_->context();
  const uint64_t start = context->clock->NowNanos();
  const TablelessView::Parts& parts = view_->parts();
  edit->column_family = store_->options().column_family_id;
  report->reason = "pages written in place";
  std::vector<std::function<Status()>> tasks;
  std::vector<std::vector<SectionApply::Image>> images(parts.sections.size());
  for (uint32_t i = 0; i < parts.sections.size(); ++i) {
    std::map<uint64_t, SectionApply::Image> newest;
    for (const PageJournalRef& journal : parts.journals) {
      if (journal->section_file(i) != parts.sections[i]->meta.file_number) continue;
      for (size_t at = journal->Begin(i); at < journal->size() && SectionOfKey(journal->key(at)) == i;
           ++at) {
        const uint64_t page = PageOfKey(journal->key(at));
        newest[page] = {page, journal.get(), journal->place(at)};
      }
    }
    for (const auto& [page, image] : newest) images[i].push_back(image);
    report->records_in += images[i].size();
    if (images[i].empty()) continue;
    tasks.emplace_back([this, i, context, cancel, &images] {
      return SectionApply(*view_, i, context, cancel, store_->page_cache()).Run(images[i]);
    });
  }
  const auto threads = static_cast<int>(store_->current_options()->pages.write_threads);
  Status s = RunInParallel(tasks, threads, nullptr);
  if (!s.ok()) return s;
  for (const PageJournalRef& journal : parts.journals) {
    edit->deleted_page_runs.push_back(journal->meta().run_id);
    report->bytes_read += journal->meta().extent.length;
  }
  report->bytes_written = report->records_in * parts.geometry.page_bytes;
  report->records_out = report->records_in;
  report->micros = (context->clock->NowNanos() - start) / 1000;
  return s;
}

}  // namespace compassdb
