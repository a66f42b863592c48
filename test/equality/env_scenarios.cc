// SPDX-License-Identifier: Apache-2.0
// Files of the Env itself.

#include "equality/transcript.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace compassdb_test {

using rocksdb::Env;
using rocksdb::EnvOptions;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

void ShowRead(Transcript* t, const rocksdb::RandomRWFile& file, uint64_t offset, size_t n) {
  std::string scratch(n, '?');
  Slice result;
  Status s = file.Read(offset, n, &result, scratch.data());
  std::string bytes;
  for (char c : result.ToString()) bytes.push_back(c == '\0' ? '.' : c);
  t->Value("read " + std::to_string(offset) + "+" + std::to_string(n), s, bytes);
}

void FilesWrittenInPlace(Transcript* t) {
  Env* const env = Env::Default();
  const std::string path = t->Path("file");
  std::unique_ptr<rocksdb::RandomRWFile> file;
  t->Code("missing", env->NewRandomRWFile(path, &file, EnvOptions()));
  t->Code("directory", env->NewRandomRWFile(t->Path("."), &file, EnvOptions()));
  t->Code("make", rocksdb::WriteStringToFile(env, "0123456789", path, true));
  EnvOptions options;
  options.use_direct_writes = true;
  t->Code("open", env->NewRandomRWFile(path, &file, options));
  if (file == nullptr) return;
  t->Line("direct " + std::to_string(file->use_direct_io()) + ", alignment " +
          std::to_string(file->GetRequiredBufferAlignment()));
  ShowRead(t, *file, 3, 4);
  t->Code("write", file->Write(7, "abcdef"));
  ShowRead(t, *file, 5, 20);
  t->Code("write behind the end", file->Write(20, "x"));
  ShowRead(t, *file, 0, 40);
  ShowRead(t, *file, 21, 5);
  t->Code("write nothing", file->Write(100, Slice()));
  uint64_t size = 0;
  t->Code("size", env->GetFileSize(path, &size));
  t->Line(std::to_string(size));
  t->Code("flush", file->Flush());
  t->Code("sync", file->Sync());
  t->Code("fsync", file->Fsync());
  t->Code("close", file->Close());
  t->Code("write to closed", file->Write(0, "x"));
  t->Code("flush closed", file->Flush());
  t->Code("sync closed", file->Sync());
  char byte;
  Slice result;
  t->Code("read closed", file->Read(0, 1, &result, &byte));
  std::unique_ptr<rocksdb::FSRandomRWFile> of_fs;
  t->Code("file system", rocksdb::FileSystem::Default()->NewRandomRWFile(
                             path, rocksdb::FileOptions(), &of_fs, nullptr));
  if (of_fs == nullptr) return;
  t->Code("write", of_fs->Write(1, "---", rocksdb::IOOptions(), nullptr));
  t->Code("close", of_fs->Close(rocksdb::IOOptions(), nullptr));
  std::string data;
  t->Code("contents", rocksdb::ReadFileToString(env, path, &data));
  t->Line(data.substr(0, 13));
}

}  // namespace

std::vector<Scenario> EnvScenarios() { return {{"files_written_in_place", FilesWrittenInPlace}}; }

}  // namespace compassdb_test
