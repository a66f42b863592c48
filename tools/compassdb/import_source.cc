// SPDX-License-Identifier: Apache-2.0
#include "import_source.h"

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
#include "exit_codes.h"
#include "interruption.h"

extern char** environ;

namespace compassdb_cli {

namespace {
constexpr char kReaderName[] = "compassdb-rocksdb-reader";
}

std::string FindReader() {
  std::error_code ec;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ec);
  if (!ec) {
    const auto neighbour = self.parent_path() / kReaderName;
    if (std::filesystem::exists(neighbour, ec)) return neighbour.string();
  }
  return kReaderName;
}

bool ImportSource::Start(const std::string& reader, const std::vector<std::string>& arguments) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    error_ = fmt::format("cannot make a pipe: {}", std::strerror(errno));
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  std::vector<const char*> argv{reader.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const int failed =
      posix_spawnp(&pid_, reader.c_str(), &actions, nullptr, const_cast<char**>(argv.data()), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  if (failed != 0) {
    pid_ = -1;
    close(fds[0]);
    error_ = fmt::format("cannot run {}: {}{}", reader, std::strerror(failed),
                         failed == ENOENT ? " (it is built where librocksdb-dev is installed)"
                         : failed == EAGAIN ? " (a limit of processes and threads, as of ulimit -u or pids.max?)"
                                            : "");
    return false;
  }
  Interruption::SetHelper(pid_);
  pipe_ = fdopen(fds[0], "rb");
  if (pipe_ != nullptr) std::setvbuf(pipe_, nullptr, _IOFBF, 1 << 20);
  return pipe_ != nullptr;
}

ImportSource::~ImportSource() {
  if (pipe_ != nullptr) std::fclose(pipe_);
  if (pid_ > 0) {
    kill(pid_, SIGTERM);  // no effect if it has ended by itself
    waitpid(pid_, nullptr, 0);
    Interruption::SetHelper(0);
  }
}

bool ImportSource::Read(char* buffer, uint64_t size) {
  if (std::fread(buffer, 1, size, pipe_) == size) return true;
  int status = 0;
  waitpid(pid_, &status, 0);
  Interruption::SetHelper(0);
  pid_ = -1;
  if (const int interrupted = Interruption::noted(); interrupted != 0) {
    error_ = fmt::format("interrupted by signal {}", interrupted);
    return false;
  }
  error_ = WIFSIGNALED(status)
               ? fmt::format("the reader of RocksDB was ended by signal {}{}", WTERMSIG(status),
                             WTERMSIG(status) == SIGABRT ? ", after the line before this one" : "")
               : fmt::format("the reader of RocksDB ended too early, with exit code {}",
                             WEXITSTATUS(status));
  return false;
}

bool ImportSource::Next(char* type, std::string* payload) {
  char head[9];
  if (!Read(head, sizeof(head))) return false;
  *type = head[0];
  const uint64_t size = compassdb_import::DecodeNumber(head + 1);
  if (size > compassdb_import::kMostPayload) {
    error_ = "the reader of RocksDB sent something else than records";
    return false;
  }
  payload->resize(size);
  if (size > 0 && !Read(payload->data(), size)) return false;
  if (*type == compassdb_import::kNote) {
    Fail(kOk, "import", *payload);
    return Next(type, payload);
  }
  if (*type == compassdb_import::kError) {
    error_ = *payload;
    return false;
  }
  return true;
}

}  // namespace compassdb_cli
