// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/table_footer.h"

#include <cstring>
#include <string>

#include "util/coding.h"
#include "util/hash.h"

namespace compassdb::rocksdb_files {

namespace {

constexpr uint64_t kLevelDbMagic = 0xdb4775248b80fb57;
constexpr uint64_t kBlockBasedMagic = 0x88e241b785f4cff7;
constexpr uint64_t kPlainMagic = 0x8242229663bf9564;
constexpr uint64_t kOldPlainMagic = 0x4f3418eb7a8f13b8;
constexpr uint64_t kCuckooMagic = 0x926789d0c5f17873;

constexpr size_t kOldFooterSize = 48;  // two places in 40 bytes, the magic number
constexpr size_t kPlacesSize = 40;
constexpr size_t kAtChecksum = 5;  // from format_version 6 on
constexpr char kExtendedMagic[4] = {0x3e, 0x00, 0x7a, 0x00};

Status DecodePlaces(Slice in, TableFooter* footer) {
  if (!GetBlockPlace(&in, &footer->meta_index) || !GetBlockPlace(&in, &footer->index)) {
    return Status::Corruption("the table's footer does not name its blocks");
  }
  return Status::OK();
}

// From format_version 6 on, `in` is the whole footer.
Status DecodeCheckedPart(const Slice& in, uint64_t file_size, TableFooter* footer) {
  if (memcmp(in.data() + 1, kExtendedMagic, sizeof(kExtendedMagic)) != 0) {
    return Status::Corruption("the table's footer has a wrong second magic number");
  }
  const uint64_t offset = file_size - in.size();
  footer->context_base = DecodeFixed32(in.data() + 9);
  if (footer->context_base == 0) return Status::Corruption("the table's footer has no base of its checksums");
  if (footer->checksum != ChecksumKind::kNone) {
    std::string copy = in.ToString();
    EncodeFixed32(copy.data() + kAtChecksum, 0);
    const uint32_t computed = BlockChecksum(footer->checksum, copy) + ContextModifier(footer->context_base, offset);
    if (!ChecksumHolds(DecodeFixed32(in.data() + kAtChecksum), computed)) {
      return Status::Corruption("the checksum of the table's footer is wrong");
    }
  }
  const uint64_t size = DecodeFixed32(in.data() + 13);
  if (size + kTrailerSize > offset) return Status::Corruption("the table's footer names a block outside of the file");
  footer->meta_index = {offset - kTrailerSize - size, size};
  if (DecodeFixed64(in.data() + 33) != 0) return Status::NotSupported("the table uses a feature of a newer RocksDB");
  return Status::OK();
}

}  // namespace

bool IsTableMagic(uint64_t magic) { return magic == kLevelDbMagic || magic == kBlockBasedMagic; }

bool GetBlockPlace(Slice* in, BlockPlace* place) {
  return GetVarint64(in, &place->offset) && GetVarint64(in, &place->size);
}

Status DecodeTableFooter(const Slice& tail, uint64_t file_size, TableFooter* footer) {
  if (tail.size() < kOldFooterSize) return Status::Corruption("the file is too short for a table");
  const uint64_t magic = DecodeFixed64(tail.data() + tail.size() - 8);
  *footer = {};
  if (magic == kLevelDbMagic) {
    footer->size = kOldFooterSize;
    return DecodePlaces(Slice(tail.data() + tail.size() - kOldFooterSize, kPlacesSize), footer);
  }
  if (magic == kPlainMagic || magic == kOldPlainMagic) return Status::NotSupported("a table of RocksDB's class PlainTable");
  if (magic == kCuckooMagic) return Status::NotSupported("a table of RocksDB's class CuckooTable");
  if (magic != kBlockBasedMagic) return Status::Corruption("no table of RocksDB or LevelDB: its magic number is another");
  if (tail.size() < kMaxFooterSize) return Status::Corruption("the file is too short for a table");
  const Slice in(tail.data() + tail.size() - kMaxFooterSize, kMaxFooterSize);
  footer->size = kMaxFooterSize;
  footer->format_version = DecodeFixed32(in.data() + kMaxFooterSize - 12);
  if (footer->format_version > kNewestFormatVersion || footer->format_version == 0) {
    return Status::NotSupported("a table of format_version " + std::to_string(footer->format_version));
  }
  const uint8_t kind = static_cast<uint8_t>(in[0]);
  if (kind > kLastChecksumKind) return Status::NotSupported("a table with checksums of kind " + std::to_string(kind));
  footer->checksum = static_cast<ChecksumKind>(kind);
  if (footer->format_version >= 6) return DecodeCheckedPart(in, file_size, footer);
  return DecodePlaces(Slice(in.data() + 1, kPlacesSize), footer);
}

}  // namespace compassdb::rocksdb_files
