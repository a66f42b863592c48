// SPDX-License-Identifier: Apache-2.0
#include "format/foreign_file.h"

#include <algorithm>
#include <cstring>

#include "format/format_version.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace compassdb {

using rocksdb::Slice;

const char* const kSealedAdvice =
    "is encrypted, and no key was given: open it with DBOptions::env = rocksdb::NewEncryptedEnv(..., provider), the "
    "provider from compassdb::NewSealingProvider; `compassdb` takes --key-file";

bool IsSealed(const Slice& start) {
  return start.size() >= sizeof(kSealMagic) && memcmp(start.data(), kSealMagic, sizeof(kSealMagic)) == 0;
}

const char* const kDamagedOrEncrypted =
    "damaged, or encrypted by an EncryptionProvider (DBOptions::env) other than the one that was given";

bool StartsInTheClear(const Slice& start) {
  constexpr size_t kLooked = 16;
  if (start.size() < sizeof(kSealMagic)) return false;
  if (DecodeFixed64(start.data()) == kPieceFileFormat.magic) return true;
  size_t of_seal = 0;
  for (size_t i = 0; i < sizeof(kSealMagic); ++i) of_seal += start[i] == kSealMagic[i];
  if (of_seal > sizeof(kSealMagic) / 2) return false;
  return std::all_of(start.data(), start.data() + std::min(start.size(), kLooked),
                     [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; });
}

const char* ForeignTableKind(const Slice& start, const Slice& end) {
  if (end.size() >= 8) {
    switch (DecodeFixed64(end.data() + end.size() - 8)) {
      case 0x88e241b785f4cff7:
        return "a block-based table file of RocksDB";
      case 0xdb4775248b80fb57:
        return "a table file of LevelDB, or a block-based one of an old RocksDB";
      case 0x8242229663bf9564:
      case 0x4f3418eb7a8f13b8:
        return "a plain table file of RocksDB";
      case 0x926789d0c5f17873:
        return "a cuckoo table file of RocksDB";
      case 0xb3aa9ff0b3aa9ff0:
        return "a table file of Pebble";
      default:
        break;
    }
  }
  constexpr uint32_t kBlobFile = 2395959;
  return start.size() >= 4 && DecodeFixed32(start.data()) == kBlobFile ? "a blob file of RocksDB" : nullptr;
}

bool IsForeignLog(const Slice& start) {
  constexpr size_t kTypeAt = 6, kHeader = 7, kRecycledHeader = 11;
  constexpr unsigned char kFull = 1, kFirst = 2, kRecyclableFull = 5, kRecyclableFirst = 6;
  // Records for the whole log: compression, sizes of timestamps, the log before it.
  constexpr unsigned char kCompression = 9, kTimestamps = 10, kRecyclableTimestamps = 11;
  constexpr unsigned char kPredecessor = 130, kRecyclablePredecessor = 131;
  if (start.size() < kHeader) return false;
  const auto type = static_cast<unsigned char>(start[kTypeAt]);
  size_t header = kHeader;
  switch (type) {
    case kFull:
    case kFirst:
    case kCompression:
    case kTimestamps:
    case kPredecessor:
      break;
    case kRecyclableFull:
    case kRecyclableFirst:
    case kRecyclableTimestamps:
    case kRecyclablePredecessor:
      header = kRecycledHeader;
      break;
    default:
      return false;
  }
  const size_t length = static_cast<unsigned char>(start[4]) | static_cast<size_t>(static_cast<unsigned char>(start[5])) << 8;
  if (length == 0 || start.size() < header + length) return false;
  const uint32_t crc = Crc32c(start.data() + kTypeAt, header - kTypeAt + length);
  return DecodeFixed32(start.data()) == (crc >> 15 | crc << 17) + 0xa282ead8u;
}

}  // namespace compassdb
