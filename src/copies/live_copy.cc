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
  std::vector<rocksdb::LiveFileStorageInfo> files;
  s = db->GetLiveFilesStorageInfo(options, &files);
  if (s.ok()) s = copy(files);
  if (disabled) {
    Status enabled = db->EnableFileDeletions(/*force=*/false);
    if (s.ok()) s = enabled;
  }
  return s;
}

}  // namespace compassdb
