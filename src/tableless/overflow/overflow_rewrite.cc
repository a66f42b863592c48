// SPDX-License-Identifier: Apache-2.0
// Rewrites live records of the existing overflow runs into new ones, while flushes add others after them.
#include <algorithm>
#include <map>

#include "tableless/tableless_tasks.h"

namespace compassdb {

namespace {

// The most runs for these bytes: two consecutive runs have more bytes than one may have.
uint64_t MostRuns(uint64_t bytes) { return 2 * (bytes / MaxOverflowRunBytes() + 1); }

}  // namespace

// New runs are older than the runs that flushes add during the job: their ids are taken now.
void OverflowTask::Begin() {
  store_->AwaitTurn();
  has_turn = true;
  before_ = store_->current();
  uint64_t bytes = 0;
  for (const OverflowRunRef& run : before_->parts().runs) bytes += run->meta().extent.length;
  for (uint64_t i = MostRuns(bytes); i > 0; --i) ids_.push_back(store_->context()->new_number());
  has_turn = false;
  store_->EndTurn();
}

Status OverflowTask::CopyLive(OverflowRunWriter* runs, JobFile* file, const std::atomic<bool>* cancel) const {
  const TablelessView::Parts& parts = before_->parts();
  std::map<uint64_t, std::vector<OverflowPlace>> alive;  // by run
  for (const SectionRef& section : parts.sections) {
    for (const OverflowIndex::Entry& e : section->overflow->entries()) alive[e.run_id].push_back(e.place);
  }
  const auto by_offset = [](const OverflowPlace& a, const OverflowPlace& b) { return a.offset < b.offset; };
  for (const OverflowRunRef& run : parts.runs) {
    std::vector<OverflowPlace>& places = alive[run->meta().run_id];
    std::sort(places.begin(), places.end(), by_offset);
    Status s = run->ReadEach(places, [&](const OverflowPlace&, const OverflowEntry& entry) {
      if (cancel != nullptr && cancel->load()) return Status::ShutdownInProgress("overflow store");
      Status added = runs->Add(entry);
      file->Throttle();
      return added;
    });
    if (!s.ok()) return s;
    alive.erase(run->meta().run_id);
  }
  return Status::OK();
}

Status OverflowTask::Run(const std::vector<SequenceNumber>&, const std::atomic<bool>* cancel,
                         VersionEdit* edit, JobReport* report) {
  Begin();
  const uint64_t from = ids_.front();
  const auto options = store_->current_options();
  edit->column_family = store_->options().column_family_id;
  report->reason = "overflow rewritten";
  JobFile file(store_->context(), options.get(), 0, /*flush=*/false, /*observer=*/nullptr);
  CompactionFileWriter* writer = nullptr;
  Status s = file.Writer(&writer);
  if (!s.ok()) return s;
  auto next_id = ids_.begin();
  OverflowRunWriter runs(writer, store_->context()->hasher, [&next_id] { return *next_id++; });
  std::vector<PageRunMeta> made;
  s = CopyLive(&runs, &file, cancel);
  if (s.ok()) s = runs.Finish(&made);
  if (s.ok() && !made.empty()) s = file.Finish(edit);
  if (!s.ok()) {
    file.Abandon();
    return s;
  }
  store_->AwaitTurn();
  has_turn = true;
  const std::shared_ptr<const TablelessView> now = store_->current();
  bool wanted = false;
  for (const SectionRef& section : now->parts().sections) {
    PageSectionMeta& meta = edit->page_sections.emplace_back(section->meta);
    if (meta.overflow_from > from) continue;  // rehashed since, which has taken its overflow in
    meta.overflow_from = from;
    wanted = true;
  }
  if (wanted && !made.empty()) {
    edit->added_page_runs = std::move(made);
    store_->PinUntilInstalled(file.number());
  } else {
    file.Abandon();
    edit->file_checksums.clear();
  }
  for (const OverflowRunRef& run : now->parts().runs) {
    if (run->meta().run_id < from) edit->deleted_page_runs.push_back(run->meta().run_id);
  }
  for (const OverflowRunRef& run : before_->parts().runs) report->bytes_read += run->meta().extent.length;
  report->bytes_written = runs.bytes();
  report->records_out = runs.count();
  return s;
}

}  // namespace compassdb
