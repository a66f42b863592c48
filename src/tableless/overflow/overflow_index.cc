// SPDX-License-Identifier: Apache-2.0
#include "tableless/overflow/overflow_index.h"

#include <algorithm>
#include <set>

namespace compassdb {

namespace {

bool ByHash(const OverflowIndex::Entry& a, const OverflowIndex::Entry& b) { return a.hash < b.hash; }

const OverflowRun* RunOf(const std::vector<OverflowRunRef>& runs, uint64_t id) {
  const auto it = std::lower_bound(
      runs.begin(), runs.end(), id,
      [](const OverflowRunRef& run, uint64_t wanted) { return run->meta().run_id < wanted; });
  return it == runs.end() || (*it)->meta().run_id != id ? nullptr : it->get();
}

}  // namespace

OverflowIndex::OverflowIndex(std::vector<Entry> entries, std::vector<OverflowRunRef> runs)
    : entries_(std::move(entries)), runs_(std::move(runs)) {
  if (!std::is_sorted(entries_.begin(), entries_.end(), ByHash)) {
    std::sort(entries_.begin(), entries_.end(), ByHash);
  }
  entries_.shrink_to_fit();
  for (const Entry& entry : entries_) run_bytes_ += entry.place.size + kOverflowSlotBytes;
}

Status OverflowIndex::FindRun(const Entry& entry, const OverflowRun** run) const {
  *run = RunOf(runs_, entry.run_id);
  if (*run != nullptr) return Status::OK();
  return Status::Corruption("overflow index", "names run " + std::to_string(entry.run_id));
}

uint64_t OverflowIndex::BytesOfLarger(uint64_t bytes) const {
  uint64_t sum = 0;
  for (const Entry& entry : entries_) {
    const uint64_t record = entry.place.size - kOverflowEntryHeader;  // the rest differs by a byte or two
    if (record > bytes) sum += record;
  }
  return sum;
}

Status OverflowIndex::Read(const Entry& entry, std::string* room, OverflowEntry* record,
                           rocksdb::Statistics* statistics) const {
  const OverflowRun* run = nullptr;
  Status s = FindRun(entry, &run);
  return s.ok() ? run->Read(entry.place, room, record, statistics) : s;
}

std::span<const OverflowIndex::Entry> OverflowIndex::EntriesOf(const KeyHash& hash) const {
  Entry probe;
  probe.hash = hash.h1;
  const auto [begin, end] = std::equal_range(entries_.begin(), entries_.end(), probe, ByHash);
  return {begin, end};
}

Status OverflowIndex::Find(const Slice& user_key, const KeyHash& hash, std::string* room, PageRecord* record,
                           rocksdb::Statistics* statistics) const {
  for (const Entry& e : EntriesOf(hash)) {
    OverflowEntry entry;
    Status s = Read(e, room, &entry, statistics);
    if (!s.ok()) return s;
    if (entry.record.user_key != user_key) continue;  // another key of this hash
    *record = entry.record;
    return s;
  }
  return Status::NotFound();
}

OverflowIndexBuilder::OverflowIndexBuilder(OverflowIndexRef base)
    : base_(base != nullptr ? std::move(base) : std::make_shared<const OverflowIndex>()) {}

Status OverflowIndexBuilder::Apply(const OverflowRunRef& run, const OverflowSlot& slot,
                                   const OverflowEntryNames& replaced) {
  if (runs_.empty() || runs_.back() != run) runs_.push_back(run);
  gone_.resize(base_->entries().size());
  std::string own_room, room;
  OverflowEntry own;  // once it was read
  const auto same_key = [&](const OverflowRun& other_run, const OverflowIndex::Entry& e, bool* same) {
    *same = std::binary_search(replaced.begin(), replaced.end(), std::pair(e.run_id, e.place.offset));
    if (*same) return Status::OK();
    Status s;
    if (own_room.empty()) s = run->Read(slot.place, &own_room, &own);
    OverflowEntry other;
    if (s.ok()) s = other_run.Read(e.place, &room, &other);
    *same = s.ok() && other.record.user_key == own.record.user_key;
    return s;
  };
  bool same = false;
  KeyHash hash;
  hash.h1 = slot.hash;
  for (const OverflowIndex::Entry& old : base_->EntriesOf(hash)) {
    const auto i = static_cast<size_t>(&old - base_->entries().data());
    if (gone_[i]) continue;
    const OverflowRun* of = nullptr;
    Status s = base_->FindRun(old, &of);
    if (s.ok()) s = same_key(*of, old, &same);
    if (!s.ok()) return s;
    gone_[i] = same;
  }
  for (auto [it, end] = added_.equal_range(slot.hash); it != end;) {
    if (Status s = same_key(*RunOf(runs_, it->second.run_id), it->second, &same); !s.ok()) return s;
    it = same ? added_.erase(it) : std::next(it);
  }
  if (!slot.removal) added_.emplace(slot.hash, OverflowIndex::Entry{slot.hash, run->meta().run_id, slot.place});
  return Status::OK();
}

OverflowIndexRef OverflowIndexBuilder::Finish() {
  if (runs_.empty()) return base_;
  std::vector<OverflowIndex::Entry> entries;
  entries.reserve(gone_.size() + added_.size());
  std::set<uint64_t> named;
  auto added = added_.begin();
  for (size_t i = 0; i < gone_.size(); ++i) {
    if (gone_[i]) continue;
    const OverflowIndex::Entry& old = base_->entries()[i];
    for (; added != added_.end() && added->first < old.hash; ++added) entries.push_back(added->second);
    entries.push_back(old);
  }
  for (; added != added_.end(); ++added) entries.push_back(added->second);
  for (const auto& e : entries) named.insert(e.run_id);
  std::vector<OverflowRunRef> runs;
  for (const OverflowRunRef& run : base_->runs()) {
    if (named.erase(run->meta().run_id) != 0) runs.push_back(run);
  }
  for (const OverflowRunRef& run : runs_) {
    if (named.erase(run->meta().run_id) != 0) runs.push_back(run);
  }
  std::sort(runs.begin(), runs.end(), [](const OverflowRunRef& a, const OverflowRunRef& b) {
    return a->meta().run_id < b->meta().run_id;
  });
  return std::make_shared<const OverflowIndex>(std::move(entries), std::move(runs));
}

}  // namespace compassdb
