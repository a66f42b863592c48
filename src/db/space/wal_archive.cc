// SPDX-License-Identifier: Apache-2.0
#include "db/space/wal_archive.h"

#include <algorithm>

#include "env/create_dir.h"
#include "env/missing.h"
#include "format/file_names.h"
#include "util/coding.h"
#include "wal/wal_recovery.h"

namespace compassdb {
namespace {

constexpr uint64_t kPurgeSeconds = 600;

Status ListArchive(FileSystem* fs, const std::string& archive, std::vector<uint64_t>* numbers) {
  Status s = ListWals(fs, archive, 0, numbers);
  return IsMissing(s) ? Status::OK() : s;
}

}  // namespace

Status WalArchive::Open() {
  return enabled() ? CreateDirDurably(fs_, WalArchiveName(wal_dir_)) : Status::OK();
}

Status WalArchive::Retire(uint64_t number) {
  const std::string path = WalFileName(wal_dir_, number);
  Status s = enabled() ? fs_->RenameFile(path, WalFileName(WalArchiveName(wal_dir_), number))
                       : fs_->DeleteFile(path);
  return IsMissing(s) ? Status::OK() : s;
}

Status WalArchive::Purge() {
  if (!enabled()) return Status::OK();
  const uint64_t now = clock_->NowMicros() / 1'000'000;
  const uint64_t pause = limit_bytes_ > 0 ? kPurgeSeconds : ttl_seconds_ / 2;
  if (last_purge_ + pause > now) return Status::OK();
  last_purge_ = now;
  const std::string archive = WalArchiveName(wal_dir_);
  std::vector<uint64_t> numbers;
  if (Status s = ListArchive(fs_, archive, &numbers); !s.ok()) return s;
  Status result;
  const auto remove = [&](uint64_t number) {
    if (Status s = fs_->DeleteFile(WalFileName(archive, number)); !s.ok() && !IsMissing(s)) result = s;
  };
  uint64_t kept = 0;
  for (auto it = numbers.rbegin(); it != numbers.rend(); ++it) {  // the newest first
    const std::string path = WalFileName(archive, *it);
    uint64_t changed = 0;
    uint64_t bytes = 0;
    Status s = fs_->GetModificationTime(path, &changed);
    if (s.ok()) s = fs_->GetFileSize(path, &bytes);
    if (!s.ok()) {
      if (!IsMissing(s)) result = s;
      continue;
    }
    kept += bytes;
    const bool expired = ttl_seconds_ > 0 && changed < now && now - changed > ttl_seconds_;
    if (expired || (limit_bytes_ > 0 && kept > limit_bytes_)) remove(*it);
  }
  return result;
}

Status ListWalFiles(FileSystem* fs, const std::string& wal_dir, std::vector<WalFileInfo>* files) {
  files->clear();
  // In this order: a log that is moved in between is found in the archive.
  std::vector<uint64_t> live;
  std::vector<uint64_t> archived;
  if (Status s = ListWals(fs, wal_dir, 0, &live); !s.ok()) return s;
  if (Status s = ListArchive(fs, WalArchiveName(wal_dir), &archived); !s.ok()) return s;
  for (uint64_t number : archived) files->push_back({number, true});
  for (uint64_t number : live) {
    if (!std::binary_search(archived.begin(), archived.end(), number)) {
      files->push_back({number, false});
    }
  }
  std::sort(files->begin(), files->end(),
            [](const WalFileInfo& a, const WalFileInfo& b) { return a.number < b.number; });
  return Status::OK();
}

Status OpenWalFile(FileSystem* fs, const std::string& wal_dir, uint64_t offset, WalFileInfo* file,
                   std::unique_ptr<WalReader>* reader) {
  const auto open = [&] {
    const std::string dir = file->archived ? WalArchiveName(wal_dir) : wal_dir;
    return WalReader::OpenAt(fs, dir, file->number, offset, reader);
  };
  Status s = open();
  if (IsMissing(s) && !file->archived) {
    file->archived = true;
    s = open();
  }
  return s;
}

Status FirstSequence(FileSystem* fs, const std::string& wal_dir, WalFileInfo* file,
                     rocksdb::SequenceNumber* sequence) {
  *sequence = 0;
  std::unique_ptr<WalReader> reader;
  if (Status s = OpenWalFile(fs, wal_dir, 0, file, &reader); !s.ok()) return s;
  Slice batch;
  const LogRead read = reader->ReadBatch(&batch);
  if (read == LogRead::kRecord) *sequence = DecodeFixed64(batch.data());
  return read == LogRead::kError ? reader->status() : Status::OK();
}

}  // namespace compassdb
