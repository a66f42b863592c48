// SPDX-License-Identifier: Apache-2.0
#include "wal/synced_mark.h"

#include <cstring>

#include "format/file_names.h"
#include "format/format_version.h"
#include "format/number_limits.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

namespace {

constexpr size_t kBytes = 40;
constexpr size_t kCovered = 16;  // from there on by the checksum

uint64_t HashOf(const std::string& db_id) { return Hash64(db_id, kSyncedMarkFormat.magic); }

uint32_t ChecksumOf(const char* bytes, uint32_t version) {
  return Checksum32(Slice(bytes + kCovered, kBytes - kCovered), MixContext(kSyncedMarkFormat.magic, version));
}

}  // namespace

bool SyncedMark::IsOf(const std::string& db_id) const { return log.number != 0 && database == HashOf(db_id); }

SyncedMark ReadSyncedMark(FileSystem* fs, const std::string& wal_dir) {
  SyncedMark mark;
  std::unique_ptr<RandomAccessFile> file;
  char bytes[kBytes];
  Slice read;
  Status s = fs->NewRandomAccessFile(SyncedMarkFileName(wal_dir), FileOptions(), &file);
  if (s.ok()) s = file->Read(0, kBytes, &read, bytes);
  if (!s.ok() || read.size() != kBytes) return mark;
  if (read.data() != bytes) memcpy(bytes, read.data(), kBytes);
  const uint32_t version = DecodeFixed32(bytes + 8);
  if (DecodeFixed64(bytes) != kSyncedMarkFormat.magic || !CanReadVersion(kSyncedMarkFormat, version) ||
      !ChecksumHolds(DecodeFixed32(bytes + 12), ChecksumOf(bytes, version)) ||
      DecodeFixed64(bytes + 16) >= kMaxStrayNumber) {
    return mark;
  }
  mark.log = {DecodeFixed64(bytes + 16), DecodeFixed64(bytes + 24)};
  mark.database = DecodeFixed64(bytes + 32);
  return mark;
}

void SyncedMarkWriter::SetDatabase(const std::string& db_id) {
  database_ = HashOf(db_id);
  enabled_ = true;
}

void SyncedMarkWriter::Write(const SyncedLog& log) {
  if (!enabled_) return;
  Status s;
  if (file_ == nullptr) s = fs_->NewPageFile(SyncedMarkFileName(wal_dir_), FileOptions(), /*create=*/true, &file_);
  if (s.ok()) {
    char bytes[kBytes];
    EncodeFixed64(bytes, kSyncedMarkFormat.magic);
    EncodeFixed32(bytes + 8, kSyncedMarkFormat.current);
    EncodeFixed64(bytes + 16, log.number);
    EncodeFixed64(bytes + 24, log.bytes);
    EncodeFixed64(bytes + 32, database_);
    EncodeFixed32(bytes + 12, ChecksumOf(bytes, kSyncedMarkFormat.current));
    s = file_->Write(0, Slice(bytes, kBytes));
  }
  if (s.ok()) return;
  file_.reset();
  enabled_ = false;
}

}  // namespace compassdb
