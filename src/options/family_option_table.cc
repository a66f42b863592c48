// SPDX-License-Identifier: Apache-2.0
#include "options/option_tables.h"
#include "options/table_factories.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/concurrent_task_limiter.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/table_properties.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::CompressionOptions;

#define FIELD(name) #name, &ColumnFamilyOptions::name
using F = ColumnFamilyOptions;
constexpr Support kYes = Support::kSupported;
constexpr Support kHint = Support::kHint;
constexpr Support kNo = Support::kRefused;

// "window_bits:level:strategy[:max_dict[:zstd_train[:threads[:enabled[:dict_buffer[:trainer]]]]]]".
// As in RocksDB, the parts before an invalid one are used.
Status ParseCompressionList(const std::string& text, CompressionOptions* options) {
  const std::vector<std::string> part = Split(text, ':');
  bool good = true;
  const auto take = [&part, &good](size_t i, auto* member) {
    if (good && i < part.size()) good = ParseValue(part[i], member);
  };
  const auto take_as_int = [&take](size_t i, uint32_t* member) {
    int value = static_cast<int>(*member);
    take(i, &value);
    *member = static_cast<uint32_t>(value);
  };
  take(0, &options->window_bits);
  take(1, &options->level);
  take(2, &options->strategy);
  take_as_int(3, &options->max_dict_bytes);
  take_as_int(4, &options->zstd_max_train_bytes);
  // The sixth of six is `enabled`: older than parallel_threads.
  if (part.size() == 6) {
    take(5, &options->enabled);
  } else {
    take_as_int(5, &options->parallel_threads);
    take(6, &options->enabled);
  }
  take(7, &options->max_dict_buffer_bytes);
  take(8, &options->use_zstd_dict_trainer);
  if (good && part.size() >= 3 && part.size() <= 9) return Status::OK();
  return Status::InvalidArgument("unable to parse the compression options", text);
}

Status ParseFifoSize(const std::string& text, rocksdb::CompactionOptionsFIFO* options) {
  if (ParseValue(text, &options->max_table_files_size)) return Status::OK();
  return BadOptionValue("compaction_options_fifo", text, "uint64");
}

// Only `level` has an effect.
bool HasUnusedCompressionOptions(CompressionOptions options) {
  options.level = CompressionOptions().level;
  options.enabled = false;
  const ConfigOptions config;
  return ListOptions(config, CompressionOptionTable(), options) !=
         ListOptions(config, CompressionOptionTable(), CompressionOptions());
}

// The factories as text: a list of "{id=...;option=value}". Factories that cannot be made here are left out if the
// configuration ignores unsupported options.
OptionInfo<F> Collectors() {
  OptionInfo<F> info{"table_properties_collectors", "list", kFixed, kYes,
                     "text of table_properties_collector_factories: CompactOnDeletionCollector, registered classes",
                     nullptr, nullptr, nullptr};
  info.parse = [](const ConfigOptions& config, const std::string&, const std::string& value,
                  F* options) {
    std::vector<std::string> texts;
    std::vector<std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>> factories;
    Status s = SplitOptionList(value, &texts);
    for (size_t i = 0; s.ok() && i < texts.size(); ++i) {
      std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> made;
      s = rocksdb::TablePropertiesCollectorFactory::CreateFromString(config, texts[i], &made);
      if (made != nullptr) factories.push_back(std::move(made));
    }
    if (s.ok()) options->table_properties_collector_factories = std::move(factories);
    return s;
  };
  info.format = [](const ConfigOptions&, const F& options) {
    std::string list;
    for (const auto& factory : options.table_properties_collector_factories) {
      if (factory == nullptr) continue;
      list += (list.empty() ? "{" : ":{") + CollectorText(*factory) + "}";
    }
    return list.empty() ? list : "{" + list + "}";
  };
  info.format_for_log = [](const F& options) {
    std::string list;
    for (const auto& factory : options.table_properties_collector_factories) {
      if (factory != nullptr) list += (list.empty() ? "" : "; ") + factory->ToString();
    }
    return list;
  };
  info.is_set = [](const F& o) { return !o.table_properties_collector_factories.empty(); };
  return info;
}

