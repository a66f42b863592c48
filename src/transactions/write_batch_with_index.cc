// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/write_batch_with_index.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "batch/write_batch_internal.h"
#include "db/families/column_family_handle.h"
#include "rocksdb/db.h"
#include "transactions/batch_index.h"
#include "transactions/overlay_iterator.h"

namespace ROCKSDB_NAMESPACE {

using namespace compassdb;  // NOLINT: the internals of this class

struct WriteBatchWithIndex::Rep {
  Rep(const Comparator* fallback, size_t reserved_bytes, bool overwrite, size_t max_bytes,
      size_t protection_bytes)
      : batch(reserved_bytes, max_bytes, protection_bytes,
              fallback != nullptr ? fallback->timestamp_size() : 0),
        index(&batch, fallback, overwrite) {}

  // Adds a record by `write` and indexes it.
  template <typename Write>
  Status Add(ColumnFamilyHandle* family, const Write& write) {
    const size_t offset = batch.GetDataSize();
    Status s = write();
    if (!s.ok()) return s;
    if (family != nullptr) index.SetComparator(family->GetID(), family->GetComparator());
    return index.Add(offset);
  }

  // Reads of keys with timestamps need a time.
  Status CheckRead(const ReadOptions& options, ColumnFamilyHandle* family) const {
    const Comparator* const comparator =
        family != nullptr ? family->GetComparator() : index.fallback();
    if (comparator == nullptr || comparator->timestamp_size() == 0 || options.timestamp != nullptr) {
      return Status::OK();
    }
    return Status::InvalidArgument("Must specify timestamp");
  }

  WriteBatch batch;
  BatchIndex index;
};

namespace {

// The entries of one family in order of key and time.
class BatchIterator final : public WBWIIterator {
 public:
  BatchIterator(const BatchIndex* index, uint32_t family)
      : index_(index), family_(family), at_(index->end()) {}

  bool Valid() const override { return at_ != index_->end() && at_->family == family_; }
  void SeekToFirst() override { at_ = index_->Seek(family_, BatchIndex::Side::kBeforeFamily); }
  void SeekToLast() override { Before(index_->Seek(family_, BatchIndex::Side::kBehindFamily)); }
  void Seek(const Slice& key) override {
    at_ = index_->Seek(family_, BatchIndex::Side::kBeforeKey, key);
  }
  void SeekForPrev(const Slice& key) override {
    Before(index_->Seek(family_, BatchIndex::Side::kBehindKey, key));
  }
  void Next() override { ++at_; }
  void Prev() override { Before(at_); }

  WriteEntry Entry() const override {
    const BatchRecord record = index_->RecordOf(*at_);
    WriteEntry entry;
    entry.key = index_->BareKey(record);
    entry.value = record.value;
    switch (record.tag) {
      case kTypeValue:
        entry.type = kPutRecord;
        break;
      case kTypeMerge:
        entry.type = kMergeRecord;
        break;
      case kTypeDeletion:
        entry.type = kDeleteRecord;
        break;
      case kTypeSingleDeletion:
        entry.type = kSingleDeleteRecord;
        break;
      default:
        break;
    }
    return entry;
  }
  Status status() const override { return Status::OK(); }

 private:
  void Before(BatchIndex::Position position) {
    at_ = position == index_->begin() ? index_->end() : std::prev(position);
  }

