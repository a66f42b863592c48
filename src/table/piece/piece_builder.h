// SPDX-License-Identifier: Apache-2.0
// Writes one piece into a compaction file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compassdb/data_order.h"
#include "filter/table_filter.h"
#include "format/internal_key.h"
#include "format/key_hash.h"
#include "format/range_tombstone.h"
#include "perfect_hash/build_options.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/statistics.h"
#include "table/file/compaction_file.h"
#include "table/piece/piece_collectors.h"
#include "table/piece/piece_hashes.h"
#include "table/piece/piece_meta.h"

namespace compassdb {

struct PieceBuildOptions {
  const Comparator* comparator = nullptr;  // of user keys
  KeyHasher hasher;
  size_t block_size = 4096;  // target for a block's payload before compression, bytes
  // Percent of block_size. A block with less free space than this is closed if the next record would exceed
  // block_size. Another block takes the record that exceeds it. 0: every block does.
  uint32_t block_size_deviation = 10;
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
  int compression_level = 32767;  // RocksDB's "default level"
  rocksdb::Statistics* statistics = nullptr;
  // If equal keys may have different bytes, pieces are in key order.
  DataOrder data_order = DataOrder::kKey;
  perfect_hash::BuildOptions function;  // of slot order; its seed is the hasher's
  // Slot and hash order hold a piece's records in memory. A piece with more bytes than this in keys
  // and values is written in key order.
  uint64_t max_held_bytes = uint64_t{512} << 20;
  // False: in key order the piece has no hash list. For tables without a directory.
  bool hash_list = true;
  // May be null: no filter.
  const FilterOptions* filter = nullptr;
  FilterPlace filter_place;
  // The application's collectors get every record (piece_collectors.h); null: there are none.
  const CollectorFactories* collectors = nullptr;
  rocksdb::TablePropertiesCollectorFactory::Context collector_context{
      0, rocksdb::TablePropertiesCollectorFactory::Context::kUnknownLevelAtCreation};
  std::function<void(const std::string&)> log;  // one line; may be empty
};

// One thread at a time. A piece is one extent: unless the file is shared (extent_writer.h), nothing else
// may be appended to it between the first Add and Finish.
class PieceBuilder {
 public:
  PieceBuilder(const PieceBuildOptions& options, CompactionFileWriter* file, uint64_t piece_id);
  ~PieceBuilder();
  PieceBuilder(const PieceBuilder&) = delete;
  PieceBuilder& operator=(const PieceBuilder&) = delete;

  // Internal keys in strictly increasing order. `stale` counts only for the
  // first record of a user key.
  Status Add(const Slice& internal_key, const Slice& value, bool stale = false);
  void AddRangeTombstone(const RangeTombstone& tombstone);
  bool empty() const;              // neither records nor tombstones
  uint64_t EstimatedBytes() const; // data bytes so far, the open block included
  // Writes the rest; meta and hashes describe the piece (the caller has set
  // meta->creation_time). No other method may be
  // called afterwards. An unfinished builder may leave bytes in the file that
  // nothing names.
  Status Finish(PieceMeta* meta, PieceHashes* hashes);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace compassdb
