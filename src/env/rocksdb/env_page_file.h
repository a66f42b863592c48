// SPDX-License-Identifier: Apache-2.0
// Files written in place, between the engine's PageFile and rocksdb::RandomRWFile.
#pragma once

#include <memory>
#include <string>

#include "env/file_system.h"
#include "rocksdb/env.h"

namespace compassdb {

// The user's RandomRWFile as the engine sees it: one call at a time, as that class requires. The Env
// sets sizes by the file's name. NotSupported, without a trace on the disk, from an Env that has no
// such files. `env` outlives the result.
Status OpenEnvPageFile(rocksdb::Env* env, const std::string& path, const FileOptions& options,
                       bool create, std::unique_ptr<PageFile>* file);

// One of the engine's files as users see it.
std::unique_ptr<rocksdb::RandomRWFile> NewRandomRWFileOf(const std::string& path,
                                                         std::unique_ptr<PageFile> file);

// Names the file in an error of a foreign environment, which does not always do so.
Status Named(const Status& s, const char* operation, const std::string& path);

}  // namespace compassdb
