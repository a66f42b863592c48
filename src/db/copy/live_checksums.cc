// SPDX-License-Identifier: Apache-2.0
// The checksums of live files, shown and compared with what is on disk.
#include "db/copy/live_files.h"
#include "db/copy/whole_file_checksum.h"
#include "env/missing.h"
#include "rocksdb/file_checksum.h"
#include "util/findings.h"

namespace compassdb {

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
  Findings findings;
  for (const auto& family : families_.All()) findings.Add(family->read_state()->View()->Verify());
  return findings.ToStatus();
}

}  // namespace compassdb
