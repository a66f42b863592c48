// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/family.h"
#include "support/op.h"

namespace compassdb_test {

using Entries = std::vector<std::pair<std::string, std::string>>;

// The expected contents of a database: per family an ordered map from key to its
// versions. Merges are resolved when they are applied, so a version is a value or
// its absence. Thread safety: none.
// Invariant: versions of a key ascend by sequence; a version that no pinned
// sequence can see is dropped on the next write to its key.
class Model {
 public:
  explicit Model(std::vector<FamilySpec> specs);

  const FamilySpec& spec(int family) const { return specs_[family]; }
  uint64_t sequence() const { return sequence_; }
  bool HasFamily(int family) const { return families_[family] != nullptr; }
  void CreateFamily(int family);
  void DropFamily(int family);

  // Applies a batch's items in order, savepoints and rollbacks included.
  void Write(const std::vector<WriteItem>& items);

  std::optional<std::string> Get(int family, const std::string& key, uint64_t sequence) const;
  Entries Scan(int family, uint64_t sequence) const;

  // The visible neighbour of `key` at `sequence`: the first entry at or after
  // (or strictly after) it, respectively at or before. Null key: from the edge.
  using Entry = std::optional<std::pair<std::string, std::string>>;
  Entry AtOrAfter(int family, const std::string* key, bool strict, uint64_t sequence) const;
  Entry AtOrBefore(int family, const std::string* key, bool strict, uint64_t sequence) const;
  bool Less(int family, const std::string& a, const std::string& b) const;

  // Keeps what is visible at a sequence. Pins count.
  void Pin(uint64_t sequence) { pins_.insert(sequence); }
  void Unpin(uint64_t sequence) { pins_.erase(pins_.find(sequence)); }

 private:
  struct Version {
    uint64_t sequence;
    std::optional<std::string> value;
  };
  struct KeyLess {
    bool reverse;
    bool operator()(const std::string& a, const std::string& b) const {
      return reverse ? b < a : a < b;
    }
  };
  using Table = std::map<std::string, std::vector<Version>, KeyLess>;

  void Apply(const WriteItem& item);
  void SetVersion(std::vector<Version>* versions, std::optional<std::string> value);
  static const std::string* Visible(const std::vector<Version>& versions, uint64_t sequence);

  std::vector<FamilySpec> specs_;
  std::vector<std::unique_ptr<Table>> families_;
  std::multiset<uint64_t> pins_;
  uint64_t sequence_ = 0;
};

// The list with rolled-back items taken out: what a batch really does.
std::vector<WriteItem> EffectiveItems(const std::vector<WriteItem>& items);

}  // namespace compassdb_test
