// SPDX-License-Identifier: Apache-2.0
#include "tableless/overflow_index.h"

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
  std::sort(entries_.begin(), entries_.end(), ByHash);
  entries_.shrink_to_fit();
}

Status OverflowIndex::Read(const Entry& entry, std::string* room, OverflowEntry* record) const {
  const OverflowRun* const run = RunOf(runs_, entry.run_id);
  if (run == nullptr) {
    return Status::Corruption("overflow index", "names run " + std::to_string(entry.run_id));
  }
  return run->Read(entry.place, room, record);
}

Status OverflowIndex::Find(const Slice& user_key, const KeyHash& hash, std::string* room,
                           PageRecord* record) const {
  Entry probe;
  probe.hash = hash.h1;
  for (auto it = std::lower_bound(entries_.begin(), entries_.end(), probe, ByHash);
       it != entries_.end() && it->hash == hash.h1; ++it) {
    OverflowEntry entry;
    Status s = Read(*it, room, &entry);
    if (!s.ok()) return s;
    if (entry.record.user_key != user_key) continue;  // another key of this hash
    *record = entry.record;
    return s;
  }
  return Status::NotFound();
}

OverflowIndexBuilder::OverflowIndexBuilder(OverflowIndexRef base)
    : base_(base != nullptr ? std::move(base) : std::make_shared<const OverflowIndex>()),
      gone_(base_->entries().size()) {}

Status OverflowIndexBuilder::Apply(const OverflowRunRef& run, const OverflowPlace& place,
                                   const OverflowEntry& entry, const KeyHash& hash) {
  if (runs_.empty() || runs_.back() != run) runs_.push_back(run);
  OverflowIndex::Entry probe;
  probe.hash = hash.h1;
  std::string room;
  const auto& old = base_->entries();
  for (auto it = std::lower_bound(old.begin(), old.end(), probe, ByHash);
       it != old.end() && it->hash == hash.h1; ++it) {
    OverflowEntry other;
    Status s = base_->Read(*it, &room, &other);
    if (!s.ok()) return s;
    if (other.record.user_key == entry.record.user_key) gone_[it - old.begin()] = true;
  }
  for (auto [it, end] = added_.equal_range(hash.h1); it != end;) {
    OverflowEntry other;
    Status s = RunOf(runs_, it->second.run_id)->Read(it->second.place, &room, &other);
    if (!s.ok()) return s;
    it = other.record.user_key == entry.record.user_key ? added_.erase(it) : std::next(it);
  }
  if (!entry.removal) added_.emplace(hash.h1, OverflowIndex::Entry{hash.h1, run->meta().run_id, place});
  return Status::OK();
}

OverflowIndexRef OverflowIndexBuilder::Finish() {
  std::vector<OverflowIndex::Entry> entries;
  entries.reserve(gone_.size() + added_.size());
  std::set<uint64_t> named;
  for (size_t i = 0; i < gone_.size(); ++i) {
    if (!gone_[i]) entries.push_back(base_->entries()[i]);
  }
  for (const auto& [hash, entry] : added_) entries.push_back(entry);
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
