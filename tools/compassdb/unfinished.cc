// SPDX-License-Identifier: Apache-2.0
#include "unfinished.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>

namespace compassdb_cli {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

constexpr char kMovingName[] = "moving";
constexpr char kUnfinishedName[] = "UNFINISHED";

Status SystemError(const fs::path& path, int error) { return Status::IOError(path.string(), std::strerror(error)); }

Status SyncPath(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd == -1) return SystemError(path, errno);
  // Some file systems cannot sync directories.
  const bool synced = fsync(fd) == 0 || errno == EINVAL;
  const int error = errno;
  close(fd);
  return synced ? Status::OK() : SystemError(path, error);
}

std::vector<std::string> NamesIn(const fs::path& dir, std::error_code* ec) {
  std::vector<std::string> names;
  fs::directory_iterator it(dir, *ec), end;
  for (; !*ec && it != end; it.increment(*ec)) names.push_back(it->path().filename().string());
  return names;
}

// Later ones need earlier ones: tables, then manifests, then CURRENT.
int OrderOf(const std::string& name) {
  if (name == "CURRENT") return 2;
  return name.compare(0, 8, "MANIFEST") == 0 || name.compare(0, 6, "MIRROR") == 0 ? 1 : 0;
}

// As RocksDB and CompassDB call their files.
bool IsOfDatabase(const std::string& name) {
  for (const char* start : {"CURRENT", "LOCK", "LOG", "MANIFEST", "MIRROR", "OPTIONS", "IDENTITY", "PLACES", "SYNCED", "UNFINISHED", "archive"}) {
    if (name.compare(0, std::strlen(start), start) == 0) return true;
  }
  const size_t digits = name.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string::npos && name[digits] == '.';
}

fs::path StagingInside(const fs::path& place) { return place / "compassdb.unfinished"; }

std::vector<std::string> MovingNames(const fs::path& staging) {
  std::vector<std::string> names;
  std::ifstream list(staging / kMovingName, std::ios::binary);
  for (std::string name; std::getline(list, name);) {
    if (!name.empty() && name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

}  // namespace

MadeInPlace::MadeInPlace(const std::string& place) : place_(place) {
  std::error_code ec;
  before_ = NamesIn(place, &ec);
}

// CURRENT first: the rest is no database.
void MadeInPlace::Remove() const {
  std::error_code ec;
  std::vector<std::string> names = NamesIn(place_, &ec);
  const auto later = [](const auto& a, const auto& b) { return OrderOf(a) > OrderOf(b); };
  std::stable_sort(names.begin(), names.end(), later);
  for (const std::string& name : names) {
    const bool was_there = std::find(before_.begin(), before_.end(), name) != before_.end();
    if (!was_there && IsOfDatabase(name)) fs::remove(fs::path(place_) / name, ec);
  }
}

bool Unfinished::IsVacant(const std::string& place, bool foreign) {
  std::error_code ec;
  if (!fs::exists(place, ec)) return !ec;
  const std::vector<std::string> names = NamesIn(place, &ec);
  const std::vector<std::string> moving = MovingNames(StagingInside(place));
  return !ec && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    if (name == "CURRENT") return false;  // it is whole
    const bool begun = name == kUnfinishedName && fs::exists(StagingInside(place), ec);
    return name == "lost+found" || name == StagingInside("").string() || begun || (foreign && !IsOfDatabase(name)) ||
           std::find(moving.begin(), moving.end(), name) != moving.end();
  });
}

Status Unfinished::MakeParents() {
  std::error_code ec;
  for (fs::path dir = place_.parent_path(); !dir.empty() && !fs::exists(dir, ec); dir = dir.parent_path()) {
    made_parents_.insert(made_parents_.begin(), dir);
  }
  for (size_t i = 0; i < made_parents_.size(); ++i) {
    const fs::path& dir = made_parents_[i];
    if (mkdir(dir.c_str(), 0777) != 0 && errno != EEXIST) {
      const int error = errno;
      made_parents_.resize(i);
      return SystemError(dir, error);
    }
  }
  for (const fs::path& dir : made_parents_) {
    if (Status s = SyncPath(dir.parent_path()); !s.ok()) return s;
  }
  return Status::OK();
}

Status Unfinished::Begin(const std::string& command, const std::string& place) {
  std::error_code ec;
  place_ = fs::weakly_canonical(fs::absolute(place, ec), ec);
  if (!ec && place_.filename().empty()) place_ = place_.parent_path();  // a slash at its end
  if (ec) return Status::IOError(place, ec.message());
  inside_ = fs::exists(place_, ec);
  if (inside_ && !fs::is_directory(place_, ec)) return Status::InvalidArgument(place, "exists and is not a directory");
  if (!inside_ && fs::is_symlink(fs::symlink_status(place_, ec))) {
    return Status::InvalidArgument(place, "is a symbolic link to a directory that does not exist");
  }
  staging_ = inside_ ? StagingInside(place_) : fs::path(place_.string() + ".unfinished");
  mark_ = staging_ / ("made-by-" + command);
  Status s = MakeParents();
  bool leftover = false;
  if (s.ok() && mkdir(staging_.c_str(), 0777) != 0) {
    leftover = errno == EEXIST;
    if (!leftover) s = SystemError(staging_, errno);
  }
  if (s.ok()) s = TakeMark(command, leftover);
  if (s.ok() && leftover) {
    s = Clear();
    if (s.ok()) return Begin(command, place);
  }
  // Before the files that it marks.
  if (s.ok()) s = SyncPath(staging_);
  if (s.ok()) s = SyncPath(staging_.parent_path());
  if (s.ok() && inside_) s = MarkPlace(command);
  if (s.ok() && mkdir(directory().c_str(), 0777) != 0) s = SystemError(directory(), errno);
  return s;
}

