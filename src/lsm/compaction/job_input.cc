// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/job_input.h"

#include <cassert>

#include "iter/merging_iterator.h"

namespace compassdb {

void BoundedIterator::SeekToLast() { assert(false); }
void BoundedIterator::Seek(const Slice&) { assert(false); }
void BoundedIterator::SeekForPrev(const Slice&) { assert(false); }
void BoundedIterator::Prev() { assert(false); }

namespace {

// Lets the merging iterator own a child that lives elsewhere.
class Borrowed : public InternalIterator {
 public:
  explicit Borrowed(InternalIterator* it) : it_(it) {}
  bool Valid() const override { return it_->Valid(); }
  void SeekToFirst() override { it_->SeekToFirst(); }
  void SeekToLast() override { it_->SeekToLast(); }
  void Seek(const Slice& target) override { it_->Seek(target); }
  void SeekForPrev(const Slice& target) override { it_->SeekForPrev(target); }
  void Next() override { it_->Next(); }
  void Prev() override { it_->Prev(); }
  Slice key() const override { return it_->key(); }
  Slice value() const override { return it_->value(); }
  Status status() const override { return it_->status(); }

 private:
  InternalIterator* const it_;
};

}  // namespace

JobInput::JobInput(const InternalKeyComparator* cmp, const KeyHasher& hasher,
                   InternalIterator* delta, std::vector<InternalIteratorPtr> victims,
                   const BaseTable* base)
    : cmp_(cmp), hasher_(hasher), delta_(delta), base_(base) {
  filtering_ = base != nullptr && !base->whole() && !victims.empty();
  std::vector<InternalIteratorPtr> children;
  children.push_back(std::make_unique<Borrowed>(delta));
  for (auto& v : victims) children.push_back(std::move(v));
  merged_ = NewMergingIterator(cmp, std::move(children));
}

bool JobInput::OnDelta() const {
  return delta_->Valid() && cmp_->Compare(delta_->key(), merged_->key()) == 0;
}

void JobInput::Settle() {
  if (!filtering_) return;
  while (merged_->Valid()) {
    const Slice user_key = ExtractUserKey(merged_->key());
    if (!current_.known || cmp_->CompareUserKey(current_.user_key, user_key) != 0) {
      current_.user_key.assign(user_key.data(), user_key.size());
      current_.known = true;
      // Versions come newest first, and the delta's are newer than the base's.
      current_.in_delta = OnDelta();
      current_.hash = hasher_(user_key);
      current_.newest_stays = base_->NewestStays(current_.hash);
    }
    if (!current_.newest_stays || (current_.in_delta && OnDelta()) ||
        !base_->Shadowed(current_.hash, ExtractSequence(merged_->key()))) {
      break;
    }
    merged_->Next();
  }
  if (merged_->Valid() &&
      (!shown_[0].known || cmp_->CompareUserKey(shown_[0].user_key, current_.user_key) != 0)) {
    std::swap(shown_[0], shown_[1]);
    shown_[0] = current_;
  }
}

void JobInput::SeekToFirst() {
  merged_->SeekToFirst();
  Settle();
}

void JobInput::Next() {
  merged_->Next();
  Settle();
}

bool JobInput::IsStale(const Slice& user_key) const {
  for (const KeyState& k : shown_) {
    if (k.known && cmp_->CompareUserKey(k.user_key, user_key) == 0) {
      return k.newest_stays && !k.in_delta;
    }
  }
  return false;
}

void JobInput::SeekToLast() { assert(false); }
void JobInput::Seek(const Slice&) { assert(false); }
void JobInput::SeekForPrev(const Slice&) { assert(false); }
void JobInput::Prev() { assert(false); }

}  // namespace compassdb
