// SPDX-License-Identifier: Apache-2.0
#include "db/make_store.h"

#include "lsm/lsm_store.h"
#include "tableless/tableless_store.h"

namespace compassdb {

std::unique_ptr<Store> MakeStore(const StoreContext* context, const StoreOptions& options) {
  if (!options.pages.enabled) return NewLsmStore(context, options);
  // Keys alone, sorted, without any index for point reads. Filters and merges are the pages' affair.
  StoreOptions keys = options;
  keys.pages.enabled = false;
  keys.filter_index = keys.leveled = true;
  keys.max_pieces = 1;
  keys.filter = FilterOptions();
  keys.one_level = keys.hash_range = false;
  keys.data_order = DataOrder::kKey;
  keys.target_table_bytes = std::min<uint64_t>(keys.target_table_bytes, 1 << 20);
  keys.compaction_filter = nullptr;
  keys.compaction_filter_factory = nullptr;
  keys.merge_operator = nullptr;
  keys.collectors.clear();
  keys.ttl_seconds = keys.periodic_seconds = 0;
  return NewTablelessStore(context, options, NewLsmStore(context, keys));
}

}  // namespace compassdb
