// SPDX-License-Identifier: Apache-2.0
#include "manifest/unfinished.h"

#include <algorithm>

#include "env/missing.h"
#include "format/file_names.h"

namespace compassdb {

Status MarkUnfinished(FileSystem* fs, const std::string& dir, const std::string& what) {
  return WriteFileAtomically(fs, JoinPath(dir, kUnfinishedFileName), what + "\n");
}

Status UnmarkUnfinished(FileSystem* fs, const std::string& dir) {
  Status s = fs->DeleteFile(JoinPath(dir, kUnfinishedFileName));
  if (IsMissing(s)) return Status::OK();
  return s.ok() ? fs->SyncDir(dir) : s;
}

Status ReadUnfinished(FileSystem* fs, const std::string& dir, std::string* what) {
  what->clear();
  constexpr uint64_t kMostBytes = 8 << 10;  // the prefix of a cipher is 4 KiB
  const Status s = ReadFileToString(fs, JoinPath(dir, kUnfinishedFileName), what, kMostBytes);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  while (!what->empty() && what->back() == '\n') what->pop_back();
  // For example an encrypted file without its key.
  const bool text = std::all_of(what->begin(), what->end(), [](char c) { return static_cast<unsigned char>(c) >= ' '; });
  if (what->empty() || !text) *what = "work whose name cannot be read";
  return s;
}

Status CheckFinished(FileSystem* fs, const std::string& dir) {
  std::string what;
  Status s = ReadUnfinished(fs, dir, &what);
  if (!s.ok() || what.empty()) return s;
  return Status::Incomplete(dir, "holds an unfinished " + what + ": run it again, or delete the directory (" +
                                     JoinPath(dir, kUnfinishedFileName) + " marks it)");
}

}  // namespace compassdb
