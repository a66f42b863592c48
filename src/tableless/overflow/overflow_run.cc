// SPDX-License-Identifier: Apache-2.0
#include "tableless/overflow/overflow_run.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "tableless/page/page_reads.h"
#include "tableless/page/place_checksum.h"
#include "util/coding.h"
#include "util/hash.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

constexpr size_t kScanBytes = 1 << 20;

constexpr uint64_t kMaxRunBytes = uint64_t{1} << 28;
std::atomic<uint64_t> max_run_bytes{kMaxRunBytes};

enum Kind : uint8_t { kValue = 0, kEntity = 1, kRemoval = 2, kUnfolded = 3 };

Kind KindOf(const OverflowEntry& entry) {
  if (entry.removal) return kRemoval;
  if (entry.record.unfolded) return kUnfolded;
  return entry.record.entity ? kEntity : kValue;
}

}  // namespace

uint64_t MaxOverflowRunBytes() { return max_run_bytes.load(std::memory_order_relaxed); }
void TEST_SetMaxOverflowRunBytes(uint64_t bytes) { max_run_bytes.store(bytes == 0 ? kMaxRunBytes : bytes); }

Status OverflowRunWriter::EndRun() {
  if (list_.slots.empty()) return Status::OK();
  buffer_.clear();
  AppendOverflowList(list_, file_->file_id(), file_->offset() - begin_, &buffer_);
  Status s = file_->Append(buffer_);
  PageRunMeta& meta = ended_.emplace_back();
  meta.kind = PageRunKind::kListedOverflow;
  meta.extent = {file_->file_number(), begin_, file_->offset() - begin_};
  meta.file_id = file_->file_id();
  meta.count = list_.slots.size();
  begin_ = file_->offset();
  list_.slots.clear();
  return s;
}

Status OverflowRunWriter::Finish(std::vector<PageRunMeta>* runs) {
  Status s = EndRun();
  for (PageRunMeta& meta : ended_) meta.run_id = new_id_();
  runs->insert(runs->end(), ended_.begin(), ended_.end());
  return s;
}

Status OverflowRunWriter::Add(const OverflowEntry& entry) {
  const PageRecord& r = entry.record;
  entry_.assign(kOverflowEntryHeader, '\0');
  entry_.push_back(static_cast<char>(KindOf(entry)));
  PutVarint32(&entry_, entry.section);
  PutVarint64(&entry_, r.sequence);
  PutLengthPrefixedSlice(&entry_, r.user_key);
  entry_.append(r.value.data(), r.value.size());
  const Slice payload(entry_.data() + kOverflowEntryHeader, entry_.size() - kOverflowEntryHeader);
  // Written values are smaller (kMaxSliceBytes). Only results of merges may be larger.
  if (entry_.size() > std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("table-less store: a record of 4 GiB or more", EscapeKey(r.user_key));
  }
  if (file_->offset() - begin_ + entry_.size() > MaxOverflowRunBytes()) {
    if (Status s = EndRun(); !s.ok()) return s;
  }
  const uint64_t offset = file_->offset() - begin_;
  EncodeFixed32(entry_.data(), PlaceChecksum(file_->file_id(), offset, payload));
  EncodeFixed32(entry_.data() + 4, static_cast<uint32_t>(payload.size()));
  const OverflowPlace place{static_cast<uint32_t>(offset), static_cast<uint32_t>(entry_.size())};
  list_.slots.push_back({hasher_(r.user_key).h1, place, entry.section, entry.removal});
  ++count_;
  return file_->Append(entry_);
}

Status OverflowRun::Parse(uint64_t offset, const Slice& bytes, OverflowEntry* entry) const {
  if (bytes.size() < kOverflowEntryHeader) return run_.Corruption(offset, "overflow entry is cut short");
  const uint32_t size = DecodeFixed32(bytes.data() + 4);
  if (size != bytes.size() - kOverflowEntryHeader) {
    return run_.Corruption(offset, "overflow entry of another size");
  }
  Slice payload(bytes.data() + kOverflowEntryHeader, size);
  {
    PerfTimer timer(&rocksdb::PerfContext::block_checksum_time);
    if (!ChecksumHolds(DecodeFixed32(bytes.data()), PlaceChecksum(meta().file_id, offset, payload))) {
      return run_.Corruption(offset, "overflow entry checksum mismatch");
    }
  }
  const auto kind = payload.empty() ? uint8_t{0xff} : static_cast<uint8_t>(payload[0]);
  if (!payload.empty()) payload.remove_prefix(1);
  uint64_t sequence = 0;
  if (kind > kUnfolded || !GetVarint32(&payload, &entry->section) ||
      !GetVarint64(&payload, &sequence) ||
      !GetLengthPrefixedSlice(&payload, &entry->record.user_key)) {
    return run_.Corruption(offset, "overflow entry that cannot be read");
  }
  entry->record.sequence = sequence;
  entry->record.entity = kind == kEntity;
  entry->record.unfolded = kind == kUnfolded;
  entry->record.value = payload;
  entry->removal = kind == kRemoval;
  return Status::OK();
}

Status OverflowRun::Read(const OverflowPlace& place, std::string* room, OverflowEntry* entry,
                         rocksdb::Statistics* statistics) const {
  Slice bytes;
  Status s;
  {
    const PageReadTimer timer(statistics);
    s = run_.Read(place.offset, place.size, room, &bytes);
  }
  if (!s.ok()) return s;
  CountPagesRead(statistics, 1, place.size);
  return Parse(place.offset, bytes, entry);
}

