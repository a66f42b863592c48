// SPDX-License-Identifier: Apache-2.0
//
// Formats of tables, and the options of the default one.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "rocksdb/cache.h"
#include "rocksdb/customizable.h"
#include "rocksdb/env.h"
#include "rocksdb/later_option.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Cache;
class FilterPolicy;
class FlushBlockPolicyFactory;
class PersistentCache;
class RandomAccessFile;
struct TableReaderOptions;
struct TableBuilderOptions;
class TableBuilder;
class TableFactory;
class TableReader;
class WritableFileWriter;
struct ConfigOptions;
struct EnvOptions;

// Checksum of each block. Stored with it.
enum ChecksumType : char {
  kNoChecksum = 0x0,
  kCRC32c = 0x1,
  kxxHash = 0x2,
  kxxHash64 = 0x3,
  kXXH3 = 0x4,
};

// Which blocks of metadata stay in the cache as long as their table is open.
enum class PinningTier {
  // As the older pin_* options say.
  kFallback,
  kNone,
  // For tables that were just flushed, and others of about their size.
  kFlushedAndSimilar,
  kAll,
};

// Pinning by kind of block.
struct MetadataCacheOptions {
  // The upper part of an index or filter that is in parts.
  PinningTier top_level_index_pinning = PinningTier::kFallback;

  // The parts.
  PinningTier partition_pinning = PinningTier::kFallback;

  // Indexes, directories and filters that are in one piece.
  PinningTier unpartitioned_pinning = PinningTier::kFallback;
};

// Whether memory of a kind is charged to the block cache.
struct CacheEntryRoleOptions {
  enum class Decision {
    kEnabled,
    kDisabled,
    kFallback,
  };
  Decision charged = Decision::kFallback;
  bool operator==(const CacheEntryRoleOptions& other) const {
    return charged == other.charged;
  }
};

// For all kinds, and exceptions by kind.
struct CacheUsageOptions {
  CacheEntryRoleOptions options;
  std::map<CacheEntryRole, CacheEntryRoleOptions> options_overrides;
};

// Options of the default format. The names are those of RocksDB; where the engine's tables have a
// perfect-hash directory, "index" and "filter" both stand for it.
struct BlockBasedTableOptions {
  static const char* kName() { return "BlockTableOptions"; };

  // When a block is full; null for by size.
  std::shared_ptr<FlushBlockPolicyFactory> flush_block_policy_factory;

  // Keep metadata in the block cache; otherwise it is in memory as long as the table is open.
  bool cache_index_and_filter_blocks = false;

  // With the priority that scans do not push out.
  bool cache_index_and_filter_blocks_with_high_priority = true;

  // That of level 0 stays there.
  bool pin_l0_filter_and_index_blocks_in_cache = false;

  // The upper part of metadata that is in parts stays there.
  bool pin_top_level_index_and_filter = true;

  // Finer, and overrides the two before.
  MetadataCacheOptions metadata_cache_options;

  // How a block is found.
  enum IndexType : char {
    kBinarySearch = 0x00,
    // By hash of the prefix, too.
    kHashSearch = 0x01,
    // In two levels, for large tables.
    kTwoLevelIndexSearch = 0x02,
    // With the first key of each block, so that short scans need not read blocks early.
    kBinarySearchWithFirstKey = 0x03,
  };
  IndexType index_type = kBinarySearch;

  // How an entry is found in its block.
  enum DataBlockIndexType : char {
    kDataBlockBinarySearch = 0,
    kDataBlockBinaryAndHash = 1,
  };
  DataBlockIndexType data_block_index_type = kDataBlockBinarySearch;

  // Entries per slot of a block's hash table.
  double data_block_hash_table_util_ratio = 0.75;

  // For new tables.
  ChecksumType checksum = kXXH3;

  // Do not cache blocks. block_cache must then be null.
  bool no_block_cache = false;

  // Cache of uncompressed blocks, which may be shared; null for a 32 MiB one of its own.
  std::shared_ptr<Cache> block_cache = nullptr;

