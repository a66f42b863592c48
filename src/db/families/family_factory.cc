// SPDX-License-Identifier: Apache-2.0
#include "db/families/family_factory.h"

#include "db/open/make_store.h"
#include "env/create_dir.h"
#include "format/file_names.h"
#include "wal/log_values.h"

namespace compassdb {

Status FamilyFactory::CheckTableless(const std::string& name) const {
  if (follows_primary_) {
    return Status::NotSupported("column family " + name,
                                "a secondary instance cannot follow a table-less family, whose pages "
                                "are written in place");
  }
  if (stores_.read_only) return Status::OK();
  if (stores_.checksums != nullptr) {
    return Status::NotSupported("column family " + name,
                                "is table-less: its pages are written in place, so that files have no "
                                "checksums (DBOptions::file_checksum_gen_factory)");
  }
  // Checks now that the file system has page files, not at the first write of pages.
  const std::string path = TempFileName(config_.name, 0);
  std::unique_ptr<PageFile> probe;
  Status s = config_.fs->NewPageFile(path, FileOptions(), /*create=*/true, &probe);
  if (s.ok()) s = probe->Close();
  return s.ok() ? config_.fs->DeleteFile(path) : s;
}

Status FamilyFactory::MakeDirs(const std::string& name, const std::vector<rocksdb::DbPath>& paths,
                               bool own) {
  for (const rocksdb::DbPath& path : paths) {
    if (Status s = CreateDirDurably(config_.fs, path.path); !s.ok()) return s;
    if (ownership_ == nullptr || !own) continue;
    if (Status s = ownership_->AddTables(name, path.path, path.target_size); !s.ok()) return s;
  }
  return Status::OK();
}

Status FamilyFactory::Make(uint32_t id, const std::string& name, const rocksdb::ColumnFamilyOptions& options,
                           std::shared_ptr<ColumnFamily>* family) {
  StoreOptions store_options;
  if (Status s = ProjectFamilyOptions(id, name, options, &store_options); !s.ok()) return s;
  if (store_options.pages.enabled) {
    if (Status s = CheckTableless(name); !s.ok()) return s;
    if (store_options.pages.memtable_as_log_index) stores_.log_values->Enable();
  }
  if (options.inplace_update_support) snapshots_.GiveNone();
  store_options.keep_last_level = config_.options.allow_ingest_behind;
  rocksdb::ColumnFamilyOptions limited = options;
  ApplyMemoryLimit(config_, &limited, &store_options);
  store_options.paths = config_.PathsOf(options);
  for (const TablePath& path : store_options.paths) stores_.files->dirs()->Add(path.dir);
  std::shared_ptr<HistoryLow> history;
  if (options.comparator->timestamp_size() != 0) history = std::make_shared<HistoryLow>();
  store_options.history = history;
  auto* const made = new ColumnFamily(id, name, limited, MakeStore(&stores_, store_options),
                                      std::move(history), mu_, config_.write_buffers);
  made->read_state()->SetListener(&space_);
  // The last user of a dropped family, a reader or a job, frees its tables.
  *family = std::shared_ptr<ColumnFamily>(made, [&space = space_](ColumnFamily* last) {
    const bool dropped = last->dropped();
    delete last;
    if (dropped) space.Schedule();
  });
  rocksdb::Logger* const log = config_.info_log.get();
  rocksdb::Header(log, "--------------- Options for column family [%s]:", name.c_str());
  limited.Dump(log);
  rocksdb::LogFlush(log);
  return Status::OK();
}

}  // namespace compassdb
