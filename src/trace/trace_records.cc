// SPDX-License-Identifier: Apache-2.0
// What rocksdb/trace_record.h and rocksdb/trace_record_result.h declare: plain values, and the
// handler that runs them on a database.
#include <unordered_map>

#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "rocksdb/trace_record.h"
#include "rocksdb/trace_record_result.h"
#include "rocksdb/write_batch.h"

namespace rocksdb {
namespace {

PinnableSlice Pinned(const std::string& text) {
  PinnableSlice slice;
  slice.PinSelf(text);
  return slice;
}

}  // namespace

TraceRecord::TraceRecord(uint64_t timestamp) : timestamp_(timestamp) {}
uint64_t TraceRecord::GetTimestamp() const { return timestamp_; }
QueryTraceRecord::QueryTraceRecord(uint64_t timestamp) : TraceRecord(timestamp) {}

WriteQueryTraceRecord::WriteQueryTraceRecord(PinnableSlice&& write_batch_rep, uint64_t timestamp)
    : QueryTraceRecord(timestamp), rep_(std::move(write_batch_rep)) {}
WriteQueryTraceRecord::WriteQueryTraceRecord(const std::string& write_batch_rep,
                                             uint64_t timestamp)
    : WriteQueryTraceRecord(Pinned(write_batch_rep), timestamp) {}
WriteQueryTraceRecord::~WriteQueryTraceRecord() = default;
Slice WriteQueryTraceRecord::GetWriteBatchRep() const { return rep_; }
Status WriteQueryTraceRecord::Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) {
  return handler->Handle(*this, result);
}

GetQueryTraceRecord::GetQueryTraceRecord(uint32_t column_family_id, PinnableSlice&& key,
                                         uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_id_(column_family_id), key_(std::move(key)) {}
GetQueryTraceRecord::GetQueryTraceRecord(uint32_t column_family_id, const std::string& key,
                                         uint64_t timestamp)
    : GetQueryTraceRecord(column_family_id, Pinned(key), timestamp) {}
GetQueryTraceRecord::~GetQueryTraceRecord() = default;
uint32_t GetQueryTraceRecord::GetColumnFamilyID() const { return cf_id_; }
Slice GetQueryTraceRecord::GetKey() const { return key_; }
Status GetQueryTraceRecord::Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) {
  return handler->Handle(*this, result);
}

IteratorQueryTraceRecord::IteratorQueryTraceRecord(uint64_t timestamp)
    : QueryTraceRecord(timestamp) {}
IteratorQueryTraceRecord::IteratorQueryTraceRecord(PinnableSlice&& lower_bound,
                                                   PinnableSlice&& upper_bound, uint64_t timestamp)
    : QueryTraceRecord(timestamp), lower_(std::move(lower_bound)), upper_(std::move(upper_bound)) {}
IteratorQueryTraceRecord::IteratorQueryTraceRecord(const std::string& lower_bound,
                                                   const std::string& upper_bound,
                                                   uint64_t timestamp)
    : IteratorQueryTraceRecord(Pinned(lower_bound), Pinned(upper_bound), timestamp) {}
IteratorQueryTraceRecord::~IteratorQueryTraceRecord() = default;
Slice IteratorQueryTraceRecord::GetLowerBound() const { return lower_; }
Slice IteratorQueryTraceRecord::GetUpperBound() const { return upper_; }

IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(SeekType type,
                                                           uint32_t column_family_id,
                                                           PinnableSlice&& key, uint64_t timestamp)
    : IteratorQueryTraceRecord(timestamp),
      type_(type),
      cf_id_(column_family_id),
      key_(std::move(key)) {}
IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(SeekType type,
                                                           uint32_t column_family_id,
                                                           const std::string& key,
                                                           uint64_t timestamp)
    : IteratorSeekQueryTraceRecord(type, column_family_id, Pinned(key), timestamp) {}
IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(
    SeekType type, uint32_t column_family_id, PinnableSlice&& key, PinnableSlice&& lower_bound,
    PinnableSlice&& upper_bound, uint64_t timestamp)
    : IteratorQueryTraceRecord(std::move(lower_bound), std::move(upper_bound), timestamp),
      type_(type),
      cf_id_(column_family_id),
      key_(std::move(key)) {}
IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(
    SeekType type, uint32_t column_family_id, const std::string& key,
    const std::string& lower_bound, const std::string& upper_bound, uint64_t timestamp)
    : IteratorSeekQueryTraceRecord(type, column_family_id, Pinned(key), Pinned(lower_bound),
                                   Pinned(upper_bound), timestamp) {}
IteratorSeekQueryTraceRecord::~IteratorSeekQueryTraceRecord() = default;
TraceType IteratorSeekQueryTraceRecord::GetTraceType() const {
  return static_cast<TraceType>(type_);
}
IteratorSeekQueryTraceRecord::SeekType IteratorSeekQueryTraceRecord::GetSeekType() const {
  return type_;
}
uint32_t IteratorSeekQueryTraceRecord::GetColumnFamilyID() const { return cf_id_; }
Slice IteratorSeekQueryTraceRecord::GetKey() const { return key_; }
Status IteratorSeekQueryTraceRecord::Accept(Handler* handler,
                                            std::unique_ptr<TraceRecordResult>* result) {
  return handler->Handle(*this, result);
}

