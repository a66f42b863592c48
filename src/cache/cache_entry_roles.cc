// SPDX-License-Identifier: Apache-2.0
// Names of cache entry roles and of the keys under which DB properties report them.
#include <array>

#include "rocksdb/cache.h"

namespace ROCKSDB_NAMESPACE {

const std::string& GetCacheEntryRoleName(CacheEntryRole role) {
  static const std::array<std::string, kNumCacheEntryRoles> names = {
      "data-block",
      "filter-block",
      "filter-meta-block",
      "deprecated-filter-block",
      "index-block",
      "other-block",
      "write-buffer",
      "compression-dictionary-building-buffer",
      "filter-construction",
      "block-based-table-reader",
      "file-metadata",
      "blob-value",
      "blob-cache",
      "misc"};
  const auto i = static_cast<size_t>(role);
  return names[i < names.size() ? i : names.size() - 1];
}

const std::string& BlockCacheEntryStatsMapKeys::CacheId() {
  static const std::string name = "id";
  return name;
}
const std::string& BlockCacheEntryStatsMapKeys::CacheCapacityBytes() {
  static const std::string name = "capacity";
  return name;
}
const std::string& BlockCacheEntryStatsMapKeys::LastCollectionDurationSeconds() {
  static const std::string name = "secs_for_last_collection";
  return name;
}
const std::string& BlockCacheEntryStatsMapKeys::LastCollectionAgeSeconds() {
  static const std::string name = "secs_since_last_collection";
  return name;
}
std::string BlockCacheEntryStatsMapKeys::EntryCount(CacheEntryRole role) {
  return "count." + GetCacheEntryRoleName(role);
}
std::string BlockCacheEntryStatsMapKeys::UsedBytes(CacheEntryRole role) {
  return "bytes." + GetCacheEntryRoleName(role);
}
std::string BlockCacheEntryStatsMapKeys::UsedPercent(CacheEntryRole role) {
  return "percent." + GetCacheEntryRoleName(role);
}

}  // namespace ROCKSDB_NAMESPACE
