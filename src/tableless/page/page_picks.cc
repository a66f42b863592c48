// SPDX-License-Identifier: Apache-2.0
// Which task is next. Full journals and runs of the key store stall writers, so the images of journals and
// compactions of the key store take turns. Rewrites of the overflow store and rehashes run concurrently, because
// those must not wait for them. The sections' counts say when they are due (KallaxDB 3.3).
#include <algorithm>

#include "tableless/tableless_tasks.h"

namespace compassdb {

namespace {

constexpr size_t kMostOverflowRuns = 64;
constexpr uint64_t kLeastLooseBytes = 1 << 20;

}  // namespace

// A configured number comes first.
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

bool TablelessStore::NeedsOverflowRewrite() const {
  if (dropped_ || rewriting_overflow_) return false;
  const auto now = current();
  const TablelessView::Parts& parts = now->parts();
  uint64_t bytes = 0, live = 0;
  for (const OverflowRunRef& run : parts.runs) bytes += run->meta().extent.length;
  for (const SectionRef& section : parts.sections) live += section->overflow->run_bytes();
  // A rewrite does not lower the number of full runs.
  const uint64_t most = kMostOverflowRuns + 2 * bytes / MaxOverflowRunBytes();
  return parts.runs.size() > most || bytes > 3 * live + kLeastLooseBytes;
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
  if (!current()->parts().journals.empty() && !applying_ && context_->ledger->deletions_enabled()) return true;
  return keys_->NeedsCompaction();
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

std::unique_ptr<CompactionTask> TablelessStore::StartRehash(std::vector<RehashPart> sections, bool filter) {
  const auto now = current();
  for (const RehashPart& part : sections) {
    rehashing_.insert(part.section);
    MutexLock lock(&turn_mu_);
    dirty_[part.section].assign(now->parts().sections[part.section]->meta.pages, false);
  }
  auto task = std::make_unique<RehashTask>(this, now, std::move(sections), filter);
  own_tasks_.insert(task.get());
  return task;
}

std::vector<RehashPart> TablelessStore::SectionsToRehash() const {
  std::vector<RehashPart> sections;
  if (dropped_ || !rehashing_.empty()) return sections;
  const size_t most = std::max<size_t>(1, current_options()->pages.rehash_threads);
  const auto now = current();
  for (uint32_t i = 0; i < now->parts().sections.size() && sections.size() < most; ++i) {
    PageTarget target;
    if (WantsRehash(*now->parts().sections[i], &target)) sections.push_back({i, target});
  }
  return sections;
}

// The overflow store first: it takes less time, and a rehash adds to it.
std::unique_ptr<CompactionTask> TablelessStore::PickLongWork() {
  if (NeedsOverflowRewrite()) {
    auto task = std::make_unique<OverflowTask>(this);
    rewriting_overflow_ = true;
    own_tasks_.insert(task.get());
    return task;
  }
  std::vector<RehashPart> sections = SectionsToRehash();
  return sections.empty() ? nullptr : StartRehash(std::move(sections), /*filter=*/false);
}

// With constant writes there is always a journal, so the key store has its turn after each journal.
std::unique_ptr<CompactionTask> TablelessStore::PickCompaction() {
  if (dropped_) return nullptr;
  if (others_turn_) {
    others_turn_ = false;
    if (auto task = keys_->PickCompaction()) return task;
  }
  if (auto task = PickApply()) {
    others_turn_ = true;
    return task;
  }
  return keys_->PickCompaction();
}

// A compaction of all levels begins with the pages: journaled images are written in place, and with a filter
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
    std::vector<RehashPart> sections;
    const size_t most = std::max<size_t>(1, current_options()->pages.rehash_threads);
    for (uint32_t i = 0; filtered && request.created_before != 0 && i < now->parts().sections.size() &&
                         sections.size() < most; ++i) {
      const PageSectionMeta& m = now->parts().sections[i]->meta;
      if (m.file_number >= request.created_before || m.records == 0) continue;
      if (rehashing_.count(i) == 0) {
        sections.push_back({i, {m.pages, Resize::kNone}});
      } else {
        *conflict = true;
      }
    }
    if (!sections.empty()) {
      *conflict = false;
      return StartRehash(std::move(sections), /*filter=*/true);
    }
    if (*conflict) return nullptr;
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
      for (const RehashPart& part : static_cast<RehashTask*>(task)->sections) {
        rehashing_.erase(part.section);
        MutexLock lock(&turn_mu_);
        dirty_.erase(part.section);
      }
      break;
    }
    case PageTask::Kind::kOverflow:
      rewriting_overflow_ = false;
      break;
  }
  if (task->has_turn) EndTurn();
}

}  // namespace compassdb
