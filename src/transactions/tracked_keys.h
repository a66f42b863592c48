// SPDX-License-Identifier: Apache-2.0
// The keys that a transaction locks, or checks at the commit.
//
// Thread safety: none; a transaction belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "format/internal_key.h"

namespace compassdb {

struct TrackedKey {
  SequenceNumber sequence = 0;  // no other write to the key between this and its tracking
  uint32_t reads = 0;           // GetForUpdate
  uint32_t writes = 0;
  bool exclusive = false;
};

class TrackedKeys {
 public:
  using Keys = std::unordered_map<std::string, TrackedKey>;
  enum class Undone { kNothing, kSome, kAll };

  // Once more; the sequence can only decrease.
  void Track(uint32_t family, const std::string& key, SequenceNumber sequence, bool read_only,
             bool exclusive);
  // One read less; kAll: the key is no longer tracked.
  Undone UndoRead(uint32_t family, const std::string& key);
  const TrackedKey* Find(uint32_t family, const std::string& key) const;

  // Adds, or subtracts, the counts of `other`.
  void Merge(const TrackedKeys& other);
  void Subtract(const TrackedKeys& other);
  // The keys that were only tracked within `since`, a part of this.
  TrackedKeys TakenOnlyIn(const TrackedKeys& since) const;

  uint64_t count() const;
  bool empty() const { return count() == 0; }
  void Clear() { families_.clear(); }
  const std::map<uint32_t, Keys>& families() const { return families_; }

 private:
  std::map<uint32_t, Keys> families_;
};

}  // namespace compassdb
