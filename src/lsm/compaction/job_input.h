// SPDX-License-Identifier: Apache-2.0
// The merged input of one region of a compaction: the delta's records within
// the region, and the victims of the region's base table.
#pragma once

#include <string>
#include <vector>

#include "iter/internal_iterator.h"
#include "lsm/compaction/base_table.h"

namespace compassdb {

// Shows the entries of `input` up to a user key. The input moves on from
// region to region; SeekToFirst does not move it. Forward only.
class BoundedIterator : public InternalIterator {
 public:
  // `upper` (exclusive; null: no bound) outlives this.
  BoundedIterator(const Comparator* cmp, InternalIterator* input, const std::string* upper)
      : cmp_(cmp), input_(input), upper_(upper) {}
  bool Valid() const override {
    return input_->Valid() &&
           (upper_ == nullptr || cmp_->Compare(ExtractUserKey(input_->key()), *upper_) < 0);
  }
  void SeekToFirst() override {}
  void Next() override { input_->Next(); }
  Slice key() const override { return input_->key(); }
  Slice value() const override { return input_->value(); }
  Status status() const override { return input_->status(); }
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Prev() override;

 private:
  const Comparator* const cmp_;
  InternalIterator* const input_;
  const std::string* const upper_;
};

// Merges the delta with victims, without records that are shadowed by pieces
// that stay. Forward only.
class JobInput : public InternalIterator {
 public:
  // `delta` and `base` (may be null) outlive this.
  JobInput(const InternalKeyComparator* cmp, const KeyHasher& hasher, InternalIterator* delta,
           std::vector<InternalIteratorPtr> victims, const BaseTable* base);

  // The key has a newer record in a piece that stays, and none in the delta.
  // Asked for the user key of the current record or of the record before it.
  bool IsStale(const Slice& user_key) const;

  bool Valid() const override { return merged_->Valid(); }
  void SeekToFirst() override;
  void Next() override;
  Slice key() const override { return merged_->key(); }
  Slice value() const override { return merged_->value(); }
  Status status() const override { return merged_->status(); }
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Prev() override;

 private:
  struct KeyState {
    std::string user_key;
    bool known = false;
    bool in_delta = false;
    bool newest_stays = false;
    KeyHash hash;
  };
  // Reads the record at merged_; skips shadowed ones.
  void Settle();
  bool OnDelta() const;

  const InternalKeyComparator* const cmp_;
  const KeyHasher hasher_;
  InternalIterator* const delta_;
  const BaseTable* const base_;
  bool filtering_ = false;  // some pieces of the base stay
  InternalIteratorPtr merged_;
  KeyState current_;    // of the current record
  KeyState shown_[2];   // of the record now shown; of the one before with another key
};

}  // namespace compassdb
