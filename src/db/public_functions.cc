// SPDX-License-Identifier: Apache-2.0
// Public functions about a database that are no members of rocksdb::DB.
#include "compassdb/index.h"
#include "db/extended_db.h"
#include "rocksdb/convenience.h"
#include "rocksdb/experimental.h"
#include "rocksdb/snapshot.h"

namespace compassdb {

rocksdb::Status LoadIndex(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  auto* impl = ExtendedDB::Of(db);
  if (impl == nullptr) return rocksdb::Status::InvalidArgument("LoadIndex: not a CompassDB database");
  return impl->LoadIndex(family);
}

}  // namespace compassdb

namespace rocksdb {

ManagedSnapshot::ManagedSnapshot(DB* db) : db_(db), snapshot_(db->GetSnapshot()) {}
ManagedSnapshot::ManagedSnapshot(DB* db, const Snapshot* snapshot)
    : db_(db), snapshot_(snapshot) {}
ManagedSnapshot::~ManagedSnapshot() {
  if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
}
const Snapshot* ManagedSnapshot::snapshot() { return snapshot_; }

Status DB::WaitForCompact(const WaitForCompactOptions& options) {
  auto* impl = compassdb::ExtendedDB::Of(this);
  if (impl == nullptr) return Status::NotSupported("WaitForCompact: not a CompassDB database");
  return impl->WaitUntilCompacted(options);
}

void CancelAllBackgroundWork(DB* db, bool wait) {
  auto* impl = compassdb::ExtendedDB::Of(db);
  if (impl != nullptr) impl->CancelBackgroundWork(wait);
}

Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                          const Slice* end, bool include_end) {
  const RangePtr range(begin, end);
  return DeleteFilesInRanges(db, column_family, &range, 1, include_end);
}
Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family, const RangePtr* ranges,
                           size_t n, bool include_end) {
  auto* impl = compassdb::ExtendedDB::Of(db);
  if (impl == nullptr) return Status::InvalidArgument("DeleteFilesInRanges: not a CompassDB database");
  return impl->DropTables(column_family, ranges, n, include_end);
}

namespace experimental {

Status SuggestCompactRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                           const Slice* end) {
  return db == nullptr ? Status::InvalidArgument("DB is empty")
                       : db->SuggestCompactRange(column_family, begin, end);
}
Status SuggestCompactRange(DB* db, const Slice* begin, const Slice* end) {
  return db == nullptr ? Status::InvalidArgument("DB is empty")
                       : SuggestCompactRange(db, db->DefaultColumnFamily(), begin, end);
}
Status PromoteL0(DB* db, ColumnFamilyHandle* column_family, int target_level) {
  return db == nullptr ? Status::InvalidArgument("Didn't recognize DB object")
                       : db->PromoteL0(column_family, target_level);
}
Status UpdateManifestForFilesState(const DBOptions&, const std::string&,
                                   const std::vector<ColumnFamilyDescriptor>&,
                                   const UpdateManifestForFilesStateOptions&) {
  return Status::NotSupported("UpdateManifestForFilesState");
}

}  // namespace experimental
}  // namespace rocksdb
