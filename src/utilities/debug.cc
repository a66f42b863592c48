// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/debug.h"

#include <map>

#include "db/extended_db.h"

namespace ROCKSDB_NAMESPACE {

std::string KeyVersion::GetTypeName() const {
  static const std::map<int, const char*> names{
      {0x0, "TypeDeletion"},
      {0x1, "TypeValue"},
      {0x2, "TypeMerge"},
      {0x3, "TypeLogData"},
      {0x4, "TypeColumnFamilyDeletion"},
      {0x5, "TypeColumnFamilyValue"},
      {0x6, "TypeColumnFamilyMerge"},
      {0x7, "TypeSingleDeletion"},
      {0x8, "TypeColumnFamilySingleDeletion"},
      {0x9, "TypeBeginPrepareXID"},
      {0xA, "TypeEndPrepareXID"},
      {0xB, "TypeCommitXID"},
      {0xC, "TypeRollbackXID"},
      {0xD, "TypeNoop"},
      {0xE, "TypeColumnFamilyRangeDeletion"},
      {0xF, "TypeRangeDeletion"},
      {0x10, "TypeColumnFamilyBlobIndex"},
      {0x11, "TypeBlobIndex"},
      {0x12, "TypeBeginPersistedPrepareXID"},
      {0x13, "TypeBeginUnprepareXID"},
      {0x16, "TypeWideColumnEntity"}};
  const auto name = names.find(type);
  return name == names.end() ? "Invalid" : name->second;
}

Status GetAllKeyVersions(DB* db, Slice begin_key, Slice end_key, size_t max_num_ikeys,
                         std::vector<KeyVersion>* key_versions) {
  if (db == nullptr) return Status::InvalidArgument("db cannot be null.");
  return GetAllKeyVersions(db, db->DefaultColumnFamily(), begin_key, end_key, max_num_ikeys,
                           key_versions);
}

Status GetAllKeyVersions(DB* db, ColumnFamilyHandle* cfh, Slice begin_key, Slice end_key,
                         size_t max_num_ikeys, std::vector<KeyVersion>* key_versions) {
  auto* impl = compassdb::ExtendedDB::Of(db);
  if (impl == nullptr) return Status::InvalidArgument("db cannot be null.");
  if (cfh == nullptr) return Status::InvalidArgument("Column family handle cannot be null.");
  key_versions->clear();
  if (max_num_ikeys == 0) return Status::OK();
  return impl->ForEachRecord(cfh, begin_key, end_key,
                             [&](const compassdb::ParsedInternalKey& key, const Slice& value) {
                               key_versions->emplace_back(key.user_key.ToString(), value.ToString(),
                                                          key.sequence, key.type);
                               return key_versions->size() < max_num_ikeys;
                             });
}

}  // namespace ROCKSDB_NAMESPACE
