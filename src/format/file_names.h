// SPDX-License-Identifier: Apache-2.0
// The names of the files in a database directory:
//
//   NNNNNN.log       write-ahead log (may be in a directory of its own)
//   SYNCED           next to the logs: how far they were synced
//   archive/         next to the logs: logs that only readers of the log still need
//   NNNNNN.ph        compaction file: pieces
//   NNNNNN.pages     a section of a table-less store, written in place
//   MANIFEST-NNNNNN  manifest
//   MIRROR-NNNNNN    a second copy of it, for repair
//   CURRENT          the name of the current manifest
//   LOCK             locked by the process that has the database open
//   LOG              information log; LOG.old.<micros> are earlier ones
//   OPTIONS-NNNNNN   options as text; a ".dbtmp" suffix while being written
//   IDENTITY         the database's id
//   PLACES           the directories outside of this one with files of the database
//   OWNER            in each of those: the database that owns it
//   NNNNNN.dbtmp     a file being written that will be renamed
//
// NNNNNN is decimal, at least six digits, at most kMaxFileNumber (format/number_limits.h), and never reused in one
// database.
#pragma once

#include <cstdint>
#include <string>

namespace compassdb {

enum class FileType {
  kWal,
  kSyncedMark,
  kPieceFile,
  kPageFile,
  kManifest,
  kManifestMirror,
  kCurrent,
  kLock,
  kInfoLog,  // LOG (number 0) and LOG.old.<micros> (number micros)
  kOptions,
  kIdentity,
  kTemp,
  kPlaces,
  kOwner,
};

std::string JoinPath(const std::string& dir, const std::string& name);
// The directory that a file or directory is in: "." or "/" at the top.
std::string ParentOf(const std::string& path);

std::string WalFileName(const std::string& wal_dir, uint64_t number);
std::string SyncedMarkFileName(const std::string& wal_dir);
std::string WalArchiveName(const std::string& wal_dir);
std::string PieceFileName(const std::string& dir, uint64_t number);
std::string PageFileName(const std::string& dir, uint64_t number);
std::string ManifestFileName(const std::string& dir, uint64_t number);
std::string MirrorFileName(const std::string& dir, uint64_t number);
std::string CurrentFileName(const std::string& dir);
std::string LockFileName(const std::string& dir);
std::string InfoLogFileName(const std::string& dir);
std::string OldInfoLogFileName(const std::string& dir, uint64_t micros);
// The name of a database's LOG in a directory that several databases may share: of its absolute path. As RocksDB's.
std::string SharedInfoLogName(const std::string& absolute_path);
// Whether `name` is the LOG `log_name`, or an earlier one of it; *micros is the earlier one's time, else 0.
bool ParseInfoLogName(const std::string& name, const std::string& log_name, uint64_t* micros);
std::string PlacesFileName(const std::string& dir);
std::string OwnerFileName(const std::string& dir);
std::string OptionsFileName(const std::string& dir, uint64_t number);
std::string TempOptionsFileName(const std::string& dir, uint64_t number);
std::string IdentityFileName(const std::string& dir);
std::string TempFileName(const std::string& dir, uint64_t number);

// Parses a name without directory. False if it is none of ours: "7.log" and "0000007.log" are not
// 000007.log.
// `number` is 0 for types without one.
bool ParseFileName(const std::string& name, uint64_t* number, FileType* type);
// The same of a path, with or without directories before the name.
bool ParseFilePath(const std::string& path, uint64_t* number, FileType* type);

// True for names that only RocksDB gives to its files (NNNNNN.sst, .blob).
bool IsRocksDBTableName(const std::string& name);

// The least counter in a directory with a file of this name, so that its number is not used again; 0: any. The counter
// ignores names with numbers of kMaxStrayNumber and more, and never reaches them.
uint64_t NumberBehind(const std::string& name);

}  // namespace compassdb
