// SPDX-License-Identifier: Apache-2.0
#include "format/file_names.h"

#include <cinttypes>
#include <cstdio>

#include "format/number_limits.h"
#include "util/hash.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

std::string Padded(uint64_t number) {
  char buf[24];
  snprintf(buf, sizeof(buf), "%06" PRIu64, number);
  return buf;
}

// The whole of `text` as a decimal number.
bool ParseNumber(const std::string& text, uint64_t* number) {
  Slice rest(text);
  return ConsumeDecimal(&rest, number) && rest.empty();
}

bool ParseFileNumber(const std::string& text, uint64_t* number) {
  return ParseNumber(text, number) && *number <= kMaxFileNumber && text == Padded(*number);
}

bool StripPrefix(const std::string& name, const std::string& prefix, std::string* rest) {
  if (name.compare(0, prefix.size(), prefix) != 0) return false;
  *rest = name.substr(prefix.size());
  return true;
}

bool StripSuffix(const std::string& name, const std::string& suffix, std::string* rest) {
  if (name.size() < suffix.size() ||
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) {
    return false;
  }
  *rest = name.substr(0, name.size() - suffix.size());
  return true;
}

}  // namespace

std::string JoinPath(const std::string& dir, const std::string& name) {
  if (dir.empty()) return name;
  return dir.back() == '/' ? dir + name : dir + "/" + name;
}

std::string ParentOf(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  const size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string WalFileName(const std::string& wal_dir, uint64_t number) {
  return JoinPath(wal_dir, Padded(number) + ".log");
}
std::string SyncedMarkFileName(const std::string& wal_dir) { return JoinPath(wal_dir, "SYNCED"); }
std::string WalArchiveName(const std::string& wal_dir) { return JoinPath(wal_dir, "archive"); }
std::string PieceFileName(const std::string& dir, uint64_t number) {
  return JoinPath(dir, Padded(number) + ".ph");
}
std::string PageFileName(const std::string& dir, uint64_t number) {
  return JoinPath(dir, Padded(number) + ".pages");
}
std::string ManifestFileName(const std::string& dir, uint64_t number) {
  return JoinPath(dir, "MANIFEST-" + Padded(number));
}
std::string MirrorFileName(const std::string& dir, uint64_t number) {
  return JoinPath(dir, "MIRROR-" + Padded(number));
}
std::string CurrentFileName(const std::string& dir) { return JoinPath(dir, "CURRENT"); }
std::string LockFileName(const std::string& dir) { return JoinPath(dir, "LOCK"); }
std::string InfoLogFileName(const std::string& dir) { return JoinPath(dir, "LOG"); }
std::string OldInfoLogFileName(const std::string& dir, uint64_t micros) {
  return JoinPath(dir, "LOG.old." + std::to_string(micros));
}
std::string SharedInfoLogName(const std::string& absolute_path) {
  // RocksDB takes the beginning of longer paths, which other databases share.
  constexpr size_t kLongest = 200;
  std::string name;
  for (size_t i = 0; i < absolute_path.size(); ++i) {
    const char c = absolute_path[i];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_';
    if (plain) {
      name.push_back(c);
    } else if (i > 0) {
      name.push_back('_');
    }
  }
  if (name.size() > kLongest) {
    char hash[24];
    snprintf(hash, sizeof(hash), "_%016" PRIx64, Hash64(absolute_path));
    name = name.substr(0, kLongest) + hash;
  }
  return name + "_LOG";
}
bool ParseInfoLogName(const std::string& name, const std::string& log_name, uint64_t* micros) {
  *micros = 0;
  std::string rest;
  if (name == log_name || name == log_name + ".old") return true;
  return StripPrefix(name, log_name + ".old.", &rest) && ParseNumber(rest, micros);
}
std::string PlacesFileName(const std::string& dir) { return JoinPath(dir, "PLACES"); }
std::string OwnerFileName(const std::string& dir) { return JoinPath(dir, "OWNER"); }
std::string OptionsFileName(const std::string& dir, uint64_t number) {
  return JoinPath(dir, "OPTIONS-" + Padded(number));
}
std::string TempOptionsFileName(const std::string& dir, uint64_t number) {
  return OptionsFileName(dir, number) + ".dbtmp";
}
std::string IdentityFileName(const std::string& dir) { return JoinPath(dir, "IDENTITY"); }
std::string TempFileName(const std::string& dir, uint64_t number) {
  return JoinPath(dir, Padded(number) + ".dbtmp");
}

bool ParseFileName(const std::string& name, uint64_t* number, FileType* type) {
  *number = 0;
  const auto is = [&](FileType t) {
    *type = t;
    return true;
  };
  if (name == "CURRENT") return is(FileType::kCurrent);
  if (name == "LOCK") return is(FileType::kLock);
  if (name == "SYNCED") return is(FileType::kSyncedMark);
  if (name == "IDENTITY") return is(FileType::kIdentity);
  if (name == "PLACES") return is(FileType::kPlaces);
  if (name == "OWNER") return is(FileType::kOwner);
  if (ParseInfoLogName(name, "LOG", number)) return is(FileType::kInfoLog);
  *number = 0;
  std::string rest;
  if (StripPrefix(name, "MANIFEST-", &rest)) {
    return ParseFileNumber(rest, number) && is(FileType::kManifest);
  }
  if (StripPrefix(name, "MIRROR-", &rest)) {
    return ParseFileNumber(rest, number) && is(FileType::kManifestMirror);
  }
  if (StripSuffix(name, ".dbtmp", &rest)) {
    std::string digits = rest;
    StripPrefix(rest, "OPTIONS-", &digits);
    return ParseFileNumber(digits, number) && is(FileType::kTemp);
  }
  if (StripPrefix(name, "OPTIONS-", &rest)) {
    return ParseFileNumber(rest, number) && is(FileType::kOptions);
  }
  if (StripSuffix(name, ".log", &rest)) return ParseFileNumber(rest, number) && is(FileType::kWal);
  if (StripSuffix(name, ".ph", &rest)) {
    return ParseFileNumber(rest, number) && is(FileType::kPieceFile);
  }
  if (StripSuffix(name, ".pages", &rest)) {
    return ParseFileNumber(rest, number) && is(FileType::kPageFile);
  }
  return false;
}

bool ParseFilePath(const std::string& path, uint64_t* number, FileType* type) {
  return ParseFileName(path.substr(path.rfind('/') + 1), number, type);
}

bool IsRocksDBTableName(const std::string& name) {
  std::string rest;
  uint64_t number;
  return (StripSuffix(name, ".sst", &rest) || StripSuffix(name, ".blob", &rest) ||
          StripSuffix(name, ".ldb", &rest)) &&
         ParseNumber(rest, &number);
}

uint64_t NumberBehind(const std::string& name) {
  uint64_t number = 0;
  FileType type;
  const bool counts =
      ParseFileName(name, &number, &type) && type != FileType::kInfoLog && number < kMaxStrayNumber;
  return counts ? number + 1 : 0;
}

}  // namespace compassdb
