// SPDX-License-Identifier: Apache-2.0
//
// Files that are encrypted where they are stored.
//
// Two kinds of providers. NewCTRProvider() turns a block cipher of the application into a stream
// cipher: files keep their length except for a prefix, and changes are not noticed.
// compassdb::NewSealingProvider() (compassdb/encryption.h) seals what is written with AES-256-GCM:
// changes are found when it is read.

#pragma once

#include <memory>
#include <string>

#include "rocksdb/customizable.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

class EncryptionProvider;

struct ConfigOptions;

// An Env, or file system, whose files are encrypted; all else is that of the base, the text of LOG,
// too. The Env is the caller's and must not outlive base_env. Memory-mapped and read-write files
// are NotSupported; with a sealing provider, so are direct reads and writes.
Env* NewEncryptedEnv(Env* base_env, const std::shared_ptr<EncryptionProvider>& provider);
std::shared_ptr<FileSystem> NewEncryptedFS(const std::shared_ptr<FileSystem>& base_fs,
                                           const std::shared_ptr<EncryptionProvider>& provider);

// A cipher for a file, which works on blocks that need nothing of one another. Derive and override
// the protected functions. One thread at a time, unless the stream says otherwise.
class BlockAccessCipherStream {
 public:
  virtual ~BlockAccessCipherStream() {}

  // Bytes per block.
  virtual size_t BlockSize() = 0;

  // Works in place on data at fileOffset, whole blocks or not.
  virtual Status Encrypt(uint64_t fileOffset, char* data, size_t dataSize);
  virtual Status Decrypt(uint64_t fileOffset, char* data, size_t dataSize);

 protected:
  // Makes the scratch as large as the two functions below want it.
  virtual void AllocateScratch(std::string&) = 0;

  // One block in place.
  virtual Status EncryptBlock(uint64_t blockIndex, char* data, char* scratch) = 0;
  virtual Status DecryptBlock(uint64_t blockIndex, char* data, char* scratch) = 0;
};

// A block cipher with its key. Exceptions must not leave its functions; they may be called by
// several threads.
class BlockCipher : public Customizable {
 public:
  virtual ~BlockCipher() {}

  // "ROT13" or "ROT13:blocksize"; for tests.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<BlockCipher>* result);

  static const char* Type() { return "BlockCipher"; }

  // Hides nothing; for tests.
  static std::shared_ptr<BlockCipher> NewROT13Cipher(size_t block_size);

  // Bytes per block.
  virtual size_t BlockSize() = 0;

  // One block in place.
  virtual Status Encrypt(char* data) = 0;
  virtual Status Decrypt(char* data) = 0;
};

// Makes the ciphers of files. Exceptions must not leave its functions; they may be called by several
// threads.
class EncryptionProvider : public Customizable {
 public:
  virtual ~EncryptionProvider() {}

  // "CTR" (a cipher is to follow by AddCipher), "CTR://test" (with ROT13), or "AES256GCM" (sealing; a
  // key is to follow by AddCipher).
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<EncryptionProvider>* result);

  static const char* Type() { return "EncryptionProvider"; }

  // A stream cipher (counter mode) from a block cipher.
  static std::shared_ptr<EncryptionProvider> NewCTRProvider(
      const std::shared_ptr<BlockCipher>& cipher);

  // Bytes in front of every file, best a multiple of the page size.
  virtual size_t GetPrefixLength() const = 0;

  // Fills them for a new file.
  virtual Status CreateNewPrefix(const std::string& fname, char* prefix,
                                 size_t prefixLength) const = 0;

  // Adds a key. Files are written with the last one that was given for_write.
  virtual Status AddCipher(const std::string& descriptor, const char* cipher, size_t len,
                           bool for_write) = 0;

  // The cipher of a file with this prefix.
  virtual Status CreateCipherStream(const std::string& fname, const EnvOptions& options,
                                    Slice& prefix,
                                    std::unique_ptr<BlockAccessCipherStream>* result) = 0;

  // What the prefix of each of its files begins with, if not empty. Files without it are read as
  // they are.
  virtual std::string GetMarker() const { return ""; }
};

