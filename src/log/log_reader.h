// SPDX-License-Identifier: Apache-2.0
// Reads the records of a log and distinguishes the ways in which it can end.
//
// A fragment that does not verify is a torn tail if no record begins after it,
// and corruption in the middle otherwise: the reader searches the rest of the
// file, byte by byte, for a fragment that verifies and begins a record.
// (Unsynced pages may reach the disk in any order, so after a power cut a
// "corruption" may also be unsynced records. The caller's recovery mode decides
// between the two.)
//
// In a recycled file, bytes that do not verify are expected after the last record: they are its
// clean end, if no fragment of this log is among them.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "log/log_format.h"

namespace compassdb {

enum class LogRead {
  kRecord,      // *record is set
  kEnd,         // the log ends after a whole record
  kTornTail,    // it ends inside a record, in zeros or in bytes that do not verify
  kCorruption,  // damage before a later record; the next read continues with that one
  kError,       // the file could not be read
};

class LogReader {
 public:
  LogReader(std::unique_ptr<SequentialFile> file, std::string path, uint64_t log_number);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // Where bytes of an older log may be. kAtBeginning: only if nothing has overwritten them yet, so
  // that the first fragment is whole: then this log is empty, a clean end.
  enum class Leftovers { kNone, kAtBeginning, kBehindRecords };
  void Expect(Leftovers leftovers) { leftovers_ = leftovers; }
  // If false, bytes after a record that do not verify are the clean end if kBehindRecords are
  // expected, without a search. For readers that read again soon.
  void SearchLeftovers(bool search) { search_ = search; }
  // The last read found bytes that do not verify.
  bool met_bad_bytes() const { return met_bad_bytes_; }

  // Continues, or begins, at `offset`, the end of some record, not before the present one.
  Status SkipTo(uint64_t offset);

  // *record stays valid until the next call. kEnd, kTornTail and kError repeat.
  LogRead ReadRecord(Slice* record);

  // For anything but kRecord and kEnd: Corruption or IOError with file and offset.
  const Status& status() const { return status_; }
  // Where the record read last began, and the byte after it.
  uint64_t RecordOffset() const { return record_offset_; }
  uint64_t EndOffset() const { return end_offset_; }
  // Bytes skipped so far because they did not verify.
  uint64_t DroppedBytes() const { return dropped_; }
  const std::string& path() const { return path_; }

 private:
  enum class Fragment { kGood, kEnd, kBad, kError };
  struct Header {
    LogFragmentType type;
    Slice payload;
    size_t size;  // header and payload
  };

  // Reads the fragment at offset_ without consuming it.
  Fragment Peek(Header* header, std::string* problem);
  // The same at `position` of the buffered block.
  bool Verify(size_t position, Header* header, std::string* problem) const;
  bool FillBlock();  // false at the end of the file or on an error
  Status SkipDamage(Slice* block);
  LogRead Bad(uint64_t from, bool inside, const std::string& problem);
  // The fragment there, which is inside the block, is one of log `number`.
  bool IsWholeOf(uint32_t number, size_t position, size_t length) const;
  bool BeginsWithOlderLog() const;
  LogRead Finish(LogRead result, Status s);
  uint64_t FileOffset() const { return block_offset_ + position_; }

  const std::unique_ptr<SequentialFile> file_;
  const std::string path_;
  const uint64_t number_;
  std::string buffer_;         // memory for one block
  Slice block_;                // the block being read
  uint64_t block_offset_ = 0;  // of block_ in the file
  size_t position_ = 0;        // within block_
  bool eof_ = false;           // block_ is the last
  std::string scratch_;        // a record of several fragments
  uint64_t record_offset_ = 0;
  uint64_t end_offset_ = 0;
  uint64_t dropped_ = 0;
  uint64_t refused_in_a_row_ = 0;  // bytes that the file itself reports as damaged
  Leftovers leftovers_ = Leftovers::kNone;
  bool search_ = true;
  bool met_bad_bytes_ = false;
  bool finished_ = false;
  LogRead final_ = LogRead::kEnd;
  Status status_;
};

}  // namespace compassdb
