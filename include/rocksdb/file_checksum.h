// SPDX-License-Identifier: Apache-2.0
//
// Checksums of whole files, recorded in the manifest and checked by backups and ingestion.

#pragma once

#include <cassert>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/customizable.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// What a file without a checksum has.
constexpr char kUnknownFileChecksum[] = "";
constexpr char kUnknownFileChecksumFuncName[] = "Unknown";

// The name of the built-in function: CRC-32C, four bytes, the most significant first.
constexpr char kStandardDbFileChecksumFuncName[] = "FileChecksumCrc32c";

// What a factory may choose a function by.
struct FileChecksumGenContext {
  std::string file_name;
  // Name of the function that is wanted; empty if any will do.
  std::string requested_checksum_func_name;
};

// Computes the checksum of one file. One thread at a time.
class FileChecksumGenerator {
 public:
  virtual ~FileChecksumGenerator() {}

  // The next n bytes of the file.
  virtual void Update(const char* data, size_t n) = 0;

  // After the last byte, once.
  virtual void Finalize() = 0;

  // The bytes of the checksum. REQUIRES: Finalize() was called.
  virtual std::string GetChecksum() const = 0;

  // Stored next to the checksum.
  virtual const char* Name() const = 0;
};

// Thread safety: called from many threads at once.
class FileChecksumGenFactory : public Customizable {
 public:
  ~FileChecksumGenFactory() override {}
  static const char* Type() { return "FileChecksumGenFactory"; }

  // Makes a built-in or registered factory by name.
  static Status CreateFromString(
      const ConfigOptions& options, const std::string& value,
      std::shared_ptr<FileChecksumGenFactory>* result);

  // Null if the requested function is not known.
  virtual std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) = 0;
  const char* Name() const override = 0;
};

// Checksums of the files of a database, by file number. One thread at a time.
class FileChecksumList {
 public:
  virtual ~FileChecksumList() {}

  // Forgets everything.
  virtual void reset() = 0;
  virtual size_t size() const = 0;

  // Three vectors of the same length and order.
  virtual Status GetAllFileChecksums(
      std::vector<uint64_t>* file_numbers, std::vector<std::string>* checksums,
      std::vector<std::string>* checksum_func_names) = 0;

  // NotFound if there is no such file.
  virtual Status SearchOneFileChecksum(uint64_t file_number,
                                       std::string* checksum,
                                       std::string* checksum_func_name) = 0;

  // Replaces what was known.
  virtual Status InsertOneFileChecksum(
      uint64_t file_number, const std::string& checksum,
      const std::string& checksum_func_name) = 0;

  // NotFound if there is no such file.
  virtual Status RemoveOneFileChecksum(uint64_t file_number) = 0;
};

// Empty; the caller deletes it.
extern FileChecksumList* NewFileChecksumList();

// The built-in function.
extern std::shared_ptr<FileChecksumGenFactory>
GetFileChecksumGenCrc32cFactory();

}  // namespace ROCKSDB_NAMESPACE
