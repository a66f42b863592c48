// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/merge_operators/built_in.h"
#include "util/coding.h"

namespace compassdb {

namespace {

using rocksdb::AssociativeMergeOperator;
using rocksdb::Logger;
using rocksdb::MergeOperator;

class PutOperator : public MergeOperator {
 public:
  const char* Name() const override { return "PutOperator"; }
  const char* NickName() const override { return "put"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    out->existing_operand = in.operand_list.back();
    return true;
  }
  bool PartialMerge(const Slice&, const Slice&, const Slice& right, std::string* new_value,
                    Logger*) const override {
    new_value->assign(right.data(), right.size());
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* new_value,
                         Logger*) const override {
    new_value->assign(operands.back().data(), operands.back().size());
    return true;
  }
};

class UInt64AddOperator : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "UInt64AddOperator"; }
  const char* NickName() const override { return "uint64add"; }

  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* new_value,
             Logger*) const override {
    new_value->clear();
    PutFixed64(new_value, (existing != nullptr ? Number(*existing) : 0) + Number(value));
    return true;
  }

 private:
  static uint64_t Number(const Slice& s) {
    return s.size() == sizeof(uint64_t) ? DecodeFixed64(s.data()) : 0;
  }
};

class MaxOperator : public MergeOperator {
 public:
  const char* Name() const override { return "MaxOperator"; }
  const char* NickName() const override { return "max"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    Slice largest = in.existing_value != nullptr ? *in.existing_value : in.operand_list.front();
    for (const Slice& operand : in.operand_list) largest = Larger(largest, operand);
    out->existing_operand = largest;
    return true;
  }
  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* new_value,
                    Logger*) const override {
    *new_value = Larger(left, right).ToString();
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* new_value,
                         Logger*) const override {
    Slice largest;
    for (const Slice& operand : operands) largest = Larger(largest, operand);
    *new_value = largest.ToString();
    return true;
  }

 private:
  static const Slice& Larger(const Slice& a, const Slice& b) { return a.compare(b) >= 0 ? a : b; }
};

class BytesXorOperator : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "BytesXOR"; }
  const char* NickName() const override { return "bytesxor"; }

  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* new_value,
             Logger*) const override {
    *new_value = value.ToString();
    if (existing == nullptr) return true;
    new_value->resize(std::max(existing->size(), value.size()), '\0');
    for (size_t i = 0; i < existing->size(); ++i) (*new_value)[i] ^= (*existing)[i];
    return true;
  }
};

}  // namespace

MergeOperatorPtr NewPutOperator() { return std::make_shared<PutOperator>(); }
MergeOperatorPtr NewUInt64AddOperator() { return std::make_shared<UInt64AddOperator>(); }
MergeOperatorPtr NewMaxOperator() { return std::make_shared<MaxOperator>(); }
MergeOperatorPtr NewBytesXorOperator() { return std::make_shared<BytesXorOperator>(); }

}  // namespace compassdb
