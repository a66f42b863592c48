// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "exit_codes.h"

namespace compassdb_cli {

void OpenStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // Lower numbers are open, so this becomes `fd`.
    (void)open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
  }
}

void WriteOutput(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stdout); }

void WriteError(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

int FinishOutput(const std::string& command, int code) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return written || code != kOk ? code : Fail(kFailed, command, "cannot write standard output");
}

}  // namespace compassdb_cli