  // A further tier on a fast device; null for none.
  std::shared_ptr<PersistentCache> persistent_cache = nullptr;

  // Cache of compressed blocks; null for none.
  std::shared_ptr<Cache> block_cache_compressed = nullptr;

  // Bytes of uncompressed data per block, about.
  uint64_t block_size = 4 * 1024;

  // A block that is full except for this many per cent is closed if the next entry would exceed it.
  int block_size_deviation = 10;

  // Entries between restart points of delta encoding, in data and in index blocks.
  int block_restart_interval = 16;
  int index_block_restart_interval = 1;

  // Bytes per part of metadata that is in parts.
  uint64_t metadata_block_size = 4096;

  // Charging of memory.
  CacheUsageOptions cache_usage_options;

  // Keep filters in parts; with kTwoLevelIndexSearch.
  bool partition_filters = false;

  // Choose filter sizes that waste no memory of the allocator's.
  bool optimize_filters_for_memory = false;

  // Keys are stored without what they share with the one before.
  bool use_delta_encoding = true;

  // Values of a data block are stored behind its keys.
  compassdb::LaterOption<bool, false> separate_key_value_in_data_block;

  // Filters for keys that do not exist; null for none.
  std::shared_ptr<const FilterPolicy> filter_policy = nullptr;

  // Filters hold whole keys, in addition to prefixes.
  bool whole_key_filtering = true;

  // Check filters after building them.
  bool detect_filter_construct_corruption = false;

  // Decompress and compare each block after compressing it.
  bool verify_compression = false;

  // Measure which bytes of blocks are used, at this many bytes per bit of memory; 0 for not at all.
  uint32_t read_amp_bytes_per_bit = 0;

  // Version of the format for new tables. All versions can be read.
  uint32_t format_version = 5;

  // Compress metadata, too.
  bool enable_index_compression = true;

  // Blocks do not straddle pages. Excludes compression.
  bool block_align = false;

  // Whether keys of the index are shortened, by Comparator::FindShortestSeparator() and, for the
  // last, FindShortSuccessor().
  enum class IndexShorteningMode : char {
    kNoShortening,
    kShortenSeparators,
    kShortenSeparatorsAndSuccessor,
  };
  IndexShorteningMode index_shortening =
      IndexShorteningMode::kShortenSeparators;

  // Read-ahead of iterators: most bytes, bytes at first, and reads in a row from which it begins
  // (below).
  size_t max_auto_readahead_size = 256 * 1024;

  // Put blocks into the cache when they are flushed.
  enum class PrepopulateBlockCache : char {
    kDisable,
    kFlushOnly,
  };
  PrepopulateBlockCache prepopulate_block_cache =
      PrepopulateBlockCache::kDisable;

  // How a key is searched in an index block.
  enum BlockSearchType : char {
    kBinary = 0x00,
    kInterpolation = 0x01,
    kAuto = 0x02,
  };
  compassdb::LaterOption<BlockSearchType, kBinary> index_block_search_type;

  // See max_auto_readahead_size.
  size_t initial_auto_readahead_size = 8 * 1024;
  uint64_t num_file_reads_for_auto_readahead = 2;
};

// Properties of such tables.
struct BlockBasedTablePropertyNames {
  static const std::string kIndexType;
  static const std::string kWholeKeyFiltering;
  static const std::string kPrefixFiltering;
};

// The default format. The caller owns the result.
extern TableFactory* NewBlockBasedTableFactory(
    const BlockBasedTableOptions& table_options = BlockBasedTableOptions());

// How a plain table stores keys: whole, or without the prefix they share with the one before.
enum EncodingType : char {
  kPlain,
  kPrefix,
};

// Properties of plain tables.
struct PlainTablePropertyNames {
  static const std::string kEncodingType;
  static const std::string kBloomVersion;
  static const std::string kNumBloomBlocks;
};

// As user_key_len: keys of any length.
const uint32_t kPlainTableVariableLength = 0;

// For tables that are wholly in memory (memory-mapped).
struct PlainTableOptions {
  static const char* kName() { return "PlainTableOptions"; };