void AddContents(OptionTable<F>* t) {
  t->push_back(Pointer<F>(FIELD(comparator), kFixed, kYes,
                          "its name is in the manifest and must match at open"));
  t->push_back(Object<F>(FIELD(merge_operator), kFixed, kYes, "full, partial, associative"));
  t->push_back(Pointer<F>(FIELD(compaction_filter), kFixed, kYes, "at compaction"));
  t->push_back(Object<F>(FIELD(compaction_filter_factory), kFixed, kYes, "one filter per job"));
  t->push_back(Object<F>(FIELD(prefix_extractor), kMutable, kYes,
                         "prefix_same_as_start, and prefixes in filters"));
  t->push_back(StructOnly<F>(
      "table_properties_collector_factories", "list",
      [](const F& o) { return !o.table_properties_collector_factories.empty(); }, kYes,
      "each piece has its own collectors, and entry in GetPropertiesOfAllTables"));
  t->push_back(Collectors());
  t->push_back(StructOnly<F>(
      "inplace_callback", "function", [](const F& o) { return o.inplace_callback != nullptr; },
      kNo, "values in the memtable never change"));
  t->push_back(Scalar<F>(FIELD(inplace_update_support), kFixed, kHint,
                         "values in the memtable never change; as in RocksDB, GetSnapshot() gives null"));
  t->push_back(Scalar<F>(FIELD(inplace_update_num_locks), kMutable, kHint,
                         "values in the memtable never change"));
}

void AddMemtables(OptionTable<F>* t) {
  t->push_back(Scalar<F>(FIELD(write_buffer_size), kMutable, kYes, "of a memtable"));
  t->push_back(Scalar<F>(FIELD(max_write_buffer_number), kMutable, kYes,
                         "writes stop at this number; if it is above 3, they slow down at one less"));
  t->push_back(Scalar<F>(FIELD(min_write_buffer_number_to_merge), kFixed, kYes,
                         "memtables per flush, at least"));
  t->push_back(Scalar<F>(FIELD(max_write_buffer_number_to_maintain), kFixed, kHint,
                         "flushed memtables are not kept"));
  t->push_back(Scalar<F>(FIELD(max_write_buffer_size_to_maintain), kFixed, kHint,
                         "flushed memtables are not kept"));
  t->push_back(Object<F>(FIELD(memtable_factory), kFixed, kHint,
                         "the engine's concurrent skip list serves in place of RocksDB's "
                         "representations, with one bucket per prefix for iterators without "
                         "total order where theirs hash; one of the application is refused"));
  t->back().is_set = [](const F& o) {
    return o.memtable_factory == nullptr || !o.memtable_factory->IsInstanceOf("skip_list");
  };
  OptionInfo<F> alias = t->back();
  alias.name = "memtable";
  alias.flags = kNoPrint;
  alias.note = "the same as memtable_factory";
  alias.is_set = [](const F&) { return false; };
  t->push_back(alias);
  t->push_back(Scalar<F>(FIELD(arena_block_size), kMutable, kYes, "of a memtable"));
  t->push_back(Scalar<F>(FIELD(memtable_prefix_bloom_size_ratio), kMutable, kHint,
                         "seeks walk down the skip list; no filter of prefixes"));
  t->push_back(Scalar<F>(FIELD(memtable_whole_key_filtering), kMutable, kHint,
                         "memtables always have a filter of whole keys"));
  for (auto [name, member] : {std::pair(FIELD(memtable_op_scan_flush_trigger)),
                              std::pair(FIELD(memtable_avg_op_scan_flush_trigger))}) {
    t->push_back(Later<F>(name, member, kFixed, kNo, "iterators do not ask for flushes"));
  }
  t->push_back(Scalar<F>(FIELD(memtable_huge_page_size), kMutable, kHint,
                         "memory comes from the allocator"));
  t->push_back(Object<F>(FIELD(memtable_insert_with_hint_prefix_extractor), kFixed, kHint,
                         "inserts start from the head"));
  t->push_back(Scalar<F>(FIELD(memtable_protection_bytes_per_key), kMutable, kHint,
                         "records in memory have no checksums"));
  t->push_back(Scalar<F>(FIELD(bloom_locality), kFixed, kHint, "a memtable's filter is a cache line per key"));
  t->push_back(Scalar<F>(FIELD(experimental_mempurge_threshold), kMutable, kHint,
                         "memtables are flushed"));
  t->push_back(Scalar<F>(FIELD(max_successive_merges), kMutable, kHint,
                         "operands are folded by reads and compactions"));
  t->push_back(Scalar<F>(FIELD(max_sequential_skip_in_iterations), kMutable, kYes,
                         "before an iterator seeks"));
}

