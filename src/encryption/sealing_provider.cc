// SPDX-License-Identifier: Apache-2.0
#include "encryption/sealing_provider.h"

#include <algorithm>
#include <cstring>

#include "compassdb/encryption.h"
#include "format/foreign_file.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/hash.h"

namespace compassdb {

namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr uint32_t kVersion = 2;
// The header: magic, version, chunk bytes, key id, file id, zeros.
constexpr size_t kVersionAt = 8, kChunkAt = 12, kKeyIdAt = 16, kFileIdAt = 24, kChecksumAt = 60;

// The error for a missing key. It does not mean that the file is missing or damaged.
Status NoKey(const Status& why, const std::string& path, uint64_t id) {
  const std::string what = "the key callback, asked for key " + std::to_string(id) + " for " + path;
  // Errors that the engine would interpret: a missing or damaged file, a closed database, a dropped family.
  const bool misleading = why.IsNotFound() || why.IsPathNotFound() || why.IsCorruption() || why.IsShutdownInProgress() ||
                          why.IsColumnFamilyDropped() || why.IsIncomplete() || why.IsNotSupported() || why.IsMergeInProgress();
  if (misleading) return Status::InvalidArgument(what, why.ToString());
  return Status(why.code(), why.subcode(), why.severity(), what + ": " + (why.getState() == nullptr ? "" : why.getState()));
}

}  // namespace

Status SealingProvider::CreateNewPrefix(const std::string& path, char* prefix,
                                        size_t length) const {
  if (length < kSealFileHeaderBytes) {
    return Status::InvalidArgument("prefix too short", path);
  }
  memset(prefix, 0, length);
  memcpy(prefix, kSealMagic, sizeof(kSealMagic));
  EncodeFixed32(prefix + kVersionAt, kVersion);
  EncodeFixed32(prefix + kChunkAt, kSealChunkBytes);
  uint64_t id = 0;
  if (ask_ != nullptr) {
    SealKey key;
    Status s = Ask(path, 0, &key);
    if (!s.ok()) return s;
    id = SealKeyId(key);
  } else {
    MutexLock lock(&mu_);
    if (!can_write_) return Status::InvalidArgument("no key for writing was added", path);
    id = write_key_;
  }
  EncodeFixed64(prefix + kKeyIdAt, id);
  Status s = RandomBytes(reinterpret_cast<unsigned char*>(prefix) + kFileIdAt, kSealFileIdBytes);
  EncodeFixed32(prefix + kChecksumAt, Crc32c(prefix, kChecksumAt));
  return s;
}

// Caches the key.
Status SealingProvider::Ask(const std::string& path, uint64_t id, SealKey* key) const {
  std::string bytes;
  Status s = ask_(id, &bytes);
  if (!s.ok()) return NoKey(s, path, id);
  if (bytes.size() != kSealKeyBytes) {
    return Status::InvalidArgument("the key callback gave a key of " + std::to_string(bytes.size()) +
                                       " bytes, not " + std::to_string(kSealKeyBytes), path);
  }
  memcpy(key->data(), bytes.data(), kSealKeyBytes);
  if (id != 0 && SealKeyId(*key) != id) {
    return Status::InvalidArgument("the key callback gave another key than the one of id " +
                                       std::to_string(id), path);
  }
  MutexLock lock(&mu_);
  keys_[SealKeyId(*key)] = *key;
  return s;
}

Status SealingProvider::AddCipher(const std::string& descriptor, const char* key, size_t length,
                                  bool for_write) {
  if (length != kSealKeyBytes) {
    return Status::InvalidArgument("key " + descriptor, "has " + std::to_string(length) +
                                                            " bytes, not " +
                                                            std::to_string(kSealKeyBytes));
  }
  SealKey bytes;
  memcpy(bytes.data(), key, length);
  const uint64_t id = SealKeyId(bytes);
  MutexLock lock(&mu_);
  keys_[id] = bytes;
  if (for_write) {
    write_key_ = id;
    can_write_ = true;
  }
  return Status::OK();
}

Status SealingProvider::CreateCipherStream(const std::string& path, const rocksdb::EnvOptions&,
                                           Slice&,
                                           std::unique_ptr<rocksdb::BlockAccessCipherStream>*) {
  return Status::NotSupported("no cipher stream seals a file: use NewEncryptedFS", path);
}

bool SealingProvider::IsHeader(const Slice& header) {
  return header.size() >= kSealFileHeaderBytes && memcmp(header.data(), kSealMagic, sizeof(kSealMagic)) == 0;
}

bool SealingProvider::IsLostHeader(const Slice& header) {
  return header.size() >= kSealFileHeaderBytes &&
         std::all_of(header.data(), header.data() + kSealFileHeaderBytes, [](char c) { return c == 0; });
}

Status SealingProvider::SealOf(const std::string& path, const Slice& header, FileSeal* seal) const {
  if (!IsHeader(header) && StartsInTheClear(header)) {
    return Status::InvalidArgument(path, "is not encrypted, and was opened with a key: open it without NewEncryptedEnv; "
                                         "`compassdb` without --key-file");
  }
  if (!IsHeader(header)) return Status::Corruption("not a sealed file", path);
  // A wrong id, of key or file, would make every seal look broken.
  if (!ChecksumHolds(DecodeFixed32(header.data() + kChecksumAt), Crc32c(header.data(), kChecksumAt))) {
    return Status::Corruption("damaged header of a sealed file", path);
  }
  const uint32_t version = DecodeFixed32(header.data() + kVersionAt);
  if (version != kVersion || DecodeFixed32(header.data() + kChunkAt) != kSealChunkBytes) {
    return Status::NotSupported(path, "sealed file version " + std::to_string(version) + " is not known to this release");
  }
  const uint64_t id = DecodeFixed64(header.data() + kKeyIdAt);
  SealKey key;
  bool known = false;
  {
    MutexLock lock(&mu_);
    const auto it = keys_.find(id);
    known = it != keys_.end();
    if (known) key = it->second;
  }
  if (!known) {
    if (ask_ == nullptr) {
      return Status::InvalidArgument("encrypted with another key than those given: sealed with a key that was not added", path);
    }
    Status s = Ask(path, id, &key);
    if (!s.ok()) return s;
  }
  return FileSeal::Derive(key, Slice(header.data() + kFileIdAt, kSealFileIdBytes), seal);
}

Status NewSealingProvider(const std::string& key,
                          std::shared_ptr<rocksdb::EncryptionProvider>* provider) {
  auto made = std::make_shared<SealingProvider>();
  Status s = made->AddCipher("given to NewSealingProvider", key.data(), key.size(), true);
  if (s.ok()) *provider = std::move(made);
  return s;
}

Status NewSealingProvider(KeyCallback keys, std::shared_ptr<rocksdb::EncryptionProvider>* provider) {
  if (keys == nullptr) return Status::InvalidArgument("NewSealingProvider", "no key callback");
  *provider = std::make_shared<SealingProvider>(std::move(keys));
  return Status::OK();
}

uint64_t SealingKeyId(const std::string& key) {
  if (key.size() != kSealKeyBytes) return 0;
  SealKey bytes;
  memcpy(bytes.data(), key.data(), key.size());
  return SealKeyId(bytes);
}

}  // namespace compassdb