  const BatchIndex* const index_;
  const uint32_t family_;
  BatchIndex::Position at_;
};

Status RefuseTimestamp(const ColumnFamilyHandle* family) {
  if (family == nullptr) {
    return Status::InvalidArgument("column family handle cannot be nullptr");
  }
  return Status::NotSupported("WriteBatchWithIndex: timestamps are set by WriteBatch::UpdateTimestamps");
}

const MergeOperator* MergeOperatorOf(ColumnFamilyHandle* family) {
  return family == nullptr ? nullptr : FamilyOf(family)->merge_operator();
}

// What a lookup in the batch alone gives; kNotThere: ask the database.
enum class Answer { kDone, kNotThere, kMerging };

Answer AnswerFromBatch(ColumnFamilyHandle* family, const Slice& key,
                       const BatchIndex::Update& update, std::string* value, Status* status) {
  using Base = BatchIndex::Update::Base;
  *status = Status::OK();
  if (!update.Found()) return Answer::kNotThere;
  if (update.base == Base::kUnknown) return Answer::kMerging;
  if (!update.operands.empty()) {
    *status = MergeUpdate(family != nullptr, MergeOperatorOf(family), key, update, nullptr, value);
  } else if (update.base == Base::kValue) {
    value->assign(update.value.data(), update.value.size());
  } else {
    *status = Status::NotFound();
  }
  return Answer::kDone;
}

// Applies the batch's operands to the database's value.
void MergeOntoDatabase(ColumnFamilyHandle* family, const Slice& key,
                       const BatchIndex::Update& update, PinnableSlice* value, Status* status) {
  if (!status->ok() && !status->IsNotFound()) return;
  std::string result;
  *status = MergeUpdate(family != nullptr, MergeOperatorOf(family), key, update,
                        status->ok() ? value : nullptr, &result);
  if (!status->ok()) return;
  value->Reset();
  *value->GetSelf() = std::move(result);
  value->PinSelf();
}

}  // namespace

WriteBatchWithIndex::WriteBatchWithIndex(const Comparator* backup_index_comparator,
                                         size_t reserved_bytes, bool overwrite_key,
                                         size_t max_bytes, size_t protection_bytes_per_key)
    : rep(new Rep(backup_index_comparator, reserved_bytes, overwrite_key, max_bytes,
                  protection_bytes_per_key)) {}

WriteBatchWithIndex::~WriteBatchWithIndex() = default;
WriteBatchWithIndex::WriteBatchWithIndex(WriteBatchWithIndex&&) = default;
WriteBatchWithIndex& WriteBatchWithIndex::operator=(WriteBatchWithIndex&&) = default;

Status WriteBatchWithIndex::Put(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& value) {
  return rep->Add(column_family, [&] { return rep->batch.Put(column_family, key, value); });
}
Status WriteBatchWithIndex::Put(const Slice& key, const Slice& value) {
  return Put(nullptr, key, value);
}
Status WriteBatchWithIndex::Put(ColumnFamilyHandle* column_family, const Slice& /*key*/,
                                const Slice& /*ts*/, const Slice& /*value*/) {
  return RefuseTimestamp(column_family);
}

Status WriteBatchWithIndex::Merge(ColumnFamilyHandle* column_family, const Slice& key,
                                  const Slice& value) {
  return rep->Add(column_family, [&] { return rep->batch.Merge(column_family, key, value); });
}
Status WriteBatchWithIndex::Merge(const Slice& key, const Slice& value) {
  return Merge(nullptr, key, value);
}

Status WriteBatchWithIndex::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  return rep->Add(column_family, [&] { return rep->batch.Delete(column_family, key); });
}
Status WriteBatchWithIndex::Delete(const Slice& key) { return Delete(nullptr, key); }
Status WriteBatchWithIndex::Delete(ColumnFamilyHandle* column_family, const Slice& /*key*/,
                                   const Slice& /*ts*/) {
  return RefuseTimestamp(column_family);
}

Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  return rep->Add(column_family, [&] { return rep->batch.SingleDelete(column_family, key); });
}
Status WriteBatchWithIndex::SingleDelete(const Slice& key) { return SingleDelete(nullptr, key); }
Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* column_family, const Slice& /*key*/,
                                         const Slice& /*ts*/) {
  return RefuseTimestamp(column_family);
}

Status WriteBatchWithIndex::PutLogData(const Slice& blob) { return rep->batch.PutLogData(blob); }

void WriteBatchWithIndex::Clear() {
  rep->batch.Clear();
  rep->index.Clear();
}

WriteBatch* WriteBatchWithIndex::GetWriteBatch() { return &rep->batch; }

WBWIIterator* WriteBatchWithIndex::NewIterator() { return new BatchIterator(&rep->index, 0); }
WBWIIterator* WriteBatchWithIndex::NewIterator(ColumnFamilyHandle* column_family) {
  return new BatchIterator(&rep->index, compassdb::ColumnFamilyId(column_family));
}

Iterator* WriteBatchWithIndex::NewIteratorWithBase(ColumnFamilyHandle* column_family,
                                                   Iterator* base_iterator,
                                                   const ReadOptions* opts) {
  OverlaySource source;
  source.index = &rep->index;
  source.family = compassdb::ColumnFamilyId(column_family);
  source.has_handle = column_family != nullptr;
  source.merge_operator = MergeOperatorOf(column_family);
  source.comparator = rep->index.ComparatorOf(source.family);
  if (column_family != nullptr && column_family->GetComparator() != nullptr) {
    source.comparator = column_family->GetComparator();
    rep->index.SetComparator(source.family, source.comparator);
  }
  if (opts != nullptr) {
    source.lower_bound = opts->iterate_lower_bound;
    source.upper_bound = opts->iterate_upper_bound;
  }
  return NewOverlayIterator(source, base_iterator);
}
Iterator* WriteBatchWithIndex::NewIteratorWithBase(Iterator* base_iterator) {
  return NewIteratorWithBase(nullptr, base_iterator);
}

