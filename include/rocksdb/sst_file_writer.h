// SPDX-License-Identifier: Apache-2.0
//
// Writes tables outside a database, for DB::IngestExternalFile().

#pragma once

#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/types.h"
#if defined(__GNUC__) || defined(__clang__)
#define ROCKSDB_DEPRECATED_FUNC __attribute__((__deprecated__))
#elif _WIN32
#define ROCKSDB_DEPRECATED_FUNC __declspec(deprecated)
#endif

namespace ROCKSDB_NAMESPACE {

class Comparator;

// A table that was written.
struct ExternalSstFileInfo {
  ExternalSstFileInfo()
      : file_path(""),
        smallest_key(""),
        largest_key(""),
        smallest_range_del_key(""),
        largest_range_del_key(""),
        file_checksum(""),
        file_checksum_func_name(""),
        sequence_number(0),
        file_size(0),
        num_entries(0),
        num_range_del_entries(0),
        version(0) {}
  ExternalSstFileInfo(const std::string& _file_path,
                      const std::string& _smallest_key,
                      const std::string& _largest_key,
                      SequenceNumber _sequence_number, uint64_t _file_size,
                      int32_t _num_entries, int32_t _version)
      : file_path(_file_path),
        smallest_key(_smallest_key),
        largest_key(_largest_key),
        smallest_range_del_key(""),
        largest_range_del_key(""),
        file_checksum(""),
        file_checksum_func_name(""),
        sequence_number(_sequence_number),
        file_size(_file_size),
        num_entries(_num_entries),
        num_range_del_entries(0),
        version(_version) {}
  std::string file_path;

  // User keys.
  std::string smallest_key;
  std::string largest_key;
  std::string smallest_range_del_key;
  std::string largest_range_del_key;
  std::string file_checksum;
  std::string file_checksum_func_name;

  // The sequence of all its entries.
  SequenceNumber sequence_number;

  // Bytes.
  uint64_t file_size;
  uint64_t num_entries;
  uint64_t num_range_del_entries;

  // The format's version.
  int32_t version;
};

// One thread at a time. Open, add entries in order, finish.
class SstFileWriter {
 public:
  // The column family, if given, decides the options of the table, and the file fits only that.
  // invalidate_page_cache: advise the system, now and then, that the file is not needed in memory.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                ColumnFamilyHandle* column_family = nullptr,
                bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL,
                bool skip_filters = false)
      : SstFileWriter(env_options, options, options.comparator, column_family,
                      invalidate_page_cache, io_priority, skip_filters) {}
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                const Comparator* user_comparator,
                ColumnFamilyHandle* column_family = nullptr,
                bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL,
                bool skip_filters = false);

  // An unfinished file is left incomplete.
  ~SstFileWriter();

  // Makes the file; an existing one is replaced.
  Status Open(const std::string& file_path);

  // Keys must come in the order of the comparator, each once; otherwise InvalidArgument. Range
  // deletions may come in any order.
  ROCKSDB_DEPRECATED_FUNC Status Add(const Slice& user_key, const Slice& value);
  Status Put(const Slice& user_key, const Slice& value);
  Status Put(const Slice& user_key, const Slice& timestamp, const Slice& value);
  Status Merge(const Slice& user_key, const Slice& value);
  Status Delete(const Slice& user_key);
  Status Delete(const Slice& user_key, const Slice& timestamp);
  Status DeleteRange(const Slice& begin_key, const Slice& end_key);
  Status DeleteRange(const Slice& begin_key, const Slice& end_key,
                     const Slice& timestamp);

  // Completes and syncs the file. InvalidArgument if it has no entries.
  Status Finish(ExternalSstFileInfo* file_info = nullptr);

  // Bytes so far.
  uint64_t FileSize();

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ROCKSDB_NAMESPACE
