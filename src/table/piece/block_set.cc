// SPDX-License-Identifier: Apache-2.0
#include "table/piece/block_set.h"

#include <algorithm>
#include <tuple>

#include "env/read_batch.h"
#include "table/piece/piece_reader.h"
#include "table/read_stats.h"
#include "table/stat_timer.h"

namespace compassdb {

BlockSet::BlockSet() = default;
BlockSet::~BlockSet() = default;

void BlockSet::Want(PieceRef piece, uint32_t block) {
  Entry& entry = entries_.emplace_back();
  entry.place = piece->PlaceOf(block, nullptr);
  entry.file_id = piece->meta().file_id;
  entry.piece = std::move(piece);
}

void BlockSet::Clear() { entries_.clear(); }

void BlockSet::Load(const BlockReadOptions& read) {
  const auto key = [](const Entry& e) { return std::tuple(e.file_id, e.place.offset); };
  std::sort(entries_.begin(), entries_.end(),
            [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (kept > 0 && key(entries_[kept - 1]) == key(entries_[i])) {
      ++entries_[kept - 1].users;
    } else {
      if (kept != i) entries_[kept] = std::move(entries_[i]);
      ++kept;
    }
  }
  entries_.resize(kept);
  std::vector<Entry*> missing;
  for (Entry& e : entries_) {
    if (e.piece->loader().FromCache(e.file_id, e.place.offset, &e.ref)) continue;
    if (read.cache_only) {
      e.status = Status::Incomplete("data block is not in the block cache, and no file may be read");
      continue;
    }
    e.status = e.piece->File(&e.holder, &e.place.file);
    if (e.status.ok()) missing.push_back(&e);
  }
  if (!missing.empty()) Read(read, missing);
}

void BlockSet::Read(const BlockReadOptions& read, const std::vector<Entry*>& missing) {
  IoTimer timer(read.limits);
  const Status late = timer.Begin();
  std::vector<ReadRequest> requests(missing.size());
  size_t count = 0;
  for (Entry* e : missing) {
    e->status = late;
    if (!late.ok()) continue;
    e->reading = e->piece->loader().Allocate(e->place);
    if (e->reading == nullptr) {
      e->status = Status::MemoryLimit("no memory for a data block");
      continue;
    }
    ReadRequest& r = requests[count++];
    r.offset = e->place.offset;
    r.length = e->place.length;
    r.scratch = e->reading->stored();
  }
  if (count == 0) return;
  {
    PerfTimer perf(&rocksdb::PerfContext::block_read_time);
    const StatTimer micros(missing.front()->piece->loader().statistics(), rocksdb::SST_READ_MICROS);
    // Entries of one file are adjacent, by offset. So are their requests.
    ReadBatch batch;
    size_t next = 0;
    const CompactionFile* file = nullptr;
    size_t first = 0;
    for (Entry* e : missing) {
      if (e->reading == nullptr) continue;
      if (e->place.file != file) {
        if (file != nullptr) file->file()->AddReads(&requests[first], next - first, &batch);
        file = e->place.file;
        first = next;
      }
      ++next;
    }
    file->file()->AddReads(&requests[first], next - first, &batch);
    batch.Wait();
  }
  const Status too_long = timer.End();
  size_t next = 0;
  for (Entry* e : missing) {
    if (e->reading == nullptr) continue;
    const ReadRequest& r = requests[next++];
    e->status = e->piece->loader().Accept(e->place, r, read, e->reading, &e->ref);
    e->reading = nullptr;
    if (e->status.ok()) e->status = too_long;
  }
  if (rocksdb::Statistics* statistics = missing.front()->piece->loader().statistics()) {
    statistics->recordInHistogram(rocksdb::MULTIGET_IO_BATCH_SIZE, count);
  }
}

bool BlockSet::Get(uint64_t file_id, uint64_t offset, BlockRef* ref, Status* status) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), std::tuple(file_id, offset),
                                   [](const Entry& e, const auto& wanted) {
                                     return std::tuple(e.file_id, e.place.offset) < wanted;
                                   });
  if (at == entries_.end() || at->file_id != file_id || at->place.offset != offset ||
      at->users == 0) {
    return false;
  }
  *status = at->status;
  --at->users;
  if (!at->status.ok()) return true;
  if (at->users == 0) {
    *ref = std::move(at->ref);
  } else {
    *ref = at->piece->loader().Share(at->ref);
    if (!*ref) *status = Status::MemoryLimit("no memory for a data block");
  }
  return true;
}

}  // namespace compassdb
