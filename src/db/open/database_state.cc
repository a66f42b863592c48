// SPDX-License-Identifier: Apache-2.0
#include "db/open/database_state.h"

#include "db/report/info_log.h"
#include "env/limited_bytes.h"
#include "format/file_names.h"
#include "rocksdb/rate_limiter.h"

namespace compassdb {
namespace {

// A copy has its tables in its own directory, and ignores the paths in its options.
std::unique_ptr<FileCache> NewFileCache(const DbConfig& config) {
  const std::string& first =
      config.tables_linked ? config.table_paths.front().dir : config.name;
  auto files = std::make_unique<FileCache>(config.fs, first, PieceReadOptions(config.options),
                                           FileLimits(config.options));
  for (const TablePath& path : config.table_paths) files->dirs()->Add(path.dir);
  return files;
}

// A reader punches no files, and deletes only a secondary's links.
std::unique_ptr<ExtentLedger> NewExtentLedger(const DbConfig& config, FileCache* files) {
  const HoleSizes holes = config.fs->HolesWorthPunching();
  return std::make_unique<ExtentLedger>(config.fs, files, config.read_only() ? 0 : holes.least,
                                        holes.large);
}

}  // namespace

DatabaseState::DatabaseState(DbConfig database_config,
                             std::unique_ptr<Ownership> database_ownership,
                             std::unique_ptr<FileLock> database_lock)
    : config(std::move(database_config)),
      lock(std::move(database_lock)),
      ownership(std::move(database_ownership)),
      tables(NewFileCache(config)),
      ledger(NewExtentLedger(config, tables.get())),
      listeners(config.options.listeners),
      event_log(config.info_log.get(), config.clock),
      commits(config.fs, config.name, config.options.max_manifest_file_size, &mu, manifest_state),
      spare_files(config.fs, PieceFileName, [this] { return commits.NewNumber(); }),
      front(config, [this] { return commits.NewNumber(); }) {
  const rocksdb::DBOptions& options = config.options;
  stores.fs = config.fs;
  stores.clock = config.clock;
  stores.files = tables.get();
  stores.ledger = ledger.get();
  stores.read_only = config.read_only();
  stores.spare_files = &spare_files;
  stores.statistics = options.statistics.get();
  stores.log_values = &front.log_values;
  stores.max_subcompactions = options.max_subcompactions;
  stores.write_options = PieceWriteOptions(options);
  stores.bytes_per_sync = options.bytes_per_sync;
  stores.new_number = [this] { return commits.NewNumber(); };
  stores.describe_job = [this](JobRecord* record) {
    return manifest_state.DescribeJob(&commits, record);
  };
  stores.checksums = options.file_checksum_gen_factory.get();
  stores.log_info = [log = config.info_log](const std::string& line) { LogInfo(log.get(), line); };
  if (options.rate_limiter != nullptr &&
      options.rate_limiter->IsRateLimited(rocksdb::RateLimiter::OpType::kWrite)) {
    stores.throttle = [limiter = options.rate_limiter](uint64_t bytes, bool flush) {
      RequestInBursts(limiter.get(), bytes, flush ? rocksdb::Env::IO_HIGH : rocksdb::Env::IO_LOW,
                      rocksdb::RateLimiter::OpType::kWrite);
    };
  }
}

}  // namespace compassdb
