// SPDX-License-Identifier: Apache-2.0
#include "wal/wal_reader.h"

#include <algorithm>

#include "format/file_names.h"
#include "format/format_version.h"
#include "util/coding.h"
#include "util/compression.h"

namespace compassdb {

Status WalReader::Open(FileSystem* fs, const std::string& wal_dir, uint64_t number,
                       std::unique_ptr<WalReader>* reader) {
  const std::string path = WalFileName(wal_dir, number);
  std::unique_ptr<SequentialFile> file;
  Status s = fs->NewSequentialFile(path, &file);
  if (s.ok()) reader->reset(new WalReader(fs, std::move(file), path, number));
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

LogRead WalReader::ReadRecord(Slice* record) {
  const LogRead read = log_.ReadRecord(record);
  status_ = log_.status();
  if (read == LogRead::kRecord || read == LogRead::kError || !log_.met_bad_bytes()) return read;
  if (!fs_->FileExists(path()).IsNotFound()) return read;
  status_ = Status::PathNotFound(path(), "is gone; a newer log has taken its file");
  return LogRead::kError;
}

LogRead WalReader::ReadHeader() {
  if (started_) return has_header_ ? LogRead::kRecord : LogRead::kEnd;
  started_ = true;
  Slice record;
  const LogRead read = ReadRecord(&record);
  if (read != LogRead::kRecord) return read;
  status_ = DecodeWalHeader(path(), record, &header_);
  if (status_.ok() && header_.number != number_) {
    status_ = Status::Corruption(path() + " at offset 0", "its header says log number " +
                                                              std::to_string(header_.number));
  }
  has_header_ = status_.ok();
  log_.Expect(header_.over_older_log ? LogReader::Leftovers::kBehindRecords
                                     : LogReader::Leftovers::kNone);
  return status_.ok() ? LogRead::kRecord : LogRead::kError;
}

LogRead WalReader::ReadBatch(Slice* batch) {
  if (!started_) {
    const LogRead read = ReadHeader();
    if (read != LogRead::kRecord) return read;
  }
  std::string problem;
  size_t size;
  while (true) {
    const LogRead read = ReadRecord(batch);
    if (read != LogRead::kRecord) return read;
    size = batch->size();
    const bool with_synced = header_.version >= kWalWithSynced;
    if (with_synced && !TakeSynced(batch, &problem)) break;
    if (with_synced && batch->empty()) continue;  // the end of a log that was closed
    if (!Uncompress(batch, &problem)) {
      if (!status_.ok()) return LogRead::kError;
      break;
    }
    place_ = {RecordOffset(), batch->data() == batch_.data() ? UINT64_MAX : size - batch->size()};
    if (batch->size() >= kWriteBatchHeader) return read;
    problem = "a record is too short for a batch";
    break;
  }
  dropped_ += size;
  status_ = Status::Corruption(path() + " at offset " + std::to_string(RecordOffset()), problem);
  return LogRead::kCorruption;
}

bool WalReader::TakeSynced(Slice* record, std::string* problem) {
  uint64_t synced;
  if (!GetVarint64(record, &synced) || synced > RecordOffset()) {
    *problem = "a record claims that more than what is before it is synced";
    return false;
  }
  synced_ = std::max(synced_, synced);
  return true;
}

bool WalReader::Uncompress(Slice* record, std::string* problem) {
  const bool old = header_.version < kWalWithSynced;
  if (old && header_.compression == rocksdb::kNoCompression) return true;
  const uint8_t kind = record->empty() ? 0xff : static_cast<uint8_t>((*record)[0]);
  const auto compression =
      old && kind == 1 ? header_.compression : static_cast<rocksdb::CompressionType>(kind);
  if (!record->empty() && compression == header_.compression && !CompressionTypeSupported(compression)) {
    // This is not damage, so recovery must not continue behind it.
    *problem = "compressed with type " + std::to_string(int{compression});
    status_ = Status::NotSupported(path(), *problem);
    return false;
  }
  if ((old && kind > 1) || !CompressionTypeSupported(compression)) {
    *problem = "a record of unknown compression";
    return false;
  }
  record->remove_prefix(1);
  if (compression == rocksdb::kNoCompression) return true;
  if (compression != header_.compression) {
    *problem = "a record of another compression than the log's";
    return false;
  }
  // A batch has at most 4 GB.
  const Status s = Decompress(compression, *record, UINT32_MAX, &batch_);
  if (s.IsMemoryLimit()) status_ = s;  // this is not damage
  if (!s.ok()) {
    *problem = s.ToString();
    return false;
  }
  *record = batch_;
  return true;
}

}  // namespace compassdb
