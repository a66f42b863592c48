// SPDX-License-Identifier: Apache-2.0
#include "crash_writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

extern char** environ;

namespace package_demo {

using rocksdb::Status;

std::string CrashValue(uint64_t number) {
  return fmt::format("Written by write {} before the crash", number);
}

int RunCrashWriter(const std::string& path, const std::vector<std::string>& names) {
  rocksdb::DB* opened = nullptr;
  Status s = rocksdb::DB::Open(rocksdb::Options(), path, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions synced;
  synced.sync = true;
  for (uint64_t i = 1; s.ok(); ++i) {
    rocksdb::WriteBatch batch;
    s = batch.Put(names[(i - 1) % names.size()], CrashValue(i));
    if (s.ok()) s = batch.Put(kCounterKey, std::to_string(i));
    if (s.ok()) s = db->Write(synced, &batch);
    if (s.ok() && write(STDOUT_FILENO, &i, sizeof(i)) != sizeof(i)) return 1;
  }
  fmt::print(stderr, "package-demo: the writing process: {}\n", s.ToString());
  return 1;
}

uint64_t RunAndKill(const std::string& path, const std::string& file, uint64_t wanted,
                    double seconds) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  const char* const argv[] = {"package-demo", path.c_str(), file.c_str(), kCrashWriterFlag,
                              nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr,
                                 const_cast<char* const*>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  uint64_t last = 0;
  bool killed = failed != 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  // Acknowledgements from before the kill stay in the pipe and count.
  for (uint64_t number; !failed;) {
    pollfd ready = {fds[0], POLLIN, 0};
    const int events = poll(&ready, 1, 10);
    if (events > 0) {
      if (read(fds[0], &number, sizeof(number)) != sizeof(number)) break;
      last = number;
    }
    if (!killed && (last >= wanted || std::chrono::steady_clock::now() >= end)) {
      kill(child, SIGKILL);
      killed = true;
    }
  }
  close(fds[0]);
  int status = 0;
  if (failed == 0) waitpid(child, &status, 0);
  return failed == 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? last : 0;
}

std::string CheckAfterCrash(rocksdb::DB* db, const std::vector<std::string>& names,
                            uint64_t acknowledged, uint64_t* found) {
  std::string value;
  Status s = db->Get(rocksdb::ReadOptions(), kCounterKey, &value);
  if (!s.ok()) return "the counter: " + s.ToString();
  *found = std::strtoull(value.c_str(), nullptr, 10);
  // One write may have been durable but not yet acknowledged.
  if (*found < acknowledged || *found > acknowledged + 1) {
    return fmt::format("{} writes were acknowledged, {} exist", acknowledged, *found);
  }
  const uint64_t n = names.size();
  for (uint64_t i = 0; i < n; ++i) {
    // The last write of package i, if any reached it.
    const uint64_t last = *found > i ? i + 1 + (*found - i - 1) / n * n : 0;
    s = db->Get(rocksdb::ReadOptions(), names[i], &value);
    if (!s.ok()) return names[i] + ": " + s.ToString();
    const bool overwritten = value.compare(0, 8, "Written ") == 0;
    if (overwritten != (last > 0) || (last > 0 && value != CrashValue(last))) {
      return fmt::format("{} should hold the value of write {} but holds: {:.60}", names[i], last,
                         value);
    }
  }
  return "";
}

}  // namespace package_demo
