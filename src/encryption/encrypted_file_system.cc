// SPDX-License-Identifier: Apache-2.0
// NewEncryptedFS and NewEncryptedEnv: encrypted files with a sealing provider, files
// behind a prefix with a provider of streams.
#include <cstring>
#include <mutex>

#include "api/foreign_cast.h"
#include "encryption/sealed_reader.h"
#include "encryption/sealed_writer.h"
#include "env/missing.h"
#include "env/rocksdb/composite_env.h"
#include "format/file_names.h"
#include "rocksdb/env_encryption.h"

namespace compassdb {

namespace {

using rocksdb::EncryptionProvider;
using rocksdb::FileAttributes;
using rocksdb::FileOptions;
using rocksdb::FileSystem;
using rocksdb::FSRandomAccessFile;
using rocksdb::FSRandomRWFile;
using rocksdb::FSSequentialFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::status_to_io_status;

// The synced mark (docs/formats/synced.md) is written in place, and has nothing that the sizes of files do not
// show.
bool IsInTheClear(const std::string& path) {
  uint64_t number = 0;
  FileType type = FileType::kTemp;
  return ParseFilePath(path, &number, &type) && type == FileType::kSyncedMark;
}

// The common part of both kinds: no other file is mapped or written in place, reused files are new
// files, and sizes in listings are those of the plain files.
class EncryptedFiles : public rocksdb::EncryptedFileSystem {
 public:
  EncryptedFiles(const std::shared_ptr<FileSystem>& base,
                 std::shared_ptr<EncryptionProvider> provider)
      : EncryptedFileSystem(base), provider_(std::move(provider)) {}
  const char* Name() const override { return kClassName(); }
  Status AddCipher(const std::string& descriptor, const char* cipher, size_t length,
                   bool for_write) override {
    return provider_->AddCipher(descriptor, cipher, length, for_write);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override {
    return FileSystem::ReuseWritableFile(path, old_path, options, result, dbg);
  }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result, IODebugContext* dbg) final {
    return IsInTheClear(path) ? target()->NewSequentialFile(path, options, result, dbg)
                              : OpenSequential(path, options, result, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result, IODebugContext* dbg) final {
    return IsInTheClear(path) ? target()->NewRandomAccessFile(path, options, result, dbg)
                              : OpenRandomAccess(path, options, result, dbg);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) final {
    return IsInTheClear(path) ? target()->NewWritableFile(path, options, result, dbg)
                              : Create(path, options, result, dbg);
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) final {
    return IsInTheClear(path) ? target()->ReopenWritableFile(path, options, result, dbg)
                              : GoOnWith(path, options, result, dbg);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) final {
    return IsInTheClear(path) ? target()->GetFileSize(path, options, size, dbg) : PlainSize(path, options, size, dbg);
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options, IODebugContext* dbg) final {
    return IsInTheClear(path) ? target()->Truncate(path, size, options, dbg) : Cut(path, size, options, dbg);
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override {
    if (IsInTheClear(path)) return target()->NewRandomRWFile(path, options, result, dbg);
    return IOStatus::NotSupported("encrypted files are not written in place", path);
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<rocksdb::MemoryMappedFileBuffer>*) override {
    return IOStatus::NotSupported("encrypted files are not mapped", path);
  }
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext* dbg) override {
    return FileSystem::GetChildrenFileAttributes(dir, options, result, dbg);
  }

 protected:
  // What the calls above do with encrypted files.
  virtual IOStatus OpenSequential(const std::string& path, const FileOptions& options,
                                  std::unique_ptr<FSSequentialFile>* result, IODebugContext* dbg) = 0;
  virtual IOStatus OpenRandomAccess(const std::string& path, const FileOptions& options,
                                    std::unique_ptr<FSRandomAccessFile>* result, IODebugContext* dbg) = 0;
  virtual IOStatus Create(const std::string& path, const FileOptions& options,
                          std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) = 0;
  virtual IOStatus GoOnWith(const std::string& path, const FileOptions& options,
                            std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) = 0;
  virtual IOStatus PlainSize(const std::string& path, const IOOptions& options, uint64_t* size,
                             IODebugContext* dbg) = 0;
  virtual IOStatus Cut(const std::string& path, size_t size, const IOOptions& options, IODebugContext* dbg) = 0;

  static IOStatus Unmapped(const std::string& path, const FileOptions& options) {
    if (!options.use_mmap_reads && !options.use_mmap_writes) return IOStatus::OK();
    return IOStatus::NotSupported("encrypted files are not mapped", path);
  }

  const std::shared_ptr<EncryptionProvider> provider_;
};

class SealedSequentialFile final : public FSSequentialFile {
 public:
  explicit SealedSequentialFile(std::unique_ptr<SealedReader> reader)
      : reader_(std::move(reader)) {}
  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    IOStatus s = reader_->Read(offset_, n, SealedReader::Tail::kIsCorruption, result, scratch);
    offset_ += result->size();
    return s;
  }
  IOStatus Skip(uint64_t n) override {
    offset_ += n;
    return IOStatus::OK();
  }

