// SPDX-License-Identifier: Apache-2.0
// Records of the overflow store that are read together.
//
// Thread safety: one thread at a time. The indexes and runs that it is given must stay.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "tableless/overflow_index.h"

namespace compassdb {

class OverflowBatch {
 public:
  // Whatever the index has for this hash is read by the next Read; false if it has nothing.
  bool Add(const OverflowIndex& index, const KeyHash& hash);
  // Reads what was added.
  void Read();
  // The record of a key whose hash was added, among what was read, and the entry's name; what the record
  // points to stays until Clear. NotFound if there is none.
  Status Find(const Slice& user_key, const KeyHash& hash, PageRecord* record,
              OverflowEntryNames::value_type* name = nullptr) const;
  void Clear();

  // By the last Read.
  size_t records_read() const { return requests_.size(); }
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Wanted {
    OverflowIndex::Entry at;
    const OverflowRun* run = nullptr;
    Status status;
    PageRecord record;
  };

  std::vector<Wanted> wanted_;  // by hash, once read
  std::vector<ReadRequest> requests_;
  std::vector<std::shared_ptr<CompactionFile>> files_;  // to keep them open
  std::string room_;
  uint64_t bytes_read_ = 0;
};

}  // namespace compassdb
