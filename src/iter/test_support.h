// SPDX-License-Identifier: Apache-2.0
// For tests of iterators and of their users: histories of writes held
// as plain vectors, and a reader of them that is too simple to be wrong.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/range_tombstone.h"
#include "iter/internal_iterator.h"
#include "iter/merge_helper.h"

namespace compassdb::test {

struct TestRecord {
  std::string key;
  SequenceNumber sequence = 0;
  ValueType type = kTypeValue;
  std::string value;
};

inline std::string InternalKeyOf(const TestRecord& r) {
  std::string s;
  AppendInternalKey(&s, r.key, r.sequence, r.type);
  return s;
}

// Joins operands with commas, which is associative. The operand "fail" makes
// full merges fail.
class AppendOperator : public rocksdb::MergeOperator {
 public:
  explicit AppendOperator(bool partial = true) : partial_(partial) {}
  const char* Name() const override { return "AppendOperator"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::string joined = in.existing_value != nullptr ? in.existing_value->ToString() : "";
    bool first = in.existing_value == nullptr;
    for (const Slice& operand : in.operand_list) {
      if (operand == Slice("fail")) return false;
      if (!first) joined += ',';
      joined.append(operand.data(), operand.size());
      first = false;
    }
    out->new_value = joined;
    return true;
  }
  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* result,
                    rocksdb::Logger*) const override {
    if (!partial_) return false;
    *result = left.ToString() + "," + right.ToString();
    return true;
  }

 private:
  const bool partial_;
};

// Internal keys and values in a vector, sorted at construction. Can be made to
// fail after a number of steps.
class VectorIterator : public InternalIterator {
 public:
  VectorIterator(const std::vector<TestRecord>& records, const InternalKeyComparator& cmp)
      : cmp_(cmp) {
    for (const TestRecord& r : records) entries_.emplace_back(InternalKeyOf(r), r.value);
    std::sort(entries_.begin(), entries_.end(), [&](const auto& a, const auto& b) {
      return cmp_.Compare(a.first, b.first) < 0;
    });
    pos_ = entries_.size();
    for (const TestRecord& r : records) largest_ = std::max(largest_, r.sequence);
  }
  void FailAfter(int steps) { steps_left_ = steps; }

  bool Valid() const override { return status_.ok() && pos_ < entries_.size(); }
  void SeekToFirst() override { Move(0); }
  void SeekToLast() override { Move(entries_.empty() ? 0 : entries_.size() - 1); }
  void Seek(const Slice& target) override { Move(LowerBound(target)); }
  void SeekForPrev(const Slice& target) override {
    size_t i = LowerBound(target);
    if (i < entries_.size() && cmp_.Compare(entries_[i].first, target) == 0) {
      Move(i);
    } else {
      Move(i == 0 ? entries_.size() : i - 1);
    }
  }
  void Next() override { Move(pos_ + 1); }
  void Prev() override { Move(pos_ == 0 ? entries_.size() : pos_ - 1); }
  void SkipCovered(const Slice& target, SequenceNumber seq) override {
    if (largest_ < seq) Seek(target);
  }
  Slice key() const override { return entries_[pos_].first; }
  Slice value() const override { return entries_[pos_].second; }
  Status status() const override { return status_; }

 private:
  size_t LowerBound(const Slice& target) const {
    return static_cast<size_t>(std::lower_bound(entries_.begin(), entries_.end(), target,
                                                [&](const auto& e, const Slice& t) {
                                                  return cmp_.Compare(e.first, t) < 0;
                                                }) -
                               entries_.begin());
  }
  void Move(size_t pos) {
    pos_ = pos;
    if (steps_left_ >= 0 && steps_left_-- == 0) status_ = Status::IOError("injected");
  }

  const InternalKeyComparator cmp_;
  std::vector<std::pair<std::string, std::string>> entries_;
  size_t pos_ = 0;
  SequenceNumber largest_ = 0;
  int steps_left_ = -1;
  Status status_;
};

// Bytewise: the value of `key` as read at `snapshot`, or nothing.
inline std::optional<std::string> ReadHistory(const std::vector<TestRecord>& records,
                                              const std::vector<RangeTombstone>& tombstones,
                                              const std::string& key, SequenceNumber snapshot) {
  SequenceNumber covering = 0;
  for (const RangeTombstone& t : tombstones) {
    if (t.sequence <= snapshot && t.start <= key && key < t.end) {
      covering = std::max(covering, t.sequence);
    }
  }
  std::vector<const TestRecord*> versions;
  for (const TestRecord& r : records) {
    if (r.key == key && r.sequence <= snapshot && r.sequence >= covering) versions.push_back(&r);
  }
  std::sort(versions.begin(), versions.end(),
            [](const auto* a, const auto* b) { return a->sequence < b->sequence; });
  std::optional<std::string> value;
  for (const TestRecord* r : versions) {
    if (r->type == kTypeValue) {
      value = r->value;
    } else if (r->type == kTypeMerge) {
      value = value ? *value + "," + r->value : r->value;
    } else {
      value.reset();
    }
  }
  return value;
}

// The whole view at a snapshot.
inline std::map<std::string, std::string> ViewOf(const std::vector<TestRecord>& records,
                                                 const std::vector<RangeTombstone>& tombstones,
                                                 SequenceNumber snapshot) {
  std::map<std::string, std::vector<TestRecord>> by_key;
  for (const TestRecord& r : records) by_key[r.key].push_back(r);
  std::map<std::string, std::string> view;
  for (const auto& [key, versions] : by_key) {
    if (auto value = ReadHistory(versions, tombstones, key, snapshot)) view[key] = *value;
  }
  return view;
}

}  // namespace compassdb::test
