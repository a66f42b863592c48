// SPDX-License-Identifier: Apache-2.0
// The keys that a transaction has taken: what it locks, or checks at commit.
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
  SequenceNumber sequence = 0;  // nobody else wrote the key between this and its taking
  uint32_t reads = 0;           // GetForUpdate
  uint32_t writes = 0;
  bool exclusive = false;
};

class TrackedKeys {
 public:
  using Keys = std::unordered_map<std::string, TrackedKey>;
  enum class Undone { kNothing, kSome, kAll };

  // Once more; the sequence goes down only.
  void Track(uint32_t family, const std::string& key, SequenceNumber sequence, bool read_only,
             bool exclusive);
  // One read less; kAll: the key is not tracked any more.
  Undone UndoRead(uint32_t family, const std::string& key);
  const TrackedKey* Find(uint32_t family, const std::string& key) const;

  // Adds, or takes away, what `other` counts.
  void Merge(const TrackedKeys& other);
  void Subtract(const TrackedKeys& other);
  // The keys that were taken within `since`, a part of this, only.
  TrackedKeys TakenOnlyIn(const TrackedKeys& since) const;

  uint64_t count() const;
  bool empty() const { return count() == 0; }
  void Clear() { families_.clear(); }
  const std::map<uint32_t, Keys>& families() const { return families_; }

 private:
  std::map<uint32_t, Keys> families_;
};

}  // namespace compassdb
