// SPDX-License-Identifier: Apache-2.0
#include "options/option_tables.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/listener.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/statistics.h"
#include "rocksdb/wal_filter.h"

namespace compassdb {

namespace {

using rocksdb::DBOptions;

#define FIELD(name) #name, &DBOptions::name
constexpr Support kYes = Support::kSupported;
constexpr Support kHint = Support::kHint;
constexpr Support kNo = Support::kRefused;

void AddOpening(OptionTable<DBOptions>* t) {
  t->push_back(Scalar<DBOptions>(FIELD(create_if_missing), kFixed, kYes, "at open"));
  t->push_back(Scalar<DBOptions>(FIELD(create_missing_column_families), kFixed, kYes, "at open"));
  t->push_back(Scalar<DBOptions>(FIELD(error_if_exists), kFixed, kYes, "at open"));
  t->push_back(Scalar<DBOptions>(FIELD(paranoid_checks), kFixed, kHint,
                                 "always as with true: damage is an error, never skipped"));
  t->push_back(Scalar<DBOptions>(FIELD(flush_verify_memtable_count), kFixed, kHint,
                                 "a self-check of RocksDB's flush"));
  t->push_back(Scalar<DBOptions>(FIELD(track_and_verify_wals_in_manifest), kFixed, kHint,
                                 "always as with true: the manifest says how far logs are synced"));
  t->push_back(Scalar<DBOptions>(FIELD(verify_sst_unique_id_in_manifest), kFixed, kHint,
                                 "pieces are addressed by file, offset and length and checked "
                                 "against the manifest when they are opened"));
  t->push_back(Scalar<DBOptions>(FIELD(skip_stats_update_on_db_open), kFixed, kHint,
                                 "the manifest holds the statistics; nothing is read for them"));
  t->push_back(Scalar<DBOptions>(FIELD(skip_checking_sst_file_sizes_on_db_open), kFixed, kHint,
                                 "each file is checked by one stat"));
  t->push_back(Scalar<DBOptions>(FIELD(fail_if_options_file_error), kFixed, kYes, "at open"));
  t->push_back(Scalar<DBOptions>(FIELD(best_efforts_recovery), kFixed, kNo,
                                 "recovery never drops tables; use RepairDB"));
  t->push_back(Scalar<DBOptions>(FIELD(write_dbid_to_manifest), kFixed, kHint,
                                 "the identity always is in the manifest"));
  t->push_back(Text<DBOptions>(FIELD(db_host_id), kFixed, kHint,
                               "tables do not record the host that wrote them"));
}

void AddObjects(OptionTable<DBOptions>* t) {
  t->push_back(Pointer<DBOptions>("env", &DBOptions::env, kNoPrint | kWhole, kYes,
                                  "files, clock and threads"));
  t->back().is_set = [](const DBOptions&) { return false; };
  OptionInfo<DBOptions> limiter = StructOnly<DBOptions>(
      "rate_limiter", "object", [](const DBOptions& o) { return o.rate_limiter != nullptr; }, kYes,
      "flushes and compactions wait for it; in text: rate_limiter_bytes_per_sec=N");
  t->push_back(limiter);
  t->back().flags |= kWhole;
  // In a file or a string RocksDB parses it and drops it.
  t->back().parse = [](const ConfigOptions&, const std::string&, const std::string&, DBOptions*) { return Status::OK(); };
  limiter.name = "rate_limiter_bytes_per_sec";
  limiter.type = "int64";
  limiter.flags = kNoPrint;
  limiter.note = "makes a rate_limiter; 0: none";
  limiter.parse = [](const ConfigOptions&, const std::string&, const std::string& value,
                     DBOptions* options) {
    int64_t rate = 0;
    if (!ParseSigned(value, &rate) || rate < 0) {
      return BadOptionValue("rate_limiter_bytes_per_sec", value, "int64");
    }
    options->rate_limiter.reset(rate == 0 ? nullptr : rocksdb::NewGenericRateLimiter(rate));
    return Status::OK();
  };
  t->push_back(limiter);
  t->push_back(StructOnly<DBOptions>(
      "sst_file_manager", "object",
      [](const DBOptions& o) { return o.sst_file_manager != nullptr; }, kYes,
      "of NewSstFileManager: tracks files, refuses writes beyond the allowed space, and deletes "
      "obsolete files at its rate"));
  t->push_back(StructOnly<DBOptions>(
      "info_log", "object", [](const DBOptions& o) { return o.info_log != nullptr; }, kYes,
      "default: LOG in the database's directory or db_log_dir"));
  t->push_back(Object<DBOptions>("statistics", &DBOptions::statistics, kNoPrint, kYes, "counted"));
  t->push_back(StructOnly<DBOptions>(
      "write_buffer_manager", "object",
      [](const DBOptions& o) { return o.write_buffer_manager != nullptr; }, kYes,
      "memtables of all databases that share it are charged to it"));
  OptionInfo<DBOptions> listeners = StructOnly<DBOptions>(
      "listeners", "list", [](const DBOptions& o) { return !o.listeners.empty(); }, kYes,
      "called as documented; in text: the ids of registered classes");
  listeners.flags = kNoPrint;
  listeners.parse = [](const ConfigOptions& config, const std::string&, const std::string& value,
                       DBOptions* options) {
    std::vector<std::string> ids;
    Status s = SplitOptionList(value, &ids);
    std::vector<std::shared_ptr<rocksdb::EventListener>> made;
    for (size_t i = 0; s.ok() && i < ids.size(); ++i) {
      std::shared_ptr<rocksdb::EventListener> listener;
      s = rocksdb::EventListener::CreateFromString(config, ids[i], &listener);
      if (s.ok() && listener != nullptr) made.push_back(std::move(listener));
      if (s.IsNotSupported() && config.ignore_unsupported_options) s = Status::OK();
    }
    if (s.ok()) options->listeners = std::move(made);
    return s;
  };
  t->push_back(listeners);
  t->push_back(StructOnly<DBOptions>(
      "row_cache", "object", [](const DBOptions& o) { return o.row_cache != nullptr; }, kHint,
      "a read costs at most one block, which the block cache holds"));
  OptionInfo<DBOptions> wal_filter = StructOnly<DBOptions>(
      "wal_filter", "object", [](const DBOptions& o) { return o.wal_filter != nullptr; }, kYes,
      "asked for every batch at recovery");
  wal_filter.flags = kFixed;
  wal_filter.parse = [](const ConfigOptions& config, const std::string&, const std::string& value,
                        DBOptions* options) {
    if (value != "nullptr" && !config.ignore_unsupported_options) {
      return Status::NotSupported("wal_filter", value);
    }
    if (value == "nullptr") options->wal_filter = nullptr;
    return Status::OK();
  };
  wal_filter.format = [](const ConfigOptions&, const DBOptions& o) {
    return std::string(o.wal_filter == nullptr ? "nullptr" : o.wal_filter->Name());
  };
  t->push_back(wal_filter);
  t->push_back(Object<DBOptions>(FIELD(file_checksum_gen_factory), kFixed, kYes,
                                 "of new compaction files, in the manifest; such files are not "
                                 "punched. Not with store=tableless"));
  t->push_back(StructOnly<DBOptions>(
      "compaction_service", "object",
      [](const DBOptions& o) { return o.compaction_service != nullptr; }, kNo,
      "compactions run in the process"));
}

void AddDirectories(OptionTable<DBOptions>* t) {
  t->push_back(StructOnly<DBOptions>(
      "db_paths", "list", [](const DBOptions& o) { return !o.db_paths.empty(); }, kYes,
      "directories of compaction files; newer data in the first ones"));
  t->push_back(Text<DBOptions>(FIELD(db_log_dir), kFixed, kYes, "directory of LOG"));
  t->push_back(Text<DBOptions>(FIELD(wal_dir), kFixed, kYes, "directory of the write-ahead log; that of another database is refused"));
  t->push_back(Scalar<DBOptions>(FIELD(delete_obsolete_files_period_micros), kMutable, kHint,
                                 "an obsolete file is deleted when its last user has ended"));
  t->push_back(Scalar<DBOptions>(FIELD(max_open_files), kMutable, kYes, "size of the file cache, less ten for other files; 24 of the process's descriptors are left to the rest, with -1 at least a quarter of them"));
  t->push_back(Scalar<DBOptions>(FIELD(max_file_opening_threads), kFixed, kHint,
                                 "indexes are read at their first use"));
  t->push_back(Scalar<DBOptions>(FIELD(table_cache_numshardbits), kFixed, kHint,
                                 "files are few and shared by tables"));
}

void AddInfoLog(OptionTable<DBOptions>* t) {
  t->push_back(Scalar<DBOptions>(FIELD(info_log_level), kFixed, kYes, "of LOG"));
  t->push_back(Scalar<DBOptions>(FIELD(max_log_file_size), kFixed, kYes, "of LOG"));
  t->push_back(Scalar<DBOptions>(FIELD(log_file_time_to_roll), kFixed, kYes, "of LOG"));
  t->push_back(Scalar<DBOptions>(FIELD(keep_log_file_num), kFixed, kYes, "of LOG").AtLeast(1));
  t->push_back(Scalar<DBOptions>(FIELD(allow_data_in_errors), kFixed, kHint,
                                 "keys in messages are escaped and cut"));
  t->push_back(Scalar<DBOptions>(FIELD(stats_dump_period_sec), kMutable, kYes,
                                 "into LOG"));
  t->push_back(Scalar<DBOptions>(FIELD(stats_persist_period_sec), kMutable, kYes,
                                 "for GetStatsHistory"));
  t->push_back(Scalar<DBOptions>(FIELD(persist_stats_to_disk), kFixed, kNo,
                                 "the history of statistics is kept in memory"));
  t->push_back(Later<DBOptions>(FIELD(open_files_async), kFixed, kHint,
                                "an open never reads tables: their files are opened when they are read first"));
  t->push_back(Later<DBOptions>(FIELD(write_identity_file), kFixed, kNo,
                                "a directory is recognized by its file IDENTITY"));
  t->push_back(Scalar<DBOptions>(FIELD(stats_history_buffer_size), kMutable, kYes,
                                 "for GetStatsHistory"));
  t->push_back(Scalar<DBOptions>(FIELD(dump_malloc_stats), kFixed, kHint,
                                 "statistics of the allocator are not dumped"));
  t->push_back(Scalar<DBOptions>(FIELD(enable_thread_tracking), kFixed, kYes,
                                 "GetThreadList names database, family and job; not stages"));
}

void AddBackground(OptionTable<DBOptions>* t) {
  t->push_back(Scalar<DBOptions>(FIELD(max_background_jobs), kMutable, kYes,
                                 "a quarter for flushes, the rest for compactions; one collection more while a flush waits for room among separated values").AtLeast(0));
  t->push_back(Scalar<DBOptions>(FIELD(max_background_compactions), kMutable, kYes, "threads"));
  t->push_back(Scalar<DBOptions>(FIELD(max_background_flushes), kMutable, kYes, "threads"));
  t->push_back(Scalar<DBOptions>(FIELD(max_subcompactions), kMutable, kYes,
                                 "threads of one compaction"));
  t->push_back(Scalar<DBOptions>(FIELD(delayed_write_rate), kMutable, kYes,
                                 "bytes per second while writes are slowed down"));
  t->push_back(Scalar<DBOptions>(FIELD(max_bgerror_resume_count), kFixed, kYes,
                                 "attempts to resume after a full disk or lack of memory; other errors need DB::Resume"));
  t->push_back(Scalar<DBOptions>(FIELD(bgerror_resume_retry_interval), kFixed, kYes,
                                 "between those attempts"));
}

void AddLog(OptionTable<DBOptions>* t) {
  t->push_back(Scalar<DBOptions>(FIELD(max_total_wal_size), kMutable, kYes,
                                 "older memtables are flushed beyond it"));
  t->push_back(Scalar<DBOptions>(FIELD(use_fsync), kFixed, kHint,
                                 "a sync always makes data and size durable"));
  t->push_back(Scalar<DBOptions>(FIELD(recycle_log_file_num), kFixed, kYes,
                                 "obsolete logs that new ones write over; as in RocksDB, 0 unless "
                                 "wal_recovery_mode is kSkipAnyCorruptedRecords and logs are not archived"));
  t->push_back(Scalar<DBOptions>(FIELD(WAL_ttl_seconds), kFixed, kYes,
                                 "logs stay in archive/ for GetUpdatesSince"));
  t->push_back(Scalar<DBOptions>(FIELD(WAL_size_limit_MB), kFixed, kYes,
                                 "logs stay in archive/ for GetUpdatesSince"));
  t->push_back(Scalar<DBOptions>(FIELD(wal_recovery_mode), kFixed, kYes,
                               "all four; kTolerateCorruptedTailRecords also leaves out the logs behind a torn one: "
                               "no later write survives an earlier one"));
  t->push_back(Scalar<DBOptions>(FIELD(wal_bytes_per_sync), kMutable, kYes,
                                 "write-back is started"));
  t->push_back(Scalar<DBOptions>(FIELD(wal_compression), kFixed, kYes,
                                 "each record by itself, by any type that tables may have"));
  t->push_back(Scalar<DBOptions>(FIELD(manual_wal_flush), kFixed, kYes, "FlushWAL writes it"));
  t->push_back(Scalar<DBOptions>(FIELD(avoid_flush_during_recovery), kFixed, kYes, "at open"));
  t->push_back(Scalar<DBOptions>(FIELD(avoid_flush_during_shutdown), kMutable, kYes, "at close"));
  t->push_back(Scalar<DBOptions>(FIELD(log_readahead_size), kFixed, kHint, "logs are read whole"));
  t->push_back(Scalar<DBOptions>(FIELD(max_manifest_file_size), kFixed, kYes,
                                 "a new manifest is begun beyond it"));
  t->push_back(Scalar<DBOptions>(FIELD(manifest_preallocation_size), kFixed, kHint,
                                 "a manifest grows as it is written"));
  t->push_back(Scalar<DBOptions>(FIELD(allow_2pc), kFixed, kYes,
                                 "prepared sections stay in the log, set or not"));
}

OptionInfo<DBOptions> MemoryLimit() {
  OptionInfo<DBOptions> info{"memory_limit", TypeName<uint64_t>(), kFixed, kYes,
                             "CompassDB's: of memtables, blocks and index together",
                             nullptr, nullptr, nullptr};
  info.parse = [](const ConfigOptions&, const std::string&, const std::string& value,
                  DBOptions* options) {
    uint64_t bytes = 0;
    if (!ParseValue(value, &bytes)) {
      return BadOptionValue("memory_limit", value, TypeName<uint64_t>());
    }
    options->memory_limit = bytes;
    return Status::OK();
  };
  // RocksDB does not know it, so it is only written if it is set.
  info.format = [](const ConfigOptions&, const DBOptions& options) {
    return options.memory_limit == 0 ? std::string() : std::to_string(options.memory_limit);
  };
  info.is_set = [](const DBOptions& options) { return options.memory_limit != 0; };
  return info;
}

void AddWrites(OptionTable<DBOptions>* t) {
  t->push_back(Scalar<DBOptions>(FIELD(db_write_buffer_size), kFixed, kYes,
                                 "memory of all memtables"));
  t->push_back(MemoryLimit());
  t->push_back(Scalar<DBOptions>(FIELD(atomic_flush), kFixed, kYes,
                                 "families are flushed and committed together"));
  t->push_back(Scalar<DBOptions>(FIELD(enable_pipelined_write), kFixed, kHint,
                                 "one writer queue with group commit"));
  t->push_back(Scalar<DBOptions>(FIELD(unordered_write), kFixed, kHint,
                                 "writes always are ordered, the stronger promise"));
  t->push_back(Scalar<DBOptions>(FIELD(two_write_queues), kFixed, kHint,
                                 "one writer queue with group commit"));
  t->push_back(Scalar<DBOptions>(FIELD(allow_concurrent_memtable_write), kFixed, kYes,
                                 "members of a write group insert at once"));
  t->push_back(Scalar<DBOptions>(FIELD(enable_write_thread_adaptive_yield), kFixed, kYes,
                                 "waiting writers yield before they sleep, where that has paid lately"));
  t->push_back(Scalar<DBOptions>(FIELD(write_thread_max_yield_usec), kFixed, kYes,
                                 "microseconds; 0: waiting writers sleep"));
  t->push_back(Scalar<DBOptions>(FIELD(write_thread_slow_yield_usec), kFixed, kYes,
                                 "microseconds; after three such yields a writer sleeps"));
  t->push_back(Scalar<DBOptions>(FIELD(max_write_batch_group_size_bytes), kFixed, kYes,
                                 "bytes that one group commits"));
  t->push_back(Scalar<DBOptions>(FIELD(use_adaptive_mutex), kFixed, kHint,
                                 "the standard library's mutex"));
  t->push_back(Scalar<DBOptions>(FIELD(allow_ingest_behind), kFixed, kYes,
                                 "the last level is kept for IngestExternalFileOptions::ingest_behind"));
  t->push_back(Scalar<DBOptions>(FIELD(enforce_single_del_contracts), kFixed, kHint,
                                 "a SingleDelete that meets another kind of record deletes"));
}

void AddInputOutput(OptionTable<DBOptions>* t) {
  t->push_back(Scalar<DBOptions>(FIELD(use_direct_reads), kFixed, kYes, "O_DIRECT"));
  t->push_back(Scalar<DBOptions>(FIELD(use_direct_io_for_flush_and_compaction), kFixed, kYes,
                                 "O_DIRECT"));
  t->push_back(Scalar<DBOptions>(FIELD(bytes_per_sync), kMutable, kYes, "write-back is started"));
  t->push_back(Scalar<DBOptions>(FIELD(strict_bytes_per_sync), kMutable, kHint,
                                 "write-back is started, not awaited"));
  t->push_back(Scalar<DBOptions>(FIELD(allow_mmap_reads), kFixed, kHint, "files are read"));
  t->push_back(Scalar<DBOptions>(FIELD(allow_mmap_writes), kFixed, kHint, "files are written"));
  t->push_back(Scalar<DBOptions>(FIELD(allow_fallocate), kFixed, kHint,
                                 "the file system decides"));
  t->push_back(Scalar<DBOptions>(FIELD(is_fd_close_on_exec), kFixed, kHint,
                                 "descriptors always are closed on exec"));
  t->push_back(Scalar<DBOptions>(FIELD(advise_random_on_open), kFixed, kHint,
                                 "reads are of single blocks"));
  t->push_back(Scalar<DBOptions>(FIELD(access_hint_on_compaction_start), kFixed, kHint,
                                 "compactions read with their own read-ahead"));
  t->push_back(Scalar<DBOptions>(FIELD(compaction_readahead_size), kMutable, kHint,
                                 "compactions read with their own read-ahead"));
  t->push_back(Scalar<DBOptions>(FIELD(random_access_max_buffer_size), kFixed, kHint,
                                 "reads are of single blocks"));
  t->push_back(Scalar<DBOptions>(FIELD(writable_file_max_buffer_size), kMutable, kHint,
                                 "writers have a fixed buffer"));
  t->push_back(Scalar<DBOptions>(FIELD(avoid_unnecessary_blocking_io), kFixed, kYes,
                                 "false: the thread that deletes the last handle of a dropped family deletes its files; "
                                 "what iterators held is always deleted in the background"));
  t->push_back(Scalar<DBOptions>(FIELD(lowest_used_cache_tier), kFixed, kHint,
                                 "one tier of block cache"));
  t->push_back(StructOnly<DBOptions>(
      "checksum_handoff_file_types", "set",
      [](const DBOptions& o) {
        rocksdb::FileTypeSet types = o.checksum_handoff_file_types;  // Contains() is not const
        for (int type = 0; type <= static_cast<int>(rocksdb::FileType::kBlobFile); ++type) {
          if (types.Contains(static_cast<rocksdb::FileType>(type))) {
            return true;
          }
        }
        return false;
      },
      kHint, "the file system gets data without checksums; blocks and records hold their own"));
}
#undef FIELD

void AddRetired(OptionTable<DBOptions>* t) {
  for (const char* name :
       {"skip_log_error_on_recovery", "disable_data_sync", "disableDataSync", "new_table_reader_for_compaction_inputs",
        "preserve_deletes", "concurrent_prepare", "use_direct_writes", "experimental_allow_mempurge",
        "experimental_mempurge_policy", "experimental_mempurge_threshold", "seq_per_batch"}) {
    t->push_back(Retired<DBOptions>(name));
  }
  for (const char* name : {"base_background_compactions", "allow_os_buffer"}) {
    t->push_back(Retired<DBOptions>(name, kMutable));
  }
}

}  // namespace

const OptionTable<rocksdb::DBOptions>& DbOptionTable() {
  static const auto* const table = [] {
    auto* t = new OptionTable<DBOptions>();
    AddOpening(t);
    AddObjects(t);
    AddDirectories(t);
    AddInfoLog(t);
    AddBackground(t);
    AddLog(t);
    AddWrites(t);
    AddInputOutput(t);
    AddRetired(t);
    return t;
  }();
  return *table;
}

}  // namespace compassdb
