// SPDX-License-Identifier: Apache-2.0
#include "line_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "interruption.h"

namespace compassdb_cli {
namespace {

constexpr size_t kLineBufferBytes = 1 << 20;
// A line of a file: key and value have less than 4 GiB together, and a byte is at most six characters.
constexpr uint64_t kMostFileBytes = uint64_t{25} << 30;
constexpr int kPollMillis = 500;

}  // namespace

LineReader::LineReader(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status = {};
  const bool known = fd_ != -1 && fstat(fd_, &status) == 0;
  if (!known || S_ISDIR(status.st_mode)) {
    error_ = fmt::format("cannot read {}: {}", name_, std::strerror(known ? EISDIR : errno));
  }
  most_bytes_ = S_ISREG(status.st_mode) ? kMostFileBytes : kMostStreamBytes;
  buffer_.resize(kLineBufferBytes);
}

LineReader::~LineReader() {
  if (fd_ > STDIN_FILENO) close(fd_);
}

bool LineReader::Fill() {
  begin_ = end_ = 0;
  while (error_.empty()) {
    // A read that waits would continue after a signal.
    struct pollfd waiting = {fd_, POLLIN, 0};
    const int ready = poll(&waiting, 1, kPollMillis);
    if (const int signal = Interruption::noted(); signal != 0) {
      error_ = fmt::format("{}: interrupted by signal {}", name_, signal);
      return false;
    }
    if (ready == 0) continue;
    const ssize_t n = read(fd_, buffer_.data(), buffer_.size());
    if (n >= 0) {
      end_ = static_cast<size_t>(n);
      return n > 0;
    }
    if (errno != EINTR && errno != EAGAIN) {
      error_ = fmt::format("{}: read error after line {}: {}", name_, lines_, std::strerror(errno));
    }
  }
  return false;
}

bool LineReader::Next(std::string* line) {
  line->clear();
  bool any = false;
  while (error_.empty()) {
    if (begin_ == end_ && !Fill()) return any && error_.empty();
    any = true;
    const char* const from = buffer_.data() + begin_;
    const auto* const newline = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_));
    const size_t bytes = newline != nullptr ? static_cast<size_t>(newline - from) : end_ - begin_;
    if (line->size() + bytes > most_bytes_) {
      error_ = fmt::format("{}: line {} has no end after {} bytes, which are the most that are read", name_, lines_ + 1, most_bytes_);
      return false;
    }
    try {
      line->append(from, bytes);
    } catch (const std::bad_alloc&) {
      error_ = fmt::format("{}: no memory for line {}, of more than {} bytes", name_, lines_ + 1, line->size() + bytes);
      return false;
    }
    begin_ += bytes;
    if (newline == nullptr) continue;
    ++begin_;
    ++lines_;
    return true;
  }
  return false;
}

}  // namespace compassdb_cli
