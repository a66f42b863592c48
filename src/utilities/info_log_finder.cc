// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/info_log_finder.h"

#include <algorithm>

#include "db/report/info_log.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"

namespace ROCKSDB_NAMESPACE {

Status GetInfoLogList(DB* db, std::vector<std::string>* info_log_list) {
  if (db == nullptr) return Status::InvalidArgument("DB is not valid");
  const DBOptions options = db->GetDBOptions();
  const std::shared_ptr<compassdb::FileSystem> fs = compassdb::FileSystemOfEnv(db->GetEnv());
  compassdb::InfoLogPlace place;
  Status s = compassdb::InfoLogPlaceOf(fs.get(), db->GetName(), options.db_log_dir, &place);
  std::vector<std::string> names;
  if (s.ok()) s = db->GetEnv()->GetChildren(place.dir, &names);
  if (!s.ok()) return s;
  std::sort(names.begin(), names.end());
  for (std::string& name : names) {
    uint64_t micros = 0;
    if (compassdb::ParseInfoLogName(name, place.name, &micros)) {
      info_log_list->push_back(std::move(name));
    }
  }
  return Status::OK();
}

}  // namespace ROCKSDB_NAMESPACE
