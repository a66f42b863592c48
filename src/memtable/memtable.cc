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
// Values from this size on are not in their entries.
constexpr uint32_t kApartFrom = 128;

// Equal keys have equal bytes.
bool BytesStandForKeys(const Comparator* comparator) {
  return comparator == rocksdb::BytewiseComparator() ||
         (comparator->timestamp_size() == 0 &&
          !comparator->CanKeysWithDifferentByteContentsBeEqual());
}

// Entries are always whole: lengths need no checks.
Slice ReadSlice(const char* p) {
  uint32_t len = 0;
  p = GetVarint32Ptr(p, p + kMaxVarint32Bytes, &len);
  return Slice(p, len);
}
Slice EntryKey(const char* entry) { return ReadSlice(entry); }
Slice EntryValue(const Slice& internal_key) {
  const Slice value = ReadSlice(internal_key.data() + internal_key.size());
  if (value.size() < kApartFrom) return value;
  const char* apart = nullptr;
  memcpy(&apart, value.data(), sizeof(apart));
  return Slice(apart, value.size());
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

}  // namespace

int MemTable::EntryCompare::operator()(const char* a, const char* b) const {
  return comparator->Compare(EntryKey(a), EntryKey(b));
}
int MemTable::EntryCompare::operator()(const char* a, const Slice& internal_key) const {
  return comparator->Compare(EntryKey(a), internal_key);
}

MemTable::MemTable(const MemTableOptions& options, uint64_t id)
    : comparator_(options.comparator),
      id_(id),
      separated_from_(options.separated_from),
      log_values_(options.log_values),
      in_log_up_to_(options.in_log_up_to),
      write_buffer_size_(options.write_buffer_size),
      arena_(options.arena_block_size),
      values_(options.arena_block_size),
      points_(EntryCompare{&comparator_}, &arena_),
      ranges_(EntryCompare{&comparator_}, &arena_) {
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
  List* const list = type == kTypeRangeDeletion ? &ranges_ : &points_;
  const auto key_bytes = static_cast<uint32_t>(key.size() + 8);
  const auto value_bytes = static_cast<uint32_t>(value.size());
  const size_t head = static_cast<size_t>(VarintLength(key_bytes)) + key_bytes +
                      static_cast<size_t>(VarintLength(value_bytes));
  const bool apart = value_bytes >= kApartFrom;
  char* const entry = list->Allocate(head + (apart ? sizeof(char*) : value_bytes));
  char* p = EncodeVarint32(entry, key_bytes);
  if (!key.empty()) memcpy(p, key.data(), key.size());
  p += key.size();
  EncodeFixed64(p, PackTrailer(sequence, type));
  p = EncodeVarint32(p + 8, value_bytes);
  if (apart) {
    char* const to = values_.Allocate(value_bytes);
    memcpy(p, &to, sizeof(to));
    p = to;
  }
  if (!value.empty()) memcpy(p, value.data(), value.size());

  if (filter_ != nullptr && type != kTypeRangeDeletion) filter_->Add(Hash64(key));
  if (!(concurrent ? list->InsertConcurrently(entry) : list->Insert(entry))) {
    return Status::TryAgain("key+seq exists");
  }
  if (type == kTypeRangeDeletion) {
    MutexLock lock(&tombstones_mu_);
    recent_.push_back(FromStoredBounds(key, value, sequence, timestamp_size()));
  }
  Count(sequence, type, head + value_bytes, concurrent);
  if (type == kTypeValue && value.size() >= separated_from_) {
    Bump(&separated_size_, value.size(), concurrent);
  }
  return Status::OK();
}

Status MemTable::AddAddress(SequenceNumber sequence, const Slice& key, const Slice& address,
                            size_t size, bool concurrent) {
  Status s = Add(sequence, kTypeBlobIndex, key, address, concurrent);
  if (!s.ok()) return s;
  Bump(&data_size_, size, concurrent);
  Bump(&num_in_log_, 1, concurrent);
  Bump(&size_in_log_, size, concurrent);
  return s;
}

void MemTable::KeepLog(uint64_t number, std::shared_ptr<const void> log) {
  if (last_kept_log_.load(std::memory_order_acquire) == number) return;
  MutexLock lock(&logs_mu_);
  if (last_kept_log_.load(std::memory_order_relaxed) == number) return;
  logs_.push_back(std::move(log));
  last_kept_log_.store(number, std::memory_order_release);
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
  points_.CheckInvariants();
  ranges_.CheckInvariants();
  uint64_t points = 0, deletes = 0, merges = 0;
  List::Iterator it(&points_);
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    const Slice key = EntryKey(it.entry());
    const ValueType type = ExtractType(key);
    const SequenceNumber sequence = ExtractSequence(key);
    COMPASSDB_INVARIANT(sequence >= first_sequence() && sequence <= largest_sequence(),
                        "records have sequences of the memtable's range");
    const bool found = filter_ == nullptr || filter_->MayContain(Hash64(ExtractUserKey(key)));
    COMPASSDB_INVARIANT(found, "the filter of a memtable has each key");
    ++points;
    deletes += type == kTypeDeletion || type == kTypeSingleDeletion ? 1 : 0;
    merges += type == kTypeMerge ? 1 : 0;
  }
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
  List::Iterator it(&points_);
  for (it.Seek(key.internal_key()); it.Valid(); it.Next()) {
    const Slice found = EntryKey(it.entry());
    if (comparator_.CompareUserKey(ExtractUserKey(found), user_key) != 0) return;
    const ValueType type = ExtractType(found);
    if (type == kTypeBlobIndex) ctx->SetValues(log_values_);
    if (!ctx->Add(ExtractSequence(found), type, EntryValue(found), nullptr)) return;
  }
}

Slice MemTable::ValueOf(const Slice& internal_key) { return EntryValue(internal_key); }

std::vector<RangeTombstone> MemTable::RawRangeTombstones() const {
  std::vector<RangeTombstone> tombstones;
  List::Iterator it(&ranges_);
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    const Slice key = EntryKey(it.entry());
    tombstones.push_back(FromStoredBounds(ExtractUserKey(key), EntryValue(key),
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
  points_.ForEachAtLevel(std::min(level, List::kMaxHeight - 1), [&](const char* entry) {
    keys.push_back(ExtractUserKey(EntryKey(entry)));
  });
  return keys;
}

void MemTable::ApproximateStats(const Slice& begin, const Slice& end, uint64_t* count,
                                uint64_t* bytes) const {
  const uint64_t entries = num_entries();
  const uint64_t before = points_.EstimateCount(LookupKey(begin, kMaxSequenceNumber).internal_key());
  const uint64_t until = points_.EstimateCount(LookupKey(end, kMaxSequenceNumber).internal_key());
  *count = std::min(entries, until > before ? until - before : 0);
  *bytes = entries == 0 ? 0 : data_size() / entries * *count;
}

class MemTable::Iterator final : public InternalIterator {
 public:
  explicit Iterator(const MemTable* memtable)
      : memtable_(memtable), it_(&memtable->points_) {}
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
  Slice value() const override { return EntryValue(key_); }
  Status status() const override { return Status::OK(); }

 private:
  void Update() {
    if (it_.Valid()) key_ = EntryKey(it_.entry());
  }
  const MemTable* const memtable_;
  List::Iterator it_;
  Slice key_;
};

InternalIteratorPtr MemTable::NewIterator() const { return std::make_unique<Iterator>(this); }

}  // namespace compassdb
