// SPDX-License-Identifier: Apache-2.0
#include "memtable/memtable_part.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "util/checked.h"
#include "util/hash.h"
#include "util/perf_span.h"

namespace compassdb {

namespace {

// This fraction (1/64) of the memtable's memory: 18 bits for a record of 120 bytes.
constexpr size_t kFilterShare = 64;
constexpr size_t kMaxFilterBytes = 64 << 20;
// A memtable of this size has enough addresses for any batch that overfills it.
constexpr size_t kMostIndexed = size_t{4} << 30;

// Equal keys have equal bytes.
bool BytesStandForKeys(const Comparator* comparator) {
  return comparator == rocksdb::BytewiseComparator() ||
         (comparator->timestamp_size() == 0 &&
          !comparator->CanKeysWithDifferentByteContentsBeEqual());
}

bool HasIndex(const MemTableOptions& options) {
  return options.log_values != nullptr && options.write_buffer_size <= kMostIndexed;
}

template <class L>
Status Insert(L* list, const typename L::NewEntry& entry, bool concurrent) {
  const bool added = concurrent ? list->InsertConcurrently(entry) : list->Insert(entry);
  return added ? Status::OK() : Status::TryAgain("key+seq exists");
}

}  // namespace

void RecordCounters::Count(SequenceNumber sequence, ValueType type, size_t size, bool concurrent) {
  Bump(&entries, 1, concurrent);
  Bump(&bytes, size, concurrent);
  if (type == kTypeDeletion || type == kTypeSingleDeletion) Bump(&deletes, 1, concurrent);
  if (type == kTypeMerge) Bump(&merges, 1, concurrent);
  SequenceNumber seen = first.load(std::memory_order_relaxed);
  while (sequence < seen &&
         !first.compare_exchange_weak(seen, sequence, std::memory_order_release)) {
  }
  seen = largest.load(std::memory_order_relaxed);
  while (sequence > seen &&
         !largest.compare_exchange_weak(seen, sequence, std::memory_order_release)) {
  }
}

MemTablePart::MemTablePart(const MemTableOptions& options)
    : comparator_(options.comparator),
      separated_from_(options.separated_from),
      arena_(options.arena_block_size, /*addresses=*/HasIndex(options)),
      values_(options.arena_block_size),
      plain_(&comparator_),
      index_(HasIndex(options) ? std::make_unique<IndexEntries>(&comparator_) : nullptr) {
  if (index_ != nullptr) {
    index_points_.emplace(IndexOrder{index_.get()}, &arena_);
  } else {
    points_.emplace(plain_, &arena_);
  }
  if (BytesStandForKeys(options.comparator)) {
    const size_t filled = std::min(options.write_buffer_size, options.filter_for);
    filter_ = std::make_unique<MemTableFilter>(std::min(filled / kFilterShare, kMaxFilterBytes) / options.parts);
  }
}

MemTablePart::~MemTablePart() = default;

Status MemTablePart::Add(SequenceNumber sequence, ValueType type, const Slice& key, const Slice& value,
                         bool concurrent) {
  Status s = index_ != nullptr ? AddPlain(&*index_points_, 1, sequence, type, key, value, concurrent)
                               : AddPlain(&*points_, 0, sequence, type, key, value, concurrent);
  if (s.ok() && type == kTypeValue && value.size() >= separated_from_) {
    RecordCounters::Bump(&counters_.separated, value.size(), concurrent);
  }
  return s;
}

// The entry begins with `prefix` zeros.
template <class L>
Status MemTablePart::AddPlain(L* list, size_t prefix, SequenceNumber sequence, ValueType type,
                              const Slice& key, const Slice& value, bool concurrent) {
  size_t size = PlainEntries::SizeOf(key, value);
  const typename L::NewEntry entry = list->Allocate(prefix + size);
  char* apart = nullptr;
  if (value.size() >= PlainEntries::kApartFrom) {
    apart = values_.Allocate(value.size());
    memcpy(apart, value.data(), value.size());
    size += value.size() - sizeof(apart);
  }
  memset(entry.bytes, 0, prefix);
  PlainEntries::Encode(sequence, type, key, value, apart, entry.bytes + prefix);
  if (filter_ != nullptr) filter_->Add(Hash64(key));
  Status s = Insert(list, entry, concurrent);
  if (s.ok()) counters_.Count(sequence, type, size, concurrent);
  return s;
}

Status MemTablePart::AddAddress(SequenceNumber sequence, const Slice& key, const LogRef& address,
                                bool concurrent) {
  const uint32_t log = index_ != nullptr ? index_->FindLog(address.log) : 0;
  const size_t size = log == 0 ? 0 : index_->SizeOf(sequence, log, key, address);
  Status s;
  if (size == 0) {
    std::string value;
    address.EncodeTo(&value);
    s = Add(sequence, kTypeBlobIndex, key, value, concurrent);
  } else {
    const IndexList::NewEntry entry = index_points_->Allocate(size);
    index_->Encode(sequence, log, key, address, entry.bytes);
    if (filter_ != nullptr) filter_->Add(Hash64(key));
    s = Insert(&*index_points_, entry, concurrent);
    if (s.ok()) counters_.Count(sequence, kTypeBlobIndex, size, concurrent);
  }
  if (!s.ok()) return s;
  RecordCounters::Bump(&counters_.bytes, address.size, concurrent);
  RecordCounters::Bump(&counters_.in_log, 1, concurrent);
  RecordCounters::Bump(&counters_.bytes_in_log, address.size, concurrent);
  return s;
}

void MemTablePart::KeepLog(uint64_t number, const std::shared_ptr<const void>& log) {
  if (last_log_.load(std::memory_order_acquire) == number) return;
  MutexLock lock(&logs_mu_);
  if (last_log_.load(std::memory_order_relaxed) == number) return;
  logs_.push_back(log);
  if (index_ != nullptr) index_->AddLog(number);
  last_log_.store(number, std::memory_order_release);
}

void MemTablePart::CheckInvariants() const {
  if constexpr (!kChecked) return;
  OnPoints([](const auto& points) { points.CheckInvariants(); });
  uint64_t points = 0, deletes = 0, merges = 0;
  ForEach([&](const Record& record) {
    const ValueType type = record.type();
    const SequenceNumber sequence = record.sequence();
    COMPASSDB_INVARIANT(sequence >= counters_.first && sequence <= counters_.largest,
                        "records have sequences of the memtable's range");
    const bool found = filter_ == nullptr || filter_->MayContain(Hash64(record.user_key()));
    COMPASSDB_INVARIANT(found, "the filter of a memtable has each key");
    ++points;
    deletes += type == kTypeDeletion || type == kTypeSingleDeletion ? 1 : 0;
    merges += type == kTypeMerge ? 1 : 0;
  });
  COMPASSDB_INVARIANT(points == counters_.entries, "each record counts once");
  COMPASSDB_INVARIANT(deletes == counters_.deletes, "each deletion counts once");
  COMPASSDB_INVARIANT(merges == counters_.merges, "each merge operand counts once");
}

void MemTablePart::Get(const LookupKey& key, GetContext* ctx, const ValueResolver* log_values) const {
  if (counters_.entries.load(std::memory_order_acquire) == 0) return;
  if (filter_ != nullptr) {
    const bool perhaps = filter_->MayContain(key.hash());
    if (CurrentPerfLevel() >= rocksdb::kEnableCount) {
      rocksdb::PerfContext* const perf = CurrentPerfContext();
      ++(perhaps ? perf->bloom_memtable_hit_count : perf->bloom_memtable_miss_count);
    }
    if (!perhaps) return;
  }
  if (index_ != nullptr) {
    Search(*index_points_, *index_, key, ctx, log_values);
  } else {
    Search(*points_, plain_, key, ctx, log_values);
  }
}

template <class L, class Entries>
void MemTablePart::Search(const L& points, const Entries& entries, const LookupKey& key, GetContext* ctx,
                          const ValueResolver* log_values) const {
  std::string room;
  typename L::Iterator it(&points);
  for (it.Seek(key.internal_key()); it.Valid(); it.Next()) {
    if (comparator_.CompareUserKey(entries.UserKey(it.entry()), key.user_key()) != 0) return;
    const uint64_t trailer = entries.Trailer(it.entry());
    const auto type = static_cast<ValueType>(trailer & 0xff);
    if (type == kTypeBlobIndex) ctx->SetValues(log_values);
    if (!ctx->Add(trailer >> 8, type, entries.Value(it.entry(), &room), nullptr)) return;
  }
}

uint64_t MemTablePart::EstimateCount(const Slice& internal_key) const {
  return OnPoints([&](const auto& points) { return points.EstimateCount(internal_key); });
}

void MemTablePart::AddSamples(int level, std::vector<Slice>* keys) const {
  OnPoints([&](const auto& points) {
    points.ForEachAtLevel(std::min(level, List::kMaxHeight - 1), [&](const char* entry) {
      keys->push_back(Record(entry, index_.get()).user_key());
    });
  });
}

template <class L, class Entries>
class MemTablePart::Iterator final : public InternalIterator {
 public:
  Iterator(const MemTablePart* part, const L* points, const Entries* entries)
      : part_(part), entries_(*entries), it_(points) {}
  bool Valid() const override { return it_.Valid(); }
  void SeekToFirst() override {
    it_.SeekToFirst();
    Update();
  }
  void SeekToLast() override {
    it_.SeekToLast();
    Update();
  }
  void Seek(const Slice& internal_key) override {
    it_.Seek(internal_key);
    Update();
  }
  void SeekForPrev(const Slice& internal_key) override {
    it_.SeekForPrev(internal_key);
    Update();
  }
  void Next() override {
    it_.Next();
    Update();
  }
  void Prev() override {
    it_.Prev(key_);
    Update();
  }
  void SkipCovered(const Slice& target, SequenceNumber seq) override {
    // What is added from now on is newer than any tombstone in use.
    if (part_->counters_.largest.load(std::memory_order_acquire) < seq) Seek(target);
  }
  Slice key() const override { return key_; }
  Slice value() const override { return entries_.Value(it_.entry(), &value_room_); }
  Status status() const override { return Status::OK(); }

 private:
  void Update() {
    if (it_.Valid()) key_ = entries_.Key(it_.entry(), &key_room_);
  }
  const MemTablePart* const part_;
  const Entries& entries_;
  typename L::Iterator it_;
  Slice key_;
  std::string key_room_;
  mutable std::string value_room_;
};

InternalIteratorPtr MemTablePart::NewIterator() const {
  if (index_ != nullptr) {
    return std::make_unique<Iterator<IndexList, IndexEntries>>(this, &*index_points_, index_.get());
  }
  return std::make_unique<Iterator<List, PlainEntries>>(this, &*points_, &plain_);
}

}  // namespace compassdb
