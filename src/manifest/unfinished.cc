// SPDX-License-Identifier: Apache-2.0
#include "manifest/unfinished.h"

#include "base/file_names.h"
#include "env/missing.h"

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
  constexpr uint64_t kMostBytes = 4 << 10;
  const Status s = ReadFileToString(fs, JoinPath(dir, kUnfinishedFileName), what, kMostBytes);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  while (!what->empty() && what->back() == '\n') what->pop_back();
  if (what->empty()) *what = "something that does not say its name";
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
