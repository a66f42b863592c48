// SPDX-License-Identifier: Apache-2.0
#include "memtable/memtable.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "format/user_timestamp.h"
#include "iter/merging_iterator.h"
#include "util/checked.h"

namespace compassdb {

namespace {

// With more than these, a point read fragments them.
constexpr size_t kMaxRecentTombstones = 64;

const std::shared_ptr<const RangeTombstoneList>& NoTombstones() {
  static const auto* const none =
      new std::shared_ptr<const RangeTombstoneList>(std::make_shared<RangeTombstoneList>());
  return *none;
}

std::shared_ptr<MemTablePart> NewPart(MemTableOptions options) {
  options.arena_block_size = std::max<size_t>(4096, options.arena_block_size / options.parts);
  return std::make_shared<MemTablePart>(options);
}

std::vector<std::shared_ptr<MemTablePart>> NewParts(const MemTableOptions& options) {
  std::vector<std::shared_ptr<MemTablePart>> parts;
  for (uint32_t i = 0; i < options.parts; ++i) parts.push_back(NewPart(options));
  return parts;
}

}  // namespace

MemTable::MemTable(const MemTableOptions& options, uint64_t id)
    : comparator_(options.comparator),
      id_(id),
      log_values_(options.log_values),
      hasher_(options.hasher),
      write_buffer_size_(options.write_buffer_size),
      parts_(NewParts(options)),
      is_part_(false),
      ranges_(PlainEntries(&comparator_), parts_[0]->arena()) {}

MemTable::MemTable(const MemTable& from, uint64_t id, Parts parts, bool is_part)
    : comparator_(from.comparator_.user_comparator()),
      id_(id),
      log_values_(from.log_values_),
      hasher_(from.hasher_),
      write_buffer_size_(from.write_buffer_size_.load(std::memory_order_relaxed)),
      parts_(std::move(parts)),
      is_part_(is_part),
      all_until_(is_part ? from.largest_sequence() : 0),
      ranges_(PlainEntries(&comparator_), parts_[0]->arena()) {}

MemTable::~MemTable() = default;

MemTable::Sealed MemTable::SealPart(size_t part, const MemTableOptions& options, uint64_t next_id) const {
  COMPASSDB_INVARIANT(part < parts_.size() && parts_.size() > 1, "a part of several is sealed");
  COMPASSDB_INVARIANT(num_range_deletes() == 0, "range tombstones are sealed with all that they cover");
  Parts others = parts_;
  others[part] = NewPart(options);
  Sealed sealed;
  sealed.next.reset(new MemTable(*this, next_id, std::move(others), /*is_part=*/false));
  sealed.next->SetWriteBufferSize(options.write_buffer_size);
  sealed.sealed.reset(new MemTable(*this, id_, {parts_[part]}, /*is_part=*/true));
  return sealed;
}

MemTablePart& MemTable::PartOf(const Slice& user_key) const {
  if (parts_.size() == 1) return *parts_[0];
  return *parts_[static_cast<size_t>(static_cast<unsigned __int128>(hasher_(user_key).h1) * parts_.size() >> 64)];
}

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
  if (type == kTypeRangeDeletion) return AddRange(sequence, key, value, concurrent);
  return PartOf(key).Add(sequence, type, key, value, concurrent);
}

Status MemTable::AddRange(SequenceNumber sequence, const Slice& begin, const Slice& end, bool concurrent) {
  size_t size = PlainEntries::SizeOf(begin, end);
  const List::NewEntry entry = ranges_.Allocate(size);
  char* apart = nullptr;
  if (end.size() >= PlainEntries::kApartFrom) {
    apart = parts_[0]->values()->Allocate(end.size());
    memcpy(apart, end.data(), end.size());
    size += end.size() - sizeof(apart);
  }
  PlainEntries::Encode(sequence, kTypeRangeDeletion, begin, end, apart, entry.bytes);
  const bool added = concurrent ? ranges_.InsertConcurrently(entry) : ranges_.Insert(entry);
  if (!added) return Status::TryAgain("key+seq exists");
  {
    MutexLock lock(&tombstones_mu_);
    recent_.push_back(FromStoredBounds(begin, end, sequence, timestamp_size()));
  }
  ranges_added_.Count(sequence, kTypeRangeDeletion, size, concurrent);
  return Status::OK();
}

