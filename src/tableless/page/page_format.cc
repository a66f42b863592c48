// SPDX-License-Identifier: Apache-2.0
#include "tableless/page/page_format.h"

#include "tableless/page/place_checksum.h"
#include "util/coding.h"
#include "util/hash.h"
#include "util/perf_timer.h"

namespace compassdb {

namespace {

uint32_t PageChecksum(const char* image, size_t used, uint64_t file_number, uint64_t page) {
  return PlaceChecksum(file_number, page, Slice(image + 4, used - 4));
}

constexpr int kVersionShift = 56;  // sequences have as many bits

uint64_t LastField(const Slice& records) { return DecodeFixed64(records.data() - kPageHeaderBytes + 8); }

}  // namespace

size_t EncodedSize(const PageRecord& r) {
  return VarintLength(r.user_key.size()) + VarintLength(r.value.size()) +
         VarintLength(r.sequence << 1) + r.user_key.size() + r.value.size();
}

PageBuilder::PageBuilder(std::string* dst) : dst_(dst), begin_(dst->size()) {
  dst_->append(kPageHeaderBytes, '\0');
}

void PageBuilder::Add(const PageRecord& r) {
  PutVarint32(dst_, static_cast<uint32_t>(r.user_key.size()));
  PutVarint32(dst_, static_cast<uint32_t>(r.value.size()));
  PutVarint64(dst_, r.sequence << 1 | (r.entity ? 1 : 0));
  dst_->append(r.user_key.data(), r.user_key.size());
  dst_->append(r.value.data(), r.value.size());
}

void PageBuilder::FinishInPlace(uint64_t file_number, uint64_t page, SequenceNumber folded, const PageChange& change) {
  PutFixed32(dst_, static_cast<uint32_t>(change.records));
  PutFixed32(dst_, static_cast<uint32_t>(change.bytes));
  Finish(kPageVersionInPlace, file_number, page, folded);
}

void PageBuilder::Finish(uint32_t version, uint64_t file_number, uint64_t page, SequenceNumber folded) {
  char* const image = dst_->data() + begin_;
  const size_t used = dst_->size() - begin_;
  EncodeFixed32(image + 4, static_cast<uint32_t>(used));
  EncodeFixed64(image + 8, uint64_t{version} << kVersionShift | folded);
  EncodeFixed32(image, PageChecksum(image, used, file_number, page));
}

Status CheckPage(const Slice& image, uint64_t file_number, uint64_t page, Slice* records) {
  if (image.size() < kPageHeaderBytes) return Status::Corruption("page is cut short");
  PerfTimer timer(&rocksdb::PerfContext::block_checksum_time);
  const uint32_t used = DecodeFixed32(image.data() + 4);
  if (used < kPageHeaderBytes || used > image.size() ||
      !ChecksumHolds(DecodeFixed32(image.data()), PageChecksum(image.data(), used, file_number, page))) {
    return Status::Corruption("page checksum mismatch");
  }
  const uint64_t last = DecodeFixed64(image.data() + 8);
  const bool first = last >> kVersionShift == 0;
  const uint64_t version = first ? last >> 32 : last >> kVersionShift;
  const bool in_place = !first && version == kPageVersionInPlace;
  if (version != (first ? 1 : kPageVersion) && !in_place) {
    return Status::NotSupported("page of format version " + std::to_string(version) +
                                ", this release reads up to " + std::to_string(kPageVersionInPlace));
  }
  const size_t end = in_place ? kPageChangeBytes : 0;
  if (used < kPageHeaderBytes + end) return Status::Corruption("page is cut short");
  *records = Slice(image.data() + kPageHeaderBytes, used - kPageHeaderBytes - end);
  return Status::OK();
}

bool WrittenInPlace(const Slice& records, PageChange* change) {
  if (LastField(records) >> kVersionShift != kPageVersionInPlace) return false;
  if (change != nullptr) {
    const char* const at = records.data() + records.size();
    change->records = static_cast<int32_t>(DecodeFixed32(at));
    change->bytes = static_cast<int32_t>(DecodeFixed32(at + 4));
  }
  return true;
}

SequenceNumber FoldedOf(const Slice& records) {
  const uint64_t last = LastField(records);
  return last >> kVersionShift == 0 ? 0 : last & kMaxSequenceNumber;
}

bool NextPageRecord(Slice* records, PageRecord* r) {
  if (records->empty()) return false;
  Slice rest = *records;
  uint32_t key_size = 0, value_size = 0;
  uint64_t stamp = 0;
  if (!GetVarint32(&rest, &key_size) || !GetVarint32(&rest, &value_size) ||
      !GetVarint64(&rest, &stamp) || key_size > rest.size() ||
      value_size > rest.size() - key_size) {
    return false;
  }
  r->user_key = Slice(rest.data(), key_size);
  r->value = Slice(rest.data() + key_size, value_size);
  r->sequence = stamp >> 1;
  r->entity = (stamp & 1) != 0;
  rest.remove_prefix(key_size + value_size);
  *records = rest;
  return true;
}

bool FindPageRecord(Slice records, const Slice& user_key, PageRecord* record, bool* damaged) {
  *damaged = false;
  while (NextPageRecord(&records, record)) {
    if (record->user_key == user_key) return true;
  }
  *damaged = !records.empty();
  return false;
}

Status ListPageRecords(Slice records, std::vector<PageRecord>* list) {
  list->clear();
  PageRecord record;
  while (NextPageRecord(&records, &record)) list->push_back(record);
  return records.empty() ? Status::OK() : Status::Corruption("page with a damaged record");
}

}  // namespace compassdb
