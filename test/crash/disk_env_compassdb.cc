// SPDX-License-Identifier: Apache-2.0
#include "crash/disk.h"
#include "env/env_adapter.h"

namespace compassdb_test {

std::unique_ptr<rocksdb::Env> MakeEnvOver(std::shared_ptr<compassdb::FileSystem> fs) {
  return compassdb::NewEnvForFileSystem(std::move(fs));
}

const char* TableFileSuffix() { return ".ph"; }

}  // namespace compassdb_test
