// SPDX-License-Identifier: Apache-2.0
#include "tableless/overflow/overflow_batch.h"

#include <algorithm>

#include "env/read_batch.h"
#include "tableless/page/page_reads.h"

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
  size_t total = 0;
  for (Wanted& wanted : wanted_) {
    const size_t size = wanted.at.place.size;
    if (wanted.status.ok() && size > kMaxBytes - total) {
      wanted.status = Status::Incomplete("more than is read together");
    }
    if (wanted.status.ok()) total += size;
  }
  char* room = total == 0 ? nullptr : room_.Reserve(1, total);
  // Sorts records by file and place, so that neighbours are read at once.
  const auto by_place = [](const Wanted& a, const Wanted& b) {
    if (!a.status.ok() || !b.status.ok()) return a.status.ok() && !b.status.ok();
    const Extent& x = a.run->meta().extent;
    const Extent& y = b.run->meta().extent;
    if (x.file_number != y.file_number) return x.file_number < y.file_number;
    return x.offset + a.at.place.offset < y.offset + b.at.place.offset;
  };
  std::sort(wanted_.begin(), wanted_.end(), by_place);
  std::vector<ReadRequest> requests(wanted_.size());
  for (size_t i = 0; i < wanted_.size() && wanted_[i].status.ok(); ++i) {
    Wanted& wanted = wanted_[i];
    if (room == nullptr) {
      wanted.status = Status::MemoryLimit("no memory for overflow records", std::to_string(total) + " bytes");
      continue;
    }
    wanted.status = wanted.run->Request(wanted.at.place, room, &requests[i], &wanted.file);
    room += wanted.at.place.size;
  }
  if (total != 0) {
    const PageReadTimer timer(statistics_);
    ReadBatch batch;
    for (size_t begin = 0; begin < wanted_.size();) {
      size_t end = begin;
      while (end < wanted_.size() && wanted_[end].status.ok() && wanted_[end].file == wanted_[begin].file) ++end;
      if (end > begin) wanted_[begin].file->file()->AddReads(&requests[begin], end - begin, &batch);
      begin = std::max(end, begin + 1);
    }
    batch.Wait();
  }
  for (size_t i = 0; i < wanted_.size(); ++i) {
    Wanted& wanted = wanted_[i];
    if (!wanted.status.ok()) continue;
    OverflowEntry entry;
    wanted.status = wanted.run->Complete(wanted.at.place, requests[i], &entry);
    wanted.record = entry.record;
    ++records_read_;
    bytes_read_ += wanted.at.place.size;
  }
  CountPagesRead(statistics_, records_read_, bytes_read_);
  std::sort(wanted_.begin(), wanted_.end(),
            [](const Wanted& a, const Wanted& b) { return a.at.hash < b.at.hash; });
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
  room_.Release();
  records_read_ = 0;
  bytes_read_ = 0;
}

}  // namespace compassdb
