// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// What a compaction did. Sizes in bytes.
struct CompactionJobStats {
  CompactionJobStats() { Reset(); }

  // Everything to 0, empty or false.
  void Reset();

  // Adds up; flags are or-ed.
  void Add(const CompactionJobStats& stats);

  // Time that passed, and CPU time.
  uint64_t elapsed_micros;
  uint64_t cpu_micros;

  // What was read, and what was written.
  uint64_t num_input_records;
  uint64_t num_blobs_read;
  size_t num_input_files;
  size_t num_input_files_at_output_level;
  uint64_t num_output_records;
  size_t num_output_files;
  size_t num_output_files_blob;
  bool is_full_compaction;
  bool is_manual_compaction;
  uint64_t total_input_bytes;
  uint64_t total_blob_bytes_read;
  uint64_t total_output_bytes;
  uint64_t total_output_bytes_blob;

  // Entries hidden by newer ones.
  uint64_t num_records_replaced;

  // Before compression.
  uint64_t total_input_raw_key_bytes;
  uint64_t total_input_raw_value_bytes;

  // Deletions, and those that were dropped because nothing is below.
  uint64_t num_input_deletion_records;
  uint64_t num_expired_deletion_records;

  // Entries whose keys do not parse.
  uint64_t num_corrupt_keys;

  // Times, if report_bg_io_stats is set.
  uint64_t file_write_nanos;
  uint64_t file_range_sync_nanos;
  uint64_t file_fsync_nanos;
  uint64_t file_prepare_write_nanos;

  // Ends of the key range that was written, cut to this length.
  static const size_t kMaxPrefixLength = 8;
  std::string smallest_output_key_prefix;
  std::string largest_output_key_prefix;

  // SingleDeletes that met nothing; that met something other than one value.
  uint64_t num_single_del_fallthru;
  uint64_t num_single_del_mismatch;
};

}  // namespace ROCKSDB_NAMESPACE
