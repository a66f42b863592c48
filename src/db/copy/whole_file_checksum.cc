// SPDX-License-Identifier: Apache-2.0
// Checksums of whole files. A job computes them while it writes (store/job_file.h), the manifest keeps them,
// and such a file is never changed. This file returns them and compares them with the disk.
#include "db/copy/whole_file_checksum.h"

#include <algorithm>

#include "db/copy/live_files.h"
#include "env/missing.h"
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

Status LiveFiles::GetChecksumInfo(rocksdb::FileChecksumList* list) const {
  if (list == nullptr) return Status::InvalidArgument("checksum_list is nullptr");
  list->reset();
  for (uint64_t number : files_.ledger.LiveFiles()) {
    const FileChecksum checksum = ChecksumOf(files_.ledger, number);
    Status s = list->InsertOneFileChecksum(number, checksum.checksum, checksum.function);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

FileChecksum ChecksumOf(const ExtentLedger& ledger, uint64_t file_number) {
  return ledger.ChecksumOf(file_number)
      .value_or(FileChecksum{file_number, rocksdb::kUnknownFileChecksum,
                             rocksdb::kUnknownFileChecksumFuncName});
}

Status LiveFiles::VerifyFileChecksums(const rocksdb::ReadOptions& options) {
  rocksdb::FileChecksumGenFactory* const factory = config_.options.file_checksum_gen_factory.get();
  if (factory == nullptr) {
    return Status::InvalidArgument(
        "Cannot verify file checksum if options.file_checksum_gen_factory is null");
  }
  // Files that are live now stay until they have been read.
  files_.ledger.DisableDeletions();
  Status s;
  for (const FileChecksum& known : files_.ledger.Checksums()) {
    const std::string path = files_.tables.PathOf(known.file_number);
    FileChecksum found;
    s = ComputeFileChecksum(config_.fs, path, factory, known.function, options.readahead_size, &found);
    if (s.ok() && found.checksum != known.checksum) {
      s = Status::Corruption(path, "file checksum mismatch, expecting " +
                                       Slice(known.checksum).ToString(/*hex=*/true) +
                                       ", but actual " +
                                       Slice(found.checksum).ToString(/*hex=*/true));
    }
    // Another call may have enabled deletions by force.
    if (IsMissing(s) && !files_.ledger.ChecksumOf(known.file_number)) s = Status::OK();
    if (!s.ok()) break;
  }
  files_.ledger.EnableDeletions(/*force=*/false);
  if (!read_only_) jobs_.ResumeDeletions();
  return s;
}

Status LiveFiles::VerifyChecksum() const {
  for (const auto& family : families_.All()) {
    if (Status s = family->read_state()->View()->Verify(); !s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace compassdb
