// SPDX-License-Identifier: Apache-2.0
#include "env/create_dir.h"

#include <algorithm>
#include <vector>

#include "base/file_names.h"

namespace compassdb {

namespace {

bool HasFiles(FileSystem* fs, const std::string& dir) {
  std::vector<std::string> names;
  if (!fs->GetChildren(dir, &names).ok()) return false;
  return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name != "." && name != ".."; });
}

}  // namespace

// A directory that vanishes in a crash takes along what was synced in it. One that is empty may be what a process
// made that was killed before it could sync; one with files in it was made durable before they were.
Status CreateDirDurably(FileSystem* fs, const std::string& dir) {
  if (HasFiles(fs, dir)) return Status::OK();
  struct Parent {
    std::string path;
    bool gets_entry;  // one of the directories that are made here
  };
  std::vector<Parent> parents;
  bool missing = true;
  for (std::string d = dir;;) {
    missing = missing && !fs->FileExists(d).ok();
    parents.push_back({ParentOf(d), missing});
    d = parents.back().path;
    if (d == "/" || d == ".") break;
  }
  if (Status s = fs->CreateDir(dir); !s.ok()) return s;
  for (auto it = parents.rbegin(); it != parents.rend(); ++it) {
    const Status s = fs->SyncDir(it->path);
    // Others' directories may be ones that this process must not open.
    if (!s.ok() && it->gets_entry) return s;
  }
  return Status::OK();
}

}  // namespace compassdb
