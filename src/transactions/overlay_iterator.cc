// SPDX-License-Identifier: Apache-2.0
#include "transactions/overlay_iterator.h"

#include <iterator>
#include <memory>

#include "iter/merge_helper.h"

namespace compassdb {
namespace {

using Side = BatchIndex::Side;

// Both cursors are at or beyond the current key in the direction of travel;
// the nearer of them, or both, are at it.
class OverlayIterator final : public rocksdb::Iterator {
 public:
  OverlayIterator(const OverlaySource& source, rocksdb::Iterator* base)
      : source_(source), index_(source.index), base_(base), delta_(index_->end()) {}

  bool Valid() const override { return status_.ok() && at_ != At::kNone; }

  void SeekToFirst() override {
    Start(/*forward=*/true);
    base_->SeekToFirst();
    delta_ = source_.lower_bound != nullptr
                 ? index_->Seek(source_.family, Side::kBeforeKey, *source_.lower_bound)
                 : index_->Seek(source_.family, Side::kBeforeFamily);
    Settle();
  }
  void SeekToLast() override {
    Start(/*forward=*/false);
    base_->SeekToLast();
    delta_ = source_.upper_bound != nullptr
                 ? index_->Seek(source_.family, Side::kBeforeKey, *source_.upper_bound)
                 : index_->Seek(source_.family, Side::kBehindFamily);
    Settle();
  }
  void Seek(const Slice& target) override {
    if (source_.lower_bound != nullptr && Compare(target, *source_.lower_bound) < 0) {
      SeekToFirst();
      return;
    }
    Start(/*forward=*/true);
    base_->Seek(target);
    delta_ = index_->Seek(source_.family, Side::kBeforeKey, target);
    Settle();
  }
  void SeekForPrev(const Slice& target) override {
    if (source_.upper_bound != nullptr && Compare(target, *source_.upper_bound) >= 0) {
      SeekToLast();
      return;
    }
    Start(/*forward=*/false);
    base_->SeekForPrev(target);
    delta_ = index_->Seek(source_.family, Side::kBehindKey, target);
    Settle();
  }

  void Next() override { Move(/*forward=*/true); }
  void Prev() override { Move(/*forward=*/false); }

  // Records of the batch get their time later.
  Slice timestamp() const override { return at_ == At::kBase ? base_->timestamp() : Slice(); }

  Slice key() const override { return at_ == At::kBase ? base_->key() : DeltaKey(); }

  Slice value() const override {
    if (at_ == At::kBase) return base_->value();
    const BatchRecord newest = index_->RecordOf(*Newest());
    if (newest.tag != kTypeMerge) return newest.value;
    if (!merged_) {
      const BatchIndex::Update update = index_->Lookup(source_.family, DeltaKey());
      Slice below;
      if (at_ == At::kBoth) below = base_->value();
      status_ = MergeUpdate(source_.has_handle, source_.merge_operator, DeltaKey(), update,
                            at_ == At::kBoth ? &below : nullptr, &result_);
      merged_ = true;
    }
    return result_;
  }

  Status status() const override { return status_.ok() ? base_->status() : status_; }

 private:
  enum class At { kNone, kBase, kDelta, kBoth };

  int Compare(const Slice& a, const Slice& b) const {
    return source_.comparator->CompareWithoutTimestamp(a, false, b, false);
  }

  // delta_ is a place between entries: the next group is behind it going
  // forward, before it going backward.
  bool DeltaValid() const {
    if (forward_ ? delta_ == index_->end() : delta_ == index_->begin()) return false;
    const BatchIndex::Entry& entry = *Nearest();
    if (entry.family != source_.family) return false;
    const Slice key = index_->KeyOf(entry);
    if (source_.upper_bound != nullptr && Compare(key, *source_.upper_bound) >= 0) return false;
    return source_.lower_bound == nullptr || Compare(key, *source_.lower_bound) >= 0;
  }
  BatchIndex::Position Nearest() const { return forward_ ? delta_ : std::prev(delta_); }
  Slice DeltaKey() const { return index_->KeyOf(*Nearest()); }
  // The newest entry of the group.
  BatchIndex::Position Newest() const {
    return forward_ ? std::prev(index_->Seek(source_.family, Side::kBehindKey, DeltaKey()))
                    : std::prev(delta_);
  }

  void Start(bool forward) {
    status_ = Status::OK();
    forward_ = forward;
    merged_ = false;
  }
  void AdvanceBase() { forward_ ? base_->Next() : base_->Prev(); }
  void AdvanceDelta() {
    delta_ = index_->Seek(source_.family, forward_ ? Side::kBehindKey : Side::kBeforeKey,
                          DeltaKey());
  }

  void Settle() {
    while (true) {
      const bool base_valid = base_->Valid();
      at_ = At::kNone;
      if (!base_valid && !base_->status().ok()) return;
      if (!DeltaValid()) {
        if (base_valid) at_ = At::kBase;
        return;
      }
      int order = -1;  // of the delta against the base, in the direction of travel
      if (base_valid) {
        order = Compare(DeltaKey(), base_->key());
        if (!forward_) order = -order;
      }
      if (order > 0) {
        at_ = At::kBase;
        return;
      }
      if (!index_->Lookup(source_.family, DeltaKey()).Deletes()) {
        at_ = order == 0 ? At::kBoth : At::kDelta;
        return;
      }
      AdvanceDelta();
      if (order == 0) AdvanceBase();
    }
  }

  void Move(bool forward) {
    if (!Valid()) {
      status_ = Status::NotSupported(forward ? "Next() on invalid iterator"
                                             : "Prev() on invalid iterator");
      return;
    }
    merged_ = false;
    if (forward != forward_) {
      Turn(forward);
    } else {
      if (at_ != At::kDelta) AdvanceBase();
      if (at_ != At::kBase) AdvanceDelta();
    }
    Settle();
  }

  // Both cursors move beyond the current key, in the other direction.
  void Turn(bool forward) {
    const std::string current = key().ToString();
    forward_ = forward;
    delta_ = index_->Seek(source_.family, forward ? Side::kBehindKey : Side::kBeforeKey, current);
    if (forward) {
      base_->Seek(current);
    } else {
      base_->SeekForPrev(current);
    }
    if (base_->Valid() && Compare(base_->key(), current) == 0) AdvanceBase();
  }

  const OverlaySource source_;
  const BatchIndex* const index_;
  const std::unique_ptr<rocksdb::Iterator> base_;
  BatchIndex::Position delta_;
  bool forward_ = true;
  At at_ = At::kNone;
  mutable Status status_;
  mutable bool merged_ = false;
  mutable std::string result_;
};

}  // namespace

rocksdb::Iterator* NewOverlayIterator(const OverlaySource& source, rocksdb::Iterator* base) {
  return new OverlayIterator(source, base);
}

Status MergeUpdate(bool has_handle, const rocksdb::MergeOperator* merge_operator, const Slice& key,
                   const BatchIndex::Update& update, const Slice* below, std::string* result) {
  if (!has_handle) return Status::InvalidArgument("Must provide a column_family");
  if (merge_operator == nullptr) {
    return Status::InvalidArgument("Merge_operator must be set for column_family");
  }
  const std::vector<Slice> oldest_first(update.operands.rbegin(), update.operands.rend());
  const Slice* base = below;
  if (update.base == BatchIndex::Update::Base::kValue) base = &update.value;
  if (update.base == BatchIndex::Update::Base::kDeleted) base = nullptr;
  MergeEnv env;
  env.op = merge_operator;
  return FullMerge(env, key, base, oldest_first, result);
}

}  // namespace compassdb
