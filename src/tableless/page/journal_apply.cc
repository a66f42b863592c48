// SPDX-License-Identifier: Apache-2.0
// Writes journaled images in place, the newest of each page, in the order of pages. Then the
// journals are deleted (KallaxDB 3.2: sections have writers of their own).
#include <algorithm>
#include <set>

#include "tableless/flush/page_writer.h"
#include "tableless/page/page_batch.h"
#include "tableless/tableless_tasks.h"
#include "util/parallel.h"

namespace compassdb {

namespace {

constexpr size_t kBatchPages = 256;

// Writes the pages of one section, whose keys ascend. What is damaged stays in its journal.
Status ApplySection(const TablelessView& view, uint32_t section, const StoreContext* context,
                    const std::atomic<bool>* cancel, PageCache* cache, const std::set<uint64_t>& keys) {
  const TablelessView::Parts& parts = view.parts();
  PageBatch batch(&view);
  const SectionFile& file = *parts.sections[section]->file;
  PageWriter writer(context, file.path(), file.number(), parts.geometry.page_bytes, cache);
  Status s;
  for (auto it = keys.begin(); s.ok() && it != keys.end();) {
    if (cancel != nullptr && cancel->load()) return Status::ShutdownInProgress("pages");
    std::vector<uint64_t> some;
    while (it != keys.end() && some.size() < kBatchPages) some.push_back(*it++);
    const size_t n = some.size();
    batch.Read(std::move(some), /*keep=*/false);
    for (size_t i = 0; s.ok() && i < n; ++i) {
      s = batch.status(i);
      if (s.ok()) s = writer.Add(PageOfKey(batch.key(i)), batch.image(i));
    }
  }
  return s.ok() ? writer.Finish() : s;
}

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
      return ApplySection(*view_, i, context, cancel, store_->page_cache(), keys[i]);
    });
  }
  const auto threads = static_cast<int>(store_->current_options()->pages.write_threads);
  Status s = RunInParallel(tasks, threads, nullptr);
  if (!s.ok()) return s;
  view_->state()->CountJournaled(report->records_in);
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
