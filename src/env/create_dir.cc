// SPDX-License-Identifier: Apache-2.0
#include "env/create_dir.h"

#include <vector>

#include "base/file_names.h"

namespace compassdb {

// A directory that vanishes in a crash takes along what was synced in it.
Status CreateDirDurably(FileSystem* fs, const std::string& dir) {
  std::vector<std::string> parents;
  for (std::string d = dir; !fs->FileExists(d).ok();) {
    const std::string parent = ParentOf(d);
    parents.push_back(parent);
    if (parent == "/" || parent == ".") break;
    d = parent;
  }
  if (Status s = fs->CreateDir(dir); !s.ok()) return s;
  for (auto it = parents.rbegin(); it != parents.rend(); ++it) {
    if (Status s = fs->SyncDir(*it); !s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace compassdb
