// SPDX-License-Identifier: Apache-2.0
// Background work on pages. A task runs without the database mutex; what it decides on is the view that it
// was picked with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tableless/tableless_store_impl.h"

namespace compassdb {

class OldPages;
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

// Gives a section another number of pages (rehash.cc).
class RehashTask final : public PageTask {
 public:
  RehashTask(TablelessStore* store, std::shared_ptr<const TablelessView> view, uint32_t section,
             const PageTarget& target, bool filter)
      : PageTask(Kind::kRehash, store, std::move(view)),
        section(section),
        target_(target),
        filter_(filter) {}
  Status Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
             VersionEdit* edit, JobReport* report) override;
  std::string Describe() const override {
    return "section " + std::to_string(section) + " rehashed from " +
           std::to_string(view_->parts().sections[section]->meta.pages) + " to " +
           (target_.pages != 0 ? std::to_string(target_.pages)
                               : std::string(target_.resize == Resize::kGrow ? "more" : "fewer")) +
           " pages";
  }
  const uint32_t section;

 private:
  Status Conclude(const std::vector<SequenceNumber>& snapshots, const OldPages& first, SectionRehash* rehash,
                  JobFile* file, VersionEdit* edit, JobReport* report);
  // How many there are to be; reads a sample of the section if its records' sizes decide.
  Status ChoosePages(uint64_t* pages, JobReport* report) const;
  const PageTarget target_;
  const bool filter_;  // a pass for the compaction filter: it is a manual one
};

// Rewrites the overflow store without what is superseded (overflow_rewrite.cc).
class OverflowTask final : public PageTask {
 public:
  OverflowTask(TablelessStore* store, std::shared_ptr<const TablelessView> view)
      : PageTask(Kind::kOverflow, store, std::move(view)) {}
  Status Run(const std::vector<SequenceNumber>& snapshots, const std::atomic<bool>* cancel,
             VersionEdit* edit, JobReport* report) override;
  std::string Describe() const override { return "the overflow store is rewritten"; }
};

}  // namespace compassdb
