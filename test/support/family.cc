// SPDX-License-Identifier: Apache-2.0
#include "support/family.h"

#include <cstring>

#include "rocksdb/slice.h"

namespace compassdb_test {

using rocksdb::Slice;

namespace {

constexpr size_t kAppendLimit = 200;

std::string Tail(std::string text) {
  if (text.size() > kAppendLimit) text.erase(0, text.size() - kAppendLimit);
  return text;
}

uint64_t DecodeNumber(const Slice& value) {
  uint64_t number = 0;
  if (value.size() == sizeof(number)) memcpy(&number, value.data(), sizeof(number));
  return number;
}

// "c": clear; "d": double (bounded); "r": reverse; "=text": set; "+text": append.
std::string RunCommand(const std::string& base, const Slice& command) {
  if (command.empty()) return base;
  std::string rest(command.data() + 1, command.size() - 1);
  switch (command[0]) {
    case 'c': return "";
    case 'd': return base.size() < 100 ? base + base : base.substr(50);
    case 'r': return std::string(base.rbegin(), base.rend());
    case '=': return rest;
    default: return Tail(base + rest);
  }
}

class AppendOperator : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "CompassTestAppend"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::string result;
    bool first = in.existing_value == nullptr;
    if (!first) result = in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) {
      if (!first) result += ",";
      first = false;
      result += operand.ToString();
    }
    out->new_value = Tail(std::move(result));
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* new_value,
                         rocksdb::Logger*) const override {
    std::string joined;
    for (size_t i = 0; i < operands.size(); i++) {
      if (i > 0) joined += ",";
      joined += operands[i].ToString();
    }
    *new_value = Tail(std::move(joined));
    return true;
  }
};

class AddOperator : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "CompassTestAdd"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* new_value,
             rocksdb::Logger*) const override {
    uint64_t base = existing == nullptr ? 0 : DecodeNumber(*existing);
    *new_value = EncodeNumber(base + DecodeNumber(value));
    return true;
  }
};

class CommandOperator : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "CompassTestCommands"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::string result = in.existing_value == nullptr ? "" : in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) result = RunCommand(result, operand);
    out->new_value = std::move(result);
    return true;
  }
};

class TestFilter : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "CompassTestFilter"; }
  Decision FilterV2(int, const Slice&, ValueType type, const Slice& value, std::string* new_value,
                    std::string*) const override {
    if (type != ValueType::kValue || value.empty()) return Decision::kKeep;
    if (value[0] == '!') return Decision::kRemove;
    if (value[0] != '?') return Decision::kKeep;
    *new_value = "#" + std::string(value.data() + 1, value.size() - 1);
    return Decision::kChangeValue;
  }
};

class TestFilterFactory : public rocksdb::CompactionFilterFactory {
 public:
  const char* Name() const override { return "CompassTestFilterFactory"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<TestFilter>();
  }
};

}  // namespace

std::string EncodeNumber(uint64_t number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

const rocksdb::Comparator* ComparatorOf(const FamilySpec& spec) {
  return spec.reverse_order ? rocksdb::ReverseBytewiseComparator()
                            : rocksdb::BytewiseComparator();
}

std::shared_ptr<rocksdb::MergeOperator> MergeOperatorOf(MergeKind kind) {
  switch (kind) {
    case MergeKind::kNone: return nullptr;
    case MergeKind::kAppend: return std::make_shared<AppendOperator>();
    case MergeKind::kAdd: return std::make_shared<AddOperator>();
    case MergeKind::kCommands: return std::make_shared<CommandOperator>();
  }
  return nullptr;
}

std::string MergeStep(MergeKind kind, const std::string* base, const std::string& operand) {
  switch (kind) {
    case MergeKind::kNone: break;
    case MergeKind::kAppend: return Tail(base == nullptr ? operand : *base + "," + operand);
    case MergeKind::kAdd:
      return EncodeNumber((base == nullptr ? 0 : DecodeNumber(*base)) + DecodeNumber(operand));
    case MergeKind::kCommands: return RunCommand(base == nullptr ? "" : *base, operand);
  }
  return operand;
}

std::shared_ptr<rocksdb::CompactionFilterFactory> MakeFilterFactory() {
  return std::make_shared<TestFilterFactory>();
}

bool NormalizeFiltered(const FamilySpec& spec, std::string* value) {
  if (!spec.filter || value->empty()) return true;
  if ((*value)[0] == '!') return false;
  if ((*value)[0] == '?') (*value)[0] = '#';
  return true;
}

}  // namespace compassdb_test
