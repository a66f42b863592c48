// SPDX-License-Identifier: Apache-2.0
// The key that an iterator is at, and the copies for pin_data.
#pragma once

#include <cstring>
#include <string>

#include "db/read/version_order.h"
#include "util/arena.h"

namespace compassdb {

class CurrentKey {
 public:
  // `pinned`: returned keys stay valid as long as this exists.
  CurrentKey(const VersionOrder* order, bool pinned) : order_(*order), pins_(pinned) {}

  void Set(const Slice& user_key) { stored_.assign(user_key.data(), user_key.size()); }
  // The version of the result, or in a history of one result.
  void SetVersion(const ParsedInternalKey& entry) {
    if (!order_.has_timestamps()) return;
    Set(entry.user_key);
    if (!order_.history()) return;
    internal_.clear();
    AppendInternalKey(&internal_, stored_, entry.sequence,
                      entry.type == kTypeDeletion ? kTypeDeletionWithTimestamp : entry.type);
  }
  // It is shown from now on.
  void Found() {
    if (pins_) [[unlikely]] Pin();
  }

  const std::string& stored() const { return stored_; }  // with its timestamp
  Slice bare() const { return order_.Bare(stored_); }
  Slice timestamp() const { return TimestampOf(stored_, order_.timestamp_size()); }
  // The key for users: in a history an internal key.
  Slice shown() const {
    if (pins_) return pinned_;
    return order_.has_timestamps() ? Unpinned() : Slice(stored_);
  }
  bool pins() const { return pins_; }

 private:
  Slice Unpinned() const { return order_.history() ? Slice(internal_) : bare(); }
  void Pin() {
    const Slice key = Unpinned();
    char* const copy = arena_.Allocate(key.size());
    if (!key.empty()) memcpy(copy, key.data(), key.size());
    pinned_ = Slice(copy, key.size());
  }

  const VersionOrder& order_;
  const bool pins_;
  std::string stored_;
  std::string internal_;  // in a history
  Slice pinned_;
  Arena arena_;  // every returned key, if they are pinned
};

}  // namespace compassdb
