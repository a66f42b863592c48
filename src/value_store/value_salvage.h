// SPDX-License-Identifier: Apache-2.0
// For RepairDB: which separated values exist, and what can be read of damaged runs.
//
// A damaged run is dropped as a whole, because collections could not read it: its values that tables name are moved
// into the tables. One thread.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "value_store/value_version.h"

namespace compassdb {

class ValueSalvage {
 public:
  // `good` have been read as a whole, `bad` are damaged or missing.
  // `superseded`: numbers of values in good runs that the next collection would drop, ascending.
  ValueSalvage(const ValueVersion* good, std::vector<ValueRunRef> bad, const std::vector<uint64_t>* superseded)
      : good_(good), bad_(std::move(bad)), superseded_(superseded) {}

  enum class Fate {
    kStays,  // in a good run
    kMoves,  // *value is the value in a bad run
    kGone,
    kSuperseded,  // its group has a newer record of the key, which the tables may have lost
  };
  // For the value that `ref` names for this key.
  Status Find(const Slice& user_key, const KeyHash& hash, const Slice& ref, Fate* fate, std::string* value);

 private:
  using Places = std::unordered_map<uint64_t, ValuePlace>;  // by number
  Status LoadPlaces();
  // *found: the run has that value there.
  static Status Read(const ValueRun& run, const ValuePlace& place, const Slice& user_key, uint64_t number,
                     uint32_t size, bool* found, std::string* value);

  const ValueVersion* const good_;
  const std::vector<ValueRunRef> bad_;
  const std::vector<uint64_t>* const superseded_;
  bool loaded_ = false;
  std::vector<Places> places_;  // as bad_; empty: the run's own index is used
};

}  // namespace compassdb