void AddLevels(OptionTable<F>* t) {
  t->push_back(Scalar<F>(FIELD(num_levels), kFixed, kYes, "levels").Between(1, 1000));
  t->push_back(Scalar<F>(FIELD(level0_file_num_compaction_trigger), kMutable, kYes, "tables"));
  t->push_back(Scalar<F>(FIELD(level0_slowdown_writes_trigger), kMutable, kYes, "tables"));
  t->push_back(Scalar<F>(FIELD(level0_stop_writes_trigger), kMutable, kYes, "tables"));
  t->push_back(Scalar<F>(FIELD(max_bytes_for_level_base), kMutable, kYes,
                         "live data of level 1, at least, before it moves down; see docs/design/compaction.md"));
  t->push_back(Scalar<F>(FIELD(max_bytes_for_level_multiplier), kMutable, kYes, "per level"));
  t->push_back(List<F>(FIELD(max_bytes_for_level_multiplier_additional), kMutable, kYes,
                       "per level, except with dynamic sizes"));
  t->push_back(Scalar<F>(FIELD(level_compaction_dynamic_level_bytes), kFixed, kHint,
                         "works if tables are leveled: data collects on the last level; else the levels "
                         "above the deepest follow its size either way")
                   .When([](const F& o) {
                     return o.level_compaction_dynamic_level_bytes &&
                            !IsLeveled(TableSettingsOf(o.table_factory.get()).piece);
                   }));
  t->push_back(Scalar<F>(FIELD(level_compaction_dynamic_file_size), kMutable, kHint,
                         "tables are split by their live data"));
  t->push_back(Scalar<F>(FIELD(target_file_size_base), kMutable, kYes,
                         "a table is split at two to four times as much live data; leveled, at 1 MB "
                         "or less"));
  t->push_back(Scalar<F>(FIELD(target_file_size_multiplier), kMutable, kHint,
                         "tables of all levels have the same size"));
  t->push_back(Scalar<F>(FIELD(max_compaction_bytes), kMutable, kYes, "input of one job"));
  t->push_back(Scalar<F>(FIELD(ignore_max_compaction_bytes_for_input), kMutable, kHint,
                         "a job's input is measured before it runs"));
  t->push_back(Scalar<F>(FIELD(soft_pending_compaction_bytes_limit), kMutable, kYes,
                         "writes slow down"));
  t->push_back(Scalar<F>(FIELD(hard_pending_compaction_bytes_limit), kMutable, kYes,
                         "writes stop"));
  t->push_back(Scalar<F>(FIELD(disable_auto_compactions), kMutable, kYes, "none are started"));
  t->push_back(Scalar<F>(FIELD(compaction_style), kFixed, kHint,
                         "level and FIFO work; universal is served by levels, none by "
                         "disable_auto_compactions")
                   .When([](const F& o) {
                     return o.compaction_style == rocksdb::kCompactionStyleUniversal ||
                            o.compaction_style == rocksdb::kCompactionStyleNone;
                   }));
  t->push_back(Scalar<F>(FIELD(compaction_pri), kMutable, kHint,
                         "works if tables are leveled (kRoundRobin as kOldestSmallestSeqFirst); else the "
                         "picker takes what costs least per byte moved")
                   .When([](const F& o) {
                     return o.compaction_pri != rocksdb::kMinOverlappingRatio &&
                            !IsLeveled(TableSettingsOf(o.table_factory.get()).piece);
                   }));
  t->push_back(Nested<F>(FIELD(compaction_options_universal), UniversalOptionTable, nullptr,
                         kMutable, kHint, "universal is served by levels"));
  t->push_back(Nested<F>(FIELD(compaction_options_fifo), FifoOptionTable, ParseFifoSize, kMutable,
                         kYes, "of compaction_style=kCompactionStyleFIFO"));
  t->push_back(Scalar<F>(FIELD(ttl), kMutable, kYes, "older tables are rewritten"));
  t->push_back(Scalar<F>(FIELD(periodic_compaction_seconds), kMutable, kYes,
                         "older tables are rewritten"));
  t->push_back(StructOnly<F>(
      "compaction_thread_limiter", "object",
      [](const F& o) { return o.compaction_thread_limiter != nullptr; }, kHint,
      "max_background_jobs bounds the jobs"));
  t->push_back(Object<F>(FIELD(sst_partitioner_factory), kFixed, kHint,
                         "tables are split by their live data"));
}