  // Bytes of every key.
  uint32_t user_key_len = kPlainTableVariableLength;

  // Filter over prefixes; 0 for none.
  int bloom_bits_per_key = 10;

  // Prefixes per slot of the hash table; 0 for binary search.
  double hash_table_ratio = 0.75;

  // Keys per index entry of a prefix.
  size_t index_sparseness = 16;

  // Size of huge pages; 0 for ordinary memory.
  size_t huge_page_tlb_size = 0;

  // See the enum.
  EncodingType encoding_type = kPlain;

  // No index at all: iterators only.
  bool full_scan_mode = false;

  // Keep index and filter in the file rather than make them when it is opened.
  bool store_index_in_file = false;
};

// The caller owns the result.
extern TableFactory* NewPlainTableFactory(
    const PlainTableOptions& options = PlainTableOptions());

// Properties of cuckoo tables.
struct CuckooTablePropertyNames {
  static const std::string kEmptyKey;
  static const std::string kValueLength;
  static const std::string kNumHashFunc;
  static const std::string kCuckooBlockSize;
  static const std::string kHashTableSize;
  static const std::string kIsLastLevel;
  static const std::string kIdentityAsFirstHash;
  static const std::string kUseModuleHash;
  static const std::string kUserKeyLength;
};

// For tables of keys and values of fixed sizes, hashed in place.
struct CuckooTableOptions {
  static const char* kName() { return "CuckooTableOptions"; };

  // Keys per slot.
  double hash_table_ratio = 0.9;

  // Keys that may be moved to make room for one.
  uint32_t max_search_depth = 100;

  // Neighbouring slots that are searched at each position.
  uint32_t cuckoo_block_size = 5;

  // Take the first 8 bytes of the key as its first hash.
  bool identity_as_first_hash = false;

  // Any table size; otherwise powers of two.
  bool use_module_hash = true;
};

// The caller owns the result.
extern TableFactory* NewCuckooTableFactory(
    const CuckooTableOptions& table_options = CuckooTableOptions());

class RandomAccessFileReader;

// A format of tables. Reading and writing are internal to the engine; applications choose and
// configure factories.
class TableFactory : public Customizable {
 public:
  virtual ~TableFactory() override {}

  // Names for GetOptions() and IsInstanceOf().
  static const char* kBlockCacheOpts() { return "BlockCache"; };
  static const char* kBlockBasedTableName() { return "BlockBasedTable"; };
  static const char* kPlainTableName() { return "PlainTable"; }
  static const char* kCuckooTableName() { return "CuckooTable"; };

  // Makes a factory from its name or from options with an "id".
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& id,
                                 std::shared_ptr<TableFactory>* factory);
  static const char* Type() { return "TableFactory"; }

  // Internal to the engine.
  virtual Status NewTableReader(
      const TableReaderOptions& table_reader_options,
      std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
      std::unique_ptr<TableReader>* table_reader,
      bool prefetch_index_and_filter_in_cache = true) const {
    ReadOptions ro;
    return NewTableReader(ro, table_reader_options, std::move(file), file_size, table_reader,
                          prefetch_index_and_filter_in_cache);
  }
  virtual Status NewTableReader(
      const ReadOptions& ro, const TableReaderOptions& table_reader_options,
      std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
      std::unique_ptr<TableReader>* table_reader,
      bool prefetch_index_and_filter_in_cache) const = 0;
  virtual TableBuilder* NewTableBuilder(
      const TableBuilderOptions& table_builder_options,
      WritableFileWriter* file) const = 0;

  // Whether tables can hold range deletions.
  virtual bool IsDeleteRangeSupported() const { return false; }
};

// Reads all formats and writes the first. The caller owns the result.
extern TableFactory* NewAdaptiveTableFactory(
    std::shared_ptr<TableFactory> table_factory_to_write = nullptr,
    std::shared_ptr<TableFactory> block_based_table_factory = nullptr,
    std::shared_ptr<TableFactory> plain_table_factory = nullptr,
    std::shared_ptr<TableFactory> cuckoo_table_factory = nullptr);

}  // namespace ROCKSDB_NAMESPACE
