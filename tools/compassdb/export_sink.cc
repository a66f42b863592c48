// SPDX-License-Identifier: Apache-2.0
#include "export_sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "../import/protocol.h"

extern char** environ;

namespace compassdb_cli {

std::string FindWriter() {
  constexpr char kWriterName[] = "compassdb-rocksdb-writer";
  std::error_code ec;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ec);
  if (!ec) {
    const auto neighbour = self.parent_path() / kWriterName;
    if (std::filesystem::exists(neighbour, ec)) return neighbour.string();
  }
  return kWriterName;
}

bool ExportSink::Start(const std::string& writer, const std::string& directory) {
  int fds[2], reason[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    error_ = fmt::format("cannot make a pipe: {}", std::strerror(errno));
    return false;
  }
  if (pipe2(reason, O_CLOEXEC) != 0) {
    error_ = fmt::format("cannot make a pipe: {}", std::strerror(errno));
    close(fds[0]);
    close(fds[1]);
    return false;
  }
  signal(SIGPIPE, SIG_IGN);  // a helper that ended shows by a failed write
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, reason[1], STDOUT_FILENO);
  const char* argv[] = {writer.c_str(), directory.c_str(), nullptr};
  const int failed =
      posix_spawnp(&pid_, writer.c_str(), &actions, nullptr, const_cast<char**>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[0]);
  close(reason[1]);
  reason_ = reason[0];
  if (failed != 0) {
    pid_ = -1;
    close(fds[1]);
    error_ = fmt::format("cannot run {}: {}{}", writer, std::strerror(failed),
                         failed == ENOENT ? " (it is built where librocksdb-dev is installed)"
                         : failed == EAGAIN ? " (a limit of processes and threads, as of ulimit -u or pids.max?)"
                                            : "");
    return false;
  }
  pipe_ = fdopen(fds[1], "wb");
  if (pipe_ != nullptr) std::setvbuf(pipe_, nullptr, _IOFBF, 1 << 20);
  return pipe_ != nullptr;
}

bool ExportSink::Send(char type, std::string_view payload) {
  std::string head(1, type);
  compassdb_import::AppendNumber(&head, payload.size());
  return std::fwrite(head.data(), 1, head.size(), pipe_) == head.size() &&
         std::fwrite(payload.data(), 1, payload.size(), pipe_) == payload.size();
}

std::string ExportSink::ReadReason() {
  constexpr size_t kMost = 4096;
  std::string text;
  char buffer[512];
  while (reason_ >= 0) {
    const ssize_t n = read(reason_, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (text.size() < kMost) text.append(buffer, static_cast<size_t>(n));
  }
  if (reason_ >= 0) close(reason_);
  reason_ = -1;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool ExportSink::Finish() {
  bool sent = true;
  if (pipe_ != nullptr) sent = std::fclose(pipe_) == 0;
  pipe_ = nullptr;
  const std::string reason = ReadReason();
  int status = 0;
  while (pid_ > 0 && waitpid(pid_, &status, 0) == -1 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && sent) return true;
  if (!reason.empty()) {
    error_ = reason;
  } else if (WIFSIGNALED(status)) {
    error_ = fmt::format("the writer of RocksDB was ended by signal {}{}", WTERMSIG(status),
                         WTERMSIG(status) == SIGABRT ? ", after the line before this one" : "");
  } else {
    error_ = fmt::format("the writer of RocksDB ended too early, with exit code {}", WEXITSTATUS(status));
  }
  return false;
}

ExportSink::~ExportSink() {
  // By the end of the stream, not by a signal: the helper removes what it began.
  if (pipe_ != nullptr) std::fclose(pipe_);
  ReadReason();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

}  // namespace compassdb_cli
