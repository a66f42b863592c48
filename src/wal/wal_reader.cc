// SPDX-License-Identifier: Apache-2.0
#include "wal/wal_reader.h"

#include "base/file_names.h"
#include "base/format_version.h"
#include "util/compression.h"

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
  if ((*reader)->ReadHeader() != LogRead::kRecord) {
    s = (*reader)->status();
    return s.ok() ? Status::Corruption((*reader)->path(), "has no header any more") : s;
  }
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
  if (read != LogRead::kRecord) return read;
  std::string problem;
  const size_t size = batch->size();
  if (header_.compression == rocksdb::kNoCompression || Uncompress(batch, &problem)) {
    if (batch->size() >= kWriteBatchHeader) return read;
    problem = "a record is too short for a batch";
  }
  dropped_ += size;
  status_ = Status::Corruption(path() + " at offset " + std::to_string(RecordOffset()), problem);
  return LogRead::kCorruption;
}

bool WalReader::Uncompress(Slice* record, std::string* problem) {
  const char kind = record->empty() ? '\2' : (*record)[0];
  if (kind != 0 && kind != 1) {
    *problem = "a record of unknown kind";
    return false;
  }
  record->remove_prefix(1);
  if (kind == 0) return true;
  // A batch has at most 4 GB.
  const Status s = Decompress(header_.compression, *record, UINT32_MAX, &batch_);
  if (!s.ok()) {
    *problem = s.ToString();
    return false;
  }
  *record = batch_;
  return true;
}

}  // namespace compassdb
