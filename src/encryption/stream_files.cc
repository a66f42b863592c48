// SPDX-License-Identifier: Apache-2.0
// Files behind a prefix, under a stream cipher.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "rocksdb/env_encryption.h"

namespace rocksdb {

namespace {

// A copy of data to work on in place, aligned for direct I/O.
class Copy {
 public:
  Copy(const Slice& data, size_t alignment) : size_(data.size()) {
    const size_t rounded = (std::max<size_t>(size_, 1) + alignment - 1) / alignment * alignment;
    memory_ = static_cast<char*>(std::aligned_alloc(alignment, rounded));
    if (memory_ != nullptr) memcpy(memory_, data.data(), size_);
  }
  ~Copy() { std::free(memory_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  char* data() const { return memory_; }
  Slice slice() const { return Slice(memory_, size_); }

 private:
  char* memory_;
  const size_t size_;
};

// Decrypts the result of a read, in the caller's memory.
IOStatus DecryptRead(BlockAccessCipherStream* stream, uint64_t offset, Slice* result,
                     char* scratch) {
  if (result->empty()) return IOStatus::OK();
  if (result->data() != scratch) memmove(scratch, result->data(), result->size());
  *result = Slice(scratch, result->size());
  return status_to_io_status(stream->Decrypt(offset, scratch, result->size()));
}

// Encrypts a copy and hands it to `write`.
template <typename Write>
IOStatus EncryptedWrite(BlockAccessCipherStream* stream, uint64_t offset, const Slice& data,
                        size_t alignment, const Write& write) {
  Copy copy(data, alignment);
  if (copy.data() == nullptr) return IOStatus::IOError("no memory for encryption");
  if (!data.empty()) {
    Status s = stream->Encrypt(offset, copy.data(), data.size());
    if (!s.ok()) return status_to_io_status(std::move(s));
  }
  return write(copy.slice());
}

// Calls `one` for each block; blocks that are not whole are completed with zeros.
template <typename One>
Status ForBlocks(size_t block_size, uint64_t offset, char* data, size_t size, const One& one) {
  std::string partial;
  while (size > 0) {
    const uint64_t index = offset / block_size;
    const size_t begin = offset % block_size;
    const size_t n = std::min(size, block_size - begin);
    Status s;
    if (n == block_size) {
      s = one(index, data);
    } else {
      partial.assign(block_size, '\0');
      memcpy(partial.data() + begin, data, n);
      s = one(index, partial.data());
      memcpy(data, partial.data() + begin, n);
    }
    if (!s.ok()) return s;
    offset += n;
    data += n;
    size -= n;
  }
  return Status::OK();
}

}  // namespace

Status BlockAccessCipherStream::Encrypt(uint64_t fileOffset, char* data, size_t dataSize) {
  std::string scratch;
  AllocateScratch(scratch);
  return ForBlocks(BlockSize(), fileOffset, data, dataSize, [&](uint64_t index, char* block) {
    return EncryptBlock(index, block, scratch.data());
  });
}

Status BlockAccessCipherStream::Decrypt(uint64_t fileOffset, char* data, size_t dataSize) {
  std::string scratch;
  AllocateScratch(scratch);
  return ForBlocks(BlockSize(), fileOffset, data, dataSize, [&](uint64_t index, char* block) {
    return DecryptBlock(index, block, scratch.data());
  });
}

IOStatus EncryptedSequentialFile::Read(size_t n, const IOOptions& options, Slice* result,
                                       char* scratch, IODebugContext* dbg) {
  IOStatus s = file_->Read(n, options, result, scratch, dbg);
  if (s.ok()) s = DecryptRead(stream_.get(), offset_, result, scratch);
  if (s.ok()) offset_ += result->size();
  return s;
}
IOStatus EncryptedSequentialFile::Skip(uint64_t n) {
  IOStatus s = file_->Skip(n);
  if (s.ok()) offset_ += n;
  return s;
}
bool EncryptedSequentialFile::use_direct_io() const { return file_->use_direct_io(); }
size_t EncryptedSequentialFile::GetRequiredBufferAlignment() const {
  return file_->GetRequiredBufferAlignment();
}
IOStatus EncryptedSequentialFile::InvalidateCache(size_t offset, size_t length) {
  return file_->InvalidateCache(offset + prefixLength_, length);
}
IOStatus EncryptedSequentialFile::PositionedRead(uint64_t offset, size_t n,
                                                 const IOOptions& options, Slice* result,
                                                 char* scratch, IODebugContext* dbg) {
  offset += prefixLength_;
  IOStatus s = file_->PositionedRead(offset, n, options, result, scratch, dbg);
  if (s.ok()) s = DecryptRead(stream_.get(), offset, result, scratch);
  if (s.ok()) offset_ = offset + result->size();
  return s;
}

IOStatus EncryptedRandomAccessFile::Read(uint64_t offset, size_t n, const IOOptions& options,
                                         Slice* result, char* scratch, IODebugContext* dbg) const {
  offset += prefixLength_;
  IOStatus s = file_->Read(offset, n, options, result, scratch, dbg);
  return s.ok() ? DecryptRead(stream_.get(), offset, result, scratch) : s;
}
IOStatus EncryptedRandomAccessFile::Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                                             IODebugContext* dbg) {
  return file_->Prefetch(offset + prefixLength_, n, options, dbg);
}
size_t EncryptedRandomAccessFile::GetUniqueId(char* id, size_t max_size) const {
  return file_->GetUniqueId(id, max_size);
}
void EncryptedRandomAccessFile::Hint(AccessPattern pattern) { file_->Hint(pattern); }
bool EncryptedRandomAccessFile::use_direct_io() const { return file_->use_direct_io(); }
size_t EncryptedRandomAccessFile::GetRequiredBufferAlignment() const {
  return file_->GetRequiredBufferAlignment();
}
IOStatus EncryptedRandomAccessFile::InvalidateCache(size_t offset, size_t length) {
  return file_->InvalidateCache(offset + prefixLength_, length);
}

IOStatus EncryptedWritableFile::Append(const Slice& data, const IOOptions& options,
                                       IODebugContext* dbg) {
  return EncryptedWrite(stream_.get(), file_->GetFileSize(options, dbg), data,
                        GetRequiredBufferAlignment(),
                        [&](const Slice& bytes) { return file_->Append(bytes, options, dbg); });
}
IOStatus EncryptedWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                                 const IOOptions& options, IODebugContext* dbg) {
  offset += prefixLength_;
  return EncryptedWrite(
      stream_.get(), offset, data, GetRequiredBufferAlignment(),
      [&](const Slice& bytes) { return file_->PositionedAppend(bytes, offset, options, dbg); });
}
bool EncryptedWritableFile::IsSyncThreadSafe() const { return file_->IsSyncThreadSafe(); }
bool EncryptedWritableFile::use_direct_io() const { return file_->use_direct_io(); }
size_t EncryptedWritableFile::GetRequiredBufferAlignment() const {
  return file_->GetRequiredBufferAlignment();
}
uint64_t EncryptedWritableFile::GetFileSize(const IOOptions& options, IODebugContext* dbg) {
  return file_->GetFileSize(options, dbg) - prefixLength_;
}
IOStatus EncryptedWritableFile::Truncate(uint64_t size, const IOOptions& options,
                                         IODebugContext* dbg) {
  return file_->Truncate(size + prefixLength_, options, dbg);
}
IOStatus EncryptedWritableFile::InvalidateCache(size_t offset, size_t length) {
  return file_->InvalidateCache(offset + prefixLength_, length);
}
IOStatus EncryptedWritableFile::RangeSync(uint64_t offset, uint64_t nbytes,
                                          const IOOptions& options, IODebugContext* dbg) {
  return file_->RangeSync(offset + prefixLength_, nbytes, options, dbg);
}
void EncryptedWritableFile::PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                                         IODebugContext* dbg) {
  file_->PrepareWrite(offset + prefixLength_, len, options, dbg);
}
void EncryptedWritableFile::SetPreallocationBlockSize(size_t size) {
  file_->SetPreallocationBlockSize(size);
}
void EncryptedWritableFile::GetPreallocationStatus(size_t* block_size,
                                                   size_t* last_allocated_block) {
  file_->GetPreallocationStatus(block_size, last_allocated_block);
}
IOStatus EncryptedWritableFile::Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                                         IODebugContext* dbg) {
  return file_->Allocate(offset + prefixLength_, len, options, dbg);
}
IOStatus EncryptedWritableFile::Flush(const IOOptions& options, IODebugContext* dbg) {
  return file_->Flush(options, dbg);
}
IOStatus EncryptedWritableFile::Sync(const IOOptions& options, IODebugContext* dbg) {
  return file_->Sync(options, dbg);
}
IOStatus EncryptedWritableFile::Close(const IOOptions& options, IODebugContext* dbg) {
  return file_->Close(options, dbg);
}

