// SPDX-License-Identifier: Apache-2.0
#include "env/create_dir.h"

#include <vector>

namespace compassdb {
namespace {

std::string ParentOf(const std::string& dir) {
  const size_t slash = dir.find_last_not_of('/') == std::string::npos
                           ? std::string::npos
                           : dir.rfind('/', dir.find_last_not_of('/'));
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : dir.substr(0, slash);
}

}  // namespace

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
