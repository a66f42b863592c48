// SPDX-License-Identifier: Apache-2.0
// Small functions of several public headers.
#include <string>

#include "rocksdb/persistent_cache.h"
#include "rocksdb/unique_id.h"

namespace rocksdb {

Status NewPersistentCache(Env* const, const std::string&, const uint64_t,
                          const std::shared_ptr<Logger>&, const bool,
                          std::shared_ptr<PersistentCache>* cache) {
  cache->reset();
  return Status::NotSupported("NewPersistentCache: blocks are cached in memory only");
}

Status GetUniqueIdFromTableProperties(const TableProperties&, std::string* out_id) {
  out_id->clear();
  return Status::NotSupported("pieces have no unique ids across databases");
}
Status GetExtendedUniqueIdFromTableProperties(const TableProperties& props, std::string* out_id) {
  return GetUniqueIdFromTableProperties(props, out_id);
}

std::string UniqueIdToHumanString(const std::string& id) {
  std::string text = Slice(id).ToString(/*hex=*/true);
  for (size_t i = 16; i < text.size(); i += 17) text.insert(i, 1, '-');
  return text;
}

}  // namespace rocksdb
