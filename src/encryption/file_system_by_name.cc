// SPDX-License-Identifier: Apache-2.0
// File systems by their names, and the Env of one: here, as an encrypted one is among them.
#include "api/option_string.h"
#include "api/registered.h"
#include "env/rocksdb/composite_env.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/file_system.h"

namespace rocksdb {

namespace {

// A request for encryption never returns an unencrypted file system, even if `config` ignores errors
Status MakeEncrypted(ConfigOptions config, const std::string& value, compassdb::OptionMap options,
                     std::shared_ptr<FileSystem>* result) {
  config.ignore_unsupported_options = false;
  const auto take = [&](const char* name) {
    const auto given = options.find(name);
    if (given == options.end()) return std::string();
    std::string text = given->second;
    options.erase(given);
    return text;
  };
  std::shared_ptr<EncryptionProvider> provider;
  Status s = EncryptionProvider::CreateFromString(config, take("provider"), &provider);
  std::shared_ptr<FileSystem> target;
  if (s.ok()) s = FileSystem::CreateFromString(config, take("target"), &target);
  if (!s.ok()) return s;
  if (!options.empty()) return compassdb::UnknownOption(value, options);
  if (provider == nullptr) return Status::NotFound("Missing configurable object", "provider");
  *result = NewEncryptedFS(target != nullptr ? target : FileSystem::Default(), provider);
  return Status::OK();
}

}  // namespace

Status FileSystem::CreateFromString(const ConfigOptions& config, const std::string& value,
                                    std::shared_ptr<FileSystem>* result) {
  Status s;
  if (compassdb::NewRegistered<FileSystem>(config, value, result, &s)) return s;
  std::string id;
  compassdb::OptionMap options;
  if (value.find('=') != std::string::npos) {  // no name: it may ask for encryption
    if (s = compassdb::ParseOptionString(value, &options); !s.ok()) return s;
  }
  compassdb::ParseObjectString(value, "", &id, &options);
  if (id == EncryptedFileSystem::kClassName()) return MakeEncrypted(config, value, std::move(options), result);
  if (id.empty() && options.empty()) {
    result->reset();
    return Status::OK();
  }
  if (options.empty() && (id == kDefaultName() || id == "posix" || id == "PosixFileSystem")) {
    *result = Default();
    return Status::OK();
  }
  return compassdb::UnknownObject(config, "FileSystem", value);
}

Status FileSystem::Load(const std::string& value, std::shared_ptr<FileSystem>* result) {
  return CreateFromString(ConfigOptions(), value, result);
}

Status Env::CreateFromUri(const ConfigOptions& options, const std::string& env_uri,
                          const std::string& fs_uri, Env** result, std::shared_ptr<Env>* guard) {
  if (!env_uri.empty() && !fs_uri.empty()) {
    return Status::InvalidArgument("cannot specify both fs_uri and env_uri");
  }
  *result = options.env;  // the id is unknown, and that is ignored
  if (fs_uri.empty()) return CreateFromString(options, env_uri, result, guard);
  guard->reset();
  std::shared_ptr<FileSystem> fs;
  Status s = FileSystem::CreateFromString(options, fs_uri, &fs);
  if (!s.ok() || fs == nullptr) return s;
  *guard = std::make_shared<compassdb::CompositeEnv>(std::move(fs), options.env);
  *result = guard->get();
  return s;
}

}  // namespace rocksdb