 private:
  const std::unique_ptr<SealedReader> reader_;
  uint64_t offset_ = 0;
};

class SealedRandomAccessFile final : public FSRandomAccessFile {
 public:
  explicit SealedRandomAccessFile(std::unique_ptr<SealedReader> reader)
      : reader_(std::move(reader)) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return reader_->Read(offset, n, SealedReader::Tail::kIsEnd, result, scratch);
  }

 private:
  const std::unique_ptr<SealedReader> reader_;
};

// A file whose end or header is damaged. Its contents can be synced; nothing can be added.
class DamagedWritableFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  DamagedWritableFile(std::unique_ptr<FSWritableFile> base, IOStatus damage)
      : FSWritableFileOwnerWrapper(std::move(base)), damage_(std::move(damage)) {}
  IOStatus Append(const Slice&, const IOOptions&, IODebugContext*) override { return damage_; }
  IOStatus Append(const Slice&, const IOOptions&, const rocksdb::DataVerificationInfo&, IODebugContext*) override {
    return damage_;
  }
  IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&, IODebugContext*) override { return damage_; }
  IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&, const rocksdb::DataVerificationInfo&,
                            IODebugContext*) override {
    return damage_;
  }
  IOStatus Truncate(uint64_t, const IOOptions&, IODebugContext*) override { return damage_; }

 private:
  const IOStatus damage_;
};

class SealedFileSystem final : public EncryptedFiles {
 public:
  SealedFileSystem(const std::shared_ptr<FileSystem>& base,
                   const std::shared_ptr<SealingProvider>& provider)
      : EncryptedFiles(base, provider), sealing_(provider) {}

  IOStatus OpenSequential(const std::string& path, const FileOptions& options,
                          std::unique_ptr<FSSequentialFile>* result, IODebugContext*) override {
    std::unique_ptr<SealedReader> reader;
    IOStatus s = Open(path, options, &reader);
    if (s.ok()) *result = std::make_unique<SealedSequentialFile>(std::move(reader));
    return s;
  }
  IOStatus OpenRandomAccess(const std::string& path, const FileOptions& options,
                            std::unique_ptr<FSRandomAccessFile>* result, IODebugContext*) override {
    std::unique_ptr<SealedReader> reader;
    IOStatus s = Open(path, options, &reader);
    if (s.ok()) *result = std::make_unique<SealedRandomAccessFile>(std::move(reader));
    return s;
  }
  IOStatus Create(const std::string& path, const FileOptions& options,
                  std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = Buffered(path, options);
    std::unique_ptr<FSWritableFile> base;
    if (s.ok()) s = target()->NewWritableFile(path, options, &base, dbg);
    std::string header(kSealFileHeaderBytes, '\0');
    if (s.ok()) s = status_to_io_status(sealing_->CreateNewPrefix(path, header.data(), header.size()));
    FileSeal seal;
    if (s.ok()) s = status_to_io_status(sealing_->SealOf(path, header, &seal));
    if (s.ok()) {
      *result = std::make_unique<SealedWritableFile>(std::move(base), seal, std::move(header), options, 0);
    }
    return s;
  }
  IOStatus GoOnWith(const std::string& path, const FileOptions& options,
                    std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    std::unique_ptr<SealedReader> reader;
    IOStatus s = Open(path, options, &reader);
    if (IsMissing(s) || (s.ok() && !reader->has_header())) {
      return NewWritableFile(path, options, result, dbg);
    }
    if (s.ok()) s = reader->CheckLast();
    std::unique_ptr<FSWritableFile> base;
    if (s.IsCorruption()) {
      const IOStatus opened = target()->ReopenWritableFile(path, options, &base, dbg);
      if (opened.ok()) *result = std::make_unique<DamagedWritableFile>(std::move(base), s);
      return opened;
    }
    if (!s.ok()) return s;
    uint64_t stored_bytes = 0;
    s = target()->GetFileSize(path, IOOptions(), &stored_bytes, dbg);
    // A partial segment cannot be continued.
    if (s.ok() && stored_bytes > reader->stored_end()) {
      s = target()->Truncate(path, reader->stored_end(), IOOptions(), dbg);
    }
    if (s.ok()) s = target()->ReopenWritableFile(path, options, &base, dbg);
    if (s.ok()) {
      *result = std::make_unique<SealedWritableFile>(std::move(base), reader->seal(), "", options,
                                                     reader->size());
    }
    return s;
  }
  IOStatus PlainSize(const std::string& path, const IOOptions& options, uint64_t* size,
                     IODebugContext* dbg) override {
    IOStatus s = target()->GetFileSize(path, options, size, dbg);
    if (!s.ok() || *size == 0) return s;
    bool sealed = false;  // LOG, for one, is not
    s = IsSealed(path, &sealed);
    if (!s.ok() || (!sealed && *size >= kSealFileHeaderBytes)) return s;
    std::unique_ptr<SealedReader> reader;
    s = Open(path, FileOptions(), &reader);
    if (!sealed && s.IsInvalidArgument()) return IOStatus::OK();  // a short LOG
    if (s.ok()) *size = reader->size();
    return s;
  }
  IOStatus Cut(const std::string& path, size_t size, const IOOptions& options, IODebugContext* dbg) override {
    uint64_t now = 0;
    IOStatus s = GetFileSize(path, options, &now, dbg);
    if (!s.ok() || size == now) return s;
    if (size != 0) return IOStatus::NotSupported("sealed files are not cut", path);
    std::unique_ptr<FSWritableFile> empty;
    s = NewWritableFile(path, FileOptions(), &empty, dbg);
    return s.ok() ? empty->Close(options, dbg) : s;
  }

