// SPDX-License-Identifier: Apache-2.0
#include "db/read/separated_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "iter/merge_helper.h"
#include "value_store/value_ref.h"

namespace compassdb {

Status SeparatedValues::Fetch(const CurrentKey& key, const Slice& ref, rocksdb::PinnableSlice* value) {
  value->Reset();
  version_ = ValueResolver::Version();
  const ValueResolver* const values = entries_.source().values.get();
  Status s = values == nullptr ? Status::NotFound() : values->ResolveVersion(key.bare(), ref, value, &version_);
  return s.IsNotFound() ? SeparatedValueIsGone(key.stored()) : s;
}

// If reads can overlap, the next window begins as soon as the last one is used, else where the last one ends. The scout
// is there, unless the walk passed hidden values.
void SeparatedValues::LookAhead(const CurrentKey& key, bool forward, SeekTarget* target) {
  const DBIterSource& source = entries_.source();
  const bool first = walked_ == kWalkBeforeReadAhead + 1;
  bool unknown = first || scout_ == nullptr || forward_ != forward;
  forward_ = forward;
  if (!unknown && IsBehind(key.stored(), until_)) {
    unknown = !ScoutIsAt(key.stored());
  } else if (!unknown && (scout_done_ || !source.values->overlaps() || IsBehind(from_, key.stored()))) {
    return;
  }
  if (scout_ == nullptr && source.pins != nullptr) scout_ = source.pins->NewScout();
  if (scout_ == nullptr) return;
  const size_t window =
      first ? kFirstWindow : std::clamp<size_t>(walked_ / 6, kFirstWindow, kLargestWindow);
  if (unknown && forward) {
    scout_->Seek(source.iter->key());
  } else if (unknown) {
    scout_->SeekForPrev(target->BehindStored(key.stored()));
  }
  Collect(window, unknown);
  if (coming_.empty()) {
    if (unknown) until_ = key.stored();
    return;  // the last window stays
  }
  last_bytes_ = 1 - last_bytes_;
  from_.assign(coming_.front().user_key.data(), coming_.front().user_key.size());
  until_.assign(coming_.back().user_key.data(), coming_.back().user_key.size());
  source.values->ReadAhead(coming_, /*keep=*/walked_ < kLongWalk);
}

bool SeparatedValues::ScoutIsAt(const Slice& key) const {
  return scout_->Valid() && order_.Compare(ExtractUserKey(scout_->key()), key) == 0;
}

bool SeparatedValues::IsPastEnd(const Slice& user_key) const {
  return forward_ ? range_.IsAbove(user_key) : range_.IsBelow(user_key);
}

// Adds to coming_ what the scout finds, in the bytes that the last window does not use. For each key: the newest
// visible separated value, also under merge operands, which need it. Forward also, without need, under a deletion.
void SeparatedValues::Collect(size_t window, bool unknown) {
  std::array<std::pair<size_t, size_t>, kLargestWindow> ends;  // of key and reference in the bytes
  size_t n = 0;
  uint64_t value_bytes = 0;
  std::string& bytes = bytes_[1 - last_bytes_];
  bytes.clear();
  const auto begin_of = [&](size_t i) { return i == 0 ? 0 : ends[i - 1].second; };
  const auto key_at = [&](size_t i) {
    return Slice(bytes.data() + begin_of(i), ends[i].first - begin_of(i));
  };
  const auto ref_at = [&](size_t i) {
    return Slice(bytes.data() + ends[i].first, ends[i].second - ends[i].first);
  };
  scout_done_ = true;
  for (; scout_->Valid(); forward_ ? scout_->Next() : scout_->Prev()) {
    ParsedInternalKey entry;
    if (!ParseInternalKey(scout_->key(), &entry) || IsPastEnd(entry.user_key)) break;
    if (entry.sequence > entries_.source().snapshot || entry.type == kTypeMerge) continue;
    if (n > 0 && order_.Compare(entry.user_key, key_at(n - 1)) == 0) {
      if (forward_) continue;
      value_bytes -= ReferredSize(ref_at(--n));  // this one is newer
      bytes.resize(begin_of(n));
    } else if (n == 0 && !unknown && !IsBehind(entry.user_key, until_)) {
      continue;
    }
    if (entry.type != kTypeBlobIndex) continue;
    if (n == window || value_bytes >= kWindowBytes) {
      scout_done_ = false;
      break;
    }
    const Slice ref = scout_->value();
    bytes.append(entry.user_key.data(), entry.user_key.size());
    ends[n].first = bytes.size();
    bytes.append(ref.data(), ref.size());
    ends[n++].second = bytes.size();
    value_bytes += ReferredSize(ref);
  }
  coming_.clear();
  for (size_t i = 0; i < n; ++i) coming_.push_back({key_at(i), ref_at(i)});
}

}  // namespace compassdb
