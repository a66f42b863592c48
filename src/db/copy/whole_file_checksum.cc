// SPDX-License-Identifier: Apache-2.0
#include "db/copy/whole_file_checksum.h"

#include <algorithm>

#include "rocksdb/file_checksum.h"

namespace compassdb {

Status ComputeFileChecksum(FileSystem* fs, const std::string& path,
                           rocksdb::FileChecksumGenFactory* factory, const std::string& function,
                           size_t readahead, FileChecksum* out) {
  const auto generator = factory->CreateFileChecksumGenerator({path, function});
  if (generator == nullptr || (!function.empty() && generator->Name() != function)) {
    return Status::InvalidArgument(path, std::string("file_checksum_gen_factory ") + factory->Name() +
                                             " has no checksum function " + function);
  }
  std::unique_ptr<SequentialFile> file;
  Status s = fs->NewSequentialFile(path, &file);
  std::string room(std::clamp<size_t>(readahead, 256 << 10, 16 << 20), '\0');
  Slice data;
  while (s.ok()) {
    s = file->Read(room.size(), &data, room.data());
    if (!s.ok()) break;
    generator->Update(data.data(), data.size());
    if (data.size() < room.size()) break;
  }
  if (!s.ok()) return s;
  generator->Finalize();
  out->checksum = generator->GetChecksum();
  out->function = generator->Name();
  return s;
}

FileChecksum ChecksumOf(const ExtentLedger& ledger, uint64_t file_number) {
  return ledger.ChecksumOf(file_number)
      .value_or(FileChecksum{file_number, rocksdb::kUnknownFileChecksum,
                             rocksdb::kUnknownFileChecksumFuncName});
}

}  // namespace compassdb
