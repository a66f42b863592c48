// SPDX-License-Identifier: Apache-2.0
// Writing an encrypted file (docs/formats/sealed_file.md): what is appended between
// two flushes becomes a segment, or several if it is long. A file stays empty until then: its header is
// written with its first segment, so that a file which was made and is begun later has one header ever.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "encryption/seal.h"
#include "rocksdb/file_system.h"

namespace compassdb {

class SealedWritableFile final : public rocksdb::FSWritableFile {
 public:
  // `base` is empty, and `header` the one to write; or ends where a header and `size` plain bytes are
  // already written, and `header` is empty.
  SealedWritableFile(std::unique_ptr<rocksdb::FSWritableFile> base, const FileSeal& seal, std::string header,
                     const rocksdb::FileOptions& options, uint64_t size)
      : FSWritableFile(options), base_(std::move(base)), seal_(seal), header_(std::move(header)), sealed_(size) {}
  ~SealedWritableFile() override;

  using FSWritableFile::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus Truncate(uint64_t size, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus Flush(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus Close(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override;
  uint64_t GetFileSize(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return sealed_ + pending_.size();
  }
  void SetIOPriority(rocksdb::Env::IOPriority priority) override {
    FSWritableFile::SetIOPriority(priority);
    base_->SetIOPriority(priority);
  }
  void SetWriteLifeTimeHint(rocksdb::Env::WriteLifeTimeHint hint) override {
    FSWritableFile::SetWriteLifeTimeHint(hint);
    base_->SetWriteLifeTimeHint(hint);
  }

 private:
  rocksdb::IOStatus Seal(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg);
  rocksdb::IOStatus WriteHeader(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg);

  const std::unique_ptr<rocksdb::FSWritableFile> base_;
  const FileSeal seal_;
  std::string header_;    // empty: it is written
  uint64_t sealed_;       // plain bytes in segments that were written
  std::string pending_;   // plain bytes of the next one
  bool closed_ = false;
  rocksdb::IOStatus failed_;  // a write that failed may have left a part of a segment
};

}  // namespace compassdb