void AddTables(OptionTable<F>* t) {
  t->push_back(Object<F>(FIELD(table_factory), kMutable, kYes,
                         "BlockBasedTable or CompassTable, both stand for the engine's format; "
                         "so do PlainTable and CuckooTable, whose options are hints"));
  t->back().parse = ParseTableFactoryOption;
  t->back().format = [](const ConfigOptions&, const F& o) {
    return std::string(o.table_factory == nullptr ? "nullptr" : o.table_factory->Name());
  };
  t->back().is_set = [](const F&) { return false; };
  for (const auto& [name, id] : {std::pair("block_based_table_factory", "BlockBasedTable"),
                                 std::pair("plain_table_factory", "PlainTable")}) {
    OptionInfo<F> alias = t->back();
    alias.name = name;
    alias.flags = kNoPrint | kMutable;
    alias.note = "options of a table_factory";
    const std::string table_id = id;
    alias.parse = [table_id](const ConfigOptions& config, const std::string& member,
                             const std::string& value, F* options) {
      return ParseTableFactoryAlias(config, table_id, member, value, options);
    };
    t->push_back(alias);
  }
  t->push_back(Scalar<F>(FIELD(compression), kMutable, kYes, "none, Snappy, Zlib, BZip2, LZ4, LZ4HC, ZSTD"));
  t->push_back(List<F>(FIELD(compression_per_level), kMutable, kYes,
                       "of tables of the level, counted from level 0 with dynamic sizes, too"));
  t->push_back(Scalar<F>(FIELD(bottommost_compression), kMutable, kYes, "of the last level"));
  t->push_back(Nested<F>(FIELD(compression_opts), CompressionOptionTable, ParseCompressionList,
                         kMutable, kHint,
                         "level is used; there are no dictionaries and no parallel compression"));
  t->back().is_set = [](const F& o) { return HasUnusedCompressionOptions(o.compression_opts); };
  t->push_back(Nested<F>(FIELD(bottommost_compression_opts), CompressionOptionTable,
                         ParseCompressionList, kMutable, kHint,
                         "all levels compress with the level of compression_opts"));
  t->push_back(Scalar<F>(FIELD(sample_for_compression), kMutable, kHint, "nothing is sampled"));
  t->push_back(Scalar<F>(FIELD(optimize_filters_for_hits), kFixed, kYes,
                         "new pieces of the last level have no filter"));
  t->push_back(Scalar<F>(FIELD(check_flush_compaction_key_order), kMutable, kHint,
                         "order is always checked"));
  t->push_back(Scalar<F>(FIELD(paranoid_file_checks), kMutable, kYes,
                         "what was written is read again before it is committed"));
  t->push_back(Scalar<F>(FIELD(force_consistency_checks), kFixed, kHint,
                         "versions are always checked"));
  t->push_back(Scalar<F>(FIELD(report_bg_io_stats), kMutable, kHint,
                         "bytes of jobs are always counted"));
  t->push_back(Scalar<F>(FIELD(bottommost_temperature), kMutable | kNoPrint, kHint,
                         "files have no temperature"));
  // RocksDB ignores unknown values.
  t->back().parse = [](const ConfigOptions&, const std::string&, const std::string& value, F* options) {
    ParseValue(value, &options->bottommost_temperature);
    return Status::OK();
  };
  t->push_back(Scalar<F>(FIELD(last_level_temperature), kMutable, kHint,
                         "files have no temperature"));
  t->push_back(Scalar<F>(FIELD(preclude_last_level_data_seconds), kFixed, kHint,
                         "files have no temperature"));
  t->push_back(Scalar<F>(FIELD(preserve_internal_time_seconds), kFixed, kHint,
                         "files have no temperature"));
  t->push_back(StructOnly<F>(
      "cf_paths", "list", [](const F& o) { return !o.cf_paths.empty(); }, kYes,
      "the family's own instead of db_paths"));
}

