// SPDX-License-Identifier: Apache-2.0
// The keys of encrypted files.
//
// Thread safety: all of it.
#pragma once

#include <map>
#include <string>

#include "compassdb/encryption.h"
#include "encryption/seal.h"
#include "rocksdb/env_encryption.h"
#include "util/mutex.h"

namespace compassdb {

class SealingProvider final : public rocksdb::EncryptionProvider {
 public:
  SealingProvider() = default;
  explicit SealingProvider(KeyCallback keys) : ask_(std::move(keys)) {}
  static const char* kClassName() { return "AES256GCM"; }
  const char* Name() const override { return kClassName(); }
  size_t GetPrefixLength() const override { return kSealFileHeaderBytes; }
  rocksdb::Status CreateNewPrefix(const std::string& path, char* prefix,
                                  size_t length) const override;
  // `key`: kSealKeyBytes. The descriptor only names it in errors.
  rocksdb::Status AddCipher(const std::string& descriptor, const char* key, size_t length,
                            bool for_write) override;
  // NotSupported: a stream with random access cannot detect changes.
  rocksdb::Status CreateCipherStream(
      const std::string& path, const rocksdb::EnvOptions& options, rocksdb::Slice& prefix,
      std::unique_ptr<rocksdb::BlockAccessCipherStream>* result) override;

  // The seal of the file with this header; Corruption if it is none, or its key is not known.
  rocksdb::Status SealOf(const std::string& path, const rocksdb::Slice& header,
                         FileSeal* seal) const;
  static bool IsHeader(const rocksdb::Slice& header);
  // What a power cut leaves of a header that never reached the disk, where bytes behind it did.
  static bool IsLostHeader(const rocksdb::Slice& header);

 private:
  rocksdb::Status Ask(const std::string& path, uint64_t id, SealKey* key) const;

  const KeyCallback ask_;  // may be null
  mutable Mutex mu_;
  mutable std::map<uint64_t, SealKey> keys_ GUARDED_BY(mu_);  // that were given or asked for
  uint64_t write_key_ GUARDED_BY(mu_) = 0;
  bool can_write_ GUARDED_BY(mu_) = false;
};

}  // namespace compassdb
