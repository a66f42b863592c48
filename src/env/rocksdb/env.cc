// SPDX-License-Identifier: Apache-2.0
// What rocksdb/env.h declares and does not define: the default behaviour of
// Env, of its files and loggers, and the helpers around them.
#include "rocksdb/env.h"

#include <array>
#include <cstdio>
#include <functional>
#include <random>
#include <thread>

#include "api/registered.h"
#include "env/rocksdb/env_as_clock.h"
#include "env/rocksdb/env_as_file_system.h"
#include "env/rocksdb/env_logger.h"

namespace rocksdb {

// As DBOptions() would set them.
EnvOptions::EnvOptions()
    : use_mmap_writes(false), random_access_max_buffer_size(1024 * 1024) {}

Env::Env()
    : thread_status_updater_(nullptr),
      file_system_(std::make_shared<compassdb::EnvAsFileSystem>(this)),
      system_clock_(std::make_shared<compassdb::EnvAsClock>(this)) {}
Env::Env(const std::shared_ptr<FileSystem>& fs)
    : thread_status_updater_(nullptr),
      file_system_(fs),
      system_clock_(std::make_shared<compassdb::EnvAsClock>(this)) {}
Env::Env(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock)
    : thread_status_updater_(nullptr), file_system_(fs), system_clock_(clock) {}
Env::~Env() = default;

Status Env::LoadEnv(const std::string& value, Env** result) {
  return CreateFromString(ConfigOptions(), value, result);
}
Status Env::LoadEnv(const std::string& value, Env** result, std::shared_ptr<Env>* guard) {
  return CreateFromString(ConfigOptions(), value, result, guard);
}
Status Env::CreateFromString(const ConfigOptions& config, const std::string& value, Env** result) {
  Status s;
  if (compassdb::FindRegistered<Env>(config, value, result, &s)) return s;
  if (value.empty() || value == kDefaultName() || value == "posix") {
    *result = Default();
    return Status::OK();
  }
  return compassdb::UnknownObject(config, "Environment", value);
}
Status Env::CreateFromString(const ConfigOptions& config, const std::string& value, Env** result,
                             std::shared_ptr<Env>* guard) {
  std::unique_ptr<Env> made;
  Status s = compassdb::RegistryOf(config)->NewObject(value, result, &made);
  if (s.ok()) *guard = std::move(made);
  if (!s.IsNotSupported()) return s;
  if (value == "mem" || value == "MemEnv") {
    guard->reset(NewMemEnv(Default()));
    *result = guard->get();
    return Status::OK();
  }
  guard->reset();
  return CreateFromString(config, value, result);
}
Status NewEnvLogger(const std::string& fname, Env* env, std::shared_ptr<Logger>* result) {
  return compassdb::NewEnvLogger(env, fname, result);
}

std::string Env::PriorityToString(Priority priority) {
  switch (priority) {
    case BOTTOM: return "Bottom";
    case LOW: return "Low";
    case HIGH: return "High";
    case USER: return "User";
    case TOTAL: break;
  }
  return "Invalid";
}

Status Env::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                              std::unique_ptr<WritableFile>* result, const EnvOptions& options) {
  Status s = RenameFile(old_fname, fname);
  return s.ok() ? NewWritableFile(fname, result, options) : s;
}

Status Env::GetChildrenFileAttributes(const std::string& dir,
                                      std::vector<FileAttributes>* result) {
  std::vector<std::string> names;
  result->clear();
  Status s = GetChildren(dir, &names);
  if (!s.ok()) return s;
  for (std::string& name : names) {
    FileAttributes attributes;
    s = GetFileSize(dir + "/" + name, &attributes.size_bytes);
    if (!s.ok()) {
      // Deleted since it was listed.
      if (FileExists(dir + "/" + name).IsNotFound()) continue;
      bool is_dir = false;
      if (!IsDirectory(dir + "/" + name, &is_dir).ok() || !is_dir) return s;
      attributes.size_bytes = 0;
    }
    attributes.name = std::move(name);
    result->push_back(std::move(attributes));
  }
  return Status::OK();
}

Status Env::NewLogger(const std::string& fname, std::shared_ptr<Logger>* result) {
  return compassdb::NewEnvLogger(this, fname, result);
}

