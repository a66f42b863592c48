// SPDX-License-Identifier: Apache-2.0
// Records of the overflow store that are read together, up to a bound of memory.
//
// Thread safety: one thread at a time. The runs of its indexes must outlive it.
#pragma once

#include <string>
#include <vector>

#include "env/aligned_reads.h"
#include "tableless/overflow/overflow_index.h"

namespace compassdb {

class OverflowBatch {
 public:
  static constexpr size_t kMaxBytes = 8 << 20;

  // Reads count in `statistics`, which may be null.
  explicit OverflowBatch(rocksdb::Statistics* statistics = nullptr) : statistics_(statistics) {}

  // The next Read reads all records of this hash in the index; false if it has none.
  bool Add(const OverflowIndex& index, const KeyHash& hash);
  // Reads the added records, without those that exceed kMaxBytes in all.
  void Read();
  // The record of a key whose hash was added, and the entry's name; the record is valid until Clear.
  // NotFound if there is none, Incomplete if it did not fit kMaxBytes.
  Status Find(const Slice& user_key, const KeyHash& hash, PageRecord* record,
              OverflowEntryNames::value_type* name = nullptr) const;
  void Clear();

  uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Wanted {
    OverflowIndex::Entry at;
    const OverflowRun* run = nullptr;
    std::shared_ptr<CompactionFile> file;  // to keep it open
    Status status;
    PageRecord record;
  };

  rocksdb::Statistics* const statistics_;
  std::vector<Wanted> wanted_;  // by hash, once read
  AlignedBuffer room_;
  size_t records_read_ = 0;
  uint64_t bytes_read_ = 0;
};

}  // namespace compassdb
