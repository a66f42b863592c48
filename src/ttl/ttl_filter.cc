// SPDX-License-Identifier: Apache-2.0
#include "ttl/ttl_filter.h"

#include "ttl/ttl_value.h"

namespace compassdb {

rocksdb::CompactionFilter::Decision TtlCompactionFilter::FilterV2(
    int level, const Slice& key, ValueType type, const Slice& stored, std::string* new_value,
    std::string* skip_until) const {
  if (type == ValueType::kValue && IsExpired(stored, ttl_, env_)) return Decision::kRemove;
  // A value that is too short was not written through DBWithTTL: reads report it.
  if (user_ == nullptr || stored.size() < kTtlBytes) return Decision::kKeep;
  const Decision decision =
      user_->FilterV2(level, key, type, WithoutTtlTime(stored), new_value, skip_until);
  if (decision == Decision::kChangeValue) {
    new_value->append(stored.data() + stored.size() - kTtlBytes, kTtlBytes);
  }
  return decision;
}

bool TtlCompactionFilterFactory::ShouldFilterTableFileCreation(
    rocksdb::TableFileCreationReason reason) const {
  return CompactionFilterFactory::ShouldFilterTableFileCreation(reason) ||
         (user_ != nullptr && user_->ShouldFilterTableFileCreation(reason));
}

std::unique_ptr<rocksdb::CompactionFilter> TtlCompactionFilterFactory::CreateCompactionFilter(
    const rocksdb::CompactionFilter::Context& context) {
  std::unique_ptr<rocksdb::CompactionFilter> user;
  if (user_ != nullptr && user_->ShouldFilterTableFileCreation(context.reason)) {
    user = user_->CreateCompactionFilter(context);
  }
  return std::make_unique<TtlCompactionFilter>(ttl_.load(std::memory_order_relaxed), env_, nullptr,
                                               std::move(user));
}

bool TtlMergeOperator::FullMergeV2(const MergeOperationInput& in,
                                   MergeOperationOutput* out) const {
  std::vector<Slice> operands;
  operands.reserve(in.operand_list.size());
  for (const Slice& operand : in.operand_list) {
    if (operand.size() < kTtlBytes) return false;
    operands.push_back(WithoutTtlTime(operand));
  }
  Slice existing;
  if (in.existing_value != nullptr) {
    if (in.existing_value->size() < kTtlBytes) return false;
    existing = WithoutTtlTime(*in.existing_value);
  }
  const MergeOperationInput user_in(in.key, in.existing_value == nullptr ? nullptr : &existing,
                                    operands, in.logger);
  MergeOperationOutput user_out(out->new_value, out->existing_operand);
  uint32_t now = 0;
  if (!user_->FullMergeV2(user_in, &user_out) || !CurrentTtlTime(env_, &now).ok()) {
    return false;
  }
  if (out->existing_operand.data() != nullptr) {
    out->new_value.assign(out->existing_operand.data(), out->existing_operand.size());
    out->existing_operand = Slice(nullptr, 0);
  }
  PutFixed32(&out->new_value, now);
  return true;
}

bool TtlMergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operands,
                                         std::string* new_value, rocksdb::Logger* logger) const {
  std::deque<Slice> user_operands;
  for (const Slice& operand : operands) {
    if (operand.size() < kTtlBytes) return false;
    user_operands.push_back(WithoutTtlTime(operand));
  }
  uint32_t now = 0;
  if (!user_->PartialMergeMulti(key, user_operands, new_value, logger) ||
      !CurrentTtlTime(env_, &now).ok()) {
    return false;
  }
  PutFixed32(new_value, now);
  return true;
}

}  // namespace compassdb