 private:
  static IOStatus Buffered(const std::string& path, const FileOptions& options) {
    if (options.use_direct_reads || options.use_direct_writes) {
      return IOStatus::NotSupported("sealed files are not read or written directly", path);
    }
    return Unmapped(path, options);
  }
  IOStatus IsSealed(const std::string& path, bool* sealed) {
    std::unique_ptr<FSSequentialFile> file;
    IOStatus s = target()->NewSequentialFile(path, FileOptions(), &file, nullptr);
    char scratch[kSealFileHeaderBytes];
    Slice header;
    if (s.ok()) s = file->Read(sizeof(scratch), IOOptions(), &header, scratch, nullptr);
    *sealed = s.ok() && (SealingProvider::IsHeader(header) || SealingProvider::IsLostHeader(header));
    return s;
  }
  IOStatus Open(const std::string& path, const FileOptions& options,
                std::unique_ptr<SealedReader>* reader) {
    IOStatus s = Buffered(path, options);
    return s.ok() ? SealedReader::Open(target(), sealing_, path, options, reader) : s;
  }

  const std::shared_ptr<SealingProvider> sealing_;
};

// Writes a prefix before the first bytes. The writer of the file sees it from the beginning.
class LatePrefixFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LatePrefixFile(std::unique_ptr<FSWritableFile> base, std::string prefix)
      : FSWritableFileOwnerWrapper(std::move(base)), prefix_(std::move(prefix)) {}
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = WritePrefix(options, dbg);
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, dbg) : s;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo& info,
                  IODebugContext* dbg) override {
    IOStatus s = WritePrefix(options, dbg);
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, info, dbg) : s;
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    IOStatus s = WritePrefix(options, dbg);
    return s.ok() ? FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, dbg) : s;
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const rocksdb::DataVerificationInfo& info, IODebugContext* dbg) override {
    IOStatus s = WritePrefix(options, dbg);
    return s.ok() ? FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, info, dbg) : s;
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    if (size == GetFileSize(options, dbg)) return IOStatus::OK();
    IOStatus s = WritePrefix(options, dbg);
    return s.ok() ? FSWritableFileOwnerWrapper::Truncate(size, options, dbg) : s;
  }
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override {
    return prefix_.size() + FSWritableFileOwnerWrapper::GetFileSize(options, dbg);
  }

 private:
  IOStatus WritePrefix(const IOOptions& options, IODebugContext* dbg) {
    if (prefix_.empty() || !failed_.ok()) return failed_;
    failed_ = FSWritableFileOwnerWrapper::Append(prefix_, options, dbg);
    if (failed_.ok()) prefix_.clear();
    return failed_;
  }

  std::string prefix_;  // empty: it is written
  IOStatus failed_;     // a part of it may be
};

// Files with a prefix, and a stream cipher over what follows it.
//
// As an encrypted file's header, the prefix is written with the first bytes.
class StreamFileSystem final : public EncryptedFiles {
 public:
  using EncryptedFiles::EncryptedFiles;