MultiGetQueryTraceRecord::MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                                                   std::vector<PinnableSlice>&& keys,
                                                   uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_ids_(std::move(column_family_ids)), keys_(std::move(keys)) {}
MultiGetQueryTraceRecord::MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                                                   const std::vector<std::string>& keys,
                                                   uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_ids_(std::move(column_family_ids)) {
  for (const std::string& key : keys) keys_.push_back(Pinned(key));
}
MultiGetQueryTraceRecord::~MultiGetQueryTraceRecord() = default;
std::vector<uint32_t> MultiGetQueryTraceRecord::GetColumnFamilyIDs() const { return cf_ids_; }
std::vector<Slice> MultiGetQueryTraceRecord::GetKeys() const {
  return std::vector<Slice>(keys_.begin(), keys_.end());
}
Status MultiGetQueryTraceRecord::Accept(Handler* handler,
                                        std::unique_ptr<TraceRecordResult>* result) {
  return handler->Handle(*this, result);
}

TraceRecordResult::TraceRecordResult(TraceType trace_type) : trace_type_(trace_type) {}
TraceType TraceRecordResult::GetTraceType() const { return trace_type_; }

TraceExecutionResult::TraceExecutionResult(uint64_t start, uint64_t end, TraceType trace_type)
    : TraceRecordResult(trace_type), ts_start_(start), ts_end_(end) {}
uint64_t TraceExecutionResult::GetStartTimestamp() const { return ts_start_; }
uint64_t TraceExecutionResult::GetEndTimestamp() const { return ts_end_; }

StatusOnlyTraceExecutionResult::StatusOnlyTraceExecutionResult(Status status, uint64_t start,
                                                               uint64_t end, TraceType trace_type)
    : TraceExecutionResult(start, end, trace_type), status_(std::move(status)) {}
const Status& StatusOnlyTraceExecutionResult::GetStatus() const { return status_; }
Status StatusOnlyTraceExecutionResult::Accept(Handler* handler) { return handler->Handle(*this); }

SingleValueTraceExecutionResult::SingleValueTraceExecutionResult(Status status,
                                                                 const std::string& value,
                                                                 uint64_t start, uint64_t end,
                                                                 TraceType trace_type)
    : SingleValueTraceExecutionResult(std::move(status), std::string(value), start, end,
                                      trace_type) {}
SingleValueTraceExecutionResult::SingleValueTraceExecutionResult(Status status,
                                                                 std::string&& value,
                                                                 uint64_t start, uint64_t end,
                                                                 TraceType trace_type)
    : TraceExecutionResult(start, end, trace_type),
      status_(std::move(status)),
      value_(std::move(value)) {}
SingleValueTraceExecutionResult::~SingleValueTraceExecutionResult() = default;
const Status& SingleValueTraceExecutionResult::GetStatus() const { return status_; }
const std::string& SingleValueTraceExecutionResult::GetValue() const { return value_; }
Status SingleValueTraceExecutionResult::Accept(Handler* handler) { return handler->Handle(*this); }

MultiValuesTraceExecutionResult::MultiValuesTraceExecutionResult(std::vector<Status> multi_status,
                                                                 std::vector<std::string> values,
                                                                 uint64_t start, uint64_t end,
                                                                 TraceType trace_type)
    : TraceExecutionResult(start, end, trace_type),
      multi_status_(std::move(multi_status)),
      values_(std::move(values)) {}
MultiValuesTraceExecutionResult::~MultiValuesTraceExecutionResult() = default;
const std::vector<Status>& MultiValuesTraceExecutionResult::GetMultiStatus() const {
  return multi_status_;
}
const std::vector<std::string>& MultiValuesTraceExecutionResult::GetValues() const {
  return values_;
}
Status MultiValuesTraceExecutionResult::Accept(Handler* handler) { return handler->Handle(*this); }

IteratorTraceExecutionResult::IteratorTraceExecutionResult(bool valid, Status status,
                                                           PinnableSlice&& key,
                                                           PinnableSlice&& value, uint64_t start,
                                                           uint64_t end, TraceType trace_type)
    : TraceExecutionResult(start, end, trace_type),
      valid_(valid),
      status_(std::move(status)),
      key_(std::move(key)),
      value_(std::move(value)) {}
IteratorTraceExecutionResult::IteratorTraceExecutionResult(bool valid, Status status,
                                                           const std::string& key,
                                                           const std::string& value,
                                                           uint64_t start, uint64_t end,
                                                           TraceType trace_type)
    : IteratorTraceExecutionResult(valid, std::move(status), Pinned(key), Pinned(value), start,
                                   end, trace_type) {}
