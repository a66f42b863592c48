// SPDX-License-Identifier: Apache-2.0
#include "log_places.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace compassdb_import {

namespace fs = std::filesystem;

namespace {

// An empty log has no records.
struct Logs {
  int all = 0, full = 0;
  uint64_t newest = 0;  // its number
};

Logs LogsIn(const fs::path& dir) {
  Logs logs;
  std::error_code ec;
  fs::directory_iterator it(dir, ec), end;
  for (; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    const size_t digits = name.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string::npos || name.substr(digits) != ".log") continue;
    uint64_t number = 0;
    std::from_chars(name.data(), name.data() + digits, number);
    logs.newest = std::max(logs.newest, number);
    std::error_code no_size;
    ++logs.all;
    if (fs::file_size(it->path(), no_size) != 0 || no_size) ++logs.full;
  }
  return logs;
}

fs::path Canonical(const fs::path& path) {
  std::error_code ec;
  const fs::path canonical = fs::weakly_canonical(path, ec);
  return ec ? path : canonical;
}

}  // namespace

LogPlaces::LogPlaces(std::string source, std::string wal_dir) : source_(std::move(source)), wal_dir_(std::move(wal_dir)) {}

std::vector<fs::path> LogPlaces::FoldersInside() const {
  std::vector<fs::path> folders;
  fs::path tail;
  std::vector<fs::path> names;
  for (const fs::path& name : wal_dir_.lexically_normal()) {
    if (!name.empty() && name != "/" && name != "." && name != "..") names.push_back(name);
  }
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    tail = tail.empty() ? *name : *name / tail;
    const fs::path folder = fs::path(source_) / tail;
    std::error_code ec;
    if (fs::is_directory(folder, ec)) folders.push_back(folder);
  }
  return folders;
}

// A relative path is of the directory in which the program ran, which is not known here. It may be this one, or the
// parent of the source.
std::vector<fs::path> LogPlaces::FoldersOutside() const {
  const fs::path source = Canonical(source_);
  std::vector<fs::path> folders;
  for (const fs::path& base : {fs::path(), source.parent_path()}) {
    if (wal_dir_.empty()) break;
    const fs::path folder = Canonical(base / wal_dir_);
    const bool inside = std::mismatch(source.begin(), source.end(), folder.begin(), folder.end()).first == source.end();
    std::error_code ec;
    if (inside || !fs::is_directory(folder, ec)) continue;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  }
  return folders;
}

bool LogPlaces::IsSource() const {
  const fs::path source = Canonical(source_);
  if (wal_dir_.empty() || Canonical(wal_dir_) == source) return true;
  if (wal_dir_.is_absolute()) return false;
  for (fs::path base = source.parent_path(); base != base.parent_path(); base = base.parent_path()) {
    if (Canonical(base / wal_dir_) == source) return true;
  }
  return false;
}

std::string LogPlaces::Flags() const {
  return "give --wal-dir DIR with the directory of the logs, or --wal-dir " + source_ + " to do without them";
}

bool LogPlaces::Choose(const std::string& asked_for, std::string* refusal, std::string* note) {
  std::error_code ec;
  chosen_ = source_;
  if (!asked_for.empty()) {
    chosen_ = asked_for;
    if (fs::is_directory(asked_for, ec)) return true;
    *refusal = "--wal-dir " + asked_for + " is not a directory";
    return false;
  }
  Logs here;
  std::vector<std::string> with_logs;
  std::vector<fs::path> inside = FoldersInside();
  inside.insert(inside.begin(), source_);
  for (const fs::path& place : inside) {
    const Logs logs = LogsIn(place);
    here.all += logs.all;
    here.newest = std::max(here.newest, logs.newest);
    if (logs.full > 0) with_logs.push_back(place.string());
  }
  if (with_logs.size() == 1) chosen_ = with_logs[0];
  const std::string named = "OPTIONS of " + source_ + " name wal_dir " + wal_dir_.string();
  bool empty_outside = false;
  for (const fs::path& place : FoldersOutside()) {
    const Logs logs = LogsIn(place);
    // A directory with CURRENT is another database, and has that one's logs.
    const bool of_other = fs::exists(place / "CURRENT", ec);
    if (logs.full > 0 && with_logs.empty() && (here.all == 0 || !of_other)) {
      *refusal = named + ", and " + place.string() + " is outside of it and has " + std::to_string(logs.full) +
                 " logs with records; there are none in " + source_ + ": " + Flags();
      return false;
    }
    if (of_other) continue;
    if (logs.full > 0) with_logs.push_back(place.string());
    empty_outside = empty_outside || logs.all > 0;
    here.newest = std::max(here.newest, logs.newest);
  }
  if (with_logs.size() > 1) {
    *refusal = "there are logs in " + with_logs[0] + " and in " + with_logs[1] +
               " (wal_dir of OPTIONS): say with --wal-dir DIR which of them are of this database";
    return false;
  }
  if (IsSource()) {
    if (here.all == 0) *note = "there are no logs in " + source_ + ": records that were in them alone are not imported";
    return true;
  }
  // RocksDB always leaves a log, even if it is empty.
  if (here.all == 0 && !empty_outside) {
    *refusal = named + ", but no logs are found there or in " + source_ + ": " + Flags();
    return false;
  }
  newest_ = here.newest;
  lost_ = named + ", which was not used, and the existing logs are older than those that the manifest asks for: " + Flags();
  if (inside.size() == 1) {
    *note = named + ", which was not used: " + (with_logs.empty() ? "no logs are needed" : "the logs in " + chosen_ + " were");
  }
  return true;
}

}  // namespace compassdb_import
