// SPDX-License-Identifier: Apache-2.0
// Reads the records of a log or manifest of RocksDB or LevelDB.
//
// Bytes that do not verify are the torn end of the log if no fragment of it is behind them, and damage otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/file_system.h"

namespace compassdb::rocksdb_files {

class FramedLog {
 public:
  // `number` is the log's, which recycled logs have in each fragment. `name` is for messages.
  FramedLog(std::unique_ptr<SequentialFile> file, std::string name, uint64_t number);
  FramedLog(const FramedLog&) = delete;
  FramedLog& operator=(const FramedLog&) = delete;

  // False at the end, or after an error. *record is valid until the next call.
  bool Next(Slice* record);
  // Corruption in the middle of the log; the file cannot be read; NotSupported.
  const Status& status() const { return status_; }
  // At the end: it is inside of a record, or in bytes that do not verify.
  bool torn() const { return torn_; }

 private:
  enum class Found { kFragment, kEnd, kBad, kError };
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
    size_t size = 0;  // with its header
  };

  bool FillBlock();
  Found NextFragment(Fragment* fragment);
  bool Verify(size_t position, Fragment* fragment) const;
  bool IsOld(size_t position) const;
  bool RestIsZero();
  bool LaterFragment();
  bool End(bool torn);
  bool Fail(const Status& s);
  // False: an error.
  bool TakeMark(const Fragment& fragment, bool inside);
  bool Unpack(Slice* record);

  const std::unique_ptr<SequentialFile> file_;
  const std::string name_;
  const uint64_t number_;
  std::string buffer_;
  Slice block_;
  size_t position_ = 0;  // in block_
  bool last_block_ = false;
  bool ended_ = false;
  bool torn_ = false;
  bool recycled_ = false;
  bool compressed_ = false;
  std::string record_, unpacked_;
  Status status_;
};

}  // namespace compassdb::rocksdb_files
