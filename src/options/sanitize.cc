// SPDX-License-Identifier: Apache-2.0
#include "options/sanitize.h"

#include <algorithm>
#include <climits>

#include "api/foreign_cast.h"
#include "env/descriptor_limit.h"
#include "options/option_tables.h"
#include "options/table_factories.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/env.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/rate_limiter.h"
#include "services/sst_file_manager.h"
#include "table/piece/key_order.h"
#include "util/compression.h"

namespace compassdb {

namespace {

using rocksdb::ColumnFamilyOptions;
using rocksdb::DBOptions;

constexpr uint64_t kEngineChooses = 0xfffffffffffffffe;  // ttl, periodic_compaction_seconds
constexpr uint64_t kThirtyDays = 30 * 24 * 60 * 60;

template <class S>
Status CheckRefused(const OptionTable<S>& table, const S& options, const std::string& where) {
  for (const OptionInfo<S>& option : table) {
    if (option.support != Support::kRefused || !option.is_set(options)) continue;
    return Status::NotSupported(where + option.name, option.note);
  }
  return Status::OK();
}

template <class S>
void ListHints(const OptionTable<S>& table, const S& options, const std::string& where,
               std::vector<std::string>* lines) {
  for (const OptionInfo<S>& option : table) {
    if (option.support != Support::kHint || !option.is_set(options)) continue;
    lines->push_back(where + option.name + " has no effect: " + option.note);
  }
}

std::string WhereFamily(const std::string& name) { return "column family " + name + ": "; }

Status CheckCompression(const std::string& where, const char* option,
                        rocksdb::CompressionType type) {
  if (type == rocksdb::kDisableCompressionOption || CompressionTypeSupported(type)) {
    return Status::OK();
  }
  return Status::InvalidArgument(where + option,
                                 FormatValue(type) + " is not linked into this build");
}

Status CheckCompressions(const std::string& where, const ColumnFamilyOptions& options) {
  Status s = CheckCompression(where, "compression", options.compression);
  if (s.ok()) {
    s = CheckCompression(where, "bottommost_compression", options.bottommost_compression);
  }
  for (size_t i = 0; s.ok() && i < options.compression_per_level.size(); ++i) {
    s = CheckCompression(where, "compression_per_level", options.compression_per_level[i]);
  }
  if (s.ok()) s = CheckCompression(where, "blob_compression_type", options.blob_compression_type);
  return s;
}

Status CheckFactories(const std::string& where, const DBOptions& db,
                      const ColumnFamilyOptions& options) {
  if (options.memtable_factory != nullptr) {
    bool known = false;
    for (const char* name : {"SkipListFactory", "VectorRepFactory", "HashSkipListRepFactory",
                             "HashLinkListRepFactory"}) {
      known = known || name == std::string(options.memtable_factory->Name());
    }
    if (!known) {
      return Status::NotSupported(where + "memtable_factory",
                                  std::string(options.memtable_factory->Name()) +
                                      " is not one of RocksDB's; the engine has its own memtable");
    }
  }
  const rocksdb::TableFactory* factory = options.table_factory.get();
  if (factory == nullptr) return Status::InvalidArgument(where + "table_factory", "is null");
  Status s = factory->ValidateOptions(db, options);
  if (!s.ok()) {
    const char* const why = s.getState();
    const std::string message = where + "table_factory: " + (why == nullptr ? "is refused" : why);
    return s.IsNotSupported() ? Status::NotSupported(message) : Status::InvalidArgument(message);
  }
  const auto* block = factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (block == nullptr) {
    if (IsBuiltIn(*factory)) return Status::OK();
    return Status::NotSupported(where + "table_factory",
                                std::string(factory->Name()) + " is a class of the application");
  }
  return CheckRefused(BlockTableOptionTable(), *block, where + "table_factory.");
}

// Combinations that RocksDB's table format cannot have. RocksDB refuses them at Open, but not when it creates
// a family. They mean nothing here, but their users expect the refusal.
Status CheckBlockTable(const std::string& where, const ColumnFamilyOptions& options) {
  const auto* block = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (block == nullptr) return Status::OK();
  using rocksdb::BlockBasedTableOptions;
  const auto refused = [&](const char* option, const char* why) {
    return Status::InvalidArgument(where + "table_factory." + option, why);
  };
  if (block->index_type == BlockBasedTableOptions::kHashSearch &&
      options.prefix_extractor == nullptr) {
    return refused("index_type",
                   "Hash index is specified for block-based table, but prefix_extractor is not given");
  }
  if (block->pin_l0_filter_and_index_blocks_in_cache && block->no_block_cache) {
    return refused("pin_l0_filter_and_index_blocks_in_cache", "is set, but no_block_cache is too");
  }
  if (block->format_version > 5) {
    return refused("format_version", "Unsupported BlockBasedTable format_version");
  }
  const auto& checksums = NamesOf(rocksdb::ChecksumType());
  if (std::none_of(checksums.begin(), checksums.end(),
                   [&](const auto& known) { return known.second == block->checksum; })) {
    return refused("checksum", "Unrecognized ChecksumType");
  }
  if (block->block_align && options.compression != rocksdb::kNoCompression) {
    return refused("block_align", "Enable block_align, but compression enabled");
  }
  if (block->block_align && (block->block_size & (block->block_size - 1)) != 0) {
    return refused("block_align", "block size is not a power of 2");
  }
  if (block->data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash &&
      !(block->data_block_hash_table_util_ratio > 0)) {
    return refused("data_block_hash_table_util_ratio", "should be greater than 0");
  }
  return Status::OK();
}

// Not every memtable of RocksDB takes writes of several threads.
Status CheckConcurrentWrites(const std::string& where, const DBOptions& db,
                             const ColumnFamilyOptions& options) {
  if (!db.allow_concurrent_memtable_write) return Status::OK();
  const char* const kNotWith = "is not compatible with concurrent writes (allow_concurrent_memtable_write)";
  if (options.inplace_update_support) {
    return Status::InvalidArgument(where + "inplace_update_support", kNotWith);
  }
  if (options.memtable_factory != nullptr &&
      !options.memtable_factory->IsInsertConcurrentlySupported()) {
    return Status::InvalidArgument(where + "memtable_factory",
                                   std::string(options.memtable_factory->Name()) + " " + kNotWith);
  }
  return Status::OK();
}

Status CheckBlobShares(const std::string& where, const ColumnFamilyOptions& options) {
  if (!options.enable_blob_garbage_collection) return Status::OK();
  for (const auto& [name, share] :
       {std::pair("blob_garbage_collection_age_cutoff", options.blob_garbage_collection_age_cutoff),
        std::pair("blob_garbage_collection_force_threshold",
                  options.blob_garbage_collection_force_threshold)}) {
    if (!(share >= 0 && share <= 1)) {
      return Status::InvalidArgument(where + name, "must be between 0 and 1");
    }
  }
  return Status::OK();
}

Status CheckPaths(const std::string& where, const std::vector<rocksdb::DbPath>& paths) {
  for (const rocksdb::DbPath& path : paths) {
    if (path.path.empty()) return Status::PathNotFound(where, "has a path without a name");
  }
  return Status::OK();
}

// With less, memtables and shards of the cache could hold nothing.
constexpr uint64_t kLeastMemoryLimit = 128 << 10;

Status CheckMemoryLimit(const DBOptions& options) {
  const char* const name = "DBOptions::memory_limit";
  if (options.write_buffer_manager != nullptr) {
    return Status::InvalidArgument(
        name, "not together with a write_buffer_manager, which it would not cover");
  }
  if (options.db_write_buffer_size > options.memory_limit / 2) {
    return Status::InvalidArgument(
        name, "leaves less than half to blocks and index: db_write_buffer_size is too large");
  }
  return Status::OK();
}

}  // namespace

DBOptions SanitizeDbOptions(const DBOptions& given) {
  DBOptions options = given;
  if (options.env == nullptr) options.env = rocksdb::Env::Default();
  // 20 is what RocksDB keeps for other uses; -1 stands for no limit.
  if (options.max_open_files != -1) {
    options.max_open_files = std::max(std::min(options.max_open_files, DescriptorLimit()), 20);
  }
  if (options.memory_limit > 0) options.memory_limit = std::max<uint64_t>(options.memory_limit, kLeastMemoryLimit);
  if (options.delayed_write_rate == 0) {
    const int64_t limit =
        options.rate_limiter != nullptr ? options.rate_limiter->GetBytesPerSecond() : 0;
    options.delayed_write_rate = limit > 0 ? static_cast<uint64_t>(limit) : 16 << 20;
  }
  // In the other modes RocksDB cannot distinguish the end of a recycled log from damage.
  if (options.WAL_ttl_seconds > 0 || options.WAL_size_limit_MB > 0 ||
      options.wal_recovery_mode != rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords) {
    options.recycle_log_file_num = 0;
  }
  if (!CompressionTypeSupported(options.wal_compression)) options.wal_compression = rocksdb::kNoCompression;
  // Write-back is started in steps where a rate limiter spreads the writes.
  if (options.rate_limiter != nullptr && options.bytes_per_sync == 0) {
    options.bytes_per_sync = 1 << 20;
  }
  return options;
}

ColumnFamilyOptions SanitizeFamilyOptions(const DBOptions& db, const ColumnFamilyOptions& given) {
  ColumnFamilyOptions o = given;
  constexpr size_t kMaxWriteBuffer =
      sizeof(size_t) == 4 ? 0xffffffffu : uint64_t{64} << 30;
  o.write_buffer_size = std::clamp<size_t>(o.write_buffer_size, 64 << 10, kMaxWriteBuffer);
  if (o.arena_block_size == 0) {
    o.arena_block_size = std::min<size_t>(1 << 20, o.write_buffer_size / 8);
    o.arena_block_size = (o.arena_block_size + 4095) / 4096 * 4096;
  }
  o.max_write_buffer_number = std::max(o.max_write_buffer_number, 2);
  o.min_write_buffer_number_to_merge =
      std::clamp(o.min_write_buffer_number_to_merge, 1, o.max_write_buffer_number - 1);
  if (o.max_write_buffer_number_to_maintain < 0) {
    o.max_write_buffer_number_to_maintain = o.max_write_buffer_number;
  }
  if (o.max_write_buffer_size_to_maintain < 0) {
    o.max_write_buffer_size_to_maintain =
        o.max_write_buffer_number * static_cast<int64_t>(o.write_buffer_size);
  }
  if (o.num_levels < 1) o.num_levels = 1;
  if (o.compaction_style == rocksdb::kCompactionStyleLevel && o.num_levels < 2) o.num_levels = 2;
  o.max_bytes_for_level_multiplier = std::max(o.max_bytes_for_level_multiplier, 1.0);
  for (int& multiplier : o.max_bytes_for_level_multiplier_additional) multiplier = std::max(multiplier, 1);
  o.level0_file_num_compaction_trigger = std::max(o.level0_file_num_compaction_trigger, 1);
  o.level0_slowdown_writes_trigger =
      std::max(o.level0_slowdown_writes_trigger, o.level0_file_num_compaction_trigger);
  o.level0_stop_writes_trigger =
      std::max(o.level0_stop_writes_trigger, o.level0_slowdown_writes_trigger);
  if (o.soft_pending_compaction_bytes_limit == 0) {
    o.soft_pending_compaction_bytes_limit = o.hard_pending_compaction_bytes_limit;
  } else if (o.hard_pending_compaction_bytes_limit > 0) {
    o.soft_pending_compaction_bytes_limit = std::min(o.soft_pending_compaction_bytes_limit,
                                                     o.hard_pending_compaction_bytes_limit);
  }
  if (o.target_file_size_base == 0) o.target_file_size_base = 64 << 20;
  if (o.max_compaction_bytes == 0) {
    o.max_compaction_bytes = o.target_file_size_base > UINT64_MAX / 25
                                 ? UINT64_MAX
                                 : o.target_file_size_base * 25;
  }
  if (o.ttl == kEngineChooses) o.ttl = kThirtyDays;
  if (o.periodic_compaction_seconds == kEngineChooses) {
    const bool filters =
        o.compaction_filter != nullptr || o.compaction_filter_factory != nullptr;
    o.periodic_compaction_seconds = filters ? kThirtyDays : 0;
  }
  if (o.compaction_style == rocksdb::kCompactionStyleFIFO) {
    // As in RocksDB: all tables are on level 0, and the shorter of both times counts.
    o.num_levels = 1;
    o.level0_slowdown_writes_trigger = o.level0_stop_writes_trigger = INT_MAX;
    if (o.periodic_compaction_seconds != 0 && (o.ttl == 0 || o.periodic_compaction_seconds < o.ttl)) {
      o.ttl = o.periodic_compaction_seconds;
    }
  }
  if (TableSettingsOf(o.table_factory.get()).piece.store == StoreKind::kTableless) {
    // ValidateOptions refuses other values; 30 days are the default of a family that was opened with tables.
    for (uint64_t* seconds : {&o.ttl, &o.periodic_compaction_seconds}) {
      if (*seconds == kThirtyDays) *seconds = 0;
    }
  }
  if (o.table_factory == nullptr) o.table_factory.reset(rocksdb::NewBlockBasedTableFactory());
  if (o.memtable_factory == nullptr) {
    o.memtable_factory = std::make_shared<rocksdb::SkipListFactory>();
  }
  if (o.cf_paths.empty()) o.cf_paths = db.db_paths;
  if (o.cf_paths.size() > 1) o.level_compaction_dynamic_level_bytes = false;
  if (o.compaction_style == rocksdb::kCompactionStyleNone) o.disable_auto_compactions = true;
  return o;
}

Status ValidateDbOptions(const DBOptions& options) {
  Status s = CheckRefused(DbOptionTable(), options, "DBOptions::");
  if (s.ok()) s = CheckRanges(DbOptionTable(), options, "DBOptions::");
  if (s.ok() && options.sst_file_manager != nullptr &&
      ForeignCast<FileSpace*>(options.sst_file_manager.get()) == nullptr) {
    s = Status::NotSupported("DBOptions::sst_file_manager", "is not one of NewSstFileManager");
  }
  if (s.ok() && options.db_paths.size() > 4) {
    s = Status::NotSupported("More than four DB paths are not supported yet. ");
  }
  if (s.ok()) s = CheckPaths("DBOptions::db_paths", options.db_paths);
  if (s.ok() && options.db_write_buffer_size > 0 && options.db_write_buffer_size < (64 << 10)) {
    s = Status::InvalidArgument("DBOptions::db_write_buffer_size", "is below 64 KB");
  }
  if (s.ok() && options.memory_limit > 0) s = CheckMemoryLimit(options);
  if (s.ok() && options.unordered_write && options.enable_pipelined_write) {
    s = Status::InvalidArgument("DBOptions::unordered_write",
                                "not together with enable_pipelined_write");
  }
  if (s.ok() && options.unordered_write && !options.allow_concurrent_memtable_write) {
    s = Status::InvalidArgument("DBOptions::unordered_write",
                                "needs allow_concurrent_memtable_write");
  }
  if (s.ok() && options.atomic_flush && options.enable_pipelined_write) {
    s = Status::InvalidArgument("DBOptions::atomic_flush",
                                "is incompatible with enable_pipelined_write");
  }
  if (s.ok() && options.use_direct_io_for_flush_and_compaction &&
      options.writable_file_max_buffer_size == 0) {
    s = Status::InvalidArgument("DBOptions::writable_file_max_buffer_size",
                                "must not be 0 with use_direct_io_for_flush_and_compaction");
  }
  if (s.ok() && options.allow_mmap_reads && options.use_direct_reads) {
    s = Status::NotSupported("DBOptions::use_direct_reads", "not together with allow_mmap_reads");
  }
  if (s.ok() && options.allow_mmap_writes && options.use_direct_io_for_flush_and_compaction) {
    s = Status::NotSupported("DBOptions::use_direct_io_for_flush_and_compaction",
                             "not together with allow_mmap_writes");
  }
  return s;
}

namespace {

Status ValidateFifo(const ColumnFamilyOptions& options, const std::string& where) {
  if (options.compaction_style != rocksdb::kCompactionStyleFIFO) return Status::OK();
  if (TableSettingsOf(options.table_factory.get()).piece.store == StoreKind::kTableless) {
    return Status::NotSupported(where + "compaction_style", "FIFO drops tables; this store has none");
  }
  if (options.enable_blob_files) {
    return Status::NotSupported(where + "enable_blob_files", "not with kCompactionStyleFIFO");
  }
  if (options.compaction_options_fifo.allow_compaction) {
    return Status::NotSupported(where + "compaction_options_fifo.allow_compaction",
                                "small tables are not merged");
  }
  if (options.compaction_options_fifo.age_for_warm != 0) {
    return Status::NotSupported(where + "compaction_options_fifo.age_for_warm",
                                "there are no temperatures");
  }
  if (options.compaction_options_fifo.max_data_files_size_is_set) {
    return Status::NotSupported(where + "compaction_options_fifo.max_data_files_size",
                                "set max_table_files_size");
  }
  if (options.compaction_options_fifo.use_kv_ratio_compaction) {
    return Status::NotSupported(where + "compaction_options_fifo.use_kv_ratio_compaction",
                                "small tables are not merged");
  }
  return Status::OK();
}

}  // namespace

Status ValidateFamilyOptions(const DBOptions& db, const NamedFamilyOptions& family) {
  const std::string where = WhereFamily(family.name);
  const ColumnFamilyOptions& options = family.options;
  Status s = CheckRefused(FamilyOptionTable(), options, where);
  if (s.ok()) s = CheckRanges(FamilyOptionTable(), options, where);
  if (!s.ok()) return s;
  if (options.comparator == nullptr) {
    return Status::InvalidArgument(where + "comparator", "is null");
  }
  if (s = ValidateFifo(options, where); !s.ok()) return s;
  if (options.compaction_filter != nullptr && !options.compaction_filter->IgnoreSnapshots()) {
    return Status::NotSupported(where + "compaction_filter", "IgnoreSnapshots() must be true");
  }
  if (db.unordered_write && options.max_successive_merges > 0) {
    return Status::InvalidArgument(where + "max_successive_merges", "not together with unordered_write");
  }
  if (db.allow_ingest_behind && options.num_levels < 3) {
    return Status::InvalidArgument(where + "num_levels",
                                   "must be at least 3 with allow_ingest_behind, which keeps the last level");
  }
  s = CheckBlobShares(where, options);
  if (!s.ok()) return s;
  if (options.compression_opts.zstd_max_train_bytes > 0 &&
      options.compression_opts.max_dict_bytes == 0) {
    return Status::InvalidArgument(where + "compression_opts.max_dict_bytes",
                                   "should be nonzero with zstd_max_train_bytes");
  }
  if (const uint32_t bytes = options.memtable_protection_bytes_per_key;
      bytes > 8 || (bytes & (bytes - 1)) != 0) {
    return Status::NotSupported(where + "memtable_protection_bytes_per_key",
                                "must be 0, 1, 2, 4 or 8");
  }
  if (options.enable_blob_files && options.comparator->timestamp_size() != 0) {
    return Status::NotSupported(where + "enable_blob_files", "not with user-defined timestamps");
  }
  if (options.enable_blob_files && !KeyOrder(options.comparator).HashesIdentifyKeys()) {
    return Status::NotSupported(where + "enable_blob_files",
                                "groups of values are by the hash of the key, and to the comparator " +
                                    std::string(options.comparator->Name()) +
                                    " keys of different bytes may be equal");
  }
  s = CheckPaths(where + "cf_paths", options.cf_paths);
  if (s.ok()) s = CheckCompressions(where, options);
  if (s.ok()) s = CheckFactories(where, db, options);
  return s.ok() ? CheckConcurrentWrites(where, db, options) : s;
}

Status ValidateOptions(const DBOptions& db, const std::vector<NamedFamilyOptions>& families) {
  Status s = ValidateDbOptions(db);
  for (size_t i = 0; s.ok() && i < families.size(); ++i) {
    s = ValidateFamilyOptions(db, families[i]);
    if (s.ok()) s = CheckBlockTable(WhereFamily(families[i].name), families[i].options);
  }
  return s;
}

std::vector<std::string> HintWarnings(const DBOptions& db,
                                      const std::vector<NamedFamilyOptions>& families) {
  std::vector<std::string> lines;
  ListHints(DbOptionTable(), db, "", &lines);
  for (const NamedFamilyOptions& family : families) {
    const std::string where = WhereFamily(family.name);
    ListHints(FamilyOptionTable(), family.options, where, &lines);
    if (family.options.table_factory == nullptr) continue;
    const auto* block =
        family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (block != nullptr) {
      ListHints(BlockTableOptionTable(), *block, where, &lines);
    } else {
      lines.push_back(where + "table_factory: tables have the engine's own format, not that of " +
                      family.options.table_factory->Name());
    }
  }
  return lines;
}

void WarnAboutHints(rocksdb::Logger* log, const DBOptions& db,
                    const std::vector<NamedFamilyOptions>& families) {
  if (log == nullptr) return;
  for (const std::string& line : HintWarnings(db, families)) {
    rocksdb::Log(rocksdb::InfoLogLevel::WARN_LEVEL, log, "option %s", line.c_str());
  }
}

Status ApplyMutableFamilyOptions(const std::string& family, const DBOptions& db,
                                 const OptionMap& changes, ColumnFamilyOptions* options) {
  if (changes.empty()) return Status::InvalidArgument("empty input");
  ConfigOptions config;
  config.mutable_options_only = true;
  config.ignore_unsupported_options = false;
  NamedFamilyOptions changed{family, *options};
  Status s = ParseOptions(config, FamilyOptionTable(), changes, &changed.options);
  if (!s.ok()) return s;
  changed.options = SanitizeFamilyOptions(db, changed.options);
  s = ValidateFamilyOptions(db, changed);
  if (s.ok()) *options = std::move(changed.options);
  return s;
}

Status ApplyMutableDbOptions(const OptionMap& changes, DBOptions* options) {
  if (changes.empty()) return Status::InvalidArgument("empty input");
  ConfigOptions config;
  config.mutable_options_only = true;
  config.ignore_unsupported_options = false;
  for (const auto& [name, value] : changes) {
    std::string member;
    const auto* option = FindOption(DbOptionTable(), name, &member);
    if (option == nullptr || !option->is_mutable()) {
      return Status::NotFound("Unrecognized option: " + name);
    }
  }
  DBOptions changed = *options;
  Status s = ParseOptions(config, DbOptionTable(), changes, &changed);
  if (!s.ok()) return s;
  changed = SanitizeDbOptions(changed);
  s = ValidateDbOptions(changed);
  if (s.ok()) *options = std::move(changed);
  return s;
}

bool FamilyOptionHasEffect(const std::string& name) {
  std::string member;
  const auto* option = FindOption(FamilyOptionTable(), name, &member);
  if (option == nullptr) return false;
  // In compression_opts only the level has an effect.
  return option->support == Support::kSupported || option->name == std::string("compression_opts");
}

bool DbOptionHasEffect(const std::string& name) {
  std::string member;
  const auto* option = FindOption(DbOptionTable(), name, &member);
  return option != nullptr && option->support == Support::kSupported;
}

}  // namespace compassdb
