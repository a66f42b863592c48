// SPDX-License-Identifier: Apache-2.0
#include "wal/wal_reader.h"

#include "base/file_names.h"
#include "base/format_version.h"
#include "util/coding.h"

namespace compassdb {

Status WalReader::Open(FileSystem* fs, const std::string& wal_dir, uint64_t number,
                       std::unique_ptr<WalReader>* reader) {
  const std::string path = WalFileName(wal_dir, number);
  std::unique_ptr<SequentialFile> file;
  Status s = fs->NewSequentialFile(path, &file);
  if (s.ok()) reader->reset(new WalReader(std::move(file), path, number));
  return s;
}

Status WalReader::OpenAt(FileSystem* fs, const std::string& wal_dir, uint64_t number,
                         uint64_t offset, std::unique_ptr<WalReader>* reader) {
  Status s = Open(fs, wal_dir, number, reader);
  if (!s.ok() || offset == 0) return s;
  (*reader)->started_ = true;
  return (*reader)->log_.SkipTo(offset);
}

LogRead WalReader::ReadHeader() {
  if (started_) return has_header_ ? LogRead::kRecord : LogRead::kEnd;
  started_ = true;
  Slice record;
  const LogRead read = log_.ReadRecord(&record);
  status_ = log_.status();
  if (read != LogRead::kRecord) return read;
  status_ = DecodeWalHeader(path(), record, &header_);
  if (status_.ok() && header_.number != number_) {
    status_ = Status::Corruption(path(), "its header says log number " +
                                             std::to_string(header_.number));
  }
  has_header_ = status_.ok();
  return status_.ok() ? LogRead::kRecord : LogRead::kError;
}

LogRead WalReader::ReadBatch(Slice* batch) {
  if (!started_) {
    const LogRead read = ReadHeader();
    if (read != LogRead::kRecord) return read;
  }
  const LogRead read = log_.ReadRecord(batch);
  status_ = log_.status();
  if (read == LogRead::kRecord && batch->size() < kWriteBatchHeader) {
    dropped_ += batch->size();
    status_ = Status::Corruption(path() + " at offset " + std::to_string(RecordOffset()),
                                 "a record is too short for a batch");
    return LogRead::kCorruption;
  }
  return read;
}

}  // namespace compassdb
