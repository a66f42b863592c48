// SPDX-License-Identifier: Apache-2.0
//
// Functions that may change.

#pragma once

#include "rocksdb/db.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

namespace experimental {

// See DB::SuggestCompactRange() and DB::PromoteL0().
Status SuggestCompactRange(DB* db, ColumnFamilyHandle* column_family,
                           const Slice* begin, const Slice* end);

Status SuggestCompactRange(DB* db, const Slice* begin, const Slice* end);
Status PromoteL0(DB* db, ColumnFamilyHandle* column_family,
                 int target_level = 1);

// What UpdateManifestForFilesState() brings up to date.
struct UpdateManifestForFilesStateOptions {
  bool update_temperatures = true;
};

// Writes what the file system says of a closed database's files into its manifest.
Status UpdateManifestForFilesState(
    const DBOptions& db_opts, const std::string& db_name,
    const std::vector<ColumnFamilyDescriptor>& column_families,
    const UpdateManifestForFilesStateOptions& opts = {});
}

}  // namespace ROCKSDB_NAMESPACE