  IOStatus OpenSequential(const std::string& path, const FileOptions& options,
                          std::unique_ptr<FSSequentialFile>* result, IODebugContext* dbg) override {
    IOStatus s = Unmapped(path, options);
    std::unique_ptr<Stream> stream;
    bool empty = false;
    if (s.ok()) s = StreamOf(path, options, &stream, &empty);
    std::unique_ptr<FSSequentialFile> base;
    if (s.ok()) s = target()->NewSequentialFile(path, options, &base, dbg);
    if (s.ok() && stream != nullptr) s = base->Skip(provider_->GetPrefixLength());
    if (!s.ok()) return s;
    if (empty) {
      *result = std::make_unique<EmptyFile>();
    } else if (stream == nullptr) {
      *result = std::move(base);
    } else {
      *result = std::make_unique<rocksdb::EncryptedSequentialFile>(
          std::move(base), std::move(stream), provider_->GetPrefixLength());
    }
    return s;
  }
  IOStatus OpenRandomAccess(const std::string& path, const FileOptions& options,
                            std::unique_ptr<FSRandomAccessFile>* result, IODebugContext* dbg) override {
    IOStatus s = Unmapped(path, options);
    std::unique_ptr<Stream> stream;
    bool empty = false;
    if (s.ok()) s = StreamOf(path, options, &stream, &empty);
    std::unique_ptr<FSRandomAccessFile> base;
    if (s.ok()) s = target()->NewRandomAccessFile(path, options, &base, dbg);
    if (!s.ok()) return s;
    if (empty) {
      *result = std::make_unique<EmptyRandomAccessFile>();
    } else if (stream == nullptr) {
      *result = std::move(base);
    } else {
      *result = std::make_unique<rocksdb::EncryptedRandomAccessFile>(
          std::move(base), std::move(stream), provider_->GetPrefixLength());
    }
    return s;
  }
  IOStatus Create(const std::string& path, const FileOptions& options,
                  std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = Unmapped(path, options);
    std::unique_ptr<FSWritableFile> base;
    if (s.ok()) s = target()->NewWritableFile(path, options, &base, dbg);
    const size_t length = provider_->GetPrefixLength();
    std::string prefix(length, '\0');
    if (s.ok()) s = status_to_io_status(provider_->CreateNewPrefix(path, prefix.data(), length));
    std::unique_ptr<Stream> stream;
    std::string copy = prefix;  // providers decrypt parts of what they get in place
    Slice bytes(copy);
    if (s.ok()) s = status_to_io_status(provider_->CreateCipherStream(path, options, bytes, &stream));
    if (s.ok()) {
      auto prefixed = std::make_unique<LatePrefixFile>(std::move(base), std::move(prefix));
      *result = std::make_unique<rocksdb::EncryptedWritableFile>(std::move(prefixed), std::move(stream), length);
    }
    return s;
  }
  IOStatus GoOnWith(const std::string& path, const FileOptions& options,
                    std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = Unmapped(path, options);
    uint64_t stored = 0;
    if (s.ok()) s = target()->GetFileSize(path, IOOptions(), &stored, dbg);
    if (IsMissing(s) || (s.ok() && stored < provider_->GetPrefixLength())) {
      return NewWritableFile(path, options, result, dbg);
    }
    std::unique_ptr<Stream> stream;
    if (s.ok()) s = StreamOf(path, options, &stream);
    std::unique_ptr<FSWritableFile> base;
    if (s.ok()) s = target()->ReopenWritableFile(path, options, &base, dbg);
    if (!s.ok()) return s;
    if (stream == nullptr) {
      *result = std::move(base);
    } else {
      *result = std::make_unique<rocksdb::EncryptedWritableFile>(
          std::move(base), std::move(stream), provider_->GetPrefixLength());
    }
    return s;
  }
  IOStatus PlainSize(const std::string& path, const IOOptions& options, uint64_t* size,
                     IODebugContext* dbg) override {
    IOStatus s = target()->GetFileSize(path, options, size, dbg);
    if (!s.ok() || *size < provider_->GetPrefixLength()) return s;
    bool encrypted = true;
    if (!provider_->GetMarker().empty()) s = HasMarker(path, &encrypted);
    if (s.ok() && encrypted) *size -= provider_->GetPrefixLength();
    return s;
  }
  IOStatus Cut(const std::string& path, size_t size, const IOOptions& options, IODebugContext* dbg) override {
    uint64_t stored = 0;
    IOStatus s = target()->GetFileSize(path, options, &stored, dbg);
    if (!s.ok()) return s;
    if (stored >= provider_->GetPrefixLength()) {
      return target()->Truncate(path, size + provider_->GetPrefixLength(), options, dbg);
    }
    // Nothing, or a part of a prefix, was written.
    if (size > 0) return IOStatus::NotSupported("an encrypted file is not made longer by a cut", path);
    return target()->Truncate(path, 0, options, dbg);
  }

