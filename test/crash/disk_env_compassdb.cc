// SPDX-License-Identifier: Apache-2.0
#include "crash/disk.h"
#include "env/rocksdb/env_adapter.h"
#include "manifest/manifest.h"

namespace compassdb_test {

std::unique_ptr<rocksdb::Env> MakeEnvOver(std::shared_ptr<compassdb::FileSystem> fs) {
  return compassdb::NewEnvForFileSystem(std::move(fs));
}

const char* TableFileSuffix() { return ".ph"; }

uint64_t FirstNeededLog(rocksdb::Env* env, const std::string& dir) {
  const std::shared_ptr<compassdb::FileSystem> fs = compassdb::FileSystemOfEnv(env);
  uint64_t manifest = 0, first = 0;
  if (!compassdb::Manifest::ReadCurrent(fs.get(), dir, &manifest).ok()) return 0;
  const auto note = [&first](const compassdb::EditRecord& edits) {
    for (const compassdb::VersionEdit& edit : edits) first = edit.min_log_number.value_or(first);
    return rocksdb::Status::OK();
  };
  return compassdb::Manifest::Replay(fs.get(), dir, manifest, note).ok() ? first : 0;
}

}  // namespace compassdb_test
