// SPDX-License-Identifier: Apache-2.0
#include "log_places.h"

#include <algorithm>
#include <system_error>

namespace compassdb_import {

namespace fs = std::filesystem;

namespace {

// A log of no bytes holds nothing.
void CountLogs(const fs::path& dir, int* all, int* full) {
  *all = *full = 0;
  std::error_code ec;
  fs::directory_iterator it(dir, ec), end;
  for (; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    const size_t digits = name.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string::npos || name.substr(digits) != ".log") continue;
    std::error_code no_size;
    ++*all;
    if (fs::file_size(it->path(), no_size) != 0 || no_size) ++*full;
  }
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

// A relative path is of the directory in which the program ran, which nobody knows here.
bool LogPlaces::IsOutside() const {
  if (wal_dir_.empty()) return false;
  const fs::path source = Canonical(source_), named = Canonical(wal_dir_);
  const auto [end, rest] = std::mismatch(source.begin(), source.end(), named.begin(), named.end());
  if (end == source.end()) return false;
  return wal_dir_.is_absolute() || FoldersInside().empty();
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
  int all = 0, full = 0, all_here = 0;
  std::vector<std::string> with_logs;
  std::vector<fs::path> inside = FoldersInside();
  inside.insert(inside.begin(), source_);
  for (const fs::path& place : inside) {
    CountLogs(place, &all, &full);
    all_here += all;
    if (full > 0) with_logs.push_back(place.string());
  }
  const bool outside = IsOutside();
  const bool exists = outside && wal_dir_.is_absolute() && fs::is_directory(wal_dir_, ec);
  int outside_all = 0, outside_full = 0;
  if (exists) CountLogs(wal_dir_, &outside_all, &outside_full);
  // With a CURRENT it is the directory of a database, and the logs there are that one's.
  const bool of_other = exists && fs::exists(wal_dir_ / "CURRENT", ec);
  if (outside_full > 0 && !of_other && !with_logs.empty()) with_logs.push_back(wal_dir_.string());
  if (with_logs.size() > 1) {
    *refusal = "there are logs in " + with_logs[0] + " and in " + with_logs[1] +
               " (wal_dir of OPTIONS): say with --wal-dir DIR which of them are of this database";
    return false;
  }
  if (with_logs.size() == 1) chosen_ = with_logs[0];
  if (!outside) return true;
  const std::string named = "OPTIONS of " + source_ + " name wal_dir " + wal_dir_.string();
  if (with_logs.empty() && outside_full > 0 && (all_here == 0 || !of_other)) {
    *refusal = named + ", which is outside of it and has " + std::to_string(outside_full) +
               " logs with records; there are none in " + source_ + ": " + Flags();
    return false;
  }
  if (with_logs.empty() && all_here == 0 && outside_all == 0) {
    lost_ = named + (exists ? ", where there are no logs" : ", which is not there") + ", and there are none in " + source_ +
            ", though its manifest knows of later records than its tables show: " + Flags();
  }
  *note = named + ", which was not used: " + (with_logs.empty() ? "no logs are needed" : "the logs in " + chosen_ + " were");
  return true;
}

}  // namespace compassdb_import
