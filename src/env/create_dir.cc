// SPDX-License-Identifier: Apache-2.0
#include "env/create_dir.h"

#include <vector>

#include "format/file_names.h"

namespace compassdb {

namespace {

// A directory that this process may not even list.
bool IsClosedToUs(FileSystem* fs, const std::string& dir) {
  std::vector<std::string> names;
  return !fs->GetChildren(dir, &names).ok();
}

}  // namespace

// If a directory is lost in a crash, the synced files in it are lost, too. An existing directory, even with files in
// it, may have an entry that is not durable: its creator may not have synced the parent.
Status CreateDirDurably(FileSystem* fs, const std::string& dir) {
  std::vector<std::string> parents;
  size_t made = 0;  // the first ones, which this call creates
  for (std::string d = dir; d != "/" && d != ".";) {
    if (parents.size() == made && !fs->FileExists(d).ok()) ++made;
    d = ParentOf(d);
    parents.push_back(d);
  }
  if (Status s = fs->CreateDir(dir); !s.ok()) return s;
  for (size_t i = parents.size(); i-- > 0;) {
    const Status s = fs->SyncDir(parents[i]);
    if (!s.ok() && (i < made || !(s.IsNotSupported() || IsClosedToUs(fs, parents[i])))) return s;
  }
  return Status::OK();
}

}  // namespace compassdb
