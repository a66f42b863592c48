// SPDX-License-Identifier: Apache-2.0
// Where an iterator's walk ends: at a bound, or at the end of a prefix.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "db/read/version_order.h"
#include "filter/prefix_seek.h"
#include "rocksdb/slice_transform.h"

namespace compassdb {

class WalkRange {
 public:
  // Bounds, which may be null, are borrowed from the user. `same_prefix` (may be null): walks end with the prefix
  // that they began with. `prefix_seek` (may be null): the internal iterators use it.
  WalkRange(const VersionOrder* order, const Slice* lower, const Slice* upper,
            std::shared_ptr<const rocksdb::SliceTransform> same_prefix,
            std::shared_ptr<PrefixSeek> prefix_seek)
      : order_(*order),
        lower_(lower),
        upper_(upper),
        extractor_(std::move(same_prefix)),
        prefix_seek_(std::move(prefix_seek)) {}

  const Slice* lower() const { return lower_; }
  const Slice* upper() const { return upper_; }

  // For stored keys.
  bool IsBelow(const Slice& key) const { return lower_ != nullptr && order_.CompareBound(key, *lower_) < 0; }
  bool IsAbove(const Slice& key) const { return upper_ != nullptr && order_.CompareBound(key, *upper_) >= 0; }
  bool HasPrefix(const Slice& key) const { return !has_prefix_ || SharesPrefix(key); }

  // A seek begins.
  void Restart() {
    has_prefix_ = false;
    if (prefix_seek_ != nullptr) prefix_seek_->Stop();
  }
  // From here on only keys with the prefix of `key`, which has no timestamp, count.
  void TakePrefix(const Slice& key) {
    if (extractor_ == nullptr) return;
    has_prefix_ = extractor_->InDomain(key);
    if (!has_prefix_) return;
    const Slice prefix = extractor_->Transform(key);
    prefix_.assign(prefix.data(), prefix.size());
  }
  void StartPrefixSeek(const Slice& from) {
    if (prefix_seek_ != nullptr) prefix_seek_->Start(from, upper_, order_.comparator());
  }
  // Backward in automatic mode the result may have another prefix, and steps forward from it, too.
  void StartPrefixSeekBackward(const Slice& from) {
    if (prefix_seek_ != nullptr && !prefix_seek_->automatic) StartPrefixSeek(from);
  }
  void TurnBackward() {
    if (prefix_seek_ != nullptr && prefix_seek_->automatic) prefix_seek_->Stop();
  }

 private:
  bool SharesPrefix(const Slice& key) const {
    const Slice bare = order_.Bare(key);
    return extractor_->InDomain(bare) && extractor_->Transform(bare) == Slice(prefix_);
  }

  const VersionOrder& order_;
  const Slice* const lower_;
  const Slice* const upper_;
  const std::shared_ptr<const rocksdb::SliceTransform> extractor_;
  const std::shared_ptr<PrefixSeek> prefix_seek_;
  bool has_prefix_ = false;
  std::string prefix_;
};

// ReadOptions::max_skippable_internal_keys.
class SkipLimit {
 public:
  explicit SkipLimit(uint64_t most) : most_(most) {}
  void Restart() { looked_at_ = 0; }  // a call begins
  // Counts an entry. False past the limit.
  bool Count() {
    if (most_ > 0 && looked_at_ > most_) return false;
    ++looked_at_;
    return true;
  }
  // Entries under a range tombstone do not count: RocksDB's iterators never see them.
  void Uncount() { --looked_at_; }

 private:
  const uint64_t most_;  // 0: no limit
  uint64_t looked_at_ = 0;
};

}  // namespace compassdb
