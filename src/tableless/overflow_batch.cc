// SPDX-License-Identifier: Apache-2.0
#include "tableless/overflow_batch.h"

#include <algorithm>

#include "env/read_batch.h"

namespace compassdb {

bool OverflowBatch::Add(const OverflowIndex& index, const KeyHash& hash) {
  const auto entries = index.EntriesOf(hash);
  for (const OverflowIndex::Entry& entry : entries) {
    Wanted& wanted = wanted_.emplace_back();
    wanted.at = entry;
    wanted.status = index.FindRun(entry, &wanted.run);
  }
  return !entries.empty();
}

void OverflowBatch::Read() {
  if (wanted_.empty()) return;
  std::sort(wanted_.begin(), wanted_.end(),
            [](const Wanted& a, const Wanted& b) { return a.at.hash < b.at.hash; });
  size_t total = 0;
  for (const Wanted& wanted : wanted_) total += wanted.at.place.size;
  room_.resize(total);
  requests_.resize(wanted_.size());
  files_.resize(wanted_.size());
  ReadBatch batch;
  char* room = room_.data();
  for (size_t i = 0; i < wanted_.size(); ++i) {
    Wanted& wanted = wanted_[i];
    const OverflowPlace& place = wanted.at.place;
    if (wanted.status.ok()) wanted.status = wanted.run->Request(place, room, &requests_[i], &files_[i]);
    if (!wanted.status.ok()) continue;
    files_[i]->file()->AddReads(&requests_[i], 1, &batch);
    room += place.size;
    bytes_read_ += place.size;
  }
  batch.Wait();
  for (size_t i = 0; i < wanted_.size(); ++i) {
    Wanted& wanted = wanted_[i];
    OverflowEntry entry;
    if (wanted.status.ok()) wanted.status = wanted.run->Complete(wanted.at.place, requests_[i], &entry);
    wanted.record = entry.record;
  }
}

Status OverflowBatch::Find(const Slice& user_key, const KeyHash& hash, PageRecord* record,
                           OverflowEntryNames::value_type* name) const {
  auto it = std::lower_bound(wanted_.begin(), wanted_.end(), hash.h1,
                             [](const Wanted& wanted, uint64_t h) { return wanted.at.hash < h; });
  for (; it != wanted_.end() && it->at.hash == hash.h1; ++it) {
    if (!it->status.ok()) return it->status;
    if (it->record.user_key != user_key) continue;  // another key of this hash
    *record = it->record;
    if (name != nullptr) *name = {it->at.run_id, it->at.place.offset};
    return Status::OK();
  }
  return Status::NotFound();
}

void OverflowBatch::Clear() {
  wanted_.clear();
  requests_.clear();
  files_.clear();
  bytes_read_ = 0;
}

}  // namespace compassdb
