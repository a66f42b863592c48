// SPDX-License-Identifier: Apache-2.0
//
// Encrypted databases that notice changes of their files.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rocksdb/env_encryption.h"

namespace compassdb {

// A provider for rocksdb::NewEncryptedEnv that seals every write with AES-256-GCM (OpenSSL), under a
// nonce of its own, which is stored with it, and a key per file, which is derived from `key`
// (32 bytes) and 16 random bytes in the file's header (docs/formats/sealed_file.md).
//
// Reads of changed bytes return Corruption; so do reads from front to back of a file whose last
// write was cut off. Not hidden: names, sizes and times of files,
// LOG, and SYNCED, which says how far the logs were synced. Not noticed: a whole file that was put back to an
// earlier state, or a file that lost its end, if the database does not know its size (the newest log, if
// SYNCED was changed as well).
//
// AddCipher adds further keys of 32 bytes. A file names its key, so a database moves to a new key as
// its files are rewritten. Opening a file without its key is InvalidArgument. The cost is
// 20 bytes per write, 16 per 4 KiB of it, and a sync of the header per file.
//
// InvalidArgument if the key has another length. Thread-safe.
rocksdb::Status NewSealingProvider(const std::string& key,
                                   std::shared_ptr<rocksdb::EncryptionProvider>* provider);

// The same with keys that the application keeps. The function is called when a key is
// needed. Id 0 asks for the key of a new file, which may differ between calls. Another id
// (SealingKeyId) asks once for its key, for files that were encrypted with it. Another status than OK fails the
// call that needed the key (NotFound, Corruption and others that would describe the file or the
// database become InvalidArgument). The function is called by any thread, also by several at once,
// and must not use the database.
using KeyCallback = std::function<rocksdb::Status(uint64_t id, std::string* key)>;
rocksdb::Status NewSealingProvider(KeyCallback keys,
                                   std::shared_ptr<rocksdb::EncryptionProvider>* provider);

// The id by which files name a key of 32 bytes. 0 for a key of another length.
uint64_t SealingKeyId(const std::string& key);

}  // namespace compassdb
