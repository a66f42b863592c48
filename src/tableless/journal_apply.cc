// SPDX-License-Identifier: Apache-2.0
// Journaled images are written in place, the newest of each page, in the order of pages; then the
// journals go (KallaxDB 3.2: sections have writers of their own).
#include <algorithm>
#include <set>

#include "env/aligned_reads.h"
#include "tableless/page_batch.h"
#include "tableless/tableless_tasks.h"
#include "util/parallel.h"

namespace compassdb {

namespace {

constexpr size_t kBatchBytes = 2 << 20;
constexpr size_t kBatchPages = 256;

// Writes the pages of one section, whose keys ascend.
class SectionApply {
 public:
  SectionApply(const TablelessView& view, uint32_t section, const StoreContext* context,
               const std::atomic<bool>* cancel, PageCache* cache)
      : section_(*view.parts().sections[section]),
        page_bytes_(view.parts().geometry.page_bytes),
        context_(context),
        cancel_(cancel),
        cache_(cache),
        batch_(&view) {}

  // What is damaged stays in its journal.
  Status Run(const std::set<uint64_t>& keys) {
    Status s = context_->fs->NewPageFile(section_.file->path(), context_->write_options, /*create=*/false,
                                        &writer_);
    for (auto it = keys.begin(); s.ok() && it != keys.end();) {
      if (cancel_ != nullptr && cancel_->load()) return Status::ShutdownInProgress("pages");
      std::vector<uint64_t> some;
      while (it != keys.end() && some.size() < kBatchPages) some.push_back(*it++);
      const size_t n = some.size();
      batch_.Read(std::move(some), /*keep=*/false);
      for (size_t i = 0; s.ok() && i < n; ++i) {
        s = batch_.status(i);
        if (s.ok()) s = Add(PageOfKey(batch_.key(i)), batch_.image(i));
      }
    }
    if (s.ok()) s = Flush();
    if (s.ok()) s = writer_->Sync();
    return s.ok() ? writer_->Close() : s;
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
  PageBatch batch_;
  std::unique_ptr<PageFile> writer_;
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
  std::vector<std::set<uint64_t>> keys(parts.sections.size());
  for (uint32_t i = 0; i < parts.sections.size(); ++i) {
    for (const PageJournalRef& journal : parts.journals) {
      if (journal->section_file(i) != parts.sections[i]->meta.file_number) continue;
      for (size_t at = journal->Begin(i); at < journal->size() && SectionOfKey(journal->key(at)) == i;
           ++at) {
        keys[i].insert(keys[i].end(), journal->key(at));
      }
    }
    report->records_in += keys[i].size();
    if (keys[i].empty()) continue;
    tasks.emplace_back([this, i, context, cancel, &keys] {
      return SectionApply(*view_, i, context, cancel, store_->page_cache()).Run(keys[i]);
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
