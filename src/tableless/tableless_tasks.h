// SPDX-License-Identifier: Apache-2.0
// Background work on pages. A task runs without the database mutex, and uses the view with which it was
// picked, or one of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tableless/tableless_store_impl.h"

namespace compassdb {

class SectionRehash;

class PageTask : public CompactionTask {
 public:
  enum class Kind { kApply, kRehash, kOverflow };
  PageTask(Kind task_kind, TablelessStore* store, std::shared_ptr<const TablelessView> view)
      : kind(task_kind), store_(store), view_(std::move(view)) {}
  int input_level() const override { return 0; }
  int output_level() const override { return 0; }
  const Kind kind;
  bool has_turn = false;

 protected:
  TablelessStore* const store_;
  const std::shared_ptr<const TablelessView> view_;
};

// Writes the view's journals in place (journal_apply.cc).
class ApplyTask final : public PageTask {
 public:
  ApplyTask(TablelessStore* store, std::shared_ptr<const TablelessView> view)
      : PageTask(Kind::kApply, store, std::move(view)) {}
  Status Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
             VersionEdit* edit, JobReport* report) override;
  std::string Describe() const override {
    return std::to_string(view_->parts().journals.size()) + " journals into pages";
  }
};

// Rewrites sections with another number of pages, each in a thread of its own (rehash.cc).
class RehashTask final : public PageTask {
 public:
  RehashTask(TablelessStore* store, std::shared_ptr<const TablelessView> view, std::vector<RehashPart> parts,
             bool filter)
      : PageTask(Kind::kRehash, store, std::move(view)), sections(std::move(parts)), filter_(filter) {}
  Status Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
             VersionEdit* edit, JobReport* report) override;
  std::string Describe() const override;
  const std::vector<RehashPart> sections;

 private:
  using Rehashes = std::vector<std::unique_ptr<SectionRehash>>;
  // Each of them in parallel.
  Status ForEach(const Rehashes& rehashes, const std::function<Status(SectionRehash*)>& f) const;
  // With the turn, when few changed pages are left, or they do not get fewer.
  Status AwaitFewChanges(const Rehashes& rehashes, const std::atomic<bool>* cancel);
  Status Conclude(const Rehashes& rehashes, const std::vector<SequenceNumber>& snapshots,
                  const std::atomic<bool>* cancel, VersionEdit* edit, JobReport* report);
  const bool filter_;  // a pass for the compaction filter: it is a manual one
};

// Rewrites the overflow store without superseded records, while flushes run (overflow_rewrite.cc).
class OverflowTask final : public PageTask {
 public:
  explicit OverflowTask(TablelessStore* store) : PageTask(Kind::kOverflow, store, /*view=*/nullptr) {}
  Status Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
             VersionEdit* edit, JobReport* report) override;
  std::string Describe() const override { return "the overflow store is rewritten"; }

 private:
  void Begin();
  Status CopyLive(OverflowRunWriter* runs, JobFile* file, const std::atomic<bool>* cancel) const;
  std::shared_ptr<const TablelessView> before_;  // what it rewrites
  std::vector<uint64_t> ids_;                    // for the runs that it makes
};

}  // namespace compassdb
