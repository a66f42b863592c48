// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/table_properties.h"

namespace ROCKSDB_NAMESPACE {

// Reads a table outside a database. One thread at a time, iterators excepted.
class SstFileReader {
 public:
  // Comparator, merge operator and table factory of the options must be those that it was written
  // with.
  SstFileReader(const Options& options);
  ~SstFileReader();

  // Once, before everything else.
  Status Open(const std::string& file_path);

  // The caller deletes it, before this object.
  Iterator* NewIterator(const ReadOptions& options);

  // REQUIRES: Open() returned OK.
  std::shared_ptr<const TableProperties> GetTableProperties() const;

  // Reads every block.
  Status VerifyChecksum(const ReadOptions& /*read_options*/);
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ROCKSDB_NAMESPACE