// The files of providers with streams. Offsets are those behind the prefix.
class EncryptedSequentialFile : public FSSequentialFile {
 protected:
  std::unique_ptr<FSSequentialFile> file_;
  std::unique_ptr<BlockAccessCipherStream> stream_;
  uint64_t offset_;
  size_t prefixLength_;

 public:
  // `f` is positioned behind the prefix.
  EncryptedSequentialFile(std::unique_ptr<FSSequentialFile>&& f,
                          std::unique_ptr<BlockAccessCipherStream>&& s, size_t prefixLength)
      : file_(std::move(f)),
        stream_(std::move(s)),
        offset_(prefixLength),
        prefixLength_(prefixLength) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override;
  IOStatus Skip(uint64_t n) override;
  bool use_direct_io() const override;
  size_t GetRequiredBufferAlignment() const override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override;
};

class EncryptedRandomAccessFile : public FSRandomAccessFile {
 protected:
  std::unique_ptr<FSRandomAccessFile> file_;
  std::unique_ptr<BlockAccessCipherStream> stream_;
  size_t prefixLength_;

 public:
  EncryptedRandomAccessFile(std::unique_ptr<FSRandomAccessFile>&& f,
                            std::unique_ptr<BlockAccessCipherStream>&& s, size_t prefixLength)
      : file_(std::move(f)), stream_(std::move(s)), prefixLength_(prefixLength) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;
  void Hint(AccessPattern pattern) override;
  bool use_direct_io() const override;
  size_t GetRequiredBufferAlignment() const override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
};

class EncryptedWritableFile : public FSWritableFile {
 protected:
  std::unique_ptr<FSWritableFile> file_;
  std::unique_ptr<BlockAccessCipherStream> stream_;
  size_t prefixLength_;

 public:
  // The prefix is written already.
  EncryptedWritableFile(std::unique_ptr<FSWritableFile>&& f,
                        std::unique_ptr<BlockAccessCipherStream>&& s, size_t prefixLength)
      : file_(std::move(f)), stream_(std::move(s)), prefixLength_(prefixLength) {}

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override;
  using FSWritableFile::PositionedAppend;
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override;
  bool IsSyncThreadSafe() const override;
  bool use_direct_io() const override;
  size_t GetRequiredBufferAlignment() const override;
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override;
  void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                    IODebugContext* dbg) override;
  void SetPreallocationBlockSize(size_t size) override;
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override;
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
};

class EncryptedRandomRWFile : public FSRandomRWFile {
 protected:
  std::unique_ptr<FSRandomRWFile> file_;
  std::unique_ptr<BlockAccessCipherStream> stream_;
  size_t prefixLength_;

 public:
  EncryptedRandomRWFile(std::unique_ptr<FSRandomRWFile>&& f,
                        std::unique_ptr<BlockAccessCipherStream>&& s, size_t prefixLength)
      : file_(std::move(f)), stream_(std::move(s)), prefixLength_(prefixLength) {}

  bool use_direct_io() const override;
  size_t GetRequiredBufferAlignment() const override;
  // Writing a place twice uses the same key stream twice: see NewEncryptedFS, which makes no such
  // files.
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override;
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
};

// What NewEncryptedFS gives.
class EncryptedFileSystem : public FileSystemWrapper {
 public:
  explicit EncryptedFileSystem(const std::shared_ptr<FileSystem>& base) : FileSystemWrapper(base) {}
  // The provider's.
  virtual Status AddCipher(const std::string& descriptor, const char* cipher, size_t len,
                           bool for_write) = 0;
  static const char* kClassName() { return "EncryptedFileSystem"; }
  bool IsInstanceOf(const std::string& name) const override {
    return name == kClassName() || FileSystemWrapper::IsInstanceOf(name);
  }
};

}  // namespace ROCKSDB_NAMESPACE
