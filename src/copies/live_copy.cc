// SPDX-License-Identifier: Apache-2.0
#include "copies/live_copy.h"

namespace compassdb {

Status WithLiveFiles(rocksdb::DB* db, uint64_t wal_size_for_flush,
                     const std::function<Status(const std::vector<rocksdb::LiveFileStorageInfo>&)>& copy) {
  Status s = db->DisableFileDeletions();
  const bool disabled = s.ok();
  if (!disabled && !s.IsNotSupported()) return s;
  rocksdb::LiveFilesStorageInfoOptions options;
  options.wal_size_for_flush = wal_size_for_flush;
  options.include_checksum_info = true;
  std::vector<rocksdb::LiveFileStorageInfo> files;
  s = db->GetLiveFilesStorageInfo(options, &files);
  if (s.ok()) s = copy(files);
  if (disabled) {
    Status enabled = db->EnableFileDeletions(/*force=*/false);
    if (s.ok()) s = enabled;
  }
  return s;
}

CopySource SourceOf(FileSystem* fs, const rocksdb::LiveFileStorageInfo& file) {
  CopySource from;
  from.fs = fs;
  from.path = PathOf(file);
  if (file.trim_to_size || file.file_type == rocksdb::kTableFile) from.size = file.size;
  if (!file.replacement_contents.empty()) from.contents = file.replacement_contents;
  return from;
}

}  // namespace compassdb
