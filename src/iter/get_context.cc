// SPDX-License-Identifier: Apache-2.0
#include "iter/get_context.h"

#include <utility>

#include "api/wide_column_codec.h"
#include "iter/merge_helper.h"

namespace compassdb {

GetContext::GetContext(const Slice& user_key, SequenceNumber snapshot,
                       const rocksdb::MergeOperator* merge_operator,
                       rocksdb::PinnableSlice* value)
    : user_key_(user_key), snapshot_(snapshot), merge_operator_(merge_operator), value_(value) {}

void GetContext::CollectOperandsOnly(std::vector<std::string>* operands) { collect_ = operands; }

bool GetContext::Add(SequenceNumber seq, ValueType type, const Slice& value,
                     rocksdb::Cleanable* pin) {
  if (done() || !error_.ok()) return false;
  if (seq > snapshot_) return true;
  if (seq > found_sequence_) found_sequence_ = seq;
  if (seq < covering_) type = kTypeDeletion;
  if (state_ == State::kMerging && !operand_sequences_.empty() && operand_sequences_.back() <= seq)
      [[unlikely]] {
    DropMerged(seq);
  }

  switch (type) {
    case kTypeValue:
      if (state_ == State::kMerging) {
        AddBase(&value);
      } else if (collect_ != nullptr) {
        collect_->emplace_back(value.data(), value.size());
      } else if (value_ != nullptr) {
        Keep(value, pin);
      }
      state_ = State::kFound;
      return false;
    case kTypeBlobIndex:
      AddSeparated(value);
      state_ = State::kFound;
      return false;
    case kTypeWideColumnEntity:
      AddEntity(value, pin);
      state_ = State::kFound;
      return false;
    case kTypeDeletion:
    case kTypeSingleDeletion:
      if (state_ == State::kMerging) {
        AddBase(nullptr);
        state_ = State::kFound;
      } else {
        state_ = State::kDeleted;
      }
      return false;
    case kTypeMerge:
      return AddOperand(seq, value);
    default:
      error_ = Status::Corruption("record of unknown type " + std::to_string(type) + " for key",
                                  user_key_.ToString(/*hex=*/true));
      return false;
  }
}

void GetContext::Keep(const Slice& value, rocksdb::Cleanable* pin) {
  if (pin != nullptr) {
    value_->PinSlice(value, pin);
  } else {
    value_->PinSelf(value);
  }
}

void GetContext::AddEntity(const Slice& stored, rocksdb::Cleanable* pin) {
  if (state_ == State::kMerging) {
    error_ = MergeOntoEntity();
  } else if (collect_ != nullptr) {
    error_ = Status::NotSupported("GetMergeOperands of a wide-column entity");
  } else if (value_ == nullptr) {
    return;  // existence only
  } else if (keep_entities_) {
    found_entity_ = true;
    Keep(stored, pin);
  } else {
    Slice column;
    error_ = DefaultWideColumn(stored, &column);
    if (error_.ok()) Keep(column, pin);
  }
}

void GetContext::AddSeparated(const Slice& ref) {
  if (value_ == nullptr && collect_ == nullptr) return;  // existence only
  rocksdb::PinnableSlice fetched;
  const bool whole = state_ != State::kMerging && collect_ == nullptr;
  if (whole && deferred_ != nullptr) {
    deferred_->assign(ref.data(), ref.size());
    return;
  }
  rocksdb::PinnableSlice* const to = whole ? value_ : &fetched;
  Status s = values_ == nullptr ? Status::NotFound() : values_->Resolve(user_key_, ref, to);
  if (s.IsNotFound()) s = SeparatedValueIsGone(user_key_);
  if (!s.ok()) {
    error_ = std::move(s);
  } else if (state_ == State::kMerging) {
    AddBase(to);
  } else if (collect_ != nullptr) {
    collect_->emplace_back(to->data(), to->size());
  }
}

// The value at seq has them in it.
void GetContext::DropMerged(SequenceNumber seq) {
  std::vector<std::string>* operands = collect_ != nullptr ? collect_ : &operands_;
  while (!operand_sequences_.empty() && operand_sequences_.back() <= seq) {
    operand_sequences_.pop_back();
    operands->pop_back();
  }
  if (operands->empty()) state_ = State::kSearching;
}

bool GetContext::AddOperand(SequenceNumber seq, const Slice& value) {
  if (merge_operator_ == nullptr) {
    error_ = MissingMergeOperator();
    return false;
  }
  state_ = State::kMerging;
  std::vector<std::string>* operands = collect_ != nullptr ? collect_ : &operands_;
  const std::string* const before = operands->data();
  operands->emplace_back(value.data(), value.size());
  operand_sequences_.push_back(seq);
  if (operands->data() == before && newest_first_.size() + 1 == operands->size()) {
    newest_first_.push_back(operands->back());
  } else {  // they have moved, or some were dropped
    newest_first_.assign(operands->begin(), operands->end());
  }
  if (!merge_operator_->ShouldMerge(newest_first_)) return true;
  AddBase(nullptr);
  state_ = State::kFound;
  return false;
}

// The history of a merged key ends here: at a value, or at nothing.
void GetContext::AddBase(const Slice* base) {
  if (collect_ != nullptr) {
    if (base != nullptr) collect_->emplace_back(base->data(), base->size());
    return;
  }
  if (value_ == nullptr) return;  // existence only
  if (statistics_ != nullptr) {
    statistics_->recordInHistogram(rocksdb::READ_NUM_MERGE_OPERANDS, operands_.size());
  }
  std::string* result = value_->GetSelf();
  error_ = FullMergeNewestFirst(MergeEnv{merge_operator_, logger_, statistics_}, user_key_, base,
                                operands_, result);
  if (error_.ok()) value_->PinSelf();
}

Status GetContext::Finish() {
  if (error_.ok() && state_ == State::kMerging) {
    AddBase(nullptr);
    state_ = State::kFound;
  }
  if (!error_.ok()) return error_;
  return state_ == State::kFound ? Status::OK() : Status::NotFound();
}

}  // namespace compassdb
