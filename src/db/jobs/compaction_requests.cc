// SPDX-License-Identifier: Apache-2.0
// Control over where data lies: what is compacted, moved and dropped on request, and waiting for it.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_set>

#include "db/db_impl.h"
#include "db/jobs/table_compaction.h"
#include "db/report/metadata.h"
#include "format/file_names.h"
#include "format/user_timestamp.h"
#include "store/level_bytes.h"
#include "store/levels.h"
#include "store/pages.h"

namespace compassdb {

Status DBImpl::SuggestCompactRange(ColumnFamilyHandle* handle, const Slice* begin,
                                   const Slice* end) {
  if (Status s = CheckWritable("SuggestCompactRange"); !s.ok()) return s;
  const TimedRange range(begin, end, /*with_end=*/true, FamilyOf(handle)->timestamp_size());
  MutexLock lock(&mu_);
  FamilyOf(handle)->store()->MarkForCompaction({range.begin(), range.end()});
  MaybeSchedule();
  return Status::OK();
}

// Moves all tables of a level, once no job is in the way.
Status DBImpl::MoveLevel(const std::shared_ptr<ColumnFamily>& family, int from, int to) {
  Levels* const levels = family->store()->levels();
  std::unique_ptr<CompactionTask> task;
  {
    MutexLock lock(&mu_);
    while (true) {
      if (shutting_down_) return Status::ShutdownInProgress("moving a level");
      if (family->dropped) return Status::ColumnFamilyDropped(family->name());
      if (errors_.background_stopped()) return errors_.error();
      bool conflict = false;
      if (levels == nullptr) return Status::OK();
      Status s = levels->PickMove(from, to, &task, &conflict);
      if (!s.ok()) return s;
      if (task != nullptr) break;
      if (!conflict) return s;
      background_changed_.WaitFor(std::chrono::milliseconds(50));
    }
    ++family->compactions_running;
  }
  Status s = RunCompaction(family, std::move(task), /*manual=*/true, nullptr);
  MutexLock lock(&mu_);
  --family->compactions_running;
  BackgroundDone();
  return s;
}

Status DBImpl::PromoteL0(ColumnFamilyHandle* handle, int target_level) {
  if (Status s = CheckWritable("PromoteL0"); !s.ok()) return s;
  const std::shared_ptr<ColumnFamily> family = SharedFamilyOf(handle);
  if (target_level < 1 || target_level > family->store()->options().last_job_level()) {
    return Status::InvalidArgument("PromoteL0: invalid target level", std::to_string(target_level));
  }
  Status s = MoveLevel(family, 0, target_level);
  // That the tables cannot be moved is the fault of who asked.
  return s.IsNotSupported() ? Status::InvalidArgument("PromoteL0", s.ToString()) : s;
}

// The end of a CompactRange that brought its range to level `from`. A target below 0 is the
// uppermost level that all levels between leave free.
Status DBImpl::ChangeLevel(const std::shared_ptr<ColumnFamily>& family, int from, int to) {
  if (to < 0) {
    MutexLock lock(&mu_);
    const std::vector<LevelStats> levels = family->store()->view()->Levels();
    to = from;
    while (to > 1 && levels[static_cast<size_t>(to) - 1].tables == 0) --to;
  }
  if (from == 0 && to != 0) {
    return Status::NotSupported("Cannot change from level 0 to other levels.");
  }
  return MoveLevel(family, from, to);
}

// The end of a CompactRange of everything: RocksDB moves a last level that has outgrown its size to
// where it fits. Here it could stay (levels are stretched), but callers look for it there.
Status DBImpl::SettleLastLevel(const std::shared_ptr<ColumnFamily>& family, int level,
                               const Slice* begin, const Slice* end) {
  const StoreOptions& options = family->store()->options();
  if (level < 1 || options.one_level || options.hash_range || family->settings.disable_auto_compactions) {
    return Status::OK();
  }
  const rocksdb::Comparator* const cmp = family->user_comparator();
  uint64_t bytes = 0;
  bool whole = true;
  {
    ReadStatePin state(family->read_state());
    state->view->ForEachTable([&](int at, const TphMeta& tph) {
      whole = whole && at == level && (begin == nullptr || cmp->Compare(*begin, tph.smallest) <= 0) &&
              (end == nullptr || cmp->Compare(*end, tph.largest) >= 0);
    });
    bytes = state->view->Levels()[static_cast<size_t>(level)].live_data_bytes;
  }
  if (!whole) return Status::OK();
  int to = level;
  while (to < options.last_job_level() &&
         static_cast<double>(bytes) > LevelBytes(options.level1_max_bytes, options.level_multiplier,
                                                 options.level_multiplier_additional, to)) {
    ++to;
  }
  // What was written meanwhile may be in the way: then it stays.
  Status s = to == level ? Status::OK() : MoveLevel(family, level, to);
  return s.IsNotSupported() ? Status::OK() : s;
}

Status DBImpl::DropTables(ColumnFamilyHandle* handle, const rocksdb::RangePtr* ranges, size_t n,
                          bool include_end) {
  if (process_.Inherited()) return InheritedStatus();
  if (Status s = CheckWritable("DeleteFilesInRanges"); !s.ok()) return s;
  const std::shared_ptr<ColumnFamily> family = SharedFamilyOf(handle);
  std::deque<TimedRange> timed;
  std::vector<KeyRange> wanted;
  for (size_t i = 0; i < n; ++i) {
    const TimedRange& range =
        timed.emplace_back(ranges[i].start, ranges[i].limit, include_end, family->timestamp_size());
    wanted.push_back({range.begin(), range.end()});
  }
  std::unique_ptr<CompactionTask> task;
  {
    MutexLock lock(&mu_);
    if (errors_.writes_refused()) return errors_.error();
    if (Levels* const levels = family->store()->levels()) task = levels->PickDrop(wanted, include_end);
  }
  if (task == nullptr) return Status::OK();
  Status s = TableDrop(job_environment_, family, std::move(task)).Run();
  MutexLock lock(&mu_);
  BackgroundDone();
  return s;
}

namespace {

template <class T>
void Append(const std::vector<T>& more, std::vector<T>* all) {
  all->insert(all->end(), more.begin(), more.end());
}

// One of several jobs after each other, of which the last one's files stay.
void AddRun(const JobReport& report, JobReport* all) {
  all->Add(report);
  Append(report.input_files, &all->input_files);
  Append(report.input_paths, &all->input_paths);
  Append(report.input_file_levels, &all->input_file_levels);
  Append(report.inputs, &all->inputs);
  all->output_files = report.output_files;
  all->output_paths = report.output_paths;
  all->output_bytes = report.output_bytes;
  all->micros += report.micros;
}

}  // namespace

// A file stands for the tables whose metadata name it (GetLiveFilesMetaData). They go down level by
// level, each time with what they meet there; those on the output level are rewritten.
Status DBImpl::CompactFiles(const rocksdb::CompactionOptions&, ColumnFamilyHandle* handle,
                            const std::vector<std::string>& input_file_names, int output_level,
                            int output_path_id, std::vector<std::string>* output_file_names,
                            rocksdb::CompactionJobInfo* info) {
  if (Status s = CheckWritable("CompactFiles"); !s.ok()) return s;
  if (handle == nullptr) return Status::InvalidArgument("ColumnFamilyHandle must be non-null.");
  if (input_file_names.empty()) {
    return Status::InvalidArgument("A compaction must contain at least one file.");
  }
  const std::shared_ptr<ColumnFamily> family = SharedFamilyOf(handle);
  ManualCompaction request;
  if (output_path_id >= 0) request.path = static_cast<size_t>(output_path_id);
  if (request.path.value_or(0) >= family->store()->options().paths.size()) {
    return Status::InvalidArgument("CompactFiles: invalid output path id",
                                   std::to_string(output_path_id));
  }
  const int last = family->store()->options().last_job_level();
  if (output_level < 0 || output_level > last) {
    return Status::InvalidArgument("Output level for column family " + family->name() +
                                   " must between [0, " + std::to_string(last) + "].");
  }
  if (output_level == 0) return Status::NotSupported("CompactFiles into level 0");
  std::map<uint64_t, bool> wanted;  // file numbers, and whether a table has them
  for (const std::string& name : input_file_names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFilePath(name, &number, &type) || type != FileType::kPieceFile) {
      return Status::InvalidArgument("CompactFiles: no table file", name);
    }
    wanted[number] = false;
  }
  std::unordered_set<uint64_t> tables, rewritten;
  int deepest = 0;
  {
    ReadStatePin state(family->read_state());
    state->view->ForEachTable([&](int level, const TphMeta& tph) {
      const auto file = wanted.find(NewestFile(tph));
      if (file == wanted.end()) return;
      file->second = true;
      deepest = std::max(deepest, level);
      tables.insert(tph.tph_id);
      if (level == output_level) rewritten.insert(tph.tph_id);
    });
  }
  for (const auto& [number, found] : wanted) {
    if (!found) {
      return Status::InvalidArgument("Specified compaction input file " +
                                     PieceFileName("", number) +
                                     " does not exist in column family " + family->name() + ".");
    }
  }
  if (deepest > output_level) {
    return Status::InvalidArgument("Cannot compact file to up level, input level " +
                                   std::to_string(deepest) + " > output level " +
                                   std::to_string(output_level));
  }
  if (manual_disabled_ > 0) return Status::Incomplete(Status::SubCode::kManualCompactionPaused);
  JobReport all;
  const auto note = [&](const JobReport& report) {
    for (const TphMeta& tph : report.outputs) tables.insert(tph.tph_id);
    AddRun(report, &all);
  };
  Status s;
  std::optional<ManualTurn> turn(std::in_place, this, /*exclusive=*/false);
  request.tables = &tables;
  for (int level = 0; s.ok() && level < output_level; ++level) {
    request.input_level = level;
    request.output_level = level + 1;
    s = RunManual(family, request, nullptr, note);
  }
  if (s.ok() && output_level > 0) {
    request.input_level = request.output_level = output_level;
    request.tables = &rewritten;
    s = RunManual(family, request, nullptr, note);
  }
  turn.reset();
  all.output_level = output_level;
  if (output_file_names != nullptr) {
    output_file_names->insert(output_file_names->end(), all.output_paths.begin(),
                              all.output_paths.end());
  }
  if (info != nullptr) {
    const JobContext job{this, config_.name, next_job_id_.fetch_add(1), family};
    *info = CompactionInfo(job, all, /*manual=*/true, s);
  }
  return s;
}

