// SPDX-License-Identifier: Apache-2.0
// The application's TablePropertiesCollectors of one piece: a piece is to them what a table is in
// RocksDB, an immutable run of records that is written once.
//
// Thread safety: none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "rocksdb/table_properties.h"

namespace compassdb {

using CollectorFactories = std::vector<std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>>;

// What collectors said of a piece.
struct CollectedProperties {
  rocksdb::UserCollectedProperties properties;
  rocksdb::UserCollectedProperties readable;  // empty once the piece was read back
  std::string collectors;                     // "[name,name]"; empty if there were none
};

class PieceCollectors {
 public:
  // `report` (may be empty) is called when a collector fails; the piece is written anyway.
  PieceCollectors(const CollectorFactories& factories,
                  rocksdb::TablePropertiesCollectorFactory::Context context,
                  std::function<void(const std::string&)> report);

  void Add(const Slice& user_key, const Slice& value, ValueType type, SequenceNumber sequence,
           uint64_t bytes_written);
  void AddBlock(uint64_t uncompressed_bytes);
  // Once. True if a collector requests a compaction of the piece.
  bool Finish(CollectedProperties* collected);

 private:
  void Note(const rocksdb::TablePropertiesCollector& collector, const rocksdb::Status& s);

  std::vector<std::unique_ptr<rocksdb::TablePropertiesCollector>> collectors_;
  std::string names_;
  const std::function<void(const std::string&)> report_;
};

}  // namespace compassdb
