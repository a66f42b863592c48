// SPDX-License-Identifier: Apache-2.0
#include "memtable/memtable.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

#include "format/user_timestamp.h"
#include "util/checked.h"
#include "util/coding.h"
#include "util/hash.h"
#include "util/perf_span.h"

namespace compassdb {

namespace {

// With more than these, a point read fragments them.
constexpr size_t kMaxRecentTombstones = 64;
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

const std::shared_ptr<const RangeTombstoneList>& NoTombstones() {
  static const auto* const none =
      new std::shared_ptr<const RangeTombstoneList>(std::make_shared<RangeTombstoneList>());
  return *none;
}

// Adds to a counter that other threads read at any time. Either this thread is
// the only writer, or several writers add concurrently.
void Bump(std::atomic<uint64_t>* counter, uint64_t n, bool concurrent) {
  if (concurrent) {
    counter->fetch_add(n, std::memory_order_release);
  } else {
    counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
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

MemTable::MemTable(const MemTableOptions& options, uint64_t id)
    : comparator_(options.comparator),
      id_(id),
      separated_from_(options.separated_from),
      log_values_(options.log_values),
      write_buffer_size_(options.write_buffer_size),
      arena_(options.arena_block_size, /*addresses=*/HasIndex(options)),
      values_(options.arena_block_size),
      plain_(&comparator_),
      index_(HasIndex(options) ? std::make_unique<IndexEntries>(&comparator_) : nullptr),
      ranges_(plain_, &arena_) {
  if (index_ != nullptr) {
    index_points_.emplace(IndexOrder{index_.get()}, &arena_);
  } else {
    points_.emplace(plain_, &arena_);
  }
  if (BytesStandForKeys(options.comparator)) {
    filter_ = std::make_unique<MemTableFilter>(
        std::min(std::min(options.write_buffer_size, options.filter_for) / kFilterShare, kMaxFilterBytes));
  }
}

MemTable::~MemTable() = default;

Status MemTable::Add(SequenceNumber sequence, ValueType type, const Slice& key,
                     const Slice& value, bool concurrent) {
  assert(!immutable());
  if (!IsPointType(type) && type != kTypeRangeDeletion) {
    return Status::Corruption("memtable: unknown record type " + std::to_string(type) + " for key",
                              key.ToString(/*hex=*/true));
  }
  if (key.size() > UINT32_MAX - 8 || value.size() > UINT32_MAX) {
    return Status::InvalidArgument("key or value is too large");
  }
  if (type == kTypeRangeDeletion && std::min(key.size(), value.size()) < timestamp_size()) {
    return Status::Corruption("memtable: a range without timestamps, from key",
                              key.ToString(/*hex=*/true));
  }
  Status s;
  if (type == kTypeRangeDeletion) {
    s = AddPlain(&ranges_, 0, sequence, type, key, value, concurrent);
  } else if (index_ != nullptr) {
    s = AddPlain(&*index_points_, 1, sequence, type, key, value, concurrent);
  } else {
    s = AddPlain(&*points_, 0, sequence, type, key, value, concurrent);
  }
  if (s.ok() && type == kTypeValue && value.size() >= separated_from_) {
    Bump(&separated_size_, value.size(), concurrent);
  }
  return s;
}

// The entry begins with `prefix` zeros.
template <class L>
Status MemTable::AddPlain(L* list, size_t prefix, SequenceNumber sequence, ValueType type,
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
  if (filter_ != nullptr && type != kTypeRangeDeletion) filter_->Add(Hash64(key));
  Status s = Insert(list, entry, concurrent);
  if (!s.ok()) return s;
  if (type == kTypeRangeDeletion) {
    MutexLock lock(&tombstones_mu_);
    recent_.push_back(FromStoredBounds(key, value, sequence, timestamp_size()));
  }
  Count(sequence, type, size, concurrent);
  return s;
}

Status MemTable::AddAddress(SequenceNumber sequence, const Slice& key, const LogRef& address,
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
    if (s.ok()) Count(sequence, kTypeBlobIndex, size, concurrent);
  }
  if (!s.ok()) return s;
  Bump(&data_size_, address.size, concurrent);
  Bump(&num_in_log_, 1, concurrent);
  Bump(&size_in_log_, address.size, concurrent);
  return s;
}

void MemTable::KeepLog(uint64_t number, std::shared_ptr<const void> log) {
  if (last_log_.load(std::memory_order_acquire) == number) return;
  MutexLock lock(&logs_mu_);
  if (last_log_.load(std::memory_order_relaxed) == number) return;
  logs_.push_back(std::move(log));
  if (index_ != nullptr) index_->AddLog(number);
  last_log_.store(number, std::memory_order_release);
}

void MemTable::Count(SequenceNumber sequence, ValueType type, size_t bytes, bool concurrent) {
  Bump(&num_entries_, 1, concurrent);
  Bump(&data_size_, bytes, concurrent);
  if (type == kTypeDeletion || type == kTypeSingleDeletion) Bump(&num_deletes_, 1, concurrent);
  if (type == kTypeMerge) Bump(&num_merges_, 1, concurrent);
  if (type == kTypeRangeDeletion) Bump(&num_range_deletes_, 1, concurrent);
  SequenceNumber seen = first_sequence_.load(std::memory_order_relaxed);
  while (sequence < seen &&
         !first_sequence_.compare_exchange_weak(seen, sequence, std::memory_order_release)) {
  }
  seen = largest_sequence_.load(std::memory_order_relaxed);
  while (sequence > seen &&
         !largest_sequence_.compare_exchange_weak(seen, sequence, std::memory_order_release)) {
  }
}

void MemTable::CheckInvariants() const {
  if constexpr (!kChecked) return;
  OnPoints([](const auto& points) { points.CheckInvariants(); });
  ranges_.CheckInvariants();
  uint64_t points = 0, deletes = 0, merges = 0;
  ForEach([&](const Record& record) {
    const ValueType type = record.type();
    const SequenceNumber sequence = record.sequence();
    COMPASSDB_INVARIANT(sequence >= first_sequence() && sequence <= largest_sequence(),
                        "records have sequences of the memtable's range");
    const bool found = filter_ == nullptr || filter_->MayContain(Hash64(record.user_key()));
    COMPASSDB_INVARIANT(found, "the filter of a memtable has each key");
    ++points;
    deletes += type == kTypeDeletion || type == kTypeSingleDeletion ? 1 : 0;
    merges += type == kTypeMerge ? 1 : 0;
  });
  COMPASSDB_INVARIANT(points == num_entries() - num_range_deletes(), "each record counts once");
  COMPASSDB_INVARIANT(deletes == num_deletes(), "each deletion counts once");
  COMPASSDB_INVARIANT(merges == num_merges(), "each merge operand counts once");
}

SequenceNumber MemTable::first_sequence() const {
  const SequenceNumber first = first_sequence_.load(std::memory_order_acquire);
  return first == kMaxSequenceNumber ? 0 : first;
}

void MemTable::Get(const LookupKey& key, GetContext* ctx) const {
  if (num_entries_.load(std::memory_order_acquire) == 0) return;
  const Slice user_key = key.user_key();
  if (num_range_deletes() != 0) {
    ctx->AddCoveringTombstone(CoveringTombstone(user_key, ctx->snapshot()));
  }
  if (filter_ != nullptr) {
    const bool perhaps = filter_->MayContain(key.hash());
    if (CurrentPerfLevel() >= rocksdb::kEnableCount) {
      rocksdb::PerfContext* const perf = CurrentPerfContext();
      ++(perhaps ? perf->bloom_memtable_hit_count : perf->bloom_memtable_miss_count);
    }
    if (!perhaps) return;
  }
  if (index_ != nullptr) {
    Search(*index_points_, *index_, key, ctx);
  } else {
    Search(*points_, plain_, key, ctx);
  }
}

template <class L, class Entries>
void MemTable::Search(const L& points, const Entries& entries, const LookupKey& key,
                      GetContext* ctx) const {
  std::string room;
  typename L::Iterator it(&points);
  for (it.Seek(key.internal_key()); it.Valid(); it.Next()) {
    if (comparator_.CompareUserKey(entries.UserKey(it.entry()), key.user_key()) != 0) return;
    const uint64_t trailer = entries.Trailer(it.entry());
    const auto type = static_cast<ValueType>(trailer & 0xff);
    if (type == kTypeBlobIndex) ctx->SetValues(log_values_);
    if (!ctx->Add(trailer >> 8, type, entries.Value(it.entry(), &room), nullptr)) return;
  }
}

std::vector<RangeTombstone> MemTable::RawRangeTombstones() const {
  std::vector<RangeTombstone> tombstones;
  List::Iterator it(&ranges_);
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    const Slice key = PlainEntries::Key(it.entry());
    tombstones.push_back(FromStoredBounds(ExtractUserKey(key), PlainEntries::Value(it.entry()),
                                          ExtractSequence(key), timestamp_size()));
  }
  return tombstones;
}

void MemTable::Fragment() const {
  // The list of all may have more than the recent ones when this began: then
  // some tombstones are in both, which does no harm.
  tombstones_ = std::make_shared<RangeTombstoneList>(RawRangeTombstones(),
                                                     comparator_.user_comparator());
  recent_.clear();
}

std::shared_ptr<const RangeTombstoneList> MemTable::RangeTombstones() const {
  if (num_range_deletes() == 0) return NoTombstones();
  MutexLock lock(&tombstones_mu_);
  if (!recent_.empty()) Fragment();
  return tombstones_;
}

SequenceNumber MemTable::CoveringTombstone(const Slice& user_key,
                                           SequenceNumber snapshot) const {
  std::shared_ptr<const RangeTombstoneList> list;
  SequenceNumber covering = 0;
  {
    MutexLock lock(&tombstones_mu_);
    if (recent_.size() > kMaxRecentTombstones) Fragment();
    list = tombstones_;
    for (const RangeTombstone& t : recent_) {
      if (t.sequence <= snapshot && t.sequence > covering &&
          comparator_.CompareUserKey(t.start, user_key) <= 0 &&
          comparator_.CompareUserKey(user_key, t.end) < 0 &&
          (t.timestamp.empty() ||
           comparator_.user_comparator()->CompareTimestamp(
               t.timestamp, TimestampOf(user_key, t.timestamp.size())) >= 0)) {
        covering = t.sequence;
      }
    }
  }
  if (list == nullptr) return covering;
  return std::max(covering, list->MaxCoveringSequence(user_key, snapshot));
}

std::vector<Slice> MemTable::SampleKeys() const {
  constexpr uint64_t kSamples = 512;
  int level = 0;
  for (uint64_t n = num_entries(); n / List::kBranching >= kSamples; n /= List::kBranching) ++level;
  std::vector<Slice> keys;
  OnPoints([&](const auto& points) {
    points.ForEachAtLevel(std::min(level, List::kMaxHeight - 1), [&](const char* entry) {
      keys.push_back(Record(entry, index_.get()).user_key());
    });
  });
  return keys;
}

void MemTable::ApproximateStats(const Slice& begin, const Slice& end, uint64_t* count,
                                uint64_t* bytes) const {
  const uint64_t entries = num_entries();
  const auto count_before = [&](const Slice& key) {
    const LookupKey lookup(key, kMaxSequenceNumber);
    return OnPoints([&](const auto& p) { return p.EstimateCount(lookup.internal_key()); });
  };
  const uint64_t before = count_before(begin), until = count_before(end);
  *count = std::min(entries, until > before ? until - before : 0);
  *bytes = entries == 0 ? 0 : data_size() / entries * *count;
}

template <class L, class Entries>
class MemTable::Iterator final : public InternalIterator {
 public:
  Iterator(const MemTable* memtable, const L* points, const Entries* entries)
      : memtable_(memtable), entries_(*entries), it_(points) {}
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
    if (memtable_->largest_sequence() < seq) Seek(target);
  }
  Slice key() const override { return key_; }
  Slice value() const override { return entries_.Value(it_.entry(), &value_room_); }
  Status status() const override { return Status::OK(); }

 private:
  void Update() {
    if (it_.Valid()) key_ = entries_.Key(it_.entry(), &key_room_);
  }
  const MemTable* const memtable_;
  const Entries& entries_;
  typename L::Iterator it_;
  Slice key_;
  std::string key_room_;
  mutable std::string value_room_;
};

InternalIteratorPtr MemTable::NewIterator() const {
  if (index_ != nullptr) {
    return std::make_unique<Iterator<IndexList, IndexEntries>>(this, &*index_points_, index_.get());
  }
  return std::make_unique<Iterator<List, PlainEntries>>(this, &*points_, &plain_);
}

}  // namespace compassdb
