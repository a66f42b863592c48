// SPDX-License-Identifier: Apache-2.0
// Options of the table factories.
#include "api/option_string.h"
#include "manifest/page_store_meta.h"
#include "options/option_tables.h"
#include "options/projection.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/flush_block_policy.h"

namespace compassdb {

namespace {

using rocksdb::BlockBasedTableOptions;
using B = BlockBasedTableOptions;

#define FIELD(name) #name, &BlockBasedTableOptions::name
constexpr Support kYes = Support::kSupported;
constexpr Support kHint = Support::kHint;
constexpr Support kNo = Support::kRefused;
constexpr const char* kNoParts = "a directory's pages are its parts; unpartitioned_pinning rules them";
constexpr const char* kOwnIndex = "a perfect-hash directory is index and filter";
constexpr const char* kOwnBlocks = "the engine's block format";

void AddCache(OptionTable<B>* t) {
  t->push_back(Object<B>("block_cache", &B::block_cache, kNoPrint | kWhole, kYes,
                         "default: 8 MB of its own, as in RocksDB"));
  t->push_back(Scalar<B>(FIELD(no_block_cache), kFixed, kYes, "every read is from the file"));
  t->push_back(Object<B>("block_cache_compressed", &B::block_cache_compressed, kNoPrint | kWhole,
                         kHint, "one block cache, of uncompressed blocks"));
  t->push_back(StructOnly<B>(
      "persistent_cache", "object", [](const B& o) { return o.persistent_cache != nullptr; },
      kHint, "one block cache, in memory"));
  t->push_back(StructOnly<B>(
      "cache_usage_options", "struct",
      [](const B& o) {
        return !o.cache_usage_options.options_overrides.empty() ||
               !(o.cache_usage_options.options == rocksdb::CacheEntryRoleOptions());
      },
      kHint, "memtables and indexes are charged as memory_limit and cache_index_and_filter_blocks say"));
  t->push_back(Scalar<B>(FIELD(cache_index_and_filter_blocks), kFixed, kYes,
                         "directories and separators are read and evicted by page"));
  t->push_back(
      Scalar<B>(FIELD(cache_index_and_filter_blocks_with_high_priority), kFixed, kYes,
                "of directories and separators in the cache"));
  t->push_back(Scalar<B>(FIELD(pin_l0_filter_and_index_blocks_in_cache), kFixed, kYes,
                         "with cache_index_and_filter_blocks"));
  t->push_back(Scalar<B>(FIELD(pin_top_level_index_and_filter), kFixed, kHint, kNoParts));
  t->push_back(Nested<B>(FIELD(metadata_cache_options), MetadataCacheOptionTable, nullptr, kFixed,
                         kYes, "unpartitioned_pinning, with cache_index_and_filter_blocks"));
  t->push_back(Scalar<B>(FIELD(prepopulate_block_cache), kMutable, kHint,
                         "blocks enter the cache when they are read"));
}

void AddBlocks(OptionTable<B>* t) {
  t->push_back(Scalar<B>(FIELD(block_size), kMutable, kYes, "of uncompressed data blocks")
                   .Between(1, 1 << 30));
  t->push_back(Scalar<B>(FIELD(block_size_deviation), kFixed, kYes,
                         "when a block counts as full"));
  t->push_back(Scalar<B>(FIELD(block_restart_interval), kMutable, kHint, kOwnBlocks));
  t->push_back(Scalar<B>(FIELD(index_block_restart_interval), kFixed, kHint, kOwnIndex));
  t->push_back(Scalar<B>(FIELD(metadata_block_size), kFixed, kHint, kOwnIndex));
  OptionInfo<B> policy = StructOnly<B>(
      "flush_block_policy_factory", "object",
      [](const B& o) {
        return o.flush_block_policy_factory != nullptr &&
               std::string(o.flush_block_policy_factory->Name()) != "FlushBlockBySizePolicyFactory";
      },
      kNo, "blocks end at block_size; a policy of the application is refused");
  policy.flags = kFixed;
  policy.parse = [](const ConfigOptions& config, const std::string&, const std::string& value,
                    B* options) {
    std::string id;
    OptionMap map;
    ParseObjectString(value, "", &id, &map);
    if (id == "FlushBlockBySizePolicyFactory" || id.empty()) {
      options->flush_block_policy_factory.reset();
      return map.empty() ? Status::OK()
                         : Status::NotFound("Could not find option: ", map.begin()->first);
    }
    return config.ignore_unsupported_options
               ? Status::OK()
               : Status::NotSupported("flush_block_policy_factory", value);
  };
  policy.format = [](const ConfigOptions&, const B& o) {
    return std::string(o.flush_block_policy_factory == nullptr
                           ? "FlushBlockBySizePolicyFactory"
                           : o.flush_block_policy_factory->Name());
  };
  t->push_back(policy);
  t->push_back(Scalar<B>(FIELD(checksum), kFixed, kHint,
                         "blocks always have the engine's checksum"));
  t->push_back(Scalar<B>(FIELD(verify_compression), kFixed, kHint, kOwnBlocks));
  t->push_back(Scalar<B>(FIELD(block_align), kFixed, kHint, kOwnBlocks));
  t->push_back(Scalar<B>("use_delta_encoding", &B::use_delta_encoding, kNoParse | kNoPrint, kHint,
                         kOwnBlocks));
  t->back().parse = nullptr;
  t->push_back(Later<B>(FIELD(separate_key_value_in_data_block), kFixed, kHint, kOwnBlocks));
  t->push_back(Scalar<B>(FIELD(format_version), kFixed, kHint, "the engine's format versions"));
  t->push_back(Scalar<B>(FIELD(read_amp_bytes_per_bit), kFixed, kHint,
                         "one block is read per record found"));
  // RocksDB 5.13 to 6.14 write eight bytes for these four. The low ones are the value.
  t->back().parse = [](const ConfigOptions&, const std::string&, const std::string& value,
                       B* options) {
    uint64_t wide = 0;
    if (!ParseUnsigned(value, &wide)) {
      return BadOptionValue("read_amp_bytes_per_bit", value, "uint32");
    }
    options->read_amp_bytes_per_bit = static_cast<uint32_t>(wide);
    return Status::OK();
  };
  t->push_back(Scalar<B>(FIELD(max_auto_readahead_size), kMutable, kHint,
                         "iterators read ahead by ReadOptions::readahead_size"));
  t->push_back(Scalar<B>(FIELD(initial_auto_readahead_size), kMutable, kHint,
                         "iterators read ahead by ReadOptions::readahead_size"));
  t->push_back(Scalar<B>(FIELD(num_file_reads_for_auto_readahead), kMutable, kHint,
                         "iterators read ahead by ReadOptions::readahead_size"));
}

void AddIndex(OptionTable<B>* t) {
  t->push_back(Scalar<B>(FIELD(index_type), kFixed, kHint, kOwnIndex));
  t->push_back(Later<B>(FIELD(index_block_search_type), kFixed, kHint, kOwnIndex));
  t->push_back(Scalar<B>(FIELD(data_block_index_type), kFixed, kHint, kOwnIndex));
  t->push_back(Scalar<B>(FIELD(data_block_hash_table_util_ratio), kFixed, kHint, kOwnIndex));
  t->push_back(Scalar<B>(FIELD(index_shortening), kFixed, kHint, kOwnIndex));
  t->push_back(Scalar<B>(FIELD(enable_index_compression), kFixed, kHint,
                         "the index is succinct, and used as it is stored"));
  t->push_back(Object<B>(FIELD(filter_policy), kFixed, kYes,
                         "a filter per piece, in RocksDB's format; without one, fingerprints filter"));
  t->push_back(Scalar<B>(FIELD(whole_key_filtering), kFixed, kYes, "of filters"));
  t->push_back(Scalar<B>(FIELD(partition_filters), kFixed, kHint, "a piece's filter is one part"));
  t->push_back(Scalar<B>(FIELD(optimize_filters_for_memory), kFixed, kHint,
                         "a filter is as large as its bits per key say"));
  t->push_back(Scalar<B>(FIELD(detect_filter_construct_corruption), kFixed, kHint,
                         "filters have a checksum, and verification asks them for every key"));
}
#undef FIELD

}  // namespace

const OptionTable<BlockBasedTableOptions>& BlockTableOptionTable() {
  static const auto* const table = [] {
    auto* t = new OptionTable<B>();
    AddCache(t);
    AddBlocks(t);
    AddIndex(t);
    for (const char* name : {"hash_index_allow_collision", "skip_table_builder_flush", "index_per_partition",
                             "reserve_table_builder_memory", "reserve_table_reader_memory"}) {
      t->push_back(Retired<B>(name));
    }
    return t;
  }();
  return *table;
}

const OptionTable<rocksdb::MetadataCacheOptions>& MetadataCacheOptionTable() {
  using M = rocksdb::MetadataCacheOptions;
  static const auto* const table = new OptionTable<M>{
      Scalar<M>("top_level_index_pinning", &M::top_level_index_pinning, kFixed, kHint, kNoParts),
      Scalar<M>("partition_pinning", &M::partition_pinning, kFixed, kHint, kNoParts),
      Scalar<M>("unpartitioned_pinning", &M::unpartitioned_pinning, kFixed, kYes,
                "of directories and separators in the cache")};
  return *table;
}

const OptionTable<PieceTableOptions>& PieceTableOptionTable() {
  using P = PieceTableOptions;
  static const auto* const table = new OptionTable<P>{
      Scalar<P>("max_pieces", &P::max_pieces, kMutable, kYes, "per table").Between(1, 1024),
      Scalar<P>("max_dead_percent", &P::max_dead_percent, kMutable, kYes,
                "dead data per live data at which a table is collected")
          .AtLeast(1),
      Scalar<P>("max_dead_space_percent", &P::max_dead_space_percent, kMutable, kYes,
                "dead bytes in files, per live bytes, that there may be; of those that cannot be "
                "punched three quarters of that, "
                "at which files are vacated"),
      Scalar<P>("punch_bytes_per_second", &P::punch_bytes_per_second, kMutable, kYes,
                "of holes punched into files in use, in the background; 0: no limit. The default "
                "family's counts"),
      Scalar<P>(
          "target_table_bytes", &P::target_table_bytes, kMutable, kYes,
          "live data of a table, about; 0: half of target_file_size_base, leveled at most 1 MB")
          .Between(0, kLargestSize),
      Scalar<P>("point_index", &P::point_index, kFixed, kYes,
                "perfect_hash or filter: what point reads of new tables go by"),
      Scalar<P>("leveled", &P::leveled, kFixed, kYes,
                "merges rewrite the tables that they meet; with point_index=filter always"),
      Scalar<P>("group_compaction_bytes", &P::group_compaction_bytes, kMutable, kYes,
                "of tables that one compaction takes down; 0: one table"),
      Scalar<P>("one_level", &P::one_level, kFixed, kYes,
                "memtables merge straight into one level"),
      Scalar<P>("partition", &P::partition, kFixed, kYes,
                "kKeyRange or kHashRange: what levels are cut by"),
      Scalar<P>("scan_bytes_per_read", &P::scan_bytes_per_read, kMutable, kYes,
                "rewriting that a disk read lost by a scan pays for; 0: no consolidation")
          .Between(0, kLargestSize),
      Scalar<P>("data_order", &P::data_order, kMutable, kYes,
                "of records in new pieces: key, slot or hash"),
      Scalar<P>("perfect_hash", &P::perfect_hash, kMutable, kYes,
                "default or cphash; of new tables"),
      Scalar<P>("perfect_hash_threads", &P::perfect_hash_threads, kMutable, kYes,
                "per table that is built")
          .Between(1, 64),
      Scalar<P>("value_reserve_percent", &P::value_reserve_percent, kMutable, kYes,
                "garbage per live bytes of separated values"),
      Scalar<P>("value_idle_reserve_percent", &P::value_idle_reserve_percent, kMutable, kYes,
                "the same once nothing was flushed for five seconds, where it is less"),
      Scalar<P>("value_gc_policy", &P::value_gc_policy, kMutable, kYes,
                "greedy, cost-benefit, greedy-random or random: which group is collected; oldest-first: "
                "values are one log, collected from its tail"),
      Scalar<P>("value_gc_choices", &P::value_gc_choices, kMutable, kYes,
                "greedy-random takes one of this number of groups with the most garbage")
          .AtLeast(1),
      Scalar<P>("value_hot_cold", &P::value_hot_cold, kMutable, kYes,
                "values that are updated often have segments of their own"),
      Scalar<P>("value_group_bytes", &P::value_group_bytes, kMutable, kYes,
                "of a segment group, about; there are 64 to 512, 16 with small memtables")
          .Between(1, kLargestSize),
      Scalar<P>("store", &P::store, kFixed, kYes, "lsm or tableless: what keeps the data"),
      Scalar<P>("tableless_sections", &P::tableless_sections, kFixed, kYes,
                "files of pages; of a new store")
          .Between(1, 1024),
      Scalar<P>("tableless_page_bytes", &P::tableless_page_bytes, kFixed, kYes,
                "a multiple of 4096; of a new store")
          .Between(4096, 1 << 20),
      // More than hashes distinguish, and few enough that no sum overflows.
      Scalar<P>("tableless_pages", &P::tableless_pages, kMutable, kYes,
                "of all sections; 0: as the data asks for")
          .Between(0, kMaxSectionPages),
      Scalar<P>("tableless_fill_percent", &P::tableless_fill_percent, kMutable, kYes,
                "of pages after a rehash, at most")
          .Between(5, 95),
      Scalar<P>("tableless_max_overflow_percent", &P::tableless_max_overflow_percent, kMutable,
                kYes, "of a section's bytes; above, it gets more pages")
          .Between(0, 100),
      Scalar<P>("tableless_min_fill_percent", &P::tableless_min_fill_percent, kMutable, kYes,
                "of a section's pages; below, it gets fewer")
          .Between(0, 100),
      Scalar<P>("tableless_key_store", &P::tableless_key_store, kFixed, kYes,
                "keys are kept sorted, too; false: no iterators"),
      Scalar<P>("tableless_atomic_page_writes", &P::tableless_atomic_page_writes, kMutable, kYes,
                "the device never tears a page: most are written without a journal"),
      Scalar<P>("memtable_as_log_index", &P::memtable_as_log_index, kFixed, kYes,
                "memtables have addresses of values, which stay in the log until a flush"),
      Scalar<P>("tableless_rehash_threads", &P::tableless_rehash_threads, kMutable, kYes,
                "sections rehashed at a time")
          .Between(1, 64),
      Scalar<P>("tableless_rehash_batch", &P::tableless_rehash_batch, kMutable, kYes,
                "old pages read at a time")
          .Between(1, 65536),
      Scalar<P>("tableless_write_threads", &P::tableless_write_threads, kMutable, kYes,
                "threads that share the sections of a flush")
          .Between(1, 64)};
  return *table;
}

#define ROW(S, name) Scalar<rocksdb::S>(#name, &rocksdb::S::name, kFixed, kHint, "the engine's format")

const OptionTable<rocksdb::PlainTableOptions>& PlainTableOptionTable() {
  static const auto* const table = new OptionTable<rocksdb::PlainTableOptions>{
      ROW(PlainTableOptions, user_key_len),      ROW(PlainTableOptions, bloom_bits_per_key),
      ROW(PlainTableOptions, hash_table_ratio),  ROW(PlainTableOptions, index_sparseness),
      ROW(PlainTableOptions, huge_page_tlb_size), ROW(PlainTableOptions, encoding_type),
      ROW(PlainTableOptions, full_scan_mode),    ROW(PlainTableOptions, store_index_in_file)};
  return *table;
}

const OptionTable<rocksdb::CuckooTableOptions>& CuckooTableOptionTable() {
  static const auto* const table = new OptionTable<rocksdb::CuckooTableOptions>{
      ROW(CuckooTableOptions, hash_table_ratio), ROW(CuckooTableOptions, max_search_depth),
      ROW(CuckooTableOptions, cuckoo_block_size),
      ROW(CuckooTableOptions, identity_as_first_hash), ROW(CuckooTableOptions, use_module_hash)};
  return *table;
}
#undef ROW

}  // namespace compassdb
