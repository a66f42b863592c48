// SPDX-License-Identifier: Apache-2.0
// Requests that neither read nor write tables: tables are dropped, moved, or
// marked to be compacted.
#include <algorithm>

#include "lsm/compaction/region_merge.h"
#include "lsm/compaction/value_separator.h"
#include "lsm/lsm_store_impl.h"
#include "lsm/read/level_iterator.h"

namespace compassdb {

// Tables leave their levels, for another one or permanently.
class LsmStore::EditTask final : public CompactionTask {
 public:
  static constexpr int kNowhere = -1;
  using Tables = std::vector<std::pair<int, TableRef>>;  // with their levels

  // `reason`: why they are dropped.
  EditTask(LsmStore* store, Tables tables, int to, const char* reason = "drop")
      : store_(store),
        version_(store->VersionForJob()),
        group_bits_(store->values_.GroupBits(store->current()->values)),
        tables_(std::move(tables)),
        to_(to),
        reason_(reason) {}
  int input_level() const override { return tables_.front().first; }
  int output_level() const override { return to_ == kNowhere ? input_level() : to_; }
  std::vector<uint64_t> BusyTables() const override {
    std::vector<uint64_t> ids;
    for (const auto& [level, table] : tables_) ids.push_back(table->meta().tph_id);
    return ids;
  }
  std::string Describe() const override {
    return std::to_string(tables_.size()) + " tables " +
           (to_ == kNowhere ? "dropped" : "moved to L" + std::to_string(to_));
  }
  void ListInputs(JobReport* report) const override {
    CompactionTask::ListInputs(report);
    report->trivial_move = true;
    report->reason = to_ == kNowhere ? reason_ : "move";
    for (const auto& [level, table] : tables_) store_->ListFiles(table->meta(), level, report);
  }
  Status Run(const std::vector<SequenceNumber>&, const std::atomic<bool>*, VersionEdit* edit,
             JobReport* report) override {
    edit->column_family = store_->options_.column_family_id;
    ListInputs(report);
    for (const auto& [level, table] : tables_) {
      edit->deleted.push_back({level, table->meta().tph_id});
      if (to_ == kNowhere) continue;
      edit->added.push_back({to_, table->meta()});
      report->outputs.push_back(table->meta());
    }
    return to_ == kNowhere && !version_->values()->empty() ? AddDeaths(edit, report)
                                                          : Status::OK();
  }

 private:
  // Reads the tables' records, and adds a death for each value that they name.
  Status AddDeaths(VersionEdit* edit, JobReport* report) const {
    const std::shared_ptr<const StoreOptions> options = store_->current();
    JobFile file(store_->context_, options.get(), /*path=*/0, /*flush=*/false, report->observer, /*values=*/true);
    ValueSeparator values(store_->context_, options.get(),
                          {.file = &file, .group_bits = group_bits_, .version = version_.get()});
    for (const auto& [level, table] : tables_) {
      const InternalIteratorPtr it = table->tph().NewIterator(CompactionReads());
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        if (ExtractType(it->key()) != kTypeBlobIndex) continue;
        values.Dropped(ExtractUserKey(it->key()), it->value(), /*superseded=*/false);
      }
      if (!it->status().ok()) return it->status();
    }
    Status s = values.Finish(edit);
    if (s.ok()) s = file.Finish(edit);
    if (!s.ok()) return s;
    ReportValueFile(file, *edit, report);
    store_->PinUntilInstalled(*report);
    return s;
  }

  LsmStore* const store_;
  const std::shared_ptr<const LsmVersion> version_;
  const uint32_t group_bits_;
  const Tables tables_;
  const int to_;
  const char* const reason_;
};

std::unique_ptr<CompactionTask> LsmStore::PickFifo() {
  const DropPlan plan = compassdb::PickFifo(MakePickerInput(), MakePickerConfig());
  if (plan.tables.empty()) return nullptr;
  EditTask::Tables tables;
  for (const DropPlan::Table& t : plan.tables) {
    tables.emplace_back(static_cast<int>(t.level), version_->levels()[t.level][t.index]);
  }
  auto task = std::make_unique<EditTask>(this, std::move(tables), EditTask::kNowhere, plan.reason);
  for (uint64_t id : task->BusyTables()) busy_.insert(id);
  return task;
}

