// SPDX-License-Identifier: Apache-2.0
#include "env/sync_file.h"

namespace compassdb {

Status SyncFile(FileSystem* fs, const std::string& path) {
  std::unique_ptr<WritableFile> file;
  Status s = fs->ReopenWritableFile(path, FileOptions(), &file);
  if (s.ok()) s = file->Sync();
  if (s.ok()) s = file->Close();
  return s;
}

}  // namespace compassdb
