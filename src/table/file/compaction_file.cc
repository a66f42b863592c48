// SPDX-License-Identifier: Apache-2.0
// docs/formats/compaction_file.md
#include "table/file/compaction_file.h"

#include "format/foreign_file.h"
#include "format/format_version.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

namespace {

constexpr size_t kHeaderBytes = kCompactionFileHeaderBytes;
constexpr size_t kChecksummedBytes = kHeaderBytes - 4;

std::string EncodeHeader(uint64_t number, uint64_t id) {
  std::string header;
  PutFixed64(&header, kPieceFileFormat.magic);
  PutFixed32(&header, kPieceFileFormat.current);
  PutFixed32(&header, 0);  // reserved
  PutFixed64(&header, number);
  PutFixed64(&header, id);
  PutFixed32(&header, Checksum32(header, kPieceFileFormat.magic));
  return header;
}

Status NotACompactionFile(const RandomAccessFile& file, const std::string& path, uint64_t size, const Slice& start) {
  if (IsSealed(start)) return Status::InvalidArgument(path, kSealedAdvice);
  char scratch[8];
  Slice end;
  Status s = size < sizeof(scratch) ? Status::OK() : file.Read(size - sizeof(scratch), sizeof(scratch), &end, scratch);
  if (!s.ok()) return s;
  if (const char* const kind = ForeignTableKind(start, end); kind != nullptr) {
    return Status::NotSupported(path, std::string("is ") + kind +
                                          ", which this engine does not read: write the file with its own "
                                          "SstFileWriter, or copy the database with `compassdb import`");
  }
  return Status::Corruption(path, std::string("has no magic number of a compaction file: it is ") + kDamagedOrEncrypted);
}

}  // namespace

CompactionFileWriter::CompactionFileWriter(
    std::string path, uint64_t number, uint64_t id,
    std::unique_ptr<rocksdb::FileChecksumGenerator> checksum, std::unique_ptr<WritableFile> file)
    : path_(std::move(path)),
      file_number_(number),
      file_id_(id),
      checksum_(std::move(checksum)),
      file_(std::move(file)) {}

CompactionFileWriter::~CompactionFileWriter() = default;

Status CompactionFileWriter::Create(FileSystem* fs, const std::string& path, uint64_t file_number,
                                    uint64_t file_id, const FileOptions& options,
                                    std::unique_ptr<CompactionFileWriter>* out,
                                    std::unique_ptr<rocksdb::FileChecksumGenerator> checksum) {
  out->reset();
  std::unique_ptr<WritableFile> file;
  Status s = fs->NewWritableFile(path, options, &file);
  if (!s.ok()) return s;
  std::unique_ptr<CompactionFileWriter> writer(
      new CompactionFileWriter(path, file_number, file_id, std::move(checksum), std::move(file)));
  s = writer->Append(EncodeHeader(file_number, file_id));
  if (s.ok()) *out = std::move(writer);
  return s;
}

bool CompactionFileWriter::TakeRoom(size_t bytes) {
  size_t held = held_.load(std::memory_order_relaxed);
  do {
    if (bytes > most_held_ || held > most_held_ - bytes) return false;
  } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  return true;
}

Status CompactionFileWriter::Append(const Slice& data) {
  if (file_ == nullptr) return Status::InvalidArgument(path_, "compaction file is finished");
  Status s = file_->Append(data);
  if (!s.ok()) return s;
  offset_.store(offset() + data.size(), std::memory_order_relaxed);
  if (checksum_ != nullptr) checksum_->Update(data.data(), data.size());
  return s;
}

Status CompactionFileWriter::Finish() {
  if (file_ == nullptr) return Status::InvalidArgument(path_, "compaction file is finished");
  Status s = file_->Flush();
  if (s.ok()) s = file_->Sync();
  Status closed = file_->Close();
  file_.reset();
  if (checksum_ != nullptr) checksum_->Finalize();
  return s.ok() ? closed : s;
}

Status CompactionFile::OpenUnchecked(FileSystem* fs, const std::string& path, uint64_t file_number,
                                     uint64_t file_id, const FileOptions& options,
                                     std::shared_ptr<CompactionFile>* out) {
  out->reset();
  std::shared_ptr<CompactionFile> file(new CompactionFile);
  file->path_ = path;
  file->file_number_ = file_number;
  file->file_id_ = file_id;
  Status s = fs->GetFileSize(path, &file->size_);
  if (s.ok()) s = fs->NewRandomAccessFile(path, options, &file->file_);
  if (s.ok()) *out = std::move(file);
  return s;
}

Status CompactionFile::Open(FileSystem* fs, const std::string& path, uint64_t file_number,
                            const FileOptions& options, std::shared_ptr<CompactionFile>* out) {
  out->reset();
  std::shared_ptr<CompactionFile> file(new CompactionFile);
  file->path_ = path;
  Status s = fs->GetFileSize(path, &file->size_);
  if (s.ok()) s = fs->NewRandomAccessFile(path, options, &file->file_);
  if (!s.ok()) return s;
  char scratch[kHeaderBytes];
  Slice header;
  s = file->file_->Read(0, kHeaderBytes, &header, scratch);
  if (!s.ok()) return s;
  if (header.size() < kHeaderBytes) {
    return Status::Corruption(path, "too short for the header of a compaction file");
  }
  const char* p = header.data();
  if (DecodeFixed64(p) != kPieceFileFormat.magic) return NotACompactionFile(*file->file_, path, file->size_, header);
  // The checksum comes before the version: a newer version keeps these bytes.
  if (!ChecksumHolds(DecodeFixed32(p + kChecksummedBytes),
                     Checksum32(Slice(p, kChecksummedBytes), kPieceFileFormat.magic))) {
    return Status::Corruption(path, "header of the compaction file fails its checksum");
  }
  const uint32_t version = DecodeFixed32(p + 8);
  if (!CanReadVersion(kPieceFileFormat, version)) {
    return Status::NotSupported(
        path, "compaction file has format version " + std::to_string(version) +
                  ", this release reads up to " + std::to_string(kPieceFileFormat.current));
  }
  file->file_number_ = DecodeFixed64(p + 16);
  file->file_id_ = DecodeFixed64(p + 24);
  if (file->file_number_ != file_number) {
    return Status::Corruption(
        path, "header says file number " + std::to_string(file->file_number_) + ", expected " +
                  std::to_string(file_number));
  }
  *out = std::move(file);
  return Status::OK();
}

}  // namespace compassdb
