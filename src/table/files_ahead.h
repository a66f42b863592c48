// SPDX-License-Identifier: Apache-2.0
// Compaction files that are made before a job wants them, empty, several with one sync of their
// directory: so a job that writes one needs no barrier for the directory entry (BoLT 3.1).
//
// What is left over is deleted by DeleteAll, or after a crash by the next open, to which it is a
// file that no manifest names.
//
// Thread safety: all methods.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "util/mutex.h"

namespace compassdb {

class FilesAhead {
 public:
  // `new_number` gives file numbers; thread safe.
  FilesAhead(FileSystem* fs, std::function<uint64_t()> new_number)
      : fs_(fs), new_number_(std::move(new_number)) {}

  // A file that exists in `dir`, empty, and whose entry is durable: to be created again, which
  // truncates it, and written. Each time that a directory has none left, twice as many are made,
  // up to kMost.
  Status Take(const std::string& dir, uint64_t* number);
  // Those that nobody took.
  void DeleteAll();

  static constexpr size_t kMost = 16;

 private:
  struct Ready {
    std::vector<uint64_t> numbers;  // the next one last
    size_t made_at_once = 0;
  };
  Status MakeMore(const std::string& dir, size_t n, std::vector<uint64_t>* numbers);

  FileSystem* const fs_;
  const std::function<uint64_t()> new_number_;
  Mutex mu_;
  std::map<std::string, Ready> ready_ GUARDED_BY(mu_);
};

}  // namespace compassdb
