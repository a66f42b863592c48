// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <compassdb/encryption.h>
#include <rocksdb/env_encryption.h>
#include <rocksdb/slice.h>

namespace compassdb_cli {

using rocksdb::Status;

namespace {

constexpr size_t kKeyBytes = 32;

Status ReadKey(const std::string& path, std::string* key) {
  Status s = rocksdb::ReadFileToString(rocksdb::Env::Default(), path, key);
  if (!s.ok()) return s;
  if (key->size() == kKeyBytes) return s;
  while (!key->empty() && (key->back() == '\n' || key->back() == '\r')) key->pop_back();
  std::string bytes;
  if (key->size() != 2 * kKeyBytes || !rocksdb::Slice(*key).DecodeHex(&bytes)) {
    return Status::InvalidArgument(path, "holds no key: neither 32 bytes nor 64 hex digits");
  }
  *key = std::move(bytes);
  return s;
}

}  // namespace

Status EnvWithKeys(const std::vector<std::string>& key_files, std::shared_ptr<rocksdb::Env>* env) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  for (const std::string& path : key_files) {
    std::string key;
    Status s = ReadKey(path, &key);
    if (s.ok() && provider == nullptr) {
      s = compassdb::NewSealingProvider(key, &provider);
    } else if (s.ok()) {
      s = provider->AddCipher(path, key.data(), key.size(), /*for_write=*/false);
    }
    if (!s.ok()) return s;
  }
  env->reset(rocksdb::NewEncryptedEnv(rocksdb::Env::Default(), provider));
  return Status::OK();
}

}  // namespace compassdb_cli
