// SPDX-License-Identifier: Apache-2.0
#include "tableless/tableless_tasks.h"

namespace compassdb {

Status OverflowTask::Run(const std::vector<SequenceNumber>&, const std::atomic<bool>* cancel,
                         VersionEdit* edit, JobReport* report) {
  store_->AwaitTurn();
  has_turn = true;
  const std::shared_ptr<const TablelessView> view = store_->current();
  const TablelessView::Parts& parts = view->parts();
  const auto options = store_->current_options();
  edit->column_family = store_->options().column_family_id;
  report->reason = "overflow rewritten";
  JobFile file(store_->context(), options.get(), 0, /*flush=*/false, /*observer=*/nullptr);
  CompactionFileWriter* writer = nullptr;
  Status s = file.Writer(&writer);
  if (!s.ok()) return s;
  const uint64_t first_id = store_->context()->new_number();
  OverflowRunWriter runs(writer, store_->context()->new_number);
  std::string room;
  for (const SectionRef& section : parts.sections) {
    for (const OverflowIndex::Entry& e : section->overflow->entries()) {
      OverflowEntry entry;
      // Flushes wait for the turn that this has.
      if (s.ok() && cancel != nullptr && cancel->load()) s = Status::ShutdownInProgress("overflow store");
      if (s.ok()) s = section->overflow->Read(e, &room, &entry);
      if (s.ok()) s = runs.Add(entry);
    }
  }
  if (s.ok()) s = file.Finish(edit);
  if (!s.ok()) {
    file.Abandon();
    return s;
  }
  if (runs.count() > 0) {
    runs.Finish(&edit->added_page_runs);
    store_->PinUntilInstalled(file.number());
  } else {
    file.Abandon();
  }
  for (const SectionRef& section : parts.sections) {
    edit->page_sections.push_back(section->meta);
    edit->page_sections.back().overflow_from = first_id;
  }
  for (const OverflowRunRef& old : parts.runs) edit->deleted_page_runs.push_back(old->meta().run_id);
  report->bytes_written = runs.bytes();
  report->records_out = runs.count();
  return s;
}

}  // namespace compassdb
