// SPDX-License-Identifier: Apache-2.0
#include "manifest/own_file.h"

#include <algorithm>
#include <vector>

#include "env/missing.h"
#include "format/file_names.h"
#include "format/foreign_file.h"
#include "format/format_version.h"
#include "manifest/foreign_directory.h"
#include "manifest/manifest.h"
#include "manifest/ownership.h"
#include "util/coding.h"
#include "wal/synced_mark.h"

namespace compassdb {

namespace {

// That the file was begun by this engine.
bool BeginsAsOurs(const std::string& start, FileType type) {
  constexpr size_t kBeginning = 64;
  char magic[8];
  switch (type) {
    case FileType::kWal:
      EncodeFixed64(magic, kWalFormat.magic);
      break;
    case FileType::kManifest:
    case FileType::kManifestMirror:
      EncodeFixed64(magic, kManifestFormat.magic);
      break;
    case FileType::kPieceFile:
      EncodeFixed64(magic, kPieceFileFormat.magic);
      break;
    case FileType::kInfoLog:
      return start.find("CompassDB") != std::string::npos;
    default:
      return false;
  }
  return IsSealed(start) || start.substr(0, kBeginning).find(std::string(magic, sizeof(magic))) != std::string::npos;
}

}  // namespace

Status IsDatabaseDir(FileSystem* fs, const std::string& dir, bool* yes) {
  uint64_t manifest = 0;
  std::string start;
  Status s = Manifest::ReadCurrent(fs, dir, &manifest);
  *yes = !s.IsNotFound();
  if (s.IsInvalidArgument()) *yes = ReadStart(fs, CurrentFileName(dir), sizeof(kSealMagic), &start).ok() && IsSealed(start);
  if (!s.IsNotFound()) return Status::OK();
  std::vector<std::string> names;
  if (s = fs->GetChildren(dir, &names); !s.ok()) return IsMissing(s) ? Status::OK() : s;
  for (const std::string& name : names) {
    constexpr size_t kStart = 1024;
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type)) continue;
    *yes = *yes || type == FileType::kPlaces ||
           (ReadStart(fs, JoinPath(dir, name), kStart, &start).ok() && BeginsAsOurs(start, type));
  }
  return Status::OK();
}

bool IsOfOthers(FileSystem* fs, const std::string& dir, const std::string& name, const FileSigns& signs) {
  uint64_t number = 0;
  FileType type;
  if (!ParseFileName(name, &number, &type)) return true;
  if (number > 0 && number < signs.first_number && type != FileType::kInfoLog) return true;
  std::string start, id;
  if (signs.must_show && type == FileType::kSyncedMark) {
    const SyncedMark mark = ReadSyncedMark(fs, dir);
    return std::none_of(signs.log_ids.begin(), signs.log_ids.end(), [&](const std::string& known) { return mark.IsOf(known); });
  }
  if (type != FileType::kWal && type != FileType::kManifest) return false;
  if (ReadStart(fs, JoinPath(dir, name), kForeignLogBlock, &start).ok() && IsForeignLog(start)) return true;
  if (type == FileType::kManifest || (signs.log_ids.empty() && !signs.must_show)) return false;
  IdOfLog(fs, dir, number, &id).PermitUncheckedError();  // of what cannot be read nothing is known
  return id.empty() ? signs.must_show : signs.log_ids.count(id) == 0;
}

}  // namespace compassdb
