// SPDX-License-Identifier: Apache-2.0
// Which task is next: images in place first, as journals hold writers up; then rehashes, by what the
// sections' counts say (KallaxDB 3.3); then the overflow store; then the key store's compactions.
#include <algorithm>

#include "tableless/tableless_tasks.h"

namespace compassdb {

namespace {

constexpr size_t kMostOverflowRuns = 64;
constexpr uint64_t kLeastLooseBytes = 1 << 20;

}  // namespace

// A number by hand comes first.
bool TablelessStore::WantsRehash(const Section& section, PageTarget* target) const {
  const PageOptions options = current_options()->pages;
  const PageGeometry geometry = current()->parts().geometry;
  *target = PageTarget();
  if (options.pages != 0) {
    target->pages = NormalPages(std::max<uint64_t>(1, (options.pages + geometry.sections - 1) / geometry.sections));
    return target->pages != section.meta.pages;
  }
  target->resize = ResizeOf(SizingRule(options), section.Load(geometry));
  return target->resize != Resize::kNone;
}

bool TablelessStore::OverflowIsLoose(const TablelessView& view) const {
  uint64_t bytes = 0, live = 0;
  for (const OverflowRunRef& run : view.parts().runs) bytes += run->meta().extent.length;
  for (const SectionRef& section : view.parts().sections) live += section->meta.overflow_bytes;
  // Full runs stay as many as they are.
  const uint64_t most = kMostOverflowRuns + 2 * bytes / MaxOverflowRunBytes();
  return view.parts().runs.size() > most || bytes > 3 * live + kLeastLooseBytes;
}

uint64_t TablelessStore::Rehashing() const {
  if (dropped_) return 0;
  const auto now = current();
  const auto& sections = now->parts().sections;
  uint64_t n = 0;
  for (uint32_t i = 0; i < sections.size(); ++i) {
    PageTarget target;
    if (rehashing_.count(i) != 0 || WantsRehash(*sections[i], &target)) ++n;
  }
  return n;
}

bool TablelessStore::NeedsCompaction() const {
  if (dropped_) return false;
  const auto now = current();
  const TablelessView::Parts& parts = now->parts();
  if (!parts.journals.empty() && !applying_ && context_->ledger->deletions_enabled()) return true;
  if (rehashing_.size() < current_options()->pages.rehash_threads) {
    for (uint32_t i = 0; i < parts.sections.size(); ++i) {
      PageTarget target;
      if (rehashing_.count(i) == 0 && WantsRehash(*parts.sections[i], &target)) return true;
    }
  }
  return (!rewriting_overflow_ && OverflowIsLoose(*now)) || keys_->NeedsCompaction();
}

std::unique_ptr<CompactionTask> TablelessStore::PickApply() {
  const auto now = current();
  if (now->parts().journals.empty() || applying_ || !context_->ledger->deletions_enabled()) {
    return nullptr;
  }
  auto task = std::make_unique<ApplyTask>(this, now);
  applying_ = true;
  own_tasks_.insert(task.get());
  return task;
}

std::unique_ptr<CompactionTask> TablelessStore::StartRehash(uint32_t section, const PageTarget& target,
                                                            bool filter) {
  rehashing_.insert(section);
  {
    MutexLock lock(&turn_mu_);
    dirty_[section].clear();
  }
  auto task = std::make_unique<RehashTask>(this, current(), section, target, filter);
  own_tasks_.insert(task.get());
  return task;
}

std::unique_ptr<CompactionTask> TablelessStore::PickRehash() {
  if (rehashing_.size() >= current_options()->pages.rehash_threads) return nullptr;
  const auto now = current();
  for (uint32_t i = 0; i < now->parts().sections.size(); ++i) {
    if (rehashing_.count(i) != 0) continue;
    PageTarget target;
    if (WantsRehash(*now->parts().sections[i], &target)) return StartRehash(i, target, /*filter=*/false);
  }
  return nullptr;
}

std::unique_ptr<CompactionTask> TablelessStore::PickCompaction() {
  if (dropped_) return nullptr;
  if (auto task = PickApply()) return task;
  if (auto task = PickRehash()) return task;
  if (!rewriting_overflow_ && OverflowIsLoose(*current())) {
    auto task = std::make_unique<OverflowTask>(this, current());
    rewriting_overflow_ = true;
    own_tasks_.insert(task.get());
    return task;
  }
  return keys_->PickCompaction();
}

// A compaction of all levels begins with the pages: what is journaled goes in place, and with a filter
// every section is rewritten through it.
std::unique_ptr<CompactionTask> TablelessStore::PickManual(const ManualCompaction& request,
                                                           bool* conflict) {
  *conflict = false;
  if (dropped_) return nullptr;
  if (request.input_level == 0) {
    const auto now = current();
    const bool filtered = options_.compaction_filter != nullptr ||
                          options_.compaction_filter_factory != nullptr;
    if (!now->parts().journals.empty() && context_->ledger->deletions_enabled()) {
      auto task = PickApply();
      *conflict = task == nullptr;
      return task;
    }
    for (uint32_t i = 0; filtered && request.created_before != 0 && i < now->parts().sections.size();
         ++i) {
      const PageSectionMeta& m = now->parts().sections[i]->meta;
      if (m.file_number >= request.created_before || m.records == 0) continue;
      if (rehashing_.count(i) == 0) return StartRehash(i, {m.pages, Resize::kNone}, /*filter=*/true);
      *conflict = true;
      return nullptr;
    }
  }
  return keys_->PickManual(request, conflict);
}

void TablelessStore::Release(CompactionTask* released) {
  if (own_tasks_.erase(released) == 0) {
    keys_->Release(released);
    return;
  }
  auto* const task = static_cast<PageTask*>(released);
  switch (task->kind) {
    case PageTask::Kind::kApply:
      applying_ = false;
      break;
    case PageTask::Kind::kRehash: {
      const uint32_t section = static_cast<RehashTask*>(task)->section;
      rehashing_.erase(section);
      MutexLock lock(&turn_mu_);
      dirty_.erase(section);
      break;
    }
    case PageTask::Kind::kOverflow:
      rewriting_overflow_ = false;
      break;
  }
  if (task->has_turn) EndTurn();
}

}  // namespace compassdb
