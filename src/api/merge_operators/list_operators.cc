// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "api/merge_operators/built_in.h"
#include "api/named_options.h"
#include "api/option_string.h"
#include "rocksdb/config_options.h"

namespace compassdb {

namespace {

using rocksdb::AssociativeMergeOperator;
using rocksdb::ConfigOptions;
using rocksdb::Logger;
using rocksdb::MergeOperator;
using rocksdb::Slice;
using rocksdb::Status;

class SortListOperator : public MergeOperator {
 public:
  const char* Name() const override { return "MergeSortOperator"; }
  const char* NickName() const override { return "sortlist"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<int64_t> numbers;
    if (in.existing_value != nullptr && !Parse(*in.existing_value, &numbers)) return false;
    for (const Slice& operand : in.operand_list) {
      if (!Parse(operand, &numbers)) return false;
    }
    Format(&numbers, &out->new_value);
    return true;
  }
  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* new_value,
                    Logger*) const override {
    std::vector<int64_t> numbers;
    if (!Parse(left, &numbers) || !Parse(right, &numbers)) return false;
    Format(&numbers, new_value);
    return true;
  }

 private:
  // Appends to *numbers. An empty list is empty.
  static bool Parse(const Slice& list, std::vector<int64_t>* numbers) {
    const char* p = list.data();
    const char* const end = p + list.size();
    while (p < end) {
      int64_t number = 0;
      const auto parsed = std::from_chars(p, end, number);
      if (parsed.ec != std::errc()) return false;
      numbers->push_back(number);
      p = parsed.ptr;
      if (p == end) return true;
      if (*p++ != ',' || p == end) return false;
    }
    return true;
  }

  static void Format(std::vector<int64_t>* numbers, std::string* list) {
    std::stable_sort(numbers->begin(), numbers->end());
    list->clear();
    for (int64_t number : *numbers) {
      if (!list->empty()) list->push_back(',');
      *list += std::to_string(number);
    }
  }
};

// The option that both forms have.
template <typename Base>
class WithDelimiter : public Base, public compassdb::NamedOptions {
 public:
  explicit WithDelimiter(const std::string& delimiter) : delimiter_(delimiter) {}

 protected:
  Status ParseNamedOption(const ConfigOptions& config, const std::string& name,
                          const std::string& value) override {
    if (name != "delimiter") return Status::NotFound("no option of this name", name);
    delimiter_ = config.input_strings_escaped ? compassdb::UnescapeOptionValue(value) : value;
    return Status::OK();
  }
  void ListNamedOptions(const ConfigOptions&,
                        compassdb::NamedValues* options) const override {
    options->emplace_back("delimiter", compassdb::EscapeOptionValue(delimiter_));
  }

  void Append(const Slice& operand, bool first, std::string* list) const {
    if (!first) *list += delimiter_;
    list->append(operand.data(), operand.size());
  }

  std::string delimiter_;
};

class StringAppendOperator : public WithDelimiter<MergeOperator> {
 public:
  using WithDelimiter::WithDelimiter;
  const char* Name() const override { return "StringAppendOperator"; }
  const char* NickName() const override { return "stringappend"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (in.existing_value == nullptr && in.operand_list.size() == 1) {
      out->existing_operand = in.operand_list.front();
      return true;
    }
    bool first = true;
    if (in.existing_value != nullptr) {
      Append(*in.existing_value, first, &out->new_value);
      first = false;
    }
    for (const Slice& operand : in.operand_list) {
      Append(operand, first, &out->new_value);
      first = false;
    }
    return true;
  }

  // Joining operands early would copy them again and again.
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>&, std::string*,
                         Logger*) const override {
    return false;
  }
};

class StringAppendPairsOperator : public WithDelimiter<AssociativeMergeOperator> {
 public:
  using WithDelimiter::WithDelimiter;
  const char* Name() const override { return "StringAppendTESTOperator"; }
  const char* NickName() const override { return "stringappendtest"; }

  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* new_value,
             Logger*) const override {
    new_value->clear();
    if (existing != nullptr) Append(*existing, true, new_value);
    Append(value, existing == nullptr, new_value);
    return true;
  }
};

}  // namespace

MergeOperatorPtr NewSortListOperator() { return std::make_shared<SortListOperator>(); }

MergeOperatorPtr NewStringAppendOperator(const std::string& delimiter) {
  return std::make_shared<StringAppendOperator>(delimiter);
}

MergeOperatorPtr NewStringAppendPairsOperator(const std::string& delimiter) {
  return std::make_shared<StringAppendPairsOperator>(delimiter);
}

}  // namespace compassdb
