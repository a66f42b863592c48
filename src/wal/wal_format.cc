// SPDX-License-Identifier: Apache-2.0
#include "wal/wal_format.h"

#include "format/format_version.h"
#include "util/coding.h"

namespace compassdb {

std::string EncodeWalHeader(const WalHeader& header) {
  std::string record;
  PutFixed64(&record, kWalFormat.magic);
  PutVarint32(&record, kWalFormat.current);
  PutVarint64(&record, header.number);
  PutVarint64(&record, header.predecessor);
  PutVarint64(&record, header.predecessor_bytes);
  PutVarint64(&record, header.predecessor_last_sequence);
  PutLengthPrefixedSlice(&record, header.db_id);
  PutVarint32(&record, header.compression);
  PutVarint64(&record, header.predecessor_synced);
  const bool after_failed = header.predecessor_acknowledged != UINT64_MAX;
  const uint32_t flags = (header.over_older_log ? kWalOverOlderLog : 0) | (after_failed ? kWalAfterFailedBatch : 0);
  if (flags != 0) PutVarint32(&record, flags);
  if (after_failed) PutVarint64(&record, header.predecessor_acknowledged);
  return record;
}

Status DecodeWalHeader(const std::string& path, const Slice& record, WalHeader* header) {
  const std::string place = path + " at offset 0";
  Slice input = record;
  uint64_t magic;
  uint32_t version;
  if (!GetFixed64(&input, &magic) || magic != kWalFormat.magic || !GetVarint32(&input, &version)) {
    return Status::Corruption(place, "the first record is not the header of a write-ahead log");
  }
  if (!CanReadVersion(kWalFormat, version)) {
    return Status::NotSupported(path, "write-ahead log of format version " +
                                          std::to_string(version) + "; this release reads " +
                                          std::to_string(kWalFormat.oldest) + " to " +
                                          std::to_string(kWalFormat.current));
  }
  header->version = version;
  Slice db_id;
  uint32_t compression = 0;
  uint32_t flags = 0;
  if (!GetVarint64(&input, &header->number) || !GetVarint64(&input, &header->predecessor) ||
      !GetVarint64(&input, &header->predecessor_bytes) ||
      !GetVarint64(&input, &header->predecessor_last_sequence) ||
      !GetLengthPrefixedSlice(&input, &db_id) || !GetVarint32(&input, &compression) ||
      (version >= kWalWithSynced && (!GetVarint64(&input, &header->predecessor_synced) ||
                                     (!input.empty() && !GetVarint32(&input, &flags)))) ||
      ((flags & kWalAfterFailedBatch) != 0 && !GetVarint64(&input, &header->predecessor_acknowledged))) {
    return Status::Corruption(place, "the header of the write-ahead log is cut short");
  }
  header->db_id = db_id.ToString();
  header->over_older_log = (flags & kWalOverOlderLog) != 0;
  header->compression = static_cast<rocksdb::CompressionType>(compression);
  if (compression > 0xff) {
    return Status::NotSupported(path, "compressed with type " + std::to_string(compression));
  }
  return Status::OK();
}

}  // namespace compassdb
