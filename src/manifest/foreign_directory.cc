// SPDX-License-Identifier: Apache-2.0
#include "manifest/foreign_directory.h"

#include <vector>

#include "env/missing.h"
#include "format/file_names.h"
#include "format/foreign_file.h"

namespace compassdb {

bool IsDirectory(FileSystem* fs, const std::string& path) {
  std::vector<std::string> names;
  return fs->GetChildren(path, &names).ok();
}

Status ReadStart(FileSystem* fs, const std::string& path, size_t n, std::string* bytes) {
  bytes->assign(n, '\0');
  std::unique_ptr<SequentialFile> file;
  Slice read;
  Status s = fs->NewSequentialFile(path, &file);
  if (s.ok()) s = file->Read(n, &read, bytes->data());
  *bytes = s.ok() ? read.ToString() : "";
  return s;
}

Status FindForeignFile(FileSystem* fs, const std::string& dir, std::string* what) {
  what->clear();
  std::vector<std::string> names;
  Status s = fs->GetChildren(dir, &names);
  if (!s.ok()) return IsMissing(s) ? Status::OK() : s;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    const std::string path = JoinPath(dir, name);
    if (name.starts_with("marker.manifest.") || name.starts_with("marker.format-version.")) {
      *what = "Pebble's " + path;
    } else if (IsRocksDBTableName(name)) {
      *what = "RocksDB's or LevelDB's " + path;
    } else if (ParseFileName(name, &number, &type) && (type == FileType::kManifest || type == FileType::kWal)) {
      // What cannot be read here, or is damaged, is reported by its reader.
      std::string start;
      if (ReadStart(fs, path, kForeignLogBlock, &start).ok() && IsForeignLog(start)) {
        *what = "RocksDB's or LevelDB's " + path;
      }
    }
    if (what->starts_with("Pebble")) break;  // it has the other kinds, too
  }
  return Status::OK();
}

Status FindOwnFile(FileSystem* fs, const std::string& dir, std::string* name) {
  name->clear();
  std::vector<std::string> names;
  Status s = fs->GetChildren(dir, &names);
  if (!s.ok()) return IsMissing(s) ? Status::OK() : s;
  for (const std::string& child : names) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(child, &number, &type) &&
        (type == FileType::kManifestMirror || type == FileType::kPieceFile || type == FileType::kPageFile)) {
      *name = child;
      break;
    }
  }
  return Status::OK();
}

Status CheckNotSealed(FileSystem* fs, const std::string& dir) {
  std::vector<std::string> names;
  if (!fs->GetChildren(dir, &names).ok()) return Status::OK();
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) ||
        (type != FileType::kManifest && type != FileType::kManifestMirror && type != FileType::kPieceFile &&
         type != FileType::kWal)) {
      continue;
    }
    std::string start;
    const Status s = ReadStart(fs, JoinPath(dir, name), sizeof(kSealMagic), &start);
    if (s.IsInvalidArgument()) return s;
    if (s.ok() && IsSealed(start)) return Status::InvalidArgument(JoinPath(dir, name), kSealedAdvice);
  }
  return Status::OK();
}

}  // namespace compassdb