bool EncryptedRandomRWFile::use_direct_io() const { return file_->use_direct_io(); }
size_t EncryptedRandomRWFile::GetRequiredBufferAlignment() const {
  return file_->GetRequiredBufferAlignment();
}
IOStatus EncryptedRandomRWFile::Write(uint64_t offset, const Slice& data, const IOOptions& options,
                                      IODebugContext* dbg) {
  offset += prefixLength_;
  return EncryptedWrite(
      stream_.get(), offset, data, GetRequiredBufferAlignment(),
      [&](const Slice& bytes) { return file_->Write(offset, bytes, options, dbg); });
}
IOStatus EncryptedRandomRWFile::Read(uint64_t offset, size_t n, const IOOptions& options,
                                     Slice* result, char* scratch, IODebugContext* dbg) const {
  offset += prefixLength_;
  IOStatus s = file_->Read(offset, n, options, result, scratch, dbg);
  return s.ok() ? DecryptRead(stream_.get(), offset, result, scratch) : s;
}
IOStatus EncryptedRandomRWFile::Flush(const IOOptions& options, IODebugContext* dbg) {
  return file_->Flush(options, dbg);
}
IOStatus EncryptedRandomRWFile::Sync(const IOOptions& options, IODebugContext* dbg) {
  return file_->Sync(options, dbg);
}
IOStatus EncryptedRandomRWFile::Fsync(const IOOptions& options, IODebugContext* dbg) {
  return file_->Fsync(options, dbg);
}
IOStatus EncryptedRandomRWFile::Close(const IOOptions& options, IODebugContext* dbg) {
  return file_->Close(options, dbg);
}

}  // namespace rocksdb
