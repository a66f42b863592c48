// SPDX-License-Identifier: Apache-2.0
#include "export_sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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
    const auto beside = self.parent_path() / kWriterName;
    if (std::filesystem::exists(beside, ec)) return beside.string();
  }
  return kWriterName;
}

bool ExportSink::Start(const std::string& writer, const std::string& directory) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    error_ = fmt::format("cannot make a pipe: {}", std::strerror(errno));
    return false;
  }
  signal(SIGPIPE, SIG_IGN);  // a helper that ended shows by a failed write
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[0], STDIN_FILENO);
  const char* argv[] = {writer.c_str(), directory.c_str(), nullptr};
  const int failed =
      posix_spawnp(&pid_, writer.c_str(), &actions, nullptr, const_cast<char**>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[0]);
  if (failed != 0) {
    pid_ = -1;
    close(fds[1]);
    error_ = fmt::format("cannot run {}: {} (it is built where librocksdb-dev is installed)",
                         writer, std::strerror(failed));
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

bool ExportSink::Finish() {
  bool sent = true;
  if (pipe_ != nullptr) sent = std::fclose(pipe_) == 0;
  pipe_ = nullptr;
  int status = 0;
  const bool ended = pid_ > 0 && waitpid(pid_, &status, 0) == pid_;
  pid_ = -1;
  if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 1) return false;  // it said why
  if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 && sent) return true;
  error_ = "the writer of RocksDB ended too early";
  return false;
}

ExportSink::~ExportSink() {
  // By the end of the stream, not by a signal: the helper removes what it began.
  if (pipe_ != nullptr) std::fclose(pipe_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

}  // namespace compassdb_cli