Status OverflowRun::Request(const OverflowPlace& place, char* room, ReadRequest* request,
                            std::shared_ptr<CompactionFile>* file) const {
  Status s = run_.CheckPlace(place.offset, place.size);
  if (s.ok()) s = run_.OpenFile(file);
  request->offset = meta().extent.offset + place.offset;
  request->length = place.size;
  request->scratch = room;
  return s;
}

Status OverflowRun::Complete(const OverflowPlace& place, const ReadRequest& request,
                             OverflowEntry* entry) const {
  if (!request.status.ok()) return request.status;
  if (request.result.size() != place.size) return run_.Corruption(place.offset, "the file ends within it");
  return Parse(place.offset, request.result, entry);
}

Status OverflowRun::List(const OverflowHasher& hasher, OverflowList* list) const {
  *list = OverflowList();
  if (meta().kind == PageRunKind::kOverflow) {
    const auto add = [&](const OverflowPlace& place, const OverflowEntry& entry) {
      list->slots.push_back({hasher(entry.record.user_key).h1, place, entry.section, entry.removal});
      return Status::OK();
    };
    return Walk(add, /*damaged=*/nullptr);
  }
  const uint64_t length = meta().extent.length;
  if (length < kOverflowListTrailer) return run_.Corruption(0, "overflow run without a list");
  std::string room;
  Slice bytes;
  Status s = run_.Read(length - kOverflowListTrailer, kOverflowListTrailer, &room, &bytes);
  if (!s.ok()) return s;
  const uint64_t size = OverflowListBytes(bytes, meta().count, length);
  if (size == 0) return run_.Corruption(length - kOverflowListTrailer, "overflow run ends in no list");
  s = run_.Read(length - size, size, &room, &bytes);
  if (!s.ok()) return s;
  PerfTimer timer(&rocksdb::PerfContext::block_checksum_time);
  const auto has_a_header = [](const OverflowSlot& slot) { return slot.place.size >= kOverflowEntryHeader; };
  if (ParseOverflowList(bytes, meta().count, meta().file_id, length - size, list) &&
      std::all_of(list->slots.begin(), list->slots.end(), has_a_header)) {
    return s;
  }
  return run_.Corruption(length - size, "damaged list of an overflow run");
}

Status OverflowRun::Scan(const EntryVisitor& f, const std::function<void(const Status&)>& damaged) const {
  OverflowList list;
  if (meta().kind == PageRunKind::kOverflow) return Walk(f, damaged);
  Status s = List([](const Slice&) { return KeyHash(); }, &list);
  if (s.IsCorruption() && damaged != nullptr) {
    damaged(s);
    return Walk(f, damaged);
  }
  if (!s.ok()) return s;
  std::vector<OverflowPlace> places;
  for (const OverflowSlot& slot : list.slots) places.push_back(slot.place);
  return ReadEach(places, f, damaged);
}

// Fills the window with at least `wanted` bytes from `at` on, and perhaps more for the next reads.
Status OverflowRun::Fill(uint64_t at, uint64_t wanted, Window* window) const {
  const uint64_t length = meta().extent.length;
  if (at > length || wanted > length - at) return run_.Corruption(at, "overflow entry reaches behind its run");
  if (at >= window->at && at + wanted <= window->at + window->bytes.size()) return Status::OK();
  window->at = at;
  const uint64_t n = std::min<uint64_t>(length - at, std::max<uint64_t>(wanted, kScanBytes));
  Status s = run_.Read(at, n, &window->room, &window->bytes);
  if (!s.ok()) window->bytes = Slice();
  return s;
}

Status OverflowRun::ReadEach(const std::vector<OverflowPlace>& places, const EntryVisitor& f,
                             const std::function<void(const Status&)>& damaged) const {
  Window window;
  for (const OverflowPlace& place : places) {
    OverflowEntry entry;
    Status s = Fill(place.offset, place.size, &window);
    if (s.ok()) s = Parse(place.offset, Slice(window.From(place.offset), place.size), &entry);
    if (s.IsCorruption() && damaged != nullptr) {
      damaged(s);
      continue;
    }
    if (s.ok()) s = f(place, entry);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status OverflowRun::Walk(const EntryVisitor& f, const std::function<void(const Status&)>& damaged) const {
  const uint64_t length = meta().extent.length;
  Window window;
  uint64_t at = 0;
  for (uint64_t count = 0; count < meta().count; ++count) {
    Status s = Fill(at, kOverflowEntryHeader, &window);
    if (!s.ok()) return s;
    const uint64_t size = kOverflowEntryHeader + DecodeFixed32(window.From(at) + 4);
    if (s = Fill(at, size, &window); !s.ok()) return s;
    OverflowEntry entry;
    s = Parse(at, Slice(window.From(at), size), &entry);
    if (s.IsCorruption() && damaged != nullptr) {
      damaged(s);
    } else {
      if (s.ok()) s = f({static_cast<uint32_t>(at), static_cast<uint32_t>(size)}, entry);
      if (!s.ok()) return s;
    }
    at += size;
  }
  if (meta().kind != PageRunKind::kOverflow || at == length) return Status::OK();
  return run_.Corruption(at, "overflow run with another number of entries");
}

}  // namespace compassdb
