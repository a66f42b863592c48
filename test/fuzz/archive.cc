// SPDX-License-Identifier: Apache-2.0
#include "fuzz/archive.h"

#include "format/file_names.h"
#include "fuzz/fuzz_target.h"
#include "util/coding.h"

namespace compassdb_test {

std::string PackFiles(const std::vector<FileContents>& files) {
  std::string out;
  for (const auto& [name, bytes] : files) {
    compassdb::PutLengthPrefixedSlice(&out, name);
    compassdb::PutLengthPrefixedSlice(&out, bytes);
  }
  return out;
}

std::vector<FileContents> UnpackFiles(rocksdb::Slice input) {
  std::vector<FileContents> files;
  rocksdb::Slice name, bytes;
  while (compassdb::GetLengthPrefixedSlice(&input, &name) &&
         compassdb::GetLengthPrefixedSlice(&input, &bytes) && files.size() < 64) {
    files.emplace_back(name.ToString(), bytes.ToString());
  }
  return files;
}

void WriteFile(compassdb::FileSystem* fs, const std::string& path, const rocksdb::Slice& bytes) {
  std::unique_ptr<compassdb::WritableFile> file;
  FUZZ_CHECK(fs->NewWritableFile(path, compassdb::FileOptions(), &file).ok());
  FUZZ_CHECK(file->Append(bytes).ok());
  FUZZ_CHECK(file->Close().ok());
}

bool UnpackEdit(rocksdb::Slice input, compassdb::FileSystem* fs, const std::string& dir, compassdb::VersionEdit* edit) {
  FUZZ_CHECK(fs->CreateDir(dir).ok());
  bool decoded = false;
  for (const auto& [name, bytes] : UnpackFiles(input)) {
    uint64_t number = 0;
    compassdb::FileType type;
    if (name == "edit") {
      decoded = edit->DecodeFrom(bytes).ok();
    } else if (compassdb::ParseFileName(name, &number, &type) && type == compassdb::FileType::kPieceFile) {
      WriteFile(fs, compassdb::PieceFileName(dir, number), bytes);
    }
  }
  return decoded;
}

}  // namespace compassdb_test
