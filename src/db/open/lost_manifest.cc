// SPDX-License-Identifier: Apache-2.0
#include "db/open/lost_manifest.h"

#include <algorithm>
#include <optional>
#include <set>

#include "env/missing.h"
#include "format/file_names.h"
#include "format/foreign_file.h"
#include "manifest/ownership.h"
#include "table/file/compaction_file.h"
#include "table/piece/piece_salvage.h"
#include "wal/wal_reader.h"
#include "wal/wal_recovery.h"

namespace compassdb {

bool KnowsAllDirectories(FileSystem* fs, const std::string& dir) {
  Places places;
  Status s = ReadPlaces(fs, dir, &places);
  if (!IsMissing(s)) return s.ok();
  std::vector<std::string> names;
  return fs->GetChildren(dir, &names).ok() && std::any_of(names.begin(), names.end(), [](const std::string& name) {
           uint64_t number = 0;
           FileType type;
           return ParseFileName(name, &number, &type) && type == FileType::kOptions;
         });
}

Status CheckLogsAreAll(FileSystem* fs, const std::string& dir, const std::string& wal_dir, SequenceNumber* before) {
  std::vector<std::string> names;
  Status s = fs->GetChildren(wal_dir, &names);
  if (!s.ok()) return s;
  std::optional<WalHeader> oldest;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type != FileType::kWal || (oldest && oldest->number < number)) continue;
    std::unique_ptr<WalReader> log;
    s = WalReader::Open(fs, wal_dir, number, &log);
    if (s.ok()) {
      if (log->ReadHeader() == LogRead::kRecord) oldest = log->header();
      s = log->status();
    }
    if (!s.ok() && !IsDamage(s)) return s;  // a file that cannot be read now may have everything
  }
  if (!oldest) {
    return Status::Corruption(wal_dir, std::string("no manifest, mirror or log can be read: they are missing, ") + kDamagedOrEncrypted);
  }
  *before = oldest->predecessor_last_sequence;
  if (*before == 0 || KnowsAllDirectories(fs, dir)) return Status::OK();
  return Status::Corruption(WalFileName(wal_dir, oldest->number),
                            "the logs begin behind sequence " + std::to_string(oldest->predecessor_last_sequence) +
                                ", and no compaction file has earlier records: a directory of db_paths or "
                                "cf_paths was not given, or files are missing");
}

Status FindDatabaseId(FileSystem* fs, const std::string& dir, const std::string& wal_dir, const std::vector<std::string>& ids,
                      std::string* id) {
  std::set<std::string> own(ids.begin(), ids.end());
  *id = ids.empty() ? "" : ids.back();
  std::string found;
  Status s = ReadFileToString(fs, IdentityFileName(dir), &found);
  if (!s.ok() && !IsMissing(s) && !IsDamage(s)) return s;
  if (s.ok() && !found.empty() && own.insert(found).second) *id = found;
  std::vector<uint64_t> logs;
  if (s = ListWals(fs, wal_dir, 0, &logs); !s.ok()) return s;
  for (const uint64_t log : logs) {
    s = IdOfLog(fs, wal_dir, log, &found);
    if (!s.ok() && !IsDamage(s)) return s;
    if (found.empty()) continue;
    if (own.empty()) own.insert(*id = found);
    if (own.count(found) == 0) {
      return Status::InvalidArgument(WalFileName(wal_dir, log), "belongs to the database " + found + ", not to " + *id);
    }
  }
  return Status::OK();
}

Status LostManifest::Add(FileSystem* fs, const std::string& path, uint64_t number) {
  std::shared_ptr<CompactionFile> file;
  Status s = CompactionFile::Open(fs, path, number, FileOptions(), &file);
  Job job;
  bool found = false;
  if (s.ok()) s = ReadJobRecord(*file, &found, &job.record);
  if (!s.ok()) return s;
  if (!found) {
    return Status::Corruption(path, "no manifest or mirror can be read, and this file has no record of the job that wrote "
                                    "it: an earlier release did, or it holds separated values, or its end is damaged");
  }
  job.path = path;
  job.file = number;
  job.file_id = file->file_id();
  // A copy keeps it.
  if (!jobs_.empty() && jobs_.begin()->second.record.state.front().hash_seed != job.record.state.front().hash_seed) {
    return Status::InvalidArgument(path, "is a file of another database");
  }
  files_[number] = job.file_id;
  const uint64_t order = job.record.order;
  if (!jobs_.emplace(order, std::move(job)).second) {
    return Status::Corruption(path, "its record has the number of another one");
  }
  return s;
}

