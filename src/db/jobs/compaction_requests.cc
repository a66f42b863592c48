// SPDX-License-Identifier: Apache-2.0
// Compactions, moves and drops of tables on request, and waits for compactions.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_set>

#include "db/jobs/manual_compactions.h"
#include "db/jobs/table_compaction.h"
#include "db/report/metadata.h"
#include "format/file_names.h"
#include "format/user_timestamp.h"
#include "store/level_bytes.h"
#include "store/levels.h"

namespace compassdb {

void ManualCompactions::Suggest(ColumnFamily* family, const Slice* begin, const Slice* end) {
  const TimedRange range(begin, end, /*with_end=*/true, family->timestamp_size());
  MutexLock lock(mu_);
  family->store()->MarkForCompaction({range.begin(), range.end()});
  jobs_.MaybeSchedule();
}

Status ManualCompactions::MoveLevel(const std::shared_ptr<ColumnFamily>& family, int from, int to) {
  Levels* const levels = family->store()->levels();
  std::unique_ptr<CompactionTask> task;
  {
    MutexLock lock(mu_);
    while (true) {
      Status s = MayBegin(*family);
      if (!s.ok()) return s;
      bool conflict = false;
      if (levels == nullptr) return s;
      s = levels->PickMove(from, to, &task, &conflict);
      if (!s.ok()) return s;
      if (task != nullptr) break;
      if (!conflict) return s;
      env_.changed->WaitFor(std::chrono::milliseconds(50));
    }
  }
  Status s = RunJob(family, std::move(task), /*cancel=*/nullptr, /*report=*/nullptr);
  MutexLock lock(mu_);
  jobs_.Changed();
  return s;
}

Status ManualCompactions::PromoteLevel0(const std::shared_ptr<ColumnFamily>& family, int target_level) {
  if (target_level < 1 || target_level > family->store()->options().last_job_level()) {
    return Status::InvalidArgument("PromoteL0: invalid target level", std::to_string(target_level));
  }
  Status s = MoveLevel(family, 0, target_level);
  // If the tables cannot be moved, the argument was invalid.
  return s.IsNotSupported() ? Status::InvalidArgument("PromoteL0", s.ToString()) : s;
}

// The end of a CompactRange that moved its range to level `from`. A target below 0: the highest
// level such that all levels between are empty.
Status ManualCompactions::ChangeLevel(const std::shared_ptr<ColumnFamily>& family, int from, int to) {
  if (to < 0) {
    MutexLock lock(mu_);
    const std::vector<LevelStats> levels = family->store()->view()->Levels();
    to = from;
    while (to > 1 && levels[static_cast<size_t>(to) - 1].tables == 0) --to;
  }
  if (from == 0 && to != 0) {
    return Status::NotSupported("Cannot change from level 0 to other levels.");
  }
  return MoveLevel(family, from, to);
}

// The end of a CompactRange of everything: RocksDB moves a last level that is too large to the
// level where it fits. Here it could stay (levels are stretched), but callers expect it there.
Status ManualCompactions::SettleLastLevel(const std::shared_ptr<ColumnFamily>& family, int level,
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
  // Newer data may be on the level: then the tables stay.
  Status s = to == level ? Status::OK() : MoveLevel(family, level, to);
  return s.IsNotSupported() ? Status::OK() : s;
}

Status ManualCompactions::DropTables(const std::shared_ptr<ColumnFamily>& family, const rocksdb::RangePtr* ranges,
                                     size_t n, bool include_end) {
  std::deque<TimedRange> timed;
  std::vector<KeyRange> wanted;
  for (size_t i = 0; i < n; ++i) {
    const TimedRange& range =
        timed.emplace_back(ranges[i].start, ranges[i].limit, include_end, family->timestamp_size());
    wanted.push_back({range.begin(), range.end()});
  }
  std::unique_ptr<CompactionTask> task;
  {
    MutexLock lock(mu_);
    if (env_.errors->writes_refused()) return env_.errors->error();
    if (Levels* const levels = family->store()->levels()) task = levels->PickDrop(wanted, include_end);
  }
  if (task == nullptr) return Status::OK();
  Status s = TableDrop(env_, family, std::move(task)).Run();
  MutexLock lock(mu_);
  jobs_.Changed();
  return s;
}

namespace {

template <class T>
void Append(const std::vector<T>& more, std::vector<T>* all) {
  all->insert(all->end(), more.begin(), more.end());
}

// Adds one of several consecutive jobs. The last one's files stay.
void AddRun(const JobReport& report, JobReport* all) {
  all->Add(report);
  Append(report.input_files, &all->input_files);
  Append(report.input_paths, &all->input_paths);
  Append(report.input_file_levels, &all->input_file_levels);
  Append(report.inputs, &all->inputs);
  all->output_files = report.output_files;
  all->output_paths = report.output_paths;
  all->output_bytes = report.output_bytes;
  all->bytes_written += report.bytes_written;
  Append(report.value_files, &all->value_files);
  all->micros += report.micros;
}

}  // namespace

Status ManualCompactions::CompactFiles(const std::shared_ptr<ColumnFamily>& family,
                                       const std::vector<std::string>& input_files, int output_level, int output_path,
                                       std::vector<std::string>* output_files, rocksdb::CompactionJobInfo* info) {
  if (input_files.empty()) return Status::InvalidArgument("A compaction must contain at least one file.");
  ManualCompaction request;
  if (output_path >= 0) request.path = static_cast<size_t>(output_path);
  if (request.path.value_or(0) >= family->store()->options().paths.size()) {
    return Status::InvalidArgument("CompactFiles: invalid output path id",
                                   std::to_string(output_path));
  }
  const int last = family->store()->options().last_job_level();
  if (output_level < 0 || output_level > last) {
    return Status::InvalidArgument("Output level for column family " + family->name() +
                                   " must between [0, " + std::to_string(last) + "].");
  }
  if (output_level == 0) return Status::NotSupported("CompactFiles into level 0");
  std::map<uint64_t, bool> wanted;  // file numbers, and whether a table has them
  for (const std::string& name : input_files) {
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
  if (disabled_ > 0) return Status::Incomplete(Status::SubCode::kManualCompactionPaused);
  JobReport all;
  const auto note = [&](const JobReport& report) {
    for (const TphMeta& tph : report.outputs) tables.insert(tph.tph_id);
    AddRun(report, &all);
  };
  Status s;
  std::optional<ManualTurn> turn(std::in_place, &jobs_, /*exclusive=*/false);
  request.tables = &tables;
  for (int level = 0; s.ok() && level < output_level; ++level) {
    request.input_level = level;
    request.output_level = level + 1;
    s = RunRequest(family, request, nullptr, note);
  }
  if (s.ok() && output_level > 0) {
    request.input_level = request.output_level = output_level;
    request.tables = &rewritten;
    s = RunRequest(family, request, nullptr, note);
  }
  turn.reset();
  all.output_level = output_level;
  if (output_files != nullptr) {
    output_files->insert(output_files->end(), all.output_paths.begin(),
                              all.output_paths.end());
  }
  if (info != nullptr) {
    const JobContext job{&env_.config, env_.db_id, env_.next_job_id->fetch_add(1), family};
    *info = CompactionInfo(job, all, /*manual=*/true, s);
  }
  return s;
}

}  // namespace compassdb