Status Env::GetHostNameString(std::string* result) {
  char name[kMaxHostNameLen + 1] = {};
  Status s = GetHostName(name, kMaxHostNameLen);
  if (s.ok()) result->assign(name);
  return s;
}

// A random (version 4) UUID.
std::string Env::GenerateUniqueId() {
  std::random_device device;
  std::array<unsigned char, 16> bytes;
  for (size_t i = 0; i < bytes.size(); i += 4) {
    const uint32_t word = device();
    for (size_t j = 0; j < 4; ++j) bytes[i + j] = static_cast<unsigned char>(word >> (8 * j));
  }
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string id;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) id.push_back('-');
    char hex[3];
    snprintf(hex, sizeof(hex), "%02x", bytes[i]);
    id += hex;
  }
  return id;
}

// One set of options is used for all kinds of files. An Env may override these.
// The engine sets its own write-back intervals.
EnvOptions Env::OptimizeForLogRead(const EnvOptions& env_options) const {
  EnvOptions optimized(env_options);
  optimized.use_direct_reads = false;  // logs are read once, from front to back
  return optimized;
}
EnvOptions Env::OptimizeForManifestRead(const EnvOptions& env_options) const {
  return OptimizeForLogRead(env_options);
}
EnvOptions Env::OptimizeForLogWrite(const EnvOptions& env_options, const DBOptions&) const {
  return env_options;
}
EnvOptions Env::OptimizeForManifestWrite(const EnvOptions& env_options) const {
  return env_options;
}
EnvOptions Env::OptimizeForCompactionTableWrite(const EnvOptions& env_options,
                                                const ImmutableDBOptions&) const {
  return env_options;
}
EnvOptions Env::OptimizeForCompactionTableRead(const EnvOptions& env_options,
                                               const ImmutableDBOptions&) const {
  return env_options;
}
EnvOptions Env::OptimizeForBlobFileRead(const EnvOptions& env_options,
                                        const ImmutableDBOptions&) const {
  return env_options;
}

uint64_t Env::GetThreadID() const {
  return std::hash<std::thread::id>()(std::this_thread::get_id());
}
const std::shared_ptr<FileSystem>& Env::GetFileSystem() const { return file_system_; }
const std::shared_ptr<SystemClock>& Env::GetSystemClock() const { return system_clock_; }

SequentialFile::~SequentialFile() = default;
RandomAccessFile::~RandomAccessFile() = default;
WritableFile::~WritableFile() = default;
MemoryMappedFileBuffer::~MemoryMappedFileBuffer() = default;
FileLock::~FileLock() = default;

Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname,
                         bool should_sync) {
  std::unique_ptr<WritableFile> file;
  Status s = env->NewWritableFile(fname, &file, EnvOptions());
  if (!s.ok()) return s;
  s = file->Append(data);
  if (s.ok() && should_sync) s = file->Sync();
  if (s.ok()) s = file->Close();
  file.reset();
  if (!s.ok()) env->DeleteFile(fname).PermitUncheckedError();  // the first error counts
  return s;
}

Status ReadFileToString(Env* env, const std::string& fname, std::string* data) {
  data->clear();
  std::unique_ptr<SequentialFile> file;
  Status s = env->NewSequentialFile(fname, &file, EnvOptions());
  if (!s.ok()) return s;
  std::string buffer(64 << 10, '\0');
  while (true) {
    Slice fragment;
    s = file->Read(buffer.size(), &fragment, buffer.data());
    if (!s.ok() || fragment.empty()) return s;
    data->append(fragment.data(), fragment.size());
  }
}

EnvWrapper::EnvWrapper(Env* t) : target_(t) {}
EnvWrapper::EnvWrapper(std::unique_ptr<Env>&& t) : target_(std::move(t)) {}
EnvWrapper::EnvWrapper(const std::shared_ptr<Env>& t) : target_(t) {}
EnvWrapper::~EnvWrapper() = default;

Status EnvWrapper::PrepareOptions(const ConfigOptions& options) {
  target_.Prepare();
  return Env::PrepareOptions(options);
}
std::string EnvWrapper::SerializeOptions(const ConfigOptions& config_options,
                                         const std::string& header) const {
  return Env::SerializeOptions(config_options, header);
}

}  // namespace rocksdb
