// SPDX-License-Identifier: Apache-2.0
// Writes one write-ahead log.
//
// Thread safety: one thread at a time (the database's write leader, or the holder
// of its WAL mutex).
// Invariant: as LogWriter: nothing is written after a failed call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "log/log_writer.h"
#include "wal/wal_format.h"

namespace compassdb {

class WalWriter {
 public:
  // Creates <wal_dir>/NNNNNN.log, or uses the empty one that exists, and writes its header (not yet durable: the
  // first Sync makes it so, and SyncDir(wal_dir) the name of a new one).
  static Status Create(FileSystem* fs, const std::string& wal_dir, const FileOptions& options,
                       const WalHeader& header, std::unique_ptr<WalWriter>* writer);

  // The same over the obsolete log `old_number`; its file gets the new log's name.
  // After a failure it may have either name.
  static Status CreateOver(FileSystem* fs, const std::string& wal_dir, uint64_t old_number,
                           const FileOptions& options, const WalHeader& header,
                           std::unique_ptr<WalWriter>* writer);

  // Buffers a batch's bytes. After Flush they survive the process, after Sync the
  // machine.
  Status AddBatch(const Slice& batch, BatchPlace* place = nullptr);
  Status Flush() { return log_.Flush(); }
  // The directory has been synced before (or its owner does not rely on SyncedSize).
  Status Sync();
  // The same, but no later record says so: for a chain with a gap before this log.
  Status SyncUnrecorded() { return log_.Sync(); }
  // Syncs the rest, so that a successor may rely on it.
  Status Close();
  // The same for the last log, without a successor: a last record says that it is whole.
  Status Seal();

  uint64_t number() const { return log_.number(); }
  uint64_t Size() const { return log_.Size(); }
  uint64_t SyncedSize() const { return synced_; }
  // The highest sequence that a batch in this log ends with; 0 if none.
  uint64_t last_sequence() const { return last_sequence_; }
  const Status& status() const { return log_.status(); }
  const std::string& path() const { return log_.path(); }
  // The header of the next log. After a failure, or if the caller abandons this log (given_up), it requires no more
  // of this log than was synced.
  WalHeader SuccessorHeader(uint64_t number, bool given_up = false) const;

 private:
  WalWriter(std::unique_ptr<WritableFile> file, std::string path, const WalHeader& header)
      : log_(std::move(file), std::move(path), header.number),
        db_id_(header.db_id),
        compression_(header.compression) {}

  static Status Begin(std::unique_ptr<WritableFile> file, const std::string& path,
                      const WalHeader& header, std::unique_ptr<WalWriter>* writer);

  LogWriter log_;
  const std::string db_id_;
  const rocksdb::CompressionType compression_;
  std::string record_;  // with the fields before the batch
  std::string scratch_;
  uint64_t synced_ = 0;
  uint64_t last_sequence_ = 0;
};

}  // namespace compassdb