const VersionEdit::Deleted* LostManifest::Listed(const Job& job, uint64_t table) {
  const auto found = std::lower_bound(job.record.live.begin(), job.record.live.end(), table,
                                      [](const VersionEdit::Deleted& d, uint64_t id) { return d.tph_id < id; });
  return found != job.record.live.end() && found->tph_id == table ? &*found : nullptr;
}

void LostManifest::JudgeByLaterRecords() {
  for (auto& [order, job] : jobs_) {
    for (auto later = jobs_.rbegin(); later != jobs_.rend() && later->first > order; ++later) {
      const JobRecord& record = later->second.record;
      if (record.job.column_family != job.record.job.column_family ||
          std::find(record.writing.begin(), record.writing.end(), job.file) != record.writing.end()) {
        continue;
      }
      job.judge = &later->second;
      break;
    }
  }
  for (auto& [key, table] : tables_) {
    if (table.job->judge == nullptr) continue;
    const VersionEdit::Deleted* const listed = Listed(*table.job->judge, key.second);
    table.dead = listed == nullptr;
    if (listed != nullptr) table.level = listed->level;
  }
}

bool LostManifest::IsWhole(const TphMeta& table) const {
  const auto there = [this](uint64_t number, uint64_t id) {
    const auto found = files_.find(number);
    return found != files_.end() && found->second == id;
  };
  return (table.directory.length == 0 || there(table.directory.file_number, table.directory_file_id)) &&
         std::all_of(table.pieces.begin(), table.pieces.end(),
                     [&](const TphPiece& piece) { return there(piece.meta->extent.file_number, piece.meta->file_id); });
}

// If two jobs replaced the same table, or flushed the same records, the later one began after the earlier one had
// failed.
void LostManifest::JudgeTheLast() {
  std::set<uint64_t> replaced;
  std::map<uint32_t, SequenceNumber> flushed_from;  // by family, of jobs that counted
  const auto kill = [this](const VersionEdit& edit, uint64_t id, const Job* but) {
    const auto table = tables_.find({edit.column_family, id});
    if (table != tables_.end() && table->second.job != but) table->second.dead = true;
  };
  for (auto it = jobs_.rbegin(); it != jobs_.rend(); ++it) {
    Job& job = it->second;
    if (job.judge != nullptr) continue;
    const VersionEdit& edit = job.record.job;
    job.committed = std::none_of(edit.deleted.begin(), edit.deleted.end(),
                                 [&](const VersionEdit::Deleted& d) { return replaced.count(d.tph_id) != 0; });
    // A run of its own on level 0 keeps its sequences.
    if (edit.log_number && edit.deleted.empty() && edit.added.size() == 1 && edit.added[0].level == 0) {
      const auto next = flushed_from.find(edit.column_family);
      if (next != flushed_from.end() && edit.added[0].tph.largest_seq >= next->second) job.committed = false;
      if (job.committed) flushed_from[edit.column_family] = edit.added[0].tph.smallest_seq;
    }
    if (!job.committed) {
      for (const VersionEdit::Added& a : edit.added) kill(edit, a.tph.tph_id, nullptr);
      continue;
    }
    for (const VersionEdit::Deleted& d : edit.deleted) {
      replaced.insert(d.tph_id);
      kill(edit, d.tph_id, &job);  // a repaired table has the id of the old one
    }
  }
}

Status LostManifest::CheckFiles(const Table& table) const {
  if (IsWhole(table.added->tph)) return Status::OK();
  return Status::Corruption("table " + std::to_string(table.added->tph.tph_id),
                            "was in use, but another of its files than " + std::to_string(table.job->file) +
                                ".ph is missing; without a manifest a repair needs all of them");
}

