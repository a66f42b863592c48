// SPDX-License-Identifier: Apache-2.0
// Writes the records of a piece in slot or hash order: they are added in key order, held in memory, and
// written after the last one.
//
// Memory: the records' bytes, 24 bytes per record and, while finishing, about 60 per key.
//
// One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "perfect_hash/build_options.h"
#include "table/piece/hashed_index.h"
#include "table/piece/key_order.h"
#include "table/piece/piece_hashes.h"
#include "util/arena.h"

namespace compassdb {

class HashedWriter {
 public:
  // A block with at least `full` bytes takes no record that makes it exceed block_payload.
  HashedWriter(DataOrder order, const KeyOrder& key_order, size_t block_payload, size_t full)
      : order_(order), key_order_(key_order), block_payload_(block_payload), full_(full) {}

  void Add(const ParsedInternalKey& key, const Slice& value, bool new_key);
  uint64_t bytes() const { return bytes_; }  // of keys and values held

  // If there are too many records: returns them in the order of Add.
  // Keys are numbered from 0.
  Status Drain(const std::function<Status(const ParsedInternalKey&, size_t key_number,
                                          const Slice& value)>& take) const;

  struct Output {
    // Writes a data block (empties the builder) or a page of the reverse index; returns the bytes
    // that were written to the file.
    std::function<Status(BlockBuilder*, uint64_t*)> block;
    std::function<Status(std::string payload, uint64_t*)> page;
  };
  struct Finished {
    std::string index;  // sections
    std::string separators;
    uint64_t num_blocks = 0;  // empty ones included
  };
  // Sorts `hashes` from key order into the order of the data.
  Status Finish(const perfect_hash::BuildOptions& function, const Output& out, PieceHashes* hashes,
                Finished* finished);

 private:
  struct Record {
    const char* data;  // user key, then value
    uint32_t key_length;
    uint32_t value_length;
    uint64_t trailer;
  };
  Slice KeyOf(const Record& r) const { return Slice(r.data, r.key_length); }
  Slice ValueOf(const Record& r) const { return Slice(r.data + r.key_length, r.value_length); }
  uint32_t EndOf(uint32_t key) const {
    return key + 1 < first_.size() ? first_[key + 1] : static_cast<uint32_t>(records_.size());
  }
  std::vector<uint32_t> BytesPerKey() const;
  Status WriteBlocks(const HashedLayout& layout, const PieceHashes& hashes, const Output& out,
                     std::vector<RecordPlace>* places, std::vector<uint64_t>* offsets);
  Status WritePages(const std::vector<RecordPlace>& places,
                    const std::vector<uint32_t>& differences, const OrderWidths& widths,
                    const Output& out, uint64_t* page_length) const;
  std::vector<uint32_t> Differences() const;
  bool Separators(std::string* out) const;

  const DataOrder order_;
  const KeyOrder key_order_;
  const size_t block_payload_;
  const size_t full_;
  Arena arena_{1 << 20};
  uint64_t bytes_ = 0;
  std::vector<Record> records_;
  std::vector<uint32_t> first_;  // each key's first record
};

}  // namespace compassdb
