// SPDX-License-Identifier: Apache-2.0
#include "table/directory/directory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "table/directory/directory_format.h"
#include "util/coding.h"
#include "util/heap_bytes.h"

namespace compassdb {

namespace {

Status Damaged(const char* why) { return Status::Corruption("directory", why); }

}  // namespace

bool DirectoryHead::Length(const char* header, size_t n, uint64_t* length) {
  if (n < kDirectoryHeaderBytes) return false;
  const uint64_t function_bytes = DecodeFixed64(header + 56);
  if (function_bytes > uint64_t{1} << 48) return false;
  *length = kDirectoryHeaderBytes + function_bytes + uint64_t{8} * DecodeFixed32(header + 52);
  return true;
}

Status DirectoryHead::Parse() {
  if (bytes_.size() < kDirectoryHeaderBytes) return Damaged("shorter than its header");
  const char* p = bytes_.data();
  if (DecodeFixed64(p) != kDirectoryMagic) return Damaged("bad magic number");
  const uint32_t version = DecodeFixed32(p + 8);
  if (version != kDirectoryVersion) {
    return Status::NotSupported("directory", "has format version " + std::to_string(version) +
                                                 ", this release reads version " +
                                                 std::to_string(kDirectoryVersion));
  }
  pieces_ = DecodeFixed32(p + 12);
  keys_ = DecodeFixed64(p + 16);
  const uint64_t slot_count = DecodeFixed64(p + 24);
  fingerprints_ = DecodeFixed64(p + 40);
  slot_bits_ = DecodeFixed32(p + 48);
  const uint32_t ambiguous_count = DecodeFixed32(p + 52);
  const uint64_t function_bytes = DecodeFixed64(p + 56);
  page_slots_ = DecodeFixed64(p + 64);
  uint64_t length = 0;
  if (!Length(p, bytes_.size(), &length) || length != bytes_.size()) {
    return Damaged("parts do not fill it");
  }
  p += kDirectoryHeaderBytes;
  if (pieces_ > kMaxDirectoryPieces) return Damaged("too many pieces");
  if (slot_bits_ > kMaxSlotBits || fingerprints_ != FingerprintsFor(pieces_, slot_bits_)) {
    return Damaged("slot layout does not fit the number of pieces");
  }
  if (page_slots_ == 0 || page_slots_ % 8 != 0 || page_slots_ > kMaxPageSlots) {
    return Damaged("bad page size");
  }
  if (!perfect_hash::Function::Open({reinterpret_cast<const uint8_t*>(p), function_bytes},
                                    &function_)) {
    return Damaged("perfect hash function is malformed");
  }
  if (slot_count != function_.slots() || slot_count > uint64_t{1} << 48) {
    return Damaged("slots do not fit the perfect hash function");
  }
  if (function_.keys() > keys_ || (keys_ > 0 && fingerprints_ == 0)) return Damaged("bad key count");
  slot_mask_ = (uint64_t{1} << slot_bits_) - 1;
  p += function_bytes;
  ambiguous_.resize(ambiguous_count);
  if (ambiguous_count > 0) memcpy(ambiguous_.data(), p, size_t{8} * ambiguous_count);
  if (!std::is_sorted(ambiguous_.begin(), ambiguous_.end())) return Damaged("side list out of order");
  return Status::OK();
}

Status DirectoryHead::Open(std::string bytes, std::unique_ptr<const DirectoryHead>* out) {
  out->reset();
  std::unique_ptr<DirectoryHead> head(new DirectoryHead);
  head->bytes_ = std::move(bytes);
  Status s = head->Parse();
  if (s.ok()) *out = std::move(head);
  return s;
}

bool DirectoryHead::IsAmbiguous(uint64_t h1) const {
  return std::binary_search(ambiguous_.begin(), ambiguous_.end(), h1);
}

uint64_t DirectoryHead::slot_bytes() const { return SlotArrayBytes(function_.slots(), slot_bits_); }

uint64_t DirectoryHead::num_pages() const {
  return (function_.slots() + page_slots_ - 1) / page_slots_;
}

uint64_t DirectoryHead::PageBytes(uint64_t page) const {
  const uint64_t slots = std::min(page_slots_, function_.slots() - page * page_slots_);
  return SlotArrayBytes(slots, slot_bits_);
}

uint64_t DirectoryHead::PageOffset(uint64_t page) const {
  return bytes_.size() + 4 + page * (page_slots_ / 8 * slot_bits_ + 4);
}

uint64_t DirectoryHead::ExtentLength() const {
  return bytes_.size() + 4 + slot_bytes() + 4 * num_pages();
}

void DirectoryHead::AddSlots(uint64_t bytes, IndexMemory* memory) const {
  const double piece_bits = pieces_ == 0 ? 0 : std::log2(static_cast<double>(pieces_));
  const double share = slot_bits_ == 0 ? 0 : piece_bits / slot_bits_;
  const auto pieces = static_cast<uint64_t>(static_cast<double>(bytes) * share);
  memory->pieces += pieces;
  memory->fingerprints += bytes - pieces;
}

IndexMemory DirectoryHead::Memory() const {
  IndexMemory memory;
  memory.perfect_hash = function_.SizeBytes();
  memory.other = HeapBytes(bytes_) - memory.perfect_hash + HeapBytes(sizeof(*this)) +
                 HeapBytes(ambiguous_);
  return memory;
}

Status Directory::Open(std::string bytes, std::unique_ptr<Directory>* out) {
  out->reset();
  uint64_t length = 0;
  if (!DirectoryHead::Length(bytes.data(), bytes.size(), &length)) {
    return Damaged("shorter than its header");
  }
  std::unique_ptr<const DirectoryHead> head;
  Status s = DirectoryHead::Open(bytes.substr(0, length), &head);
  if (!s.ok()) return s;
  if (head->slot_bytes() != bytes.size() - length) return Damaged("parts do not fill it");
  auto slots = std::make_unique<char[]>(head->slot_bytes() + kSlotPadding);
  memcpy(slots.get(), bytes.data() + length, head->slot_bytes());
  *out = std::make_unique<Directory>(std::move(head), std::move(slots));
  return s;
}

IndexMemory Directory::Memory() const {
  IndexMemory memory = head_->Memory();
  const uint64_t bytes = head_->slot_bytes();
  head_->AddSlots(bytes, &memory);
  memory.other += HeapBytes(bytes + kSlotPadding) - bytes + HeapBytes(sizeof(*this));
  return memory;
}

}  // namespace compassdb
