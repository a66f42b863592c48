// SPDX-License-Identifier: Apache-2.0
// A binary heap of children by their current key: smallest on top going
// forward, largest going backward. While the same child stays in front a step
// costs one comparison, with the child that comes second; otherwise a sift. On a change of direction all other children are positioned
// on the far side of the current key.
#include "iter/merging_iterator.h"

#include <cassert>
#include <string>
#include <utility>

#include "env/read_batch.h"

namespace compassdb {

namespace {

// Caches a child's key, to spare virtual calls in comparisons.
struct Child {
  InternalIteratorPtr iter;
  Slice key;
  size_t index = 0;
  bool valid = false;

  void Update() {
    valid = iter->Valid();
    if (valid) key = iter->key();
  }
};

class MergingIterator final : public InternalIterator {
 public:
  MergingIterator(const InternalKeyComparator* cmp, std::vector<InternalIteratorPtr> iters)
      : cmp_(cmp), children_(iters.size()) {
    for (size_t i = 0; i < iters.size(); ++i) {
      children_[i].iter = std::move(iters[i]);
      children_[i].index = i;
    }
    heap_.reserve(children_.size());
  }

  bool Valid() const override { return !heap_.empty() && status_.ok(); }

  void PrefetchSeek(const Slice* internal_key) override {
    for (Child& c : children_) c.iter->PrefetchSeek(internal_key);
  }
  // Children that read files wait for their reads together.
  void PrepareSeek(const Slice* internal_key, ReadBatch* batch) override {
    for (Child& c : children_) c.iter->PrepareSeek(internal_key, batch);
    prepared_ = true;
  }
  void SeekToFirst() override {
    Begin(nullptr);
    for (Child& c : children_) {
      c.iter->SeekToFirst();
      c.Update();
    }
    Rebuild();
  }
  void SeekToLast() override {
    status_ = Status::OK();
    forward_ = prepared_ = false;
    for (Child& c : children_) {
      c.iter->SeekToLast();
      c.Update();
    }
    Rebuild();
  }
  void Seek(const Slice& target) override {
    Begin(&target);
    for (Child& c : children_) {
      c.iter->Seek(target);
      c.Update();
    }
    Rebuild();
  }
  void SeekForPrev(const Slice& target) override {
    status_ = Status::OK();
    forward_ = prepared_ = false;
    for (Child& c : children_) {
      c.iter->SeekForPrev(target);
      c.Update();
    }
    Rebuild();
  }

  void Next() override {
    assert(Valid());
    if (!forward_) TurnForward();
    if (!Valid()) return;
    Child* const top = heap_[0];
    top->valid = top->iter->NextKey(&top->key);
    Restore();
  }
  bool NextKey(Slice* key) override {
    Next();
    if (!Valid()) return false;
    *key = heap_[0]->key;
    return true;
  }
  void Prev() override {
    assert(Valid());
    if (forward_) TurnBackward();
    if (!Valid()) return;
    heap_[0]->iter->Prev();
    heap_[0]->Update();
    Restore();
  }

  void SkipCovered(const Slice& target, SequenceNumber seq) override {
    assert(Valid() && forward_);
    for (Child& c : children_) {
      if (!c.valid || cmp_->Compare(c.key, target) >= 0) continue;
      c.iter->SkipCovered(target, seq);
      c.Update();
    }
    Rebuild();
  }

  Slice key() const override { return heap_[0]->key; }
  Slice value() const override { return heap_[0]->iter->value(); }
  Status status() const override { return status_; }

 private:
  void Begin(const Slice* target) {
    status_ = Status::OK();
    forward_ = true;
    if (!prepared_) {
      PrefetchSeek(target);
      ReadBatch batch;
      for (Child& c : children_) c.iter->PrepareSeek(target, &batch);
      batch.Wait();
    }
    prepared_ = false;
  }

