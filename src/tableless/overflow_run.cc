// SPDX-License-Identifier: Apache-2.0
#include "tableless/overflow_run.h"

#include <atomic>
#include <limits>

#include "tableless/page_reads.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/hash.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

constexpr size_t kScanBytes = 1 << 20;

uint32_t EntryChecksum(uint64_t file_id, uint64_t offset, const Slice& payload) {
  char place[16];
  EncodeFixed64(place, file_id);
  EncodeFixed64(place + 8, offset);
  return Crc32cExtend(Crc32c(place, sizeof(place)), payload.data(), payload.size());
}

constexpr uint64_t kMaxRunBytes = uint64_t{1} << 31;
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

void OverflowRunWriter::EndRun() {
  if (run_count_ == 0) return;
  PageRunMeta& meta = ended_.emplace_back();
  meta.kind = PageRunKind::kOverflow;
  meta.extent = {file_->file_number(), begin_, file_->offset() - begin_};
  meta.file_id = file_->file_id();
  meta.count = run_count_;
  begin_ = file_->offset();
  run_count_ = 0;
}

void OverflowRunWriter::Finish(std::vector<PageRunMeta>* runs) {
  EndRun();
  for (PageRunMeta& meta : ended_) meta.run_id = new_id_();
  runs->insert(runs->end(), ended_.begin(), ended_.end());
}

Status OverflowRunWriter::Add(const OverflowEntry& entry) {
  const PageRecord& r = entry.record;
  buffer_.assign(kOverflowEntryHeader, '\0');
  buffer_.push_back(static_cast<char>(KindOf(entry)));
  PutVarint32(&buffer_, entry.section);
  PutVarint64(&buffer_, r.sequence);
  PutLengthPrefixedSlice(&buffer_, r.user_key);
  buffer_.append(r.value.data(), r.value.size());
  const Slice payload(buffer_.data() + kOverflowEntryHeader, buffer_.size() - kOverflowEntryHeader);
  // What is written is less (kMaxSliceBytes); only what merge operands make may be more.
  if (buffer_.size() > std::numeric_limits<uint32_t>::max()) {
    return Status::InvalidArgument("table-less store: a record of 4 GiB or more", EscapeKey(r.user_key));
  }
  if (file_->offset() - begin_ + buffer_.size() > MaxOverflowRunBytes()) EndRun();
  EncodeFixed32(buffer_.data(), EntryChecksum(file_->file_id(), file_->offset() - begin_, payload));
  EncodeFixed32(buffer_.data() + 4, static_cast<uint32_t>(payload.size()));
  ++run_count_;
  ++count_;
  return file_->Append(buffer_);
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
    if (!ChecksumHolds(DecodeFixed32(bytes.data()), EntryChecksum(meta().file_id, offset, payload))) {
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

Status OverflowRun::Scan(
    const std::function<Status(const OverflowPlace&, const OverflowEntry&)>& f,
    const std::function<void(const Status&)>& damaged) const {
  const uint64_t length = meta().extent.length;
  std::string room;
  Slice window;
  uint64_t at = 0, window_at = 0, count = 0;
  const auto fill = [&](size_t wanted) {
    if (window_at + window.size() >= at + wanted) return Status::OK();
    window_at = at;
    const uint64_t n = std::min<uint64_t>(length - at, std::max(wanted, kScanBytes));
    return run_.Read(at, n, &room, &window);
  };
  while (at < length) {
    if (length - at < kOverflowEntryHeader) return run_.Corruption(at, "overflow run ends within an entry");
    Status s = fill(kOverflowEntryHeader);
    if (!s.ok()) return s;
    const uint64_t size = kOverflowEntryHeader + DecodeFixed32(window.data() + (at - window_at) + 4);
    if (size > length - at) return run_.Corruption(at, "overflow entry reaches behind its run");
    if (s = fill(size); !s.ok()) return s;
    OverflowEntry entry;
    s = Parse(at, Slice(window.data() + (at - window_at), size), &entry);
    if (s.IsCorruption() && damaged != nullptr) {
      damaged(s);
      at += size;
      ++count;
      continue;
    }
    if (!s.ok()) return s;
    s = f({static_cast<uint32_t>(at), static_cast<uint32_t>(size)}, entry);
    if (!s.ok()) return s;
    at += size;
    ++count;
  }
  if (count != meta().count) return run_.Corruption(0, "overflow run with another number of entries");
  return Status::OK();
}

}  // namespace compassdb
