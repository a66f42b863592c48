// SPDX-License-Identifier: Apache-2.0
// What a check has found that continues after damage. Its status has a line for each finding.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <string>

#include "rocksdb/status.h"

namespace compassdb {

class Findings {
 public:
  void Add(const rocksdb::Status& s) {
    if (s.IsCorruption()) {
      if (++count_ > kMostLines) return;
      if (count_ > 1) {
        lines_ += "\n" + s.ToString();
      } else if (s.getState() != nullptr) {
        lines_ = s.getState();
      }
    } else if (!s.ok() && error_.ok()) {
      error_ = s;
    }
  }

  // Corruption if any was found, else the first error.
  rocksdb::Status ToStatus() const {
    if (count_ == 0) return error_;
    std::string lines = lines_;
    if (count_ > kMostLines) lines += "\nand " + std::to_string(count_ - kMostLines) + " more";
    if (!error_.ok()) lines += "\n" + error_.ToString();
    return rocksdb::Status::Corruption(lines);
  }

 private:
  static constexpr size_t kMostLines = 20;

  std::string lines_;
  size_t count_ = 0;
  rocksdb::Status error_;
};

}  // namespace compassdb