  // True if a comes before b in the present direction.
  bool Before(const Child* a, const Child* b) const {
    const int r = cmp_->Compare(a->key, b->key);
    if (r != 0) return forward_ ? r < 0 : r > 0;
    return forward_ ? a->index < b->index : a->index > b->index;
  }

  void SiftDown(size_t i) {
    Child* const moving = heap_[i];
    const size_t n = heap_.size();
    for (;;) {
      size_t next = 2 * i + 1;
      if (next >= n) break;
      if (next + 1 < n && Before(heap_[next + 1], heap_[next])) ++next;
      if (!Before(heap_[next], moving)) break;
      heap_[i] = heap_[next];
      i = next;
    }
    heap_[i] = moving;
  }

  void NoteError(const Child& c) {
    if (!status_.ok()) return;
    Status s = c.iter->status();
    if (!s.ok()) status_ = std::move(s);
  }

  void Rebuild() {
    heap_.clear();
    second_ = 0;
    for (Child& c : children_) {
      if (c.valid) {
        heap_.push_back(&c);
      } else {
        NoteError(c);
      }
    }
    for (size_t i = heap_.size() / 2; i-- > 0;) SiftDown(i);
  }

  // The top child has moved. The second child stays known while only the first
  // moves.
  void Restore() {
    Child* const top = heap_[0];
    if (!top->valid) {
      NoteError(*top);
      heap_[0] = heap_.back();
      heap_.pop_back();
      second_ = 0;
      if (heap_.size() > 1) SiftDown(0);
      return;
    }
    if (heap_.size() == 1) return;
    if (second_ == 0) second_ = heap_.size() > 2 && Before(heap_[2], heap_[1]) ? 2 : 1;
    if (!Before(heap_[second_], top)) return;
    heap_[0] = heap_[second_];
    heap_[second_] = top;
    SiftDown(second_);
    second_ = 0;
  }

  // Equal keys of other children follow or precede by index, so that a turn
  // neither repeats nor loses one of them.
  void TurnForward() {
    Child* const current = heap_[0];
    const std::string target = current->key.ToString();
    for (Child& c : children_) {
      if (&c == current) continue;
      c.iter->Seek(target);
      c.Update();
      if (c.valid && c.index < current->index && cmp_->Compare(c.key, target) == 0) {
        c.iter->Next();
        c.Update();
      }
    }
    forward_ = true;
    Rebuild();
    assert(heap_.empty() || !status_.ok() || heap_[0] == current);
  }
  void TurnBackward() {
    Child* const current = heap_[0];
    const std::string target = current->key.ToString();
    for (Child& c : children_) {
      if (&c == current) continue;
      c.iter->SeekForPrev(target);
      c.Update();
      if (c.valid && c.index > current->index && cmp_->Compare(c.key, target) == 0) {
        c.iter->Prev();
        c.Update();
      }
    }
    forward_ = false;
    Rebuild();
    assert(heap_.empty() || !status_.ok() || heap_[0] == current);
  }

  const InternalKeyComparator* const cmp_;
  std::vector<Child> children_;
  std::vector<Child*> heap_;  // the valid children
  size_t second_ = 0;         // the place in heap_ of the child behind the first; 0: not known
  bool forward_ = true;
  bool prepared_ = false;  // the next seek's reads are done
  Status status_;
};

class EmptyInternalIterator final : public InternalIterator {
 public:
  explicit EmptyInternalIterator(const Status& status) : status_(status) {}
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override { assert(false); }
  void Prev() override { assert(false); }
  Slice key() const override { return Slice(); }
  Slice value() const override { return Slice(); }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

InternalIteratorPtr NewMergingIterator(const InternalKeyComparator* cmp,
                                       std::vector<InternalIteratorPtr> children) {
  if (children.empty()) return NewEmptyInternalIterator();
  if (children.size() == 1) return std::move(children[0]);
  return std::make_unique<MergingIterator>(cmp, std::move(children));
}

InternalIteratorPtr NewEmptyInternalIterator(const Status& status) {
  return std::make_unique<EmptyInternalIterator>(status);
}

}  // namespace compassdb
