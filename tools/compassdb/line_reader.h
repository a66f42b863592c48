// SPDX-License-Identifier: Apache-2.0
// Lines of a file, a pipe or standard input, which is opened once and read once from its beginning to its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace compassdb_cli {

// Of an input whose size only its end shows, which may never come.
inline constexpr uint64_t kMostStreamBytes = 1 << 30;

class LineReader {
 public:
  // "-": standard input.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;

  // For messages.
  const std::string& name() const { return name_; }
  // Sets *line without its end. False: there is no more, or an error if error() is not empty.
  bool Next(std::string* line);
  const std::string& error() const { return error_; }

 private:
  // More bytes in the buffer. False: the end, or an error.
  bool Fill();

  std::string name_;
  int fd_ = -1;
  uint64_t most_bytes_ = 0;  // of a line
  uint64_t lines_ = 0;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // of what is in the buffer
  std::string error_;
};

}  // namespace compassdb_cli
