// SPDX-License-Identifier: Apache-2.0
// What rocksdb/file_system.h declares and does not define: the default behaviour of
// FileSystem and its wrapper, and the helpers around them. (Those by name: encryption/file_system_by_name.cc.)
#include "env/rocksdb/composite_env.h"
#include "env/rocksdb/env_as_file_system.h"
#include "env/rocksdb/env_logger.h"
#include "rocksdb/file_system.h"

namespace rocksdb {

DirFsyncOptions::DirFsyncOptions() : reason(kDefault) {}
DirFsyncOptions::DirFsyncOptions(std::string file_renamed_new_name)
    : reason(kFileRenamed), renamed_new_name(std::move(file_renamed_new_name)) {}
DirFsyncOptions::DirFsyncOptions(FsyncReason fsync_reason) : reason(fsync_reason) {}

FileSystem::FileSystem() = default;
FileSystem::~FileSystem() = default;

std::shared_ptr<FileSystem> FileSystem::Default() { return Env::Default()->GetFileSystem(); }

IOStatus FileSystem::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                       const FileOptions& file_opts,
                                       std::unique_ptr<FSWritableFile>* result,
                                       IODebugContext* dbg) {
  IOStatus s = RenameFile(old_fname, fname, file_opts.io_options, dbg);
  return s.ok() ? NewWritableFile(fname, file_opts, result, dbg) : s;
}

namespace {

// A logger writes through an Env, which lives as long as it.
class FileSystemLogger final : public LoggerWrapper {
 public:
  FileSystemLogger(std::unique_ptr<Env> env, std::shared_ptr<Logger> logger)
      : LoggerWrapper(logger.get()), env_(std::move(env)), logger_(std::move(logger)) {}

 private:
  const std::unique_ptr<Env> env_;
  const std::shared_ptr<Logger> logger_;
};

}  // namespace

IOStatus FileSystem::NewLogger(const std::string& fname, const IOOptions&,
                               std::shared_ptr<Logger>* result, IODebugContext*) {
  // The file system outlives what it made.
  auto env = std::make_unique<compassdb::CompositeEnv>(
      std::shared_ptr<FileSystem>(this, [](FileSystem*) {}), Env::Default());
  std::shared_ptr<Logger> logger;
  Status s = compassdb::NewEnvLogger(env.get(), fname, &logger);
  if (s.ok()) *result = std::make_shared<FileSystemLogger>(std::move(env), std::move(logger));
  return status_to_io_status(std::move(s));
}

// As Env: one set of options serves all kinds of files.
FileOptions FileSystem::OptimizeForLogRead(const FileOptions& file_options) const {
  FileOptions optimized(file_options);
  optimized.use_direct_reads = false;
  return optimized;
}
FileOptions FileSystem::OptimizeForManifestRead(const FileOptions& file_options) const {
  return OptimizeForLogRead(file_options);
}
FileOptions FileSystem::OptimizeForLogWrite(const FileOptions& file_options,
                                            const DBOptions&) const {
  return file_options;
}
FileOptions FileSystem::OptimizeForManifestWrite(const FileOptions& file_options) const {
  return file_options;
}
FileOptions FileSystem::OptimizeForCompactionTableWrite(const FileOptions& file_options,
                                                        const ImmutableDBOptions&) const {
  return file_options;
}
FileOptions FileSystem::OptimizeForCompactionTableRead(const FileOptions& file_options,
                                                       const ImmutableDBOptions&) const {
  return file_options;
}
FileOptions FileSystem::OptimizeForBlobFileRead(const FileOptions& file_options,
                                                const ImmutableDBOptions&) const {
  return file_options;
}

FSMemoryMappedFileBuffer::~FSMemoryMappedFileBuffer() = default;

FileSystemWrapper::FileSystemWrapper(const std::shared_ptr<FileSystem>& t) : target_(t) {}

Status FileSystemWrapper::PrepareOptions(const ConfigOptions& options) {
  if (target_ == nullptr) target_ = FileSystem::Default();
  return FileSystem::PrepareOptions(options);
}
std::string FileSystemWrapper::SerializeOptions(const ConfigOptions& config_options,
                                                const std::string& header) const {
  return FileSystem::SerializeOptions(config_options, header);
}

IOStatus WriteStringToFile(FileSystem* fs, const Slice& data, const std::string& fname,
                           bool should_sync) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->NewWritableFile(fname, FileOptions(), &file, nullptr);
  if (!s.ok()) return s;
  s = file->Append(data, IOOptions(), nullptr);
  if (s.ok() && should_sync) s = file->Sync(IOOptions(), nullptr);
  if (s.ok()) s = file->Close(IOOptions(), nullptr);
  file.reset();
  // The first error counts.
  if (!s.ok()) fs->DeleteFile(fname, IOOptions(), nullptr).PermitUncheckedError();
  return s;
}

IOStatus ReadFileToString(FileSystem* fs, const std::string& fname, std::string* data) {
  data->clear();
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs->NewSequentialFile(fname, FileOptions(), &file, nullptr);
  if (!s.ok()) return s;
  std::string buffer(64 << 10, '\0');
  while (true) {
    Slice fragment;
    s = file->Read(buffer.size(), IOOptions(), &fragment, buffer.data(), nullptr);
    if (!s.ok() || fragment.empty()) return s;
    data->append(fragment.data(), fragment.size());
  }
}

}  // namespace rocksdb