Status MemTable::AddAddress(SequenceNumber sequence, const Slice& key, const LogRef& address,
                            bool concurrent) {
  return PartOf(key).AddAddress(sequence, key, address, concurrent);
}

void MemTable::KeepLog(uint64_t number, const std::shared_ptr<const void>& log) {
  if (last_log_.load(std::memory_order_acquire) == number) return;
  for (const auto& part : parts_) part->KeepLog(number, log);
  last_log_.store(number, std::memory_order_release);
}

void MemTable::CheckInvariants() const {
  if constexpr (!kChecked) return;
  for (const auto& part : parts_) part->CheckInvariants();
  ranges_.CheckInvariants();
  ForEach([&](const Record& record) {
    const SequenceNumber sequence = record.sequence();
    COMPASSDB_INVARIANT(sequence >= first_sequence() && sequence <= largest_sequence(),
                        "records have sequences of the memtable's range");
  });
  for (const auto& part : parts_) {
    part->ForEach([&](const Record& record) {
      COMPASSDB_INVARIANT(&PartOf(record.user_key()) == part.get(), "a record is in the part of its key");
    });
  }
}

SequenceNumber MemTable::first_sequence() const {
  SequenceNumber first = ranges_added_.first.load(std::memory_order_acquire);
  for (const auto& part : parts_) first = std::min(first, part->counters().first.load(std::memory_order_acquire));
  return first == kMaxSequenceNumber ? 0 : first;
}

SequenceNumber MemTable::first_sequence_of(const Slice& user_key) const {
  if (is_part_) return 0;  // perhaps of other keys
  const SequenceNumber first = std::min(ranges_added_.first.load(std::memory_order_acquire),
                                        PartOf(user_key).counters().first.load(std::memory_order_acquire));
  return first == kMaxSequenceNumber ? 0 : first;
}

SequenceNumber MemTable::largest_sequence() const {
  SequenceNumber largest = std::max(all_until_, ranges_added_.largest.load(std::memory_order_acquire));
  for (const auto& part : parts_) largest = std::max(largest, part->counters().largest.load(std::memory_order_acquire));
  return largest;
}

bool MemTable::Precedes(const MemTable& newer) const {
  const auto precedes = [](SequenceNumber largest, SequenceNumber first) {
    return first == kMaxSequenceNumber || largest < first;
  };
  if (is_part_ || newer.is_part_ || parts_.size() != newer.parts_.size()) return true;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!precedes(parts_[i]->counters().largest, newer.parts_[i]->counters().first)) return false;
  }
  return precedes(ranges_added_.largest, newer.ranges_added_.first);
}

void MemTable::Get(const LookupKey& key, GetContext* ctx) const {
  const Slice user_key = key.user_key();
  if (num_range_deletes() != 0) {
    ctx->AddCoveringTombstone(CoveringTombstone(user_key, ctx->snapshot()));
  }
  PartOf(user_key).Get(key, ctx, log_values_);
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
  for (const auto& part : parts_) part->AddSamples(level, &keys);
  if (parts_.size() > 1) {
    std::sort(keys.begin(), keys.end(),
              [this](const Slice& a, const Slice& b) { return comparator_.CompareUserKey(a, b) < 0; });
  }
  return keys;
}

void MemTable::ApproximateStats(const Slice& begin, const Slice& end, uint64_t* count,
                                uint64_t* bytes) const {
  const uint64_t entries = num_entries();
  const auto count_before = [&](const Slice& key) {
    const LookupKey lookup(key, kMaxSequenceNumber);
    return Sum([&](const MemTablePart& part) { return part.EstimateCount(lookup.internal_key()); });
  };
  const uint64_t before = count_before(begin), until = count_before(end);
  *count = std::min(entries, until > before ? until - before : 0);
  *bytes = entries == 0 ? 0 : data_size() / entries * *count;
}

InternalIteratorPtr MemTable::NewIterator() const {
  if (parts_.size() == 1) return parts_[0]->NewIterator();
  std::vector<InternalIteratorPtr> children;
  for (const auto& part : parts_) children.push_back(part->NewIterator());
  return NewMergingIterator(&comparator_, std::move(children));
}

}  // namespace compassdb
