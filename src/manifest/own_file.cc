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

std::string MagicOf(FileType type) {
  std::string magic;
  switch (type) {
    case FileType::kWal:
      PutFixed64(&magic, kWalFormat.magic);
      break;
    case FileType::kManifest:
    case FileType::kManifestMirror:
      PutFixed64(&magic, kManifestFormat.magic);
      break;
    case FileType::kPieceFile:
      PutFixed64(&magic, kPieceFileFormat.magic);
      break;
    case FileType::kInfoLog:
      magic = "CompassDB";
      break;
    default:
      break;
  }
  return magic;
}

// What a power cut leaves of a file that was just begun. A log is too short to hold its magic number; a compaction
// file has a part of its own.
bool IsTornBeginning(const std::string& start, FileType type) {
  constexpr size_t kLogMagicEnds = 24;  // at the latest
  if (type == FileType::kWal) return start.size() < kLogMagicEnds;
  const std::string magic = MagicOf(type);
  if (start.size() >= magic.size()) return false;
  for (size_t i = 0; i < start.size(); ++i) {
    if (start[i] != magic[i] && start[i] != '\0') return false;
  }
  return true;
}

}  // namespace

bool HasMagic(const std::string& start, FileType type) {
  const std::string magic = MagicOf(type);
  return !magic.empty() && start.find(magic) != std::string::npos;
}

bool BeginsAsOurs(const std::string& start, FileType type) {
  return !MagicOf(type).empty() && (IsSealed(start) || HasMagic(start, type));
}

bool WasBegunByOthers(FileSystem* fs, const std::string& path, FileType type) {
  if (IsDirectory(fs, path)) return true;
  std::string start;
  ReadStart(fs, path, kMagicEnds, &start).PermitUncheckedError();
  if (start.find_first_not_of('\0') == std::string::npos || IsTornBeginning(start, type)) return false;
  return !HasMagic(start, type);
}

// A crash may leave an empty one, or one without its bytes.
bool IsInfoLog(FileSystem* fs, const std::string& path) {
  constexpr size_t kDate = 10;  // 2026/11/21
  if (IsDirectory(fs, path)) return false;
  std::string start;
  ReadStart(fs, path, kDate, &start).PermitUncheckedError();
  if (start.empty() || start[0] == '\0') return true;
  for (size_t i = 0; i < start.size(); ++i) {
    if (i == 4 || i == 7 ? start[i] != '/' : start[i] < '0' || start[i] > '9') return false;
  }
  return true;
}

Status IsDatabaseDir(FileSystem* fs, const std::string& dir, bool* yes) {
  constexpr size_t kInfoLogBegins = 1024;
  uint64_t manifest = 0;
  std::string start;
  Status s = Manifest::ReadCurrent(fs, dir, &manifest);
  *yes = !s.IsNotFound();
  if (s.IsInvalidArgument()) *yes = ReadStart(fs, CurrentFileName(dir), sizeof(kSealMagic), &start).ok() && IsSealed(start);
  if (!s.IsNotFound()) return Status::OK();
  std::vector<std::string> names;
  if (s = fs->GetChildren(dir, &names); !s.ok()) return IsMissing(s) ? Status::OK() : s;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type)) continue;
    const size_t read = type == FileType::kInfoLog ? kInfoLogBegins : kMagicEnds;
    *yes = *yes || type == FileType::kPlaces ||
           (ReadStart(fs, JoinPath(dir, name), read, &start).ok() && BeginsAsOurs(start, type));
  }
  return Status::OK();
}

bool IsOfOthers(FileSystem* fs, const std::string& dir, const std::string& name,
                const OwnFiles& own) {
  uint64_t number = 0;
  FileType type;
  if (!ParseFileName(name, &number, &type)) return true;
  if (number > 0 && number < own.first_number && type != FileType::kInfoLog) return true;
  std::string start, id;
  if (own.must_show && type == FileType::kSyncedMark) {
    const SyncedMark mark = ReadSyncedMark(fs, dir);
    return std::none_of(own.log_ids.begin(), own.log_ids.end(),
                        [&](const std::string& known) { return mark.IsOf(known); });
  }
  if (type == FileType::kInfoLog) return !IsInfoLog(fs, JoinPath(dir, name));
  if (type != FileType::kWal && type != FileType::kManifest) return false;
  if (ReadStart(fs, JoinPath(dir, name), kForeignLogBlock, &start).ok() && IsForeignLog(start)) return true;
  if (type == FileType::kManifest || (own.log_ids.empty() && !own.must_show)) return false;
  IdOfLog(fs, dir, number, &id).PermitUncheckedError();  // an unreadable file has an unknown id
  return id.empty() ? own.must_show : own.log_ids.count(id) == 0;
}

}  // namespace compassdb
