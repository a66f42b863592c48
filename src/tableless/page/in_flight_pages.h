// SPDX-License-Identifier: Apache-2.0
// Images of pages without a journal, while they are written in place: a page that is read at that time fails its
// checksum, and its image is here.
//
// Thread safety: all methods. Lock order: mu_ is a leaf.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "util/mutex.h"

namespace compassdb {

class InFlightPages {
 public:
  // Whole pages of one file, adjacent if a request has several. They stay until Remove of the same vector.
  void Add(uint64_t file_number, size_t page_bytes, const std::vector<WriteRequest>* requests);
  void Remove(const std::vector<WriteRequest>* requests);
  bool Copy(uint64_t file_number, uint64_t page, std::string* image) const;
  // How often Remove was called: a read may have read a page whose write has ended since.
  uint64_t ended() const;

 private:
  struct Batch {
    uint64_t file_number;
    size_t page_bytes;
  };
  mutable Mutex mu_;
  std::map<const std::vector<WriteRequest>*, Batch> batches_ GUARDED_BY(mu_);  // at most one per writing thread
  uint64_t ended_ GUARDED_BY(mu_) = 0;
};

}  // namespace compassdb