Status Unfinished::MarkPlace(const std::string& command) {
  const fs::path mark = place_ / kUnfinishedName;
  std::ofstream out(mark, std::ios::binary);
  out << command << '\n';
  out.close();
  if (!out) return Status::IOError(mark.string(), "cannot be written");
  Status s = SyncPath(mark);
  return s.ok() ? SyncPath(place_) : s;
}

// Only an empty directory, or one with the mark of this command, may be removed.
Status Unfinished::TakeMark(const std::string& command, bool leftover) {
  std::error_code ec;
  const std::vector<std::string> names = NamesIn(staging_, &ec);
  if (ec) return Status::IOError(staging_.string(), ec.message());
  struct stat st;
  const bool ours = names.empty() || (lstat(mark_.c_str(), &st) == 0 && S_ISREG(st.st_mode));
  if (leftover && !ours) {
    for (const std::string& name : names) {
      if (name.compare(0, 8, "made-by-") != 0) continue;
      return Status::Busy(staging_.string(), "is what `compassdb " + name.substr(8) +
                                                 "` left, or works on: run that again, or delete the directory");
    }
    return Status::InvalidArgument(staging_.string(), "exists, and is not what `compassdb " + command +
                                                          "` left: it is needed to build in");
  }
  const int fd = open(mark_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd == -1) return SystemError(mark_, errno);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  struct stat opened;
  const bool taken = fcntl(fd, F_SETLK, &lock) == 0 && fstat(fd, &opened) == 0 && stat(mark_.c_str(), &st) == 0 &&
                     st.st_ino == opened.st_ino;
  if (!taken) {
    close(fd);
    return Status::Busy(staging_.string(), "another process works on it");
  }
  lock_ = fd;
  return Status::OK();
}

Status Unfinished::Publish() {
  Status s = SyncPath(directory());
  if (s.ok() && inside_) s = MoveUp();
  if (s.ok() && !inside_) {
    const std::string built = directory();
    int done = renameat2(AT_FDCWD, built.c_str(), AT_FDCWD, place_.c_str(), RENAME_NOREPLACE);
    // Not every file system knows the flag. An empty directory that was made since is replaced then, and nothing else.
    if (done != 0 && (errno == EINVAL || errno == ENOSYS)) done = std::rename(built.c_str(), place_.c_str());
    if (done != 0) s = SystemError(place_, errno);
    if (s.ok()) s = SyncPath(place_.parent_path());
  }
  if (!s.ok()) return s;
  // The database exists. Only the mark is left of the staging directory; it may stay.
  std::error_code ec;
  fs::remove(staging_ / kMovingName, ec);
  fs::remove(directory(), ec);
  fs::remove(mark_, ec);
  fs::remove(staging_, ec);
  Unlock();
  made_parents_.clear();
  return Status::OK();
}

Status Unfinished::MoveUp() {
  std::error_code ec;
  std::vector<std::string> names = NamesIn(directory(), &ec);
  if (ec) return Status::IOError(directory(), ec.message());
  std::stable_sort(names.begin(), names.end(),
                   [](const std::string& a, const std::string& b) { return OrderOf(a) < OrderOf(b); });
  std::ofstream list(staging_ / kMovingName, std::ios::binary);
  for (const std::string& name : names) {
    if (fs::exists(fs::symlink_status(place_ / name, ec))) {
      return Status::InvalidArgument((place_ / name).string(), "is in the way");
    }
    list << name << '\n';
  }
  list.close();
  if (!list) return Status::IOError((staging_ / kMovingName).string(), "cannot be written");
  Status s = SyncPath(staging_ / kMovingName);
  if (s.ok()) s = SyncPath(staging_);
  int order = 0;
  for (const std::string& name : names) {
    if (s.ok() && OrderOf(name) != order) s = SyncPath(place_);
    order = OrderOf(name);
    // The files so far can be repaired without CURRENT.
    if (name == "CURRENT") fs::remove(place_ / kUnfinishedName, ec);
    if (!s.ok()) return s;
    fs::rename(fs::path(directory()) / name, place_ / name, ec);
    if (ec) return Status::IOError((place_ / name).string(), ec.message());
  }
  return s.ok() ? SyncPath(place_) : s;
}

Status Unfinished::Clear() {
  std::error_code ec;
  // With CURRENT the database is whole, and nothing of it is deleted from here on. A name that is still in `db` was not moved.
  const bool whole = fs::exists(place_ / "CURRENT", ec);
  for (const std::string& name : MovingNames(staging_)) {
    if (!ec && !whole && !fs::exists(fs::path(directory()) / name, ec)) fs::remove_all(place_ / name, ec);
  }
  if (!ec) fs::remove_all(directory(), ec);
  if (!ec) fs::remove(staging_ / kMovingName, ec);
  if (!ec && inside_) fs::remove(place_ / kUnfinishedName, ec);
  if (!ec) fs::remove(mark_, ec);
  if (!ec) fs::remove(staging_, ec);
  Unlock();
  return ec ? Status::IOError("cannot remove " + staging_.string(), ec.message()) : Status::OK();
}

void Unfinished::Unlock() {
  if (lock_ >= 0) close(lock_);
  lock_ = -1;
}

Unfinished::~Unfinished() {
  if (lock_ < 0) return;
  Clear().PermitUncheckedError();  // the next run of the command removes it
  std::error_code ec;
  for (auto dir = made_parents_.rbegin(); dir != made_parents_.rend(); ++dir) fs::remove(*dir, ec);
}

}  // namespace compassdb_cli
