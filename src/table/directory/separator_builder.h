// SPDX-License-Identifier: Apache-2.0
// Builds the separators of a piece (table/directory/separator_index.h).
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/directory/key_number.h"
#include "table/directory/separator_format.h"
#include "table/piece/key_order.h"

namespace compassdb {

using rocksdb::Slice;

class SeparatorBuilder {
 public:
  explicit SeparatorBuilder(const KeyOrder& order) : order_(order) {}

  // Block after block: its first and last user key, and its stored length.
  void Add(const Slice& first, const Slice& last, uint64_t stored_length);
  // False if the parts exceed the format's 4 GiB. No call may follow.
  bool Finish(std::string* out);

 private:
  struct Group;  // one being encoded

  uint32_t num_blocks() const { return static_cast<uint32_t>(offsets_.size() - 1); }
  Slice Key(size_t i) const {
    return Slice(keys_.data() + key_ends_[i], key_ends_[i + 1] - key_ends_[i]);
  }
  Slice First(uint32_t block) const { return Key(size_t{2} * block); }
  Slice Last(uint32_t block) const { return Key(size_t{2} * block + 1); }
  // The key after the prefix of all keys, and `skip` more bytes.
  Slice Rest(const Slice& key, size_t skip = 0) const;
  uint64_t Number(const KeyNumbering& numbering, const Slice& key, size_t skip = 0) const;
  bool KeyContinues(uint32_t block) const {
    return block + 1 < num_blocks() && order_.Compare(Last(block), First(block + 1)) == 0;
  }

  SeparatorKind Kind() const;
  KeyNumbering ChooseNumbering();
  size_t ChooseSkip(const KeyNumbering& numbering, uint32_t first, uint32_t end) const;
  void EncodeStrings();
  void EncodeCodes(const KeyNumbering& numbering);
  void EncodeGroup(const KeyNumbering& numbering, Group* group);
  void ChooseWidths(Group* group) const;
  void AppendCodes(Group* group);
  void AppendOffsets(Group* group);
  void AppendException(uint32_t block, const Slice& separator);

  const KeyOrder order_;
  std::string keys_;  // first, last, first, last, ...
  std::vector<size_t> key_ends_{0};
  std::vector<uint64_t> offsets_{0};

  size_t prefix_ = 0;
  KeyAlphabet alphabet_;
  uint8_t symbols_ = 0;
  uint64_t base_ = 0;
  std::vector<uint64_t> top_;
  std::vector<SeparatorGroup> groups_;
  std::string positions_;
  std::vector<size_t> exception_ends_;
  std::string streams_;
  std::string strings_;
};

}  // namespace compassdb