bool DBImpl::BackgroundIdle() {
  const Background& b = background_;
  if (b.flushes_under_way() > 0 || b.compactions_running > 0 || b.compactions_scheduled > 0 ||
      b.collections.under_way() || b.long_work.under_way() || b.manual_running > 0 || !b.flush_queue.empty() ||
      !b.compaction_queue.empty()) {
    return false;
  }
  const Families families = families_.All();
  return std::none_of(families.begin(), families.end(), [](const auto& family) {
    const Pages* const pages = family->store()->pages();
    return !family->dropped &&
           (family->FlushPending() || (!family->settings.disable_auto_compactions &&
                                       (family->store()->NeedsCompaction() ||
                                        (pages != nullptr && pages->NeedsLongWork()))));
  });
}

Status DBImpl::WaitUntilCompacted(const rocksdb::WaitForCompactOptions& options) {
  if (process_.Inherited()) return InheritedStatus();
  if (Status s = CheckWritable("WaitForCompact"); !s.ok()) return s;
  if (options.flush) {
    rocksdb::FlushOptions flush;
    flush.allow_write_stall = true;
    Status s = FlushFamilies(families_.All(), flush, rocksdb::FlushReason::kManualFlush);
    if (!s.ok()) return s;
  }
  const uint64_t begun = config_.clock->NowMicros();
  const auto limit = static_cast<uint64_t>(std::max<int64_t>(0, options.timeout.count()));
  {
    MutexLock lock(&mu_);
    while (true) {
      if (shutting_down_) return Status::ShutdownInProgress("WaitForCompact");
      if (background_.paused > 0 && options.abort_on_pause) {
        return Status::Aborted("WaitForCompact: background work is paused");
      }
      if (Status s = errors_.error(); !s.ok()) return s;
      if (background_.paused == 0 && BackgroundIdle()) break;
      if (background_.paused == 0) MaybeSchedule();
      const uint64_t waited = config_.clock->NowMicros() - begun;
      if (limit > 0 && waited >= limit) return Status::TimedOut("WaitForCompact");
      AwaitBackground(std::chrono::milliseconds(
          limit == 0 ? 100 : std::min<uint64_t>(100, (limit - waited) / 1000 + 1)));
    }
  }
  return options.close_db ? Close() : Status::OK();
}

}  // namespace compassdb
