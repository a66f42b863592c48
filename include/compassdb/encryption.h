// SPDX-License-Identifier: Apache-2.0
//
// Encrypted databases whose files cannot be changed unnoticed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rocksdb/env_encryption.h"

namespace compassdb {

// A provider for rocksdb::NewEncryptedEnv that seals every write with AES-256-GCM (OpenSSL) under a
// nonce of its own, which is stored with it, and a key of the file, which is derived from `key`
// (32 bytes) and 16 random bytes in the file's header (docs/formats/sealed_file.md).
//
// Reads of anything that was changed answer Corruption, also those from front to back of a file whose last
// write was cut off. What is not hidden: names, sizes and times of
// files, LOG, and SYNCED, which says how far the logs were synced. What is not noticed: a file that was put back to an
// earlier state of itself as a whole, or that lost its end, where the database does not know its size (the newest log,
// by who changes SYNCED as well).
//
// AddCipher adds further keys of 32 bytes; files tell which one they need, so that a database moves
// to a new key as its files are rewritten; without the one that it needs, opening a file is InvalidArgument.
// Costs 20 bytes per write, 16 per 4 KiB of it, and a sync per file, of its header.
//
// InvalidArgument if the key has another length. Thread-safe.
rocksdb::Status NewSealingProvider(const std::string& key,
                                   std::shared_ptr<rocksdb::EncryptionProvider>* provider);

// The same with keys that the application keeps, asked for when they are needed: with id 0 the key for a file that
// is made now, which may change from one call to the next; else the key of that id (SealingKeyId), once, for
// files that were sealed with it. What it answers but OK fails the call that needed the key (NotFound, Corruption and
// others that would speak of the file or the database, as InvalidArgument). May be called by
// any thread, also by several at once, and must not use the database.
using KeyCallback = std::function<rocksdb::Status(uint64_t id, std::string* key)>;
rocksdb::Status NewSealingProvider(KeyCallback keys,
                                   std::shared_ptr<rocksdb::EncryptionProvider>* provider);

// By which files name the key of 32 bytes that they need. 0 for a key of another length.
uint64_t SealingKeyId(const std::string& key);

}  // namespace compassdb
