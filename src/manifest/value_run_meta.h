// SPDX-License-Identifier: Apache-2.0
// What the manifest says about a run of separated values (value_store/, docs/formats/value_run.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "table/piece/piece_meta.h"

namespace compassdb {

// A segment group: the keys whose hash (KeyHash::h1) begins with these bits.
struct ValueGroup {
  uint32_t prefix = 0;
  uint32_t bits = 0;  // 0: all keys; at most kMaxValueGroupBits
  bool Contains(uint64_t h1) const { return bits == 0 || h1 >> (64 - bits) == prefix; }
  // Contains every key of `o`.
  bool Contains(const ValueGroup& o) const {
    return bits <= o.bits && o.prefix >> (o.bits - bits) == prefix;
  }
  bool Overlaps(const ValueGroup& o) const { return Contains(o) || o.Contains(*this); }
  friend bool operator==(const ValueGroup&, const ValueGroup&) = default;
};

inline constexpr uint32_t kMaxValueGroupBits = 16;

// Bytes that a job wrote, counted in a sum until the store installs or abandons them. Thread safe.
class UncommittedBytes {
 public:
  explicit UncommittedBytes(std::shared_ptr<std::atomic<uint64_t>> sum) : sum_(std::move(sum)) {}
  ~UncommittedBytes() { End(); }
  UncommittedBytes(const UncommittedBytes&) = delete;
  UncommittedBytes& operator=(const UncommittedBytes&) = delete;
  void Add(uint64_t bytes) {
    bytes_ += bytes;
    *sum_ += bytes;
  }
  void End() { *sum_ -= bytes_.exchange(0); }

 private:
  const std::shared_ptr<std::atomic<uint64_t>> sum_;
  std::atomic<uint64_t> bytes_{0};
};

// A run of values: values of one group that one job wrote, with the notices for the group.
struct ValueRunMeta {
  uint64_t run_id = 0;
  Extent extent;
  uint64_t file_id = 0;  // of the file, part of every checksum
  ValueGroup group;
  bool cold = false;  // values that were not updated between their insertion and a GC
  uint64_t num_values = 0;
  uint64_t num_notices = 0;    // of superseded keys and dead values
  uint64_t records_bytes = 0;  // the first section: values with their keys
  uint64_t keys_bytes = 0;     // the second
  uint64_t places_bytes = 0;   // the third
  uint64_t raw_bytes = 0;      // of the values, uncompressed
  uint64_t min_number = 0;     // of its values; 0 and 0 if there are none
  uint64_t max_number = 0;
  // Estimated bytes of values of the group that are garbage since this run. After a collection that
  // kept runs, minus what those have. The sum over the group's runs counts.
  int64_t dead_hint = 0;
  // Bytes of its values that only snapshots see. They are garbage once no snapshot from the first to the
  // last of these exists. Not in the manifest, where they count as garbage: no snapshot outlives a close.
  int64_t pinned_hint = 0;
  uint64_t pinned_from = UINT64_MAX;
  uint64_t pinned_to = 0;
  // A counting collection wrote it. Not in the manifest.
  bool counted = false;
  uint64_t creation_time = 0;  // seconds since 1970; of a GC's output: of its oldest input

  // Which rule does not hold; null: all do. A recovered run is asked, too.
  const char* BrokenInvariant() const {
    if (group.bits > kMaxValueGroupBits || group.prefix >> group.bits != 0) return "the group of values is one";
    if (min_number > max_number) return "the numbers of values are a range";
    if (num_values == 0 && max_number != 0) return "where there are no values there is no number";
    if (num_values > 0 && num_values - 1 > max_number - min_number) return "values have numbers of their own";
    return nullptr;
  }
};

}  // namespace compassdb