IteratorTraceExecutionResult::~IteratorTraceExecutionResult() = default;
bool IteratorTraceExecutionResult::GetValid() const { return valid_; }
const Status& IteratorTraceExecutionResult::GetStatus() const { return status_; }
Slice IteratorTraceExecutionResult::GetKey() const { return key_; }
Slice IteratorTraceExecutionResult::GetValue() const { return value_; }
Status IteratorTraceExecutionResult::Accept(Handler* handler) { return handler->Handle(*this); }

namespace {

// Runs recorded operations. An operation's own status is in the result.
class ExecutionHandler final : public TraceRecord::Handler {
 public:
  ExecutionHandler(DB* db, const std::vector<ColumnFamilyHandle*>& handles) : db_(db) {
    for (ColumnFamilyHandle* handle : handles) {
      if (handle != nullptr) families_[handle->GetID()] = handle;
    }
  }

  Status Handle(const WriteQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>* result) override {
    if (result != nullptr) result->reset();
    const uint64_t start = Now();
    WriteBatch batch(record.GetWriteBatchRep().ToString());
    Status s = db_->Write(WriteOptions(), &batch);
    if (s.ok() && result != nullptr) {
      *result = std::make_unique<StatusOnlyTraceExecutionResult>(s, start, Now(),
                                                                 record.GetTraceType());
    }
    return s;
  }

  Status Handle(const GetQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>* result) override {
    if (result != nullptr) result->reset();
    ColumnFamilyHandle* family = nullptr;
    if (Status s = Find(record.GetColumnFamilyID(), &family); !s.ok()) return s;
    const uint64_t start = Now();
    std::string value;
    Status s = db_->Get(ReadOptions(), family, record.GetKey(), &value);
    const Status outcome = s.IsNotFound() ? Status::OK() : s;
    if (outcome.ok() && result != nullptr) {
      *result = std::make_unique<SingleValueTraceExecutionResult>(
          std::move(s), std::move(value), start, Now(), record.GetTraceType());
    }
    return outcome;
  }

  Status Handle(const IteratorSeekQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>* result) override {
    if (result != nullptr) result->reset();
    ColumnFamilyHandle* family = nullptr;
    if (Status s = Find(record.GetColumnFamilyID(), &family); !s.ok()) return s;
    ReadOptions options;
    const Slice lower = record.GetLowerBound(), upper = record.GetUpperBound();
    if (!lower.empty()) options.iterate_lower_bound = &lower;
    if (!upper.empty()) options.iterate_upper_bound = &upper;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options, family));
    const uint64_t start = Now();
    if (record.GetSeekType() == IteratorSeekQueryTraceRecord::kSeekForPrev) {
      it->SeekForPrev(record.GetKey());
    } else {
      it->Seek(record.GetKey());
    }
    const uint64_t end = Now();
    Status s = it->status();
    if (s.ok() && result != nullptr) {
      const bool valid = it->Valid();
      *result = std::make_unique<IteratorTraceExecutionResult>(
          valid, s, valid ? it->key().ToString() : "", valid ? it->value().ToString() : "", start,
          end, record.GetTraceType());
    }
    return s;
  }

  Status Handle(const MultiGetQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>* result) override {
    if (result != nullptr) result->reset();
    std::vector<ColumnFamilyHandle*> families;
    for (const uint32_t id : record.GetColumnFamilyIDs()) {
      families.push_back(nullptr);
      if (Status s = Find(id, &families.back()); !s.ok()) return s;
    }
    const std::vector<Slice> keys = record.GetKeys();
    if (families.empty() || keys.empty()) return Status::InvalidArgument("Empty MultiGet cf_ids or keys.");
    if (families.size() != keys.size()) {
      return Status::InvalidArgument("MultiGet cf_ids and keys size mismatch.");
    }
    const uint64_t start = Now();
    std::vector<std::string> values;
    std::vector<Status> all = db_->MultiGet(ReadOptions(), families, keys, &values);
    const uint64_t end = Now();
    for (const Status& s : all) {
      if (!s.ok() && !s.IsNotFound()) return s;
    }
    if (result != nullptr) {
      *result = std::make_unique<MultiValuesTraceExecutionResult>(
          std::move(all), std::move(values), start, end, record.GetTraceType());
    }
    return Status::OK();
  }

 private:
  uint64_t Now() const { return db_->GetEnv()->NowMicros(); }
  Status Find(uint32_t id, ColumnFamilyHandle** family) const {
    const auto found = families_.find(id);
    if (found == families_.end()) return Status::Corruption("Invalid Column Family ID.");
    *family = found->second;
    return Status::OK();
  }

  DB* const db_;
  std::unordered_map<uint32_t, ColumnFamilyHandle*> families_;
};

}  // namespace

TraceRecord::Handler* TraceRecord::NewExecutionHandler(
    DB* db, const std::vector<ColumnFamilyHandle*>& handles) {
  return new ExecutionHandler(db, handles);
}

}  // namespace rocksdb
