// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "iter/compaction_iterator.h"
#include "manifest/version_edit.h"

namespace compassdb {

struct JobReport;

// Notified of a job's progress, by the threads that do the work, without locks. (A thread that needs a file
// which is being created waits for FileBegins.)
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  // A file is about to be created; `values`: for the value store.
  virtual void FileBegins(const std::string& path, bool values) = 0;
  // For a job that threads share: the files that they have written, and their contents. Before PartEnds.
  virtual void FilesEnd(const JobReport& done) = 0;
  // For such a job: the part of one thread, counted from 0.
  virtual void PartBegins(int part) = 0;
  // `done` names the files that the part has written to, if status is OK, with the part's bytes in them.
  virtual void PartEnds(int part, const JobReport& done, const Status& status) = 0;
};

// What a flush or compaction did, for listeners, statistics and LOG.
struct JobReport {
  JobObserver* observer = nullptr;  // set by the caller that runs the job
  int input_level = 0;
  int output_level = 0;
  std::string reason;
  bool trivial_move = false;
  bool full = false;  // all tables of the family take part
  uint64_t bytes_read = 0;       // data and index bytes read, separated values, too
  // Of it, of tables that the job merged into: their lists of hashes, the pieces that it collected, and
  // whole tables, as those that it cut. The rest is the delta, and separated values.
  uint64_t hash_list_bytes_read = 0;
  uint64_t piece_bytes_read = 0;
  uint64_t whole_bytes_read = 0;
  uint64_t bytes_written = 0;    // compaction file bytes, the value store's, too
  uint64_t values_read = 0;      // separated values: by collections, for filters and for merges
  uint64_t value_bytes_read = 0;
  uint64_t bytes_in_upper = 0;   // live delta bytes that came from the input level
  uint64_t records_in = 0;
  uint64_t records_out = 0;
  CompactionIteratorStats merged;  // of jobs that merge
  uint64_t range_tombstones_dropped = 0;  // nothing is below; one per region that drops it
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;  // of all threads of the job
  std::vector<uint64_t> input_files;   // physical
  std::vector<uint64_t> output_files;
  // Their names: a file may be deleted before listeners are notified.
  std::vector<std::string> input_paths;
  std::vector<std::string> output_paths;
  std::vector<int> input_file_levels;   // as input_files: of the first table there that takes part
  std::vector<uint64_t> output_bytes;   // as output_files: their sizes
  std::vector<TphMeta> inputs;          // only for an observer
  // A file of the value store; not among the above.
  struct ValueFile {
    uint64_t number = 0;
    std::string path;
    uint64_t values = 0;
    uint64_t bytes = 0;
  };
  std::vector<ValueFile> value_files;
  std::vector<ValueFile> value_garbage;  // of existing files: what the job moved away from them or dropped
  std::vector<TphMeta> outputs;
  std::vector<FileChecksum> checksums;  // of the new files; empty: they have none

  // Null: the file has none.
  const FileChecksum* ChecksumOf(uint64_t file_number) const {
    for (const FileChecksum& c : checksums) {
      if (c.file_number == file_number) return &c;
    }
    return nullptr;
  }
  uint64_t value_bytes_written() const {
    uint64_t bytes = 0;
    for (const ValueFile& file : value_files) bytes += file.bytes;
    return bytes;
  }
  void AddFile(uint64_t number, const std::string& path, uint64_t bytes) {
    output_files.push_back(number);
    output_paths.push_back(path);
    output_bytes.push_back(bytes);
    bytes_written += bytes;
  }
  void AddMerged(const CompactionIteratorStats& records) {
    records_in += records.records_in;
    records_out += records.records_out;
    AddValuesRead(records.values_read, records.value_bytes_read);
    merged.Add(records);
  }
  // `part`: one of the fields above.
  void AddBaseRead(uint64_t JobReport::*part, uint64_t bytes) {
    bytes_read += bytes;
    this->*part += bytes;
  }
  void AddValuesRead(uint64_t values, uint64_t bytes) {
    bytes_read += bytes;
    values_read += values;
    value_bytes_read += bytes;
  }
  // The work of a part of the job, without the files, which are the whole job's.
  void Add(const JobReport& part) {
    bytes_read += part.bytes_read;
    hash_list_bytes_read += part.hash_list_bytes_read;
    piece_bytes_read += part.piece_bytes_read;
    whole_bytes_read += part.whole_bytes_read;
    values_read += part.values_read;
    value_bytes_read += part.value_bytes_read;
    records_in += part.records_in;
    records_out += part.records_out;
    merged.Add(part.merged);
    range_tombstones_dropped += part.range_tombstones_dropped;
    outputs.insert(outputs.end(), part.outputs.begin(), part.outputs.end());
  }
};

}  // namespace compassdb
