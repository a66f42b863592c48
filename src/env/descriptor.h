// SPDX-License-Identifier: Apache-2.0
// A file descriptor, closed at the end unless it was given away: also where memory runs out in between.
#pragma once

#include <unistd.h>

#include <utility>

namespace compassdb {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace compassdb
