// SPDX-License-Identifier: Apache-2.0
#include "transactions/batch_index.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "format/user_timestamp.h"

namespace compassdb {

bool BatchIndex::Less::operator()(const Entry& a, const Entry& b) const {
  if (a.family != b.family) return a.family < b.family;
  const int order = index->Compare(a.family, index->KeyOf(a), index->KeyOf(b));
  return order != 0 ? order < 0 : a.offset < b.offset;
}

bool BatchIndex::Less::operator()(const Entry& a, const Probe& b) const {
  return index->Compare(a, b) < 0;
}

bool BatchIndex::Less::operator()(const Probe& a, const Entry& b) const {
  return index->Compare(b, a) > 0;
}

int BatchIndex::Compare(const Entry& entry, const Probe& probe) const {
  if (entry.family != probe.family) return entry.family < probe.family ? -1 : 1;
  if (probe.side == Side::kBeforeFamily) return 1;
  if (probe.side == Side::kBehindFamily) return -1;
  const int order = Compare(entry.family, KeyOf(entry), probe.key);
  if (order != 0) return order;
  return probe.side == Side::kBeforeKey ? 1 : -1;
}

BatchIndex::BatchIndex(const rocksdb::WriteBatch* batch, const Comparator* fallback,
                       bool overwrite)
    : batch_(batch), fallback_(fallback), overwrite_(overwrite), entries_(Less{this}) {}

void BatchIndex::SetComparator(uint32_t family, const Comparator* comparator) {
  if (comparator == nullptr) return;
  if (family >= comparators_.size()) comparators_.resize(family + 1, nullptr);
  comparators_[family] = comparator;
}

const Comparator* BatchIndex::ComparatorOf(uint32_t family) const {
  if (family < comparators_.size() && comparators_[family] != nullptr) return comparators_[family];
  return fallback_;
}

Status BatchIndex::Add(size_t offset) {
  Slice input(batch_->Data());
  if (offset >= input.size()) return Status::Corruption("no record at the end of a WriteBatch");
  input.remove_prefix(offset);
  BatchRecord record;
  if (Status s = ReadBatchRecord(&input, &record); !s.ok()) return s;
  return Index(offset, record);
}

Slice BatchIndex::BareKey(const BatchRecord& record) const {
  const Comparator* const comparator = ComparatorOf(record.column_family);
  const size_t size = comparator == nullptr ? 0 : comparator->timestamp_size();
  return StripTimestamp(record.key, std::min(size, record.key.size()));
}

Status BatchIndex::Index(size_t offset, const BatchRecord& record) {
  if (!record.IsData() || record.tag == kTypeRangeDeletion) return Status::OK();
  const Slice key = BareKey(record);
  if (overwrite_ && record.tag != kTypeMerge) {
    Position behind = Seek(record.column_family, Side::kBehindKey, key);
    if (behind != entries_.begin()) {
      const Entry& newest = *std::prev(behind);
      if (newest.family == record.column_family &&
          Compare(newest.family, KeyOf(newest), key) == 0) {
        newest.offset = offset;
        return Status::OK();
      }
    }
  }
  const auto key_offset = static_cast<size_t>(key.data() - batch_->Data().data());
  entries_.insert(Entry{record.column_family, offset, key_offset, key.size()});
  return Status::OK();
}

Status BatchIndex::Rebuild() {
  Clear();
  const std::string& bytes = batch_->Data();
  if (bytes.size() < kBatchHeaderBytes) {
    return Status::Corruption("malformed WriteBatch (too small)");
  }
  Slice input(bytes);
  input.remove_prefix(kBatchHeaderBytes);
  while (!input.empty()) {
    const size_t offset = bytes.size() - input.size();
    BatchRecord record;
    Status s = ReadBatchRecord(&input, &record);
    if (s.ok()) s = Index(offset, record);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

BatchRecord BatchIndex::RecordOf(const Entry& entry) const {
  Slice input(batch_->Data());
  input.remove_prefix(entry.offset);
  BatchRecord record;
  const Status s = ReadBatchRecord(&input, &record);
  assert(s.ok());  // it parsed when it was indexed
  (void)s;
  return record;
}

BatchIndex::Update BatchIndex::Lookup(uint32_t family, const Slice& key) const {
  Update update;
  for (Position it = Seek(family, Side::kBehindKey, key); it != entries_.begin();) {
    --it;
    if (it->family != family || Compare(family, KeyOf(*it), key) != 0) break;
    const BatchRecord record = RecordOf(*it);
    if (record.tag == kTypeMerge) {
      update.operands.push_back(record.value);
      continue;
    }
    update.value = record.value;
    update.base = record.tag == kTypeValue ? Update::Base::kValue : Update::Base::kDeleted;
    break;
  }
  return update;
}

}  // namespace compassdb
