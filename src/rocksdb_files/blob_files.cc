// SPDX-License-Identifier: Apache-2.0
#include "rocksdb_files/blob_files.h"

#include "rocksdb_files/block_decompressor.h"
#include "rocksdb_files/checksums.h"
#include "rocksdb_files/database_names.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/hash.h"

namespace compassdb::rocksdb_files {

namespace {

constexpr uint32_t kBlobMagic = 2395959;
constexpr uint64_t kBlobFileHeader = 30;
constexpr uint64_t kBlobHeader = 32;  // sizes of key and value, expiry, checksums of these and of key and value
constexpr size_t kMostOpenFiles = 128;

}  // namespace

Status BlobFiles::Find(uint64_t number, const OpenFile** file) {
  const auto found = files_.find(number);
  if (found != files_.end()) {
    *file = &found->second;
    return Status::OK();
  }
  if (files_.size() >= kMostOpenFiles) files_.clear();
  const std::string path = dir_ + "/" + NumberedName(number, "blob");
  OpenFile opened;
  Status s = fs_->GetFileSize(path, &opened.size);
  if (s.ok()) s = fs_->NewRandomAccessFile(path, {}, &opened.file);
  if (!s.ok()) return s;
  char header[kBlobFileHeader];
  Slice result;
  s = opened.file->Read(0, sizeof(header), &result, header);
  if (!s.ok()) return s;
  if (result.size() < sizeof(header) || DecodeFixed32(result.data()) != kBlobMagic) {
    return Status::Corruption("no blob file: its magic number is another", path);
  }
  *file = &(files_[number] = std::move(opened));
  return s;
}

Status BlobFiles::Read(const BlobReference& reference, const Slice& user_key, std::string* value) {
  const OpenFile* file;
  Status s = Find(reference.file, &file);
  if (!s.ok()) return s;
  const std::string path = dir_ + "/" + NumberedName(reference.file, "blob");
  const uint64_t before = kBlobHeader + user_key.size();
  if (reference.offset < kBlobFileHeader + before || reference.offset > file->size || reference.size > file->size - reference.offset) {
    return Status::Corruption("a value is outside of its blob file", path);
  }
  std::string bytes(static_cast<size_t>(before + reference.size), '\0');
  Slice record;
  s = file->file->Read(reference.offset - before, bytes.size(), &record, bytes.data());
  if (!s.ok()) return s;
  if (record.size() != bytes.size()) return Status::Corruption("the blob file is shorter than its size", path);
  const char* head = record.data();
  const Slice key_and_value(head + kBlobHeader, record.size() - kBlobHeader);
  const bool good = ChecksumHolds(DecodeFixed32(head + 24), MaskCrc(Crc32c(head, 24))) &&
                    ChecksumHolds(DecodeFixed32(head + 28), MaskCrc(Crc32c(key_and_value.data(), key_and_value.size()))) &&
                    DecodeFixed64(head) == user_key.size() && DecodeFixed64(head + 8) == reference.size &&
                    Slice(key_and_value.data(), user_key.size()) == user_key;
  if (!good) return Status::Corruption("the record at offset " + std::to_string(reference.offset - before) + " is damaged", path);
  s = DecompressFileBlock(CompressionFormat::kSized, reference.compression,
                          Slice(key_and_value.data() + user_key.size(), static_cast<size_t>(reference.size)), Slice(), value);
  return s.ok() ? s : Status::Corruption("a value does not decompress", path);
}

}  // namespace compassdb::rocksdb_files