// Finds tables that the newest record of a family lists, and that neither exist nor were replaced by a known job.
Status LostManifest::CheckForGaps() const {
  std::map<uint32_t, const Job*> newest;
  std::set<TableKey> taken;
  for (const auto& [order, job] : jobs_) {
    newest[job.record.job.column_family] = &job;
    for (const auto& d : job.record.job.deleted) taken.insert({job.record.job.column_family, d.tph_id});
  }
  for (const auto& [family, job] : newest) {
    for (const auto& d : job->record.live) {
      if (tables_.count({family, d.tph_id}) != 0 || taken.count({family, d.tph_id}) != 0) continue;
      return Status::Corruption("table " + std::to_string(d.tph_id) + " of column family " + std::to_string(family),
                                "was in use when the family's last file was written, and is missing: a directory of "
                                "db_paths or cf_paths was not given, a file is missing, or deletions have emptied the table "
                                "since; without a manifest a repair cannot find out which");
    }
  }
  return Status::OK();
}

std::vector<std::string> LostManifest::Ids() const {
  std::vector<std::string> ids;
  for (const auto& [order, job] : jobs_) {
    if (ids.empty() || ids.back() != IdOf(job)) ids.push_back(IdOf(job));
  }
  return ids;
}

// A database that got another id never has the old one again. The database that it was copied from keeps that.
Status LostManifest::CheckIds() const {
  std::set<std::string> past;
  std::string last;
  for (const auto& [order, job] : jobs_) {
    if (past.count(IdOf(job)) != 0) return Status::InvalidArgument(job.path, "is a file of another database");
    if (IdOf(job) != last) past.insert(std::exchange(last, IdOf(job)));
  }
  return Status::OK();
}

Status LostManifest::Find(RecoveredState* state) {
  if (jobs_.empty()) return Status::OK();
  if (Status s = CheckIds(); !s.ok()) return s;
  for (auto& [order, job] : jobs_) {
    std::sort(job.record.live.begin(), job.record.live.end(),
              [](const VersionEdit::Deleted& a, const VersionEdit::Deleted& b) { return a.tph_id < b.tph_id; });
    for (const VersionEdit::Added& added : job.record.job.added) {
      tables_[{job.record.job.column_family, added.tph.tph_id}] = {&added, &job, false, added.level};
    }
  }
  JudgeByLaterRecords();
  JudgeTheLast();
  // From the newest to the oldest, up to one that has all families.
  bool all = false;
  for (auto it = jobs_.rbegin(); it != jobs_.rend() && !all; ++it) {
    for (const VersionEdit& edit : it->second.record.state) {
      if (edit.add_column_family && state->families.count(edit.column_family) != 0) continue;
      if (Status s = state->Apply(edit); !s.ok()) return s;
      state->max_column_family = std::max(state->max_column_family, edit.column_family);
      all = all || edit.max_column_family.has_value();
      all_families_up_to_ = std::max(all_families_up_to_, edit.max_column_family.value_or(0));
    }
  }
  for (const auto& [order, job] : jobs_) {
    state->next_number = std::max(state->next_number, order + 1);
    for (const VersionEdit& edit : job.record.state) {
      state->last_sequence = std::max(state->last_sequence, edit.last_sequence.value_or(0));
    }
    const auto family = state->families.find(job.record.job.column_family);
    if (family == state->families.end()) continue;
    if (job.committed) {
      family->second.log_number = std::max(family->second.log_number, job.record.job.log_number.value_or(0));
    }
  }
  size_t tables = 0;
  for (const auto& [key, table] : tables_) {
    const auto family = state->families.find(key.first);
    if (table.dead || family == state->families.end()) continue;  // that family was dropped
    if (Status s = CheckFiles(table); !s.ok()) return s;
    VersionEdit::Added added = *table.added;
    added.level = table.level;
    state->last_sequence = std::max(state->last_sequence, added.tph.largest_seq);
    state->next_number = std::max(state->next_number, key.second + 1);
    family->second.tables.emplace(key.second, std::move(added));
    ++tables;
  }
  if (Status s = CheckForGaps(); !s.ok()) return s;
  log_("no manifest: the state is put together from the records of " + std::to_string(jobs_.size()) +
       " compaction files, " + std::to_string(tables) + " tables in " + std::to_string(state->families.size()) +
       " column families");
  log_("uncertain: deletions of whole tables, and column families made or dropped, since the last file was written");
  return Status::OK();
}

}  // namespace compassdb
