// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/info_log_finder.h"

#include <algorithm>

#include "base/file_names.h"

namespace ROCKSDB_NAMESPACE {

Status GetInfoLogList(DB* db, std::vector<std::string>* info_log_list) {
  if (db == nullptr) return Status::InvalidArgument("DB is not valid");
  const DBOptions options = db->GetDBOptions();
  std::vector<std::string> names;
  Status s = db->GetEnv()->GetChildren(
      options.db_log_dir.empty() ? db->GetName() : options.db_log_dir, &names);
  if (!s.ok()) return s;
  std::sort(names.begin(), names.end());
  for (std::string& name : names) {
    uint64_t number = 0;
    compassdb::FileType type;
    if (compassdb::ParseFileName(name, &number, &type) && type == compassdb::FileType::kInfoLog) {
      info_log_list->push_back(std::move(name));
    }
  }
  return Status::OK();
}

}  // namespace ROCKSDB_NAMESPACE
