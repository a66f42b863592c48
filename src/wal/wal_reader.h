// SPDX-License-Identifier: Apache-2.0
// Reads one write-ahead log. If bytes do not verify because a newer log reuses the file, the
// result is kError with PathNotFound, as if the log were deleted.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "log/log_reader.h"
#include "wal/wal_format.h"

namespace compassdb {

class WalReader {
 public:
  // Opens the file; its header is read by the first ReadBatch or by ReadHeader.
  static Status Open(FileSystem* fs, const std::string& wal_dir, uint64_t number,
                     std::unique_ptr<WalReader>* reader);

  // Opens it and continues at `offset`, where an earlier reader found the end of a record: for
  // later records.
  static Status OpenAt(FileSystem* fs, const std::string& wal_dir, uint64_t number,
                       uint64_t offset, std::unique_ptr<WalReader>* reader);

  // kRecord if header() is now valid; the file may also be empty (kEnd), torn
  // or damaged before its header. kError: status() may be NotSupported (newer
  // version) or Corruption (not a log of ours, or one of another number).
  LogRead ReadHeader();
  bool has_header() const { return has_header_; }
  const WalHeader& header() const { return header_; }

  // The next batch, at least 12 bytes, uncompressed. Meanings as LogReader::ReadRecord.
  LogRead ReadBatch(Slice* batch);
  // Of the batch read last.
  const BatchPlace& place() const { return place_; }
  // As LogReader::SearchLeftovers.
  void SearchLeftovers(bool search) { log_.SearchLeftovers(search); }
  // How much of this log was durable, according to the records read so far.
  uint64_t synced() const { return synced_; }

  const Status& status() const { return status_; }
  uint64_t RecordOffset() const { return log_.RecordOffset(); }
  uint64_t EndOffset() const { return log_.EndOffset(); }
  uint64_t DroppedBytes() const { return log_.DroppedBytes() + dropped_; }
  const std::string& path() const { return log_.path(); }

 private:
  WalReader(FileSystem* fs, std::unique_ptr<SequentialFile> file, std::string path,
            uint64_t number)
      : fs_(fs), log_(std::move(file), std::move(path), number), number_(number) {
    log_.Expect(LogReader::Leftovers::kAtBeginning);
  }

  LogRead ReadRecord(Slice* record);
  bool TakeSynced(Slice* record, std::string* problem);
  bool Uncompress(Slice* record, std::string* problem);

  FileSystem* const fs_;
  LogReader log_;
  const uint64_t number_;
  bool started_ = false;
  bool has_header_ = false;
  WalHeader header_;
  uint64_t dropped_ = 0;
  uint64_t synced_ = 0;
  std::string batch_;  // uncompressed
  BatchPlace place_;
  Status status_;
};

}  // namespace compassdb
