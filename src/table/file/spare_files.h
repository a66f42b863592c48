// SPDX-License-Identifier: Apache-2.0
// Compaction files and logs that are created in advance, empty, several with one sync of their
// directory. A job that writes one then needs no sync for the directory entry (BoLT 3.1).
//
// DeleteAll deletes unused ones. After a crash the next open does: to it they are files that no
// manifest names, or empty logs behind the last one.
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

class SpareFiles {
 public:
  using NameOf = std::string (*)(const std::string& dir, uint64_t number);
  // `new_number` returns file numbers; thread safe.
  SpareFiles(FileSystem* fs, NameOf name_of, std::function<uint64_t()> new_number)
      : fs_(fs), name_of_(name_of), new_number_(std::move(new_number)) {}

  // A file that exists in `dir`, empty, with a durable entry. The caller creates it again, which
  // truncates it, and writes it. Numbers of a directory ascend. Whenever a directory has none left,
  // twice as many are created, up to kMost.
  Status Take(const std::string& dir, uint64_t* number);
  // Those that were not taken.
  void DeleteAll();

  static constexpr size_t kMost = 16;

 private:
  struct Made {
    std::vector<uint64_t> numbers;  // the next one last
    size_t at_once = 0;
  };
  Status MakeMore(const std::string& dir, size_t n, std::vector<uint64_t>* numbers);

  FileSystem* const fs_;
  const NameOf name_of_;
  const std::function<uint64_t()> new_number_;
  Mutex mu_;
  std::map<std::string, Made> made_ GUARDED_BY(mu_);
};

}  // namespace compassdb
