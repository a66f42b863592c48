// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "compassdb/encryption.h"
#include "rocksdb/env_encryption.h"
#include "support/sealed_env.h"

namespace compassdb_test {

std::unique_ptr<rocksdb::Env> SealedEnvOver(rocksdb::Env* base) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  if (!compassdb::NewSealingProvider(std::string(32, 'k'), &provider).ok()) abort();
  return std::unique_ptr<rocksdb::Env>(rocksdb::NewEncryptedEnv(base, provider));
}

}  // namespace compassdb_test
