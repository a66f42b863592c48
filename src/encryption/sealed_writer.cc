// SPDX-License-Identifier: Apache-2.0
#include "encryption/sealed_writer.h"

#include <algorithm>

namespace compassdb {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

SealedWritableFile::~SealedWritableFile() {
  if (!closed_) Close(IOOptions(), nullptr).PermitUncheckedError();
}

IOStatus SealedWritableFile::Append(const Slice& data, const IOOptions& options,
                                    IODebugContext* dbg) {
  Slice rest = data;
  while (!rest.empty()) {
    if (!failed_.ok()) return failed_;
    const size_t n = std::min(rest.size(), kMaxSegmentBytes - pending_.size());
    pending_.append(rest.data(), n);
    rest.remove_prefix(n);
    if (pending_.size() < kMaxSegmentBytes) break;
    if (IOStatus s = Seal(options, dbg); !s.ok()) return s;
  }
  return failed_;
}

IOStatus SealedWritableFile::Seal(const IOOptions& options, IODebugContext* dbg) {
  if (!failed_.ok() || pending_.empty()) return failed_;
  failed_ = WriteHeader(options, dbg);
  if (!failed_.ok()) return failed_;
  std::string segment;
  failed_ = rocksdb::status_to_io_status(seal_.SealSegment(sealed_, pending_, &segment));
  if (failed_.ok()) failed_ = base_->Append(segment, options, dbg);
  if (!failed_.ok()) return failed_;
  sealed_ += pending_.size();
  pending_.clear();
  return failed_;
}

// After a power cut, a file without a durable header cannot be read, even if its data is durable.
IOStatus SealedWritableFile::WriteHeader(const IOOptions& options, IODebugContext* dbg) {
  if (header_.empty()) return IOStatus::OK();
  IOStatus s = base_->Append(header_, options, dbg);
  if (s.ok()) s = base_->Sync(options, dbg);
  if (s.ok()) header_.clear();
  return s;
}

IOStatus SealedWritableFile::Truncate(uint64_t size, const IOOptions&, IODebugContext*) {
  if (size == sealed_ + pending_.size()) return IOStatus::OK();
  return IOStatus::NotSupported("a sealed file cannot be cut while it is written");
}

IOStatus SealedWritableFile::Flush(const IOOptions& options, IODebugContext* dbg) {
  IOStatus s = Seal(options, dbg);
  return s.ok() ? base_->Flush(options, dbg) : s;
}

IOStatus SealedWritableFile::Sync(const IOOptions& options, IODebugContext* dbg) {
  IOStatus s = Seal(options, dbg);
  return s.ok() ? base_->Sync(options, dbg) : s;
}

IOStatus SealedWritableFile::Fsync(const IOOptions& options, IODebugContext* dbg) {
  IOStatus s = Seal(options, dbg);
  return s.ok() ? base_->Fsync(options, dbg) : s;
}

IOStatus SealedWritableFile::Close(const IOOptions& options, IODebugContext* dbg) {
  if (closed_) return IOStatus::OK();
  closed_ = true;
  IOStatus s = Seal(options, dbg);
  IOStatus closed = base_->Close(options, dbg);
  return s.ok() ? closed : s;
}

}  // namespace compassdb
