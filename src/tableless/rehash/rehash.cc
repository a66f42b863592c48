// SPDX-License-Identifier: Apache-2.0
// A task rehashes as many sections concurrently as there are threads for it. One edit exchanges them: a crash leaves
// each either old or new.
#include <algorithm>

#include "tableless/rehash/section_rehash.h"
#include "tableless/tableless_tasks.h"
#include "util/parallel.h"

namespace compassdb {

namespace {

// Pages of a section that may be rebuilt while flushes wait.
constexpr uint64_t kFewPages = 64;

}  // namespace

std::string RehashTask::Describe() const {
  std::string text;
  for (const RehashPart& part : sections) {
    const PageTarget& target = part.target;
    text += (text.empty() ? "" : ", ") + std::string("section ") + std::to_string(part.section) + " rehashed from " +
            std::to_string(view_->parts().sections[part.section]->meta.pages) + " to " +
            (target.pages != 0 ? std::to_string(target.pages)
                               : std::string(target.resize == Resize::kGrow ? "more" : "fewer")) +
            " pages";
  }
  return text;
}

Status RehashTask::ForEach(const Rehashes& rehashes, const std::function<Status(SectionRehash*)>& f) const {
  std::vector<std::function<Status()>> tasks;
  for (const auto& rehash : rehashes) tasks.emplace_back([&f, &rehash] { return f(rehash.get()); });
  return RunInParallel(tasks, static_cast<int>(tasks.size()), nullptr);
}

// Flushes continue while pages are rebuilt, and change further pages. Their number must fall, or this never ends.
Status RehashTask::AwaitFewChanges(const Rehashes& rehashes, const std::atomic<bool>* cancel) {
  for (uint64_t before = UINT64_MAX;;) {
    Status s = ForEach(rehashes, [&](SectionRehash* rehash) { return rehash->CatchUp(cancel); });
    if (!s.ok()) return s;
    store_->AwaitTurn();
    has_turn = true;
    uint64_t left = 0;
    for (const auto& rehash : rehashes) left += store_->CountDirty(rehash->section());
    if (left <= kFewPages * rehashes.size() || left > before / 2) return s;
    before = left;
    has_turn = false;
    store_->EndTurn();
  }
}

Status RehashTask::Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
                       VersionEdit* edit, JobReport* report) {
  const StoreContext* const context = store_->context();
  const uint64_t start = context->clock->NowNanos();
  edit->column_family = store_->options().column_family_id;
  report->reason = "rehash";
  Rehashes rehashes;
  for (const RehashPart& part : sections) {
    rehashes.push_back(std::make_unique<SectionRehash>(store_, view_, part, filter_));
  }
  Status s = ForEach(rehashes, [&](SectionRehash* rehash) { return rehash->WriteAll(cancel); });
  if (s.ok()) s = AwaitFewChanges(rehashes, cancel);
  if (s.ok()) s = Conclude(rehashes, snapshots, cancel, edit, report);
  for (const auto& rehash : rehashes) rehash->Report(report);
  if (!s.ok()) return s;
  for (const auto& rehash : rehashes) {
    rehash->Keep();
    if (!context->log_info) continue;
    context->log_info("[" + store_->options().column_family_name + "] section " + std::to_string(rehash->section()) +
                      " rehashed: " + std::to_string(rehash->pages_again()) + " pages made again, " +
                      std::to_string(rehash->pages_held_up()) + " of them while flushes waited");
  }
  report->micros = (context->clock->NowNanos() - start) / 1000;
  return s;
}

Status RehashTask::Conclude(const Rehashes& rehashes, const std::vector<SequenceNumber>& snapshots,
                            const std::atomic<bool>* cancel, VersionEdit* edit, JobReport* report) {
  for (const auto& rehash : rehashes) {
    std::shared_ptr<MemTable> keys;
    Status s = rehash->Conclude(cancel, edit, &keys);
    if (s.ok() && keys != nullptr) s = store_->FlushKeys(std::move(keys), snapshots, edit, report);
    if (!s.ok()) return s;
  }
  const auto now = store_->current();
  const auto& parts = now->parts();
  const auto rehashed = [this](uint32_t section) {
    return std::any_of(sections.begin(), sections.end(), [&](const RehashPart& p) { return p.section == section; });
  };
  for (const OverflowRunRef& other : parts.runs) {
    const uint64_t id = other->meta().run_id;
    const bool needed = std::any_of(parts.sections.begin(), parts.sections.end(), [&](const SectionRef& one) {
      return !rehashed(one->meta.section) && one->meta.overflow_from <= id;
    });
    if (!needed) edit->deleted_page_runs.push_back(id);
  }
  return Status::OK();
}

}  // namespace compassdb