 private:
  using Stream = rocksdb::BlockAccessCipherStream;

  // Files that were empty when they were opened. Later writes are behind a prefix that this reader has not read.
  class EmptyFile final : public FSSequentialFile {
   public:
    IOStatus Read(size_t, const IOOptions&, Slice* result, char* scratch, IODebugContext*) override {
      *result = Slice(scratch, 0);
      return IOStatus::OK();
    }
    IOStatus Skip(uint64_t) override { return IOStatus::OK(); }
  };
  class EmptyRandomAccessFile final : public FSRandomAccessFile {
   public:
    IOStatus Read(uint64_t, size_t, const IOOptions&, Slice* result, char* scratch, IODebugContext*) const override {
      *result = Slice(scratch, 0);
      return IOStatus::OK();
    }
  };

  IOStatus ReadPrefix(const std::string& path, std::string* prefix) {
    std::unique_ptr<FSSequentialFile> file;
    IOStatus s = target()->NewSequentialFile(path, FileOptions(), &file, nullptr);
    Slice bytes;
    prefix->resize(provider_->GetPrefixLength());
    if (s.ok()) s = file->Read(prefix->size(), IOOptions(), &bytes, prefix->data(), nullptr);
    if (s.ok()) *prefix = bytes.ToString();
    return s;
  }
  IOStatus HasMarker(const std::string& path, bool* has) {
    std::string prefix;
    IOStatus s = ReadPrefix(path, &prefix);
    *has = Slice(prefix).starts_with(provider_->GetMarker());
    return s;
  }
  // Null for a file that is not encrypted: one without the provider's marker, or an empty one.
  IOStatus StreamOf(const std::string& path, const FileOptions& options, std::unique_ptr<Stream>* stream,
                    bool* empty = nullptr) {
    std::string prefix;
    IOStatus s = ReadPrefix(path, &prefix);
    if (empty != nullptr) *empty = s.ok() && prefix.empty() && provider_->GetPrefixLength() > 0;
    if (!s.ok() || prefix.size() < provider_->GetPrefixLength()) return s;
    if (!Slice(prefix).starts_with(provider_->GetMarker())) return s;
    Slice bytes(prefix);
    return status_to_io_status(provider_->CreateCipherStream(path, options, bytes, stream));
  }
};

// Replaces a missing provider: no plain file must be written where encryption was meant.
class NoProvider final : public EncryptionProvider {
 public:
  const char* Name() const override { return "NoProvider"; }
  size_t GetPrefixLength() const override { return 1; }
  Status CreateNewPrefix(const std::string& path, char*, size_t) const override { return Missing(path); }
  Status AddCipher(const std::string& descriptor, const char*, size_t, bool) override { return Missing(descriptor); }
  Status CreateCipherStream(const std::string& path, const rocksdb::EnvOptions&, Slice&,
                            std::unique_ptr<rocksdb::BlockAccessCipherStream>*) override {
    return Missing(path);
  }

 private:
  static Status Missing(const std::string& what) {
    return Status::InvalidArgument("the encryption provider is null", what);
  }
};

}  // namespace

}  // namespace compassdb

namespace rocksdb {

std::shared_ptr<FileSystem> NewEncryptedFS(const std::shared_ptr<FileSystem>& base_fs,
                                           const std::shared_ptr<EncryptionProvider>& provider) {
  if (provider == nullptr) {
    return std::make_shared<compassdb::StreamFileSystem>(base_fs, std::make_shared<compassdb::NoProvider>());
  }
  if (auto* sealing = compassdb::ForeignCast<compassdb::SealingProvider*>(provider.get())) {
    return std::make_shared<compassdb::SealedFileSystem>(
        base_fs, std::shared_ptr<compassdb::SealingProvider>(provider, sealing));
  }
  return std::make_shared<compassdb::StreamFileSystem>(base_fs, provider);
}

Env* NewEncryptedEnv(Env* base_env, const std::shared_ptr<EncryptionProvider>& provider) {
  return new compassdb::CompositeEnv(NewEncryptedFS(base_env->GetFileSystem(), provider), base_env);
}

}  // namespace rocksdb
