// SPDX-License-Identifier: Apache-2.0
// The manifest: the one commit point of the database. A record log of edits;
// CURRENT names the current manifest.
//
// CURRENT holds two lines: the manifest's name, and "CompassDB <version>
// <checksum>", so that it differs from RocksDB's and LevelDB's.
//
// The mirror (MIRROR-NNNNNN) has the same bytes at the same places; only its snapshot is synced, and each further
// record is written to it when the manifest's is durable. So a manifest that ends before a record of its mirror is
// damaged, not torn by a crash. Repair reads from one what the other lacks: damage to one of them loses nothing.
//
// Thread safety: one thread at a time (db/ holds the manifest lock).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/file_system.h"
#include "log/log_writer.h"
#include "manifest/version_edit.h"

namespace compassdb {

class Manifest {
 public:
  // Reads CURRENT. NotFound if the directory holds no database;
  // InvalidArgument, naming `compassdb import`, if it is RocksDB's or LevelDB's.
  // Incomplete if it holds a part of one (manifest/unfinished.h).
  static Status ReadCurrent(FileSystem* fs, const std::string& dir, uint64_t* manifest_number);

  // The contents of CURRENT for manifest `number`.
  static std::string CurrentContents(uint64_t number);

  // Replays manifest `number` in order. A torn last record is dropped (its
  // commit never returned) unless the mirror has it; anything else that does
  // not parse is Corruption with file and offset.
  // *end, if not null: the offset after the last applied record.
  static Status Replay(FileSystem* fs, const std::string& dir, uint64_t number,
                       const std::function<Status(const EditRecord&)>& apply, uint64_t* end = nullptr);

  // The same from *offset on, which moves behind the applied records: for a manifest that another
  // process writes. NotFound if the file was deleted.
  static Status Follow(FileSystem* fs, const std::string& dir, uint64_t number, uint64_t* offset,
                       const std::function<Status(const EditRecord&)>& apply);

  // Applies what manifest and mirror `number` have together: if one is damaged, cut off or missing, the
  // other is read. *records: how many edits were applied; *whole: the mirror was not needed. An error
  // only if `apply` returns one for both.
  static Status Salvage(FileSystem* fs, const std::string& dir, uint64_t number,
                        const std::function<Status(const EditRecord&)>& apply,
                        uint64_t* records, bool* whole);

  // Starts a new manifest whose first record is `snapshot` (the whole state),
  // syncs it and its directory entry, then points CURRENT to it.
  static Status Create(FileSystem* fs, const std::string& dir, uint64_t number,
                       const std::vector<VersionEdit>& snapshot, std::unique_ptr<Manifest>* out);

  // Appends one record and syncs. After an error no more may be appended, as the file's end is not
  // known: the caller creates a new manifest.
  Status Append(const std::vector<VersionEdit>& edits);

  uint64_t number() const { return number_; }
  uint64_t size() const { return size_; }
  Status Close();

 private:
  Manifest() = default;
  void StartMirror(FileSystem* fs, const std::string& dir, const std::string& header,
                   const std::string& snapshot);
  uint64_t number_ = 0;
  uint64_t size_ = 0;
  std::unique_ptr<LogWriter> log_;
  std::unique_ptr<LogWriter> mirror_;  // null: it could not be written
};

}  // namespace compassdb
