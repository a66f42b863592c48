// SPDX-License-Identifier: Apache-2.0
// What the opaque types of rocksdb/c.h are. A handle holds `rep`; closing or destroying the handle deletes what
// a plain pointer `rep` points to, unless said otherwise. Handles that call back into C are in callbacks.h.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "rocksdb/c.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/memory_allocator.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "rocksdb/write_batch.h"
#include "rocksdb/write_buffer_manager.h"

// That of a base is not the handle's: rocksdb_transactiondb_close_base_db() and that of optimistic databases.
struct rocksdb_t { rocksdb::DB* rep; };
// A borrowed handle leaves `rep` to the database.
struct rocksdb_column_family_handle_t {
  rocksdb::ColumnFamilyHandle* rep;
  bool borrowed = false;
};
namespace compassdb {
// Null for null, which methods refuse.
inline rocksdb::ColumnFamilyHandle* Family(const rocksdb_column_family_handle_t* handle) {
  return handle == nullptr ? nullptr : handle->rep;
}
}  // namespace compassdb
struct rocksdb_iterator_t { rocksdb::Iterator* rep; };
struct rocksdb_pinnableslice_t { rocksdb::PinnableSlice rep; };
struct rocksdb_pinnable_handle_t { rocksdb::PinnableSlice rep; };
struct rocksdb_wal_iterator_t { std::unique_ptr<rocksdb::TransactionLogIterator> rep; };
struct rocksdb_wal_readoptions_t { rocksdb::TransactionLogIterator::ReadOptions rep; };

// Made by MallocHandle(), for that of a transaction is freed by rocksdb_free(), and leaves `rep` to the transaction.
struct rocksdb_snapshot_t { const rocksdb::Snapshot* rep; };
struct rocksdb_writebatch_wi_t { rocksdb::WriteBatchWithIndex* rep; };

struct rocksdb_writebatch_t { rocksdb::WriteBatch rep; };

struct rocksdb_backup_engine_t { rocksdb::BackupEngine* rep; };
struct rocksdb_backup_engine_info_t { std::vector<rocksdb::BackupInfo> rep; };
struct rocksdb_checkpoint_t { rocksdb::Checkpoint* rep; };
struct rocksdb_sstfilewriter_t { rocksdb::SstFileWriter rep; };

struct rocksdb_transactiondb_t { rocksdb::TransactionDB* rep; };
struct rocksdb_optimistictransactiondb_t { rocksdb::OptimisticTransactionDB* rep; };
struct rocksdb_transaction_t { rocksdb::Transaction* rep; };

struct rocksdb_options_t { rocksdb::Options rep; };
struct rocksdb_block_based_table_options_t { rocksdb::BlockBasedTableOptions rep; };
struct rocksdb_cuckoo_table_options_t { rocksdb::CuckooTableOptions rep; };
struct rocksdb_universal_compaction_options_t { rocksdb::CompactionOptionsUniversal rep; };
struct rocksdb_fifo_compaction_options_t {
  rocksdb::CompactionOptionsFIFO rep;
  // What `rep` cannot hold.
  struct { uint64_t max_data_files_size = 0; } later = {};
};
struct rocksdb_writeoptions_t { rocksdb::WriteOptions rep; };
struct rocksdb_flushoptions_t { rocksdb::FlushOptions rep; };
struct rocksdb_envoptions_t { rocksdb::EnvOptions rep; };
struct rocksdb_ingestexternalfileoptions_t { rocksdb::IngestExternalFileOptions rep; };
struct rocksdb_backup_engine_options_t { rocksdb::BackupEngineOptions rep; };
struct rocksdb_restore_options_t { rocksdb::RestoreOptions rep; };
struct rocksdb_transactiondb_options_t { rocksdb::TransactionDBOptions rep; };
struct rocksdb_transaction_options_t { rocksdb::TransactionOptions rep; };
struct rocksdb_optimistictransaction_options_t { rocksdb::OptimisticTransactionOptions rep; };
struct rocksdb_wait_for_compact_options_t { rocksdb::WaitForCompactOptions rep; };
struct rocksdb_hyper_clock_cache_options_t { rocksdb::HyperClockCacheOptions rep; };
struct rocksdb_statistics_histogram_data_t { rocksdb::HistogramData rep = {}; };
struct rocksdb_lru_cache_options_t { rocksdb::LRUCacheOptions rep; };

// `rep` points to these slices, which point to the caller's bytes.
struct rocksdb_readoptions_t {
  rocksdb::ReadOptions rep;
  rocksdb::Slice upper_bound;
  rocksdb::Slice lower_bound;
  rocksdb::Slice timestamp;
  rocksdb::Slice iter_start_ts;
};
struct rocksdb_compactoptions_t {
  rocksdb::CompactRangeOptions rep;
  rocksdb::Slice full_history_ts_low;
};

struct rocksdb_cache_t { std::shared_ptr<rocksdb::Cache> rep; };
struct rocksdb_memory_allocator_t { std::shared_ptr<rocksdb::MemoryAllocator> rep; };
struct rocksdb_ratelimiter_t { std::shared_ptr<rocksdb::RateLimiter> rep; };
struct rocksdb_write_buffer_manager_t { std::shared_ptr<rocksdb::WriteBufferManager> rep; };
struct rocksdb_sst_file_manager_t { std::shared_ptr<rocksdb::SstFileManager> rep; };
struct rocksdb_logger_t { std::shared_ptr<rocksdb::Logger> rep; };
struct rocksdb_slicetransform_t { std::shared_ptr<const rocksdb::SliceTransform> rep; };
struct rocksdb_filterpolicy_t { std::shared_ptr<const rocksdb::FilterPolicy> rep; };
struct rocksdb_dbpath_t { rocksdb::DbPath rep; };

// The default one lives as long as the process.
struct rocksdb_env_t {
  rocksdb::Env* rep;
  bool is_default;
};

struct rocksdb_livefiles_t { std::vector<rocksdb::LiveFileMetaData> rep; };
struct rocksdb_livefile_t { rocksdb::LiveFileMetaData rep; };
struct rocksdb_export_import_files_metadata_t { rocksdb::ExportImportFilesMetaData rep; };
struct rocksdb_import_column_family_options_t { rocksdb::ImportColumnFamilyOptions rep; };
struct rocksdb_column_family_metadata_t { rocksdb::ColumnFamilyMetaData rep; };
// Point into the column family's.
struct rocksdb_level_metadata_t { const rocksdb::LevelMetaData* rep; };
struct rocksdb_sst_file_metadata_t { const rocksdb::SstFileMetaData* rep; };

namespace compassdb {

// The handle of what a call that cannot report an error makes: null without memory.
template <class Handle, class... Parts>
Handle* Create(Parts&&... parts) noexcept {
  try {
    if constexpr (sizeof...(Parts) == 0) {
      return new Handle();  // braces would not do where a part's default constructor is explicit
    } else {
      return new Handle{std::forward<Parts>(parts)...};
    }
  } catch (...) {
    return nullptr;
  }
}

template <class Handle, class Rep>
Handle* MallocHandle(Rep* rep) {
  void* const memory = std::malloc(sizeof(Handle));
  if (memory == nullptr) throw std::bad_alloc();
  return new (memory) Handle{rep};
}

}  // namespace compassdb
