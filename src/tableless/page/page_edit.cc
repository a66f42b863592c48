// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_edit.h"

#include "tableless/page/page_resolver.h"

namespace compassdb {

Status AddToKeyStore(bool key_store, const Slice& user_key, const KeyOutcome& outcome,
                    bool existed, bool held, MemTable* keys) {
  const bool has_old_versions = !outcome.old_versions.empty();
  Status s;
  for (const KeyOutcome::OldVersion& old : outcome.old_versions) {
    if (s.ok()) s = keys->Add(old.sequence, old.type, user_key, old.value, /*concurrent=*/true);
  }
  if (!s.ok()) return s;
  // A marker says that a key exists, and stays when the key's value changes.
  if (outcome.newest) {
    if (!has_old_versions && (existed || !key_store)) return s;
    return keys->Add(outcome.newest->sequence, kTypeBlobIndex, user_key, kKeyMarker, true);
  }
  // A deletion says that the key does not exist. For readers with a snapshot it says that the key changed since.
  if (!has_old_versions && !held && !(existed && key_store)) return s;
  return keys->Add(outcome.gone_at, kTypeDeletion, user_key, Slice(), true);
}

void PageEdit::Begin(std::vector<PageRecord> existing) {
  existing_ = std::move(existing);
  taken_.assign(existing_.size(), false);
  arrivals_.clear();
  kept_.clear();
  overflow_.clear();
}

const PageRecord* PageEdit::Take(const Slice& user_key) {
  for (size_t i = 0; i < existing_.size(); ++i) {
    if (existing_[i].user_key != user_key) continue;
    taken_[i] = true;
    counts_.records -= 1;
    counts_.bytes -= static_cast<int64_t>(EncodedSize(existing_[i]));
    return &existing_[i];
  }
  return nullptr;
}

void PageEdit::Put(const PageRecord& record, const PageRecord* overflowed) {
  arrivals_.push_back(
      {record, overflowed != nullptr, overflowed == nullptr ? 0 : EncodedSize(*overflowed)});
}

void PageEdit::Remove(const Slice& user_key, SequenceNumber sequence, const PageRecord* overflowed) {
  if (overflowed == nullptr) return;
  OverflowEntry entry;
  entry.section = section_;
  entry.removal = true;
  entry.record.user_key = user_key;
  entry.record.sequence = sequence;
  overflow_.push_back(entry);
  const auto size = static_cast<int64_t>(EncodedSize(*overflowed));
  counts_.records -= 1;
  counts_.bytes -= size;
  counts_.overflow_records -= 1;
  counts_.overflow_bytes -= size;
}

void PageEdit::Finish(bool* changed) {
  *changed = false;
  crossed_ = false;
  size_t used = kPageHeaderBytes, before = kPageHeaderBytes;
  for (size_t i = 0; i < existing_.size(); ++i) {
    const size_t size = EncodedSize(existing_[i]);
    before += size;
    if (taken_[i]) {
      *changed = true;
      continue;
    }
    used += size;
    kept_.push_back(existing_[i]);
  }
  for (const Arrival& a : arrivals_) {
    const size_t size = EncodedSize(a.record);
    const bool fits = !a.record.unfolded && used + size <= page_bytes_;
    if (a.was_overflow) {
      counts_.records -= 1;
      counts_.bytes -= static_cast<int64_t>(a.overflow_size);
      counts_.overflow_records -= 1;
      counts_.overflow_bytes -= static_cast<int64_t>(a.overflow_size);
    }
    counts_.records += 1;
    counts_.bytes += static_cast<int64_t>(size);
    OverflowEntry entry;
    entry.section = section_;
    entry.record = a.record;
    if (fits) {
      used += size;
      kept_.push_back(a.record);
      *changed = true;
      if (!a.was_overflow) continue;
      crossed_ = true;
      entry.removal = true;
      entry.record.value = Slice();
    } else {
      counts_.overflow_records += 1;
      counts_.overflow_bytes += static_cast<int64_t>(size);
      crossed_ = crossed_ || WasTaken(a.record.user_key);
    }
    overflow_.push_back(entry);
  }
  used_ = used;
  change_.records = static_cast<int32_t>(kept_.size()) - static_cast<int32_t>(existing_.size());
  change_.bytes = static_cast<int32_t>(used) - static_cast<int32_t>(before);
}

bool PageEdit::WasTaken(const Slice& user_key) const {
  for (size_t i = 0; i < existing_.size(); ++i) {
    if (taken_[i] && existing_[i].user_key == user_key) return true;
  }
  return false;
}

}  // namespace compassdb
