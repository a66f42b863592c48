// SPDX-License-Identifier: Apache-2.0
#include "other_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace compassdb_cli {
namespace {

std::string read_database;  // empty: none
bool was_locked = false;

// Only queries the lock, so it does not keep another process from opening the database.
bool IsLocked(const std::string& path) {
  const int fd = open((std::filesystem::path(path) / "LOCK").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd == -1) return false;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool locked = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return locked;
}

}  // namespace

void WatchForWriter(const std::string& path) {
  read_database = path;
  was_locked = IsLocked(path);
}

rocksdb::Status BusyIfWritten(const rocksdb::Status& status) {
  if (!status.IsCorruption() || read_database.empty()) return status;
  was_locked = was_locked || IsLocked(read_database);
  if (!was_locked) return status;
  return rocksdb::Status::Busy(read_database + " is written by another process, which may have freed what was to be read",
                               status.ToString());
}

}  // namespace compassdb_cli
