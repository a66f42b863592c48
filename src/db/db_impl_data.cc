// SPDX-License-Identifier: Apache-2.0
// Writes, reads and snapshots.
#include <algorithm>

#include "db/db_impl.h"
#include "db/engine.h"

namespace compassdb {

Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const Slice& value) {
  return Refuses(family) ? Refusal() : write_path_.Put(options, family, key, value);
}

Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   const Slice& ts, const Slice& value) {
  return Refuses(family) ? Refusal() : write_path_.Put(options, family, key, ts, value);
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) {
  return Refuses(family) ? Refusal() : write_path_.Delete(options, family, key);
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      const Slice& ts) {
  return Refuses(family) ? Refusal() : write_path_.Delete(options, family, key, ts);
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                            const Slice& key) {
  return Refuses(family) ? Refusal() : write_path_.SingleDelete(options, family, key);
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, const Slice& ts) {
  return Refuses(family) ? Refusal() : write_path_.SingleDelete(options, family, key, ts);
}

Status DBImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family,
                           const Slice& begin, const Slice& end) {
  return Refuses(family) ? Refusal() : write_path_.DeleteRange(options, family, begin, end);
}

Status DBImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family,
                           const Slice& begin, const Slice& end, const Slice& ts) {
  return Refuses(family) ? Refusal() : write_path_.DeleteRange(options, family, begin, end, ts);
}

Status DBImpl::PutEntity(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                         const rocksdb::WideColumns& columns) {
  return Refuses(family) ? Refusal() : write_path_.PutEntity(options, family, key, columns);
}

Status DBImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                     const Slice& value) {
  return Refuses(family) ? Refusal() : write_path_.Merge(options, family, key, value);
}

Status DBImpl::Write(const WriteOptions& options, WriteBatch* batch) {
  return Inherited() ? InheritedStatus() : write_path_.Write(options, batch);
}

Status DBImpl::FlushWAL(bool sync) {
  return Inherited() ? InheritedStatus() : write_path_.FlushLog(sync);
}

Status DBImpl::SyncWAL() {
  return Inherited() ? InheritedStatus() : write_path_.FlushLog(/*sync=*/true);
}

Status DBImpl::LockWAL() { return Inherited() ? InheritedStatus() : write_path_.LockLog(); }

Status DBImpl::UnlockWAL() { return Inherited() ? InheritedStatus() : write_path_.UnlockLog(); }

rocksdb::SequenceNumber DBImpl::GetLatestSequenceNumber() const {
  return Inherited() ? 0 : engine_->state.front.last_sequence.load(std::memory_order_acquire);
}

Status DBImpl::WriteForTransaction(const WriteOptions& options, WriteBatch* batch,
                                   const TransactionWrite& write) {
  if (Inherited()) return InheritedStatus();
  return write_path_.Write(options, batch, write, /*marks=*/true);
}

Status DBImpl::LogSection(const WriteOptions& options,
                          const std::shared_ptr<PreparedSection>& section) {
  return Inherited() ? InheritedStatus() : write_path_.LogSection(options, section);
}

RecoveredTransactions DBImpl::TakeRecoveredTransactions() {
  return engine_->state.front.open_sections.TakeRecovered();
}

std::shared_ptr<ColumnFamily> DBImpl::FamilyById(uint32_t id) const {
  return Inherited() ? nullptr : engine_->state.families.ById(id);
}

Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   PinnableSlice* value) {
  return Refuses(family) ? Refusal() : reader_.Get(options, family, key, value, nullptr);
}

Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) {
  return Refuses(family) ? Refusal() : reader_.Get(options, family, key, value, timestamp);
}

Status DBImpl::GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                         rocksdb::PinnableWideColumns* columns) {
  return Inherited() ? InheritedStatus() : reader_.GetEntity(options, family, key, columns);
}

Status DBImpl::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* family,
                                const Slice& key, PinnableSlice* operands,
                                rocksdb::GetMergeOperandsOptions* merge_options,
                                int* number_of_operands) {
  if (Refuses(family)) return Refusal();
  return reader_.GetMergeOperands(options, family, key, operands, merge_options,
                                  number_of_operands);
}

std::vector<Status> DBImpl::MultiGet(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values) {
  if (Refuses(families)) return std::vector<Status>(keys.size(), Refusal());
  return reader_.MultiGet(options, families, keys, values, nullptr);
}

std::vector<Status> DBImpl::MultiGet(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
    const std::vector<Slice>& keys, std::vector<std::string>* values,
    std::vector<std::string>* timestamps) {
  if (Refuses(families)) return std::vector<Status>(keys.size(), Refusal());
  return reader_.MultiGet(options, families, keys, values, timestamps);
}

void DBImpl::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                      const Slice* keys, PinnableSlice* values, Status* statuses,
                      bool sorted_input) {
  if (Refuses(family)) return std::fill_n(statuses, num_keys, Refusal()), void();
  reader_.MultiGet(options, family, num_keys, keys, values, nullptr, statuses, sorted_input);
}

void DBImpl::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool sorted_input) {
  if (Refuses(family)) return std::fill_n(statuses, num_keys, Refusal()), void();
  reader_.MultiGet(options, family, num_keys, keys, values, timestamps, statuses, sorted_input);
}

void DBImpl::MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool sorted_input) {
  if (Refuses({families, num_keys})) return std::fill_n(statuses, num_keys, Refusal()), void();
  reader_.MultiGet(options, num_keys, families, keys, values, timestamps, statuses, sorted_input);
}

void DBImpl::MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** families,
                      const Slice* keys, PinnableSlice* values, Status* statuses,
                      bool sorted_input) {
  if (Refuses({families, num_keys})) return std::fill_n(statuses, num_keys, Refusal()), void();
  reader_.MultiGet(options, num_keys, families, keys, values, nullptr, statuses, sorted_input);
}

bool DBImpl::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                         std::string* value, std::string* timestamp, bool* value_found) {
  if (!Refuses(family)) {
    return reader_.KeyMayExist(options, family, key, value, timestamp, value_found);
  }
  if (value_found != nullptr) *value_found = false;
  return true;
}

Status DBImpl::NewestSequence(ColumnFamilyHandle* family, const Slice& key, SequenceNumber since,
                              SequenceNumber* newest, std::string* time) {
  if (Refuses(family)) return Refusal();
  return reader_.NewestSequence(family, key, since, newest, time);
}

rocksdb::Iterator* DBImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  if (Refuses(family)) return rocksdb::NewErrorIterator(Refusal());
  return reader_.NewIterator(options, family);
}

Status DBImpl::NewIterators(const ReadOptions& options,
                            const std::vector<ColumnFamilyHandle*>& families,
                            std::vector<rocksdb::Iterator*>* iterators) {
  return Refuses(families) ? Refusal() : reader_.NewIterators(options, families, iterators);
}

Status DBImpl::ForEachRecord(ColumnFamilyHandle* family, const Slice& begin, const Slice& end,
                             const RecordVisitor& visit) {
  return Refuses(family) ? Refusal() : reader_.ForEachRecord(family, begin, end, visit);
}

const rocksdb::Snapshot* DBImpl::GetSnapshot() {
  if (Inherited()) return nullptr;
  const uint64_t micros = engine_->state.config.clock->NowMicros();
  return engine_->snapshots.New(static_cast<int64_t>(micros / 1000000));
}

void DBImpl::ReleaseSnapshot(const rocksdb::Snapshot* snapshot) {
  if (!Inherited()) engine_->snapshots.Release(snapshot);
}

}  // namespace compassdb