Status WriteBatchWithIndex::GetFromBatch(ColumnFamilyHandle* column_family,
                                         const DBOptions& /*options*/, const Slice& key,
                                         std::string* value) {
  const BatchIndex::Update update = rep->index.Lookup(compassdb::ColumnFamilyId(column_family), key);
  Status s;
  switch (AnswerFromBatch(column_family, key, update, value, &s)) {
    case Answer::kNotThere:
      return Status::NotFound();
    case Answer::kMerging:
      return Status::MergeInProgress();
    default:
      return s;
  }
}

Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              const Slice& key, std::string* value) {
  return GetFromBatchAndDB(db, read_options, db->DefaultColumnFamily(), key, value);
}
Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              const Slice& key, PinnableSlice* value) {
  return GetFromBatchAndDB(db, read_options, db->DefaultColumnFamily(), key, value);
}
Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              ColumnFamilyHandle* column_family, const Slice& key,
                                              std::string* value) {
  PinnableSlice pinnable(value);
  Status s = GetFromBatchAndDB(db, read_options, column_family, key, &pinnable);
  if (s.ok() && pinnable.IsPinned()) value->assign(pinnable.data(), pinnable.size());
  return s;
}
Status WriteBatchWithIndex::GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                              ColumnFamilyHandle* column_family, const Slice& key,
                                              PinnableSlice* value) {
  if (Status s = rep->CheckRead(read_options, column_family); !s.ok()) return s;
  const BatchIndex::Update update = rep->index.Lookup(compassdb::ColumnFamilyId(column_family), key);
  Status s;
  const Answer answer = AnswerFromBatch(column_family, key, update, value->GetSelf(), &s);
  if (answer == Answer::kDone) {
    if (s.ok()) value->PinSelf();
    return s;
  }
  s = db->Get(read_options, column_family, key, value);
  if (answer == Answer::kMerging) MergeOntoDatabase(column_family, key, update, value, &s);
  return s;
}

void WriteBatchWithIndex::MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                                 ColumnFamilyHandle* column_family,
                                                 const size_t num_keys, const Slice* keys,
                                                 PinnableSlice* values, Status* statuses,
                                                 bool sorted_input) {
  if (Status s = rep->CheckRead(read_options, column_family); !s.ok()) {
    std::fill(statuses, statuses + num_keys, s);
    return;
  }
  struct Rest {
    size_t place;
    BatchIndex::Update update;
  };
  std::vector<Rest> rest;
  std::vector<Slice> rest_keys;
  for (size_t i = 0; i < num_keys; ++i) {
    BatchIndex::Update update = rep->index.Lookup(compassdb::ColumnFamilyId(column_family), keys[i]);
    const Answer answer =
        AnswerFromBatch(column_family, keys[i], update, values[i].GetSelf(), &statuses[i]);
    if (answer == Answer::kDone) {
      if (statuses[i].ok()) values[i].PinSelf();
      continue;
    }
    rest.push_back({i, std::move(update)});
    rest_keys.push_back(keys[i]);
  }
  if (rest.empty()) return;
  std::vector<PinnableSlice> rest_values(rest.size());
  std::vector<Status> rest_statuses(rest.size());
  db->MultiGet(read_options, column_family, rest.size(), rest_keys.data(), rest_values.data(),
               rest_statuses.data(), sorted_input);
  for (size_t i = 0; i < rest.size(); ++i) {
    const size_t place = rest[i].place;
    values[place] = std::move(rest_values[i]);
    statuses[place] = rest_statuses[i];
    if (rest[i].update.operands.empty()) continue;
    MergeOntoDatabase(column_family, keys[place], rest[i].update, &values[place],
                      &statuses[place]);
  }
}

void WriteBatchWithIndex::SetSavePoint() { rep->batch.SetSavePoint(); }

Status WriteBatchWithIndex::RollbackToSavePoint() {
  Status s = rep->batch.RollbackToSavePoint();
  return s.ok() ? rep->index.Rebuild() : s;
}

Status WriteBatchWithIndex::PopSavePoint() { return rep->batch.PopSavePoint(); }

void WriteBatchWithIndex::SetMaxBytes(size_t max_bytes) { rep->batch.SetMaxBytes(max_bytes); }
size_t WriteBatchWithIndex::GetDataSize() const { return rep->batch.GetDataSize(); }

}  // namespace ROCKSDB_NAMESPACE
