// SPDX-License-Identifier: Apache-2.0
// Encrypted files. The seals hold or do not: no mutation gets past them, but all of what says where they are.
#include "env/rocksdb/env_adapter.h"
#include "env/sim/memory_file_system.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "support/sealed_env.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

FUZZ_TARGET(sealed_file, 1 << 20) {
  auto stored = std::make_shared<MemoryFileSystem>();
  WriteFile(stored.get(), "/file", input);
  const std::unique_ptr<rocksdb::Env> base = NewEnvForFileSystem(stored), env = SealedEnvOver(base.get());
  const std::shared_ptr<FileSystem> fs = FileSystemOfEnv(env.get());
  uint64_t size = 0;
  Status s = fs->GetFileSize("/file", &size);
  FUZZ_CHECK(!s.ok() || size <= input.size());
  std::unique_ptr<SequentialFile> file;
  std::string room(1000, '\0');
  Slice part;
  uint64_t read = 0;
  s = fs->NewSequentialFile("/file", &file);
  if (!s.ok()) return;
  while ((s = file->Read(room.size(), &part, room.data())).ok() && !part.empty()) read += part.size();
  FUZZ_CHECK(read <= input.size());
  if (s.ok() && read == size && read > 0) AcceptFuzzInput();
  std::unique_ptr<RandomAccessFile> random;
  FUZZ_CHECK(fs->NewRandomAccessFile("/file", FileOptions(), &random).ok());
  for (uint64_t at = 0; at < input.size(); at += 777) {
    s = random->Read(at, room.size(), &part, room.data());
    FUZZ_CHECK(!s.ok() || part.size() <= room.size());
  }
  // Gone on with, what can be read stays. One that is damaged where it ends can be synced, and stays as it is.
  std::unique_ptr<WritableFile> writable;
  if (!fs->ReopenWritableFile("/file", FileOptions(), &writable).ok()) return;
  FUZZ_CHECK(writable->Sync().ok());
  s = writable->Append("more");  // which may be buffered
  if (s.ok()) s = writable->Sync();
  if (Status closed = writable->Close(); s.ok()) s = closed;
  FUZZ_CHECK(s.ok() || s.IsCorruption());
  if (!s.ok()) {
    std::string left;
    FUZZ_CHECK(ReadFileToString(stored.get(), "/file", &left).ok() && input == Slice(left));
    return;
  }
  FUZZ_CHECK(fs->GetFileSize("/file", &size).ok() && size >= 4);
  FUZZ_CHECK(random->Read(size - 4, 4, &part, room.data()).ok() && part == "more");
}

}  // namespace
}  // namespace compassdb_test