void AddBlobs(OptionTable<F>* t) {
  t->push_back(Scalar<F>(FIELD(enable_blob_files), kMutable, kYes,
                         "values are stored in the value store; see docs/design/values.md"));
  t->push_back(Scalar<F>(FIELD(min_blob_size), kMutable, kYes,
                         "of values that are separated; 0: 192 (RocksDB: all), 1: all but empty ones"));
  t->push_back(Scalar<F>(FIELD(blob_file_size), kMutable, kYes,
                         "of a segment group, about, if it is less than value_group_bytes of CompassTable; "
                         "a flush or collection writes one file, of any size"));
  t->push_back(Scalar<F>(FIELD(blob_compression_type), kMutable, kYes, "each value by itself"));
  t->push_back(Scalar<F>(FIELD(enable_blob_garbage_collection), kMutable, kYes,
                         "beyond value_reserve_percent of CompassTable, by segment groups"));
  t->push_back(Scalar<F>(FIELD(blob_garbage_collection_age_cutoff), kMutable, kYes,
                         "of forced collections: by CompactRange, by blob_garbage_collection_force_threshold; "
                         "those that keep the bound on space choose by garbage"));
  t->push_back(Scalar<F>(FIELD(blob_garbage_collection_force_threshold), kMutable, kYes,
                         "a group with this share of garbage is collected even if there is room, if it has "
                         "values of the oldest share"));
  t->push_back(Scalar<F>(FIELD(blob_compaction_readahead_size), kMutable, kYes,
                         "what a collection reads at a time, at most 32 MiB; 0: 1 MiB. Compactions read values for "
                         "filters and merges alone, one by one"));
  t->push_back(Scalar<F>(FIELD(blob_file_starting_level), kMutable, kYes,
                         "values stay in tables above it"));
  t->push_back(Scalar<F>(FIELD(prepopulate_blob_cache), kMutable, kYes,
                         "new values of memtables are added to the blob cache, or the block cache"));
  t->push_back(Object<F>("blob_cache", &F::blob_cache, kNoPrint | kWhole, kYes,
                         "of separated values; default: the block cache"));
}

#undef FIELD

void AddRetired(OptionTable<F>* t) {
  for (const char* name :
       {"max_mem_compaction_level", "rate_limit_delay_max_milliseconds", "purge_redundant_kvs_while_flush",
        "compaction_measure_io_stats", "memtable_prefix_bloom_huge_page_tlb_size"}) {
    t->push_back(Retired<F>(name));
  }
  // Programs may also set them while the database is open.
  for (const char* name :
       {"soft_rate_limit", "hard_rate_limit", "expanded_compaction_factor", "max_grandparent_overlap_factor",
        "source_compaction_factor", "filter_deletes", "verify_checksums_in_compaction", "memtable_prefix_bloom_bits",
        "memtable_prefix_bloom_probes", "min_partial_merge_operands", "snap_refresh_nanos"}) {
    t->push_back(Retired<F>(name, kMutable));
  }
}

}  // namespace

