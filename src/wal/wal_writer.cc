// SPDX-License-Identifier: Apache-2.0
#include "wal/wal_writer.h"

#include <algorithm>

#include "format/file_names.h"
#include "util/coding.h"
#include "util/compression.h"

namespace compassdb {

Status WalWriter::Create(FileSystem* fs, const std::string& wal_dir, const FileOptions& options,
                         const WalHeader& header, std::unique_ptr<WalWriter>* writer) {
  const std::string path = WalFileName(wal_dir, header.number);
  std::unique_ptr<WritableFile> file;
  Status s = fs->NewWritableFile(path, options, &file);
  return s.ok() ? Begin(std::move(file), path, header, writer) : s;
}

Status WalWriter::CreateOver(FileSystem* fs, const std::string& wal_dir, uint64_t old_number,
                             const FileOptions& options, const WalHeader& header,
                             std::unique_ptr<WalWriter>* writer) {
  const std::string path = WalFileName(wal_dir, header.number);
  std::unique_ptr<WritableFile> file;
  Status s = fs->ReuseWritableFile(path, WalFileName(wal_dir, old_number), options, &file);
  if (!s.ok()) return s;
  // Some file systems truncate the file.
  uint64_t left = 0;
  WalHeader marked = header;
  marked.over_older_log = !fs->GetFileSize(path, &left).ok() || left > 0;
  return Begin(std::move(file), path, marked, writer);
}

Status WalWriter::Begin(std::unique_ptr<WritableFile> file, const std::string& path,
                        const WalHeader& header, std::unique_ptr<WalWriter>* writer) {
  std::unique_ptr<WalWriter> result(new WalWriter(std::move(file), path, header));
  Status s = result->log_.AddRecord(EncodeWalHeader(header));
  if (s.ok()) s = result->log_.Flush();
  if (s.ok()) *writer = std::move(result);
  return s;
}

Status WalWriter::AddBatch(const Slice& batch, BatchPlace* place) {
  if (batch.size() < kWriteBatchHeader) {
    return Status::InvalidArgument(path(), "a batch of " + std::to_string(batch.size()) +
                                               " bytes is too short for its header");
  }
  record_.clear();
  PutVarint64(&record_, synced_);
  const bool smaller = compression_ != rocksdb::kNoCompression &&
                       Compress(compression_, kDefaultCompressionLevel, batch, &scratch_) &&
                       scratch_.size() < batch.size();
  record_.push_back(static_cast<char>(smaller ? compression_ : rocksdb::kNoCompression));
  if (place != nullptr) *place = {log_.Size(), smaller ? UINT64_MAX : record_.size()};
  Status s = log_.AddRecord(record_, smaller ? Slice(scratch_) : batch);
  if (s.ok()) {
    // sequence of the first operation and their count
    const uint64_t first = DecodeFixed64(batch.data());
    const uint32_t count = DecodeFixed32(batch.data() + 8);
    last_sequence_ = std::max(last_sequence_, count == 0 ? first : first + count - 1);
  }
  return s;
}

Status WalWriter::Sync() {
  const uint64_t size = log_.Size();
  Status s = log_.Sync();
  if (s.ok()) synced_ = size;
  return s;
}

Status WalWriter::Seal() {
  Status s = synced_ < log_.Size() ? Sync() : log_.status();
  if (s.ok() && last_sequence_ != 0) {
    record_.clear();
    PutVarint64(&record_, synced_);
    s = log_.AddRecord(record_, Slice());
  }
  Status closed = Close();
  return s.ok() ? closed : s;
}

Status WalWriter::Close() {
  Status s = synced_ < log_.Size() ? Sync() : log_.status();
  Status closed = log_.Close();
  return s.ok() ? closed : s;
}

WalHeader WalWriter::SuccessorHeader(uint64_t number, bool given_up) const {
  WalHeader header;
  header.number = number;
  header.predecessor = log_.number();
  header.predecessor_bytes = status().ok() && !given_up ? log_.Size() : synced_;
  header.predecessor_synced = synced_;
  header.predecessor_last_sequence = last_sequence_;
  header.db_id = db_id_;
  header.compression = compression_;
  return header;
}

}  // namespace compassdb