std::unique_ptr<CompactionTask> LsmStore::PickDrop(std::span<const KeyRange> ranges,
                                                   bool include_end) {
  if (dropped_) return nullptr;
  const Comparator* const cmp = options_.comparator;
  const auto inside = [&](const TphMeta& t, const KeyRange& range) {
    if (range.begin != nullptr && cmp->Compare(t.smallest, *range.begin) < 0) return false;
    if (range.end == nullptr) return true;
    const int c = cmp->Compare(t.largest, *range.end);
    return c < 0 || (c == 0 && (include_end || t.largest_exclusive));
  };
  EditTask::Tables tables;
  std::unordered_set<uint64_t> dropped;
  const auto& levels = version_->levels();
  // Older records of the table's keys, in a deeper table that stays, would come back. Their values may be deleted.
  const auto uncovers = [&](const TphMeta& t, size_t level) {
    for (size_t below = level + 1; below < levels.size(); ++below) {
      const std::vector<TableRef>& all = levels[below];
      const bool by_hash = IsHashLevel(all);
      const auto first = by_hash ? all.begin() : std::partition_point(all.begin(), all.end(), [&](const TableRef& o) {
        return cmp->Compare(o->meta().largest, t.smallest) < 0;
      });
      for (auto it = first; it != all.end(); ++it) {
        const TphMeta& older = (*it)->meta();
        if (!by_hash && cmp->Compare(older.smallest, t.largest) > 0) break;
        if (dropped.count(older.tph_id) == 0 && Overlap(cmp, older, t)) return true;
      }
    }
    return false;
  };
  const bool separated = !version_->values()->empty();
  for (size_t level = levels.size(); level-- > 1;) {
    for (const TableRef& t : levels[level]) {
      if (busy_.count(t->meta().tph_id) != 0) continue;
      if (std::none_of(ranges.begin(), ranges.end(),
                       [&](const KeyRange& range) { return inside(t->meta(), range); })) {
        continue;
      }
      if (separated && uncovers(t->meta(), level)) continue;
      dropped.insert(t->meta().tph_id);
      tables.emplace_back(static_cast<int>(level), t);
    }
  }
  std::reverse(tables.begin(), tables.end());  // from the uppermost on
  if (tables.empty()) return nullptr;
  auto task = std::make_unique<EditTask>(this, std::move(tables), EditTask::kNowhere);
  for (uint64_t id : task->BusyTables()) busy_.insert(id);
  return task;
}

Status LsmStore::PickMove(int from, int to, std::unique_ptr<CompactionTask>* task,
                          bool* conflict) {
  *conflict = false;
  task->reset();
  const auto& levels = version_->levels();
  const auto& moved = levels[static_cast<size_t>(from)];
  if (dropped_ || from == to || moved.empty()) return Status::OK();
  const int low = from < to ? from + 1 : to, high = from < to ? to : from - 1;
  for (int level = low; level <= high; ++level) {
    if (!levels[static_cast<size_t>(level)].empty()) {
      return Status::NotSupported("Levels between source and target are not empty for a move.");
    }
  }
  EditTask::Tables tables;
  for (size_t i = 0; i < moved.size(); ++i) {
    const TphMeta& meta = moved[i]->meta();
    if (to == 0 && meta.hash_range) {
      return Status::NotSupported("tables that are cut by hash cannot be on level 0");
    }
    for (size_t j = i + 1; from == 0 && j < moved.size(); ++j) {
      if (Overlap(options_.comparator, meta, moved[j]->meta())) {
        return Status::NotSupported("tables of level 0 overlap");
      }
    }
    *conflict = *conflict || busy_.count(meta.tph_id) != 0;
    tables.emplace_back(from, moved[i]);
  }
  // A job that will write to a level where the tables are, move to, or pass.
  for (const Claim& claim : claims_) {
    *conflict = *conflict || (claim.level >= std::min(from, to) && claim.level <= std::max(from, to));
  }
  if (*conflict) return Status::OK();
  auto edit = std::make_unique<EditTask>(this, std::move(tables), to);
  for (uint64_t id : edit->BusyTables()) busy_.insert(id);
  for (const TableRef& t : moved) {
    TphMeta range;
    range.smallest = t->meta().smallest;
    range.largest = t->meta().largest;
    range.hash_range = t->meta().hash_range;
    range.search = t->meta().search;
    claims_.push_back({edit.get(), to, std::move(range)});
  }
  *task = std::move(edit);
  return Status::OK();
}

void LsmStore::MarkForCompaction(const KeyRange& range) {
  const auto& levels = version_->levels();
  auto deepest = static_cast<size_t>(options_.last_job_level());
  while (deepest > 0 && levels[deepest].empty()) --deepest;
  for (size_t level = 0; level < deepest; ++level) {
    for (const TableRef& t : levels[level]) {
      if (OverlapsRange(options_.comparator, t->meta(), range.begin, range.end)) {
        t->MarkForCompaction();
      }
    }
  }
}

}  // namespace compassdb