Status CheckParsed(const ColumnFamilyOptions& options) {
  return options.comparator == nullptr ? Status::InvalidArgument("comparator", "is missing")
                                       : Status::OK();
}

const OptionTable<rocksdb::ColumnFamilyOptions>& FamilyOptionTable() {
  static const auto* const table = [] {
    auto* t = new OptionTable<F>();
    AddContents(t);
    AddMemtables(t);
    AddLevels(t);
    AddTables(t);
    AddBlobs(t);
    AddRetired(t);
    return t;
  }();
  return *table;
}

#define ROW(S, name, note) Scalar<rocksdb::S>(#name, &rocksdb::S::name, kMutable, kHint, note)

const OptionTable<rocksdb::CompressionOptions>& CompressionOptionTable() {
  static const auto* const table = new OptionTable<CompressionOptions>{
      ROW(CompressionOptions, window_bits, "zlib only"),
      Scalar<CompressionOptions>("level", &CompressionOptions::level, kMutable, kYes,
                                 "of the library"),
      ROW(CompressionOptions, strategy, "zlib only"),
      ROW(CompressionOptions, max_dict_bytes, "no dictionaries"),
      ROW(CompressionOptions, zstd_max_train_bytes, "no dictionaries"),
      ROW(CompressionOptions, parallel_threads, "a job compresses in its thread"),
      ROW(CompressionOptions, enabled, "for bottommost_compression_opts"),
      ROW(CompressionOptions, max_dict_buffer_bytes, "no dictionaries"),
      ROW(CompressionOptions, use_zstd_dict_trainer, "no dictionaries")};
  return *table;
}

const OptionTable<rocksdb::CompactionOptionsUniversal>& UniversalOptionTable() {
  constexpr const char* kNote = "universal is served by levels";
  static const auto* const table = new OptionTable<rocksdb::CompactionOptionsUniversal>{
      ROW(CompactionOptionsUniversal, size_ratio, kNote),
      ROW(CompactionOptionsUniversal, min_merge_width, kNote),
      ROW(CompactionOptionsUniversal, max_merge_width, kNote),
      ROW(CompactionOptionsUniversal, max_size_amplification_percent, kNote),
      ROW(CompactionOptionsUniversal, compression_size_percent, kNote),
      ROW(CompactionOptionsUniversal, stop_style, kNote),
      ROW(CompactionOptionsUniversal, allow_trivial_move, kNote),
      ROW(CompactionOptionsUniversal, incremental, kNote)};
  return *table;
}

const OptionTable<rocksdb::CompactionOptionsFIFO>& FifoOptionTable() {
  static const auto* const table = [] {
    using Fifo = rocksdb::CompactionOptionsFIFO;
    auto* t = new OptionTable<Fifo>{
        Scalar<Fifo>("max_table_files_size", &Fifo::max_table_files_size, kMutable, kYes,
                     "the oldest tables are dropped above it"),
        ROW(CompactionOptionsFIFO, allow_compaction, "true is refused"),
        ROW(CompactionOptionsFIFO, age_for_warm, "only 0"),
        Later<Fifo>("use_kv_ratio_compaction", &Fifo::use_kv_ratio_compaction, kMutable, kHint, "true is refused"),
        Later<Fifo>("max_data_files_size_is_set", &Fifo::max_data_files_size_is_set, kMutable, kHint,
                    "true is refused")};
    t->push_back(Retired<rocksdb::CompactionOptionsFIFO>("ttl"));
    return t;
  }();
  return *table;
}
#undef ROW

}  // namespace compassdb
