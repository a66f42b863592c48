// SPDX-License-Identifier: Apache-2.0
#include "db/open/make_store.h"

#include "lsm/lsm_store.h"
#include "tableless/tableless_store.h"

namespace compassdb {

std::unique_ptr<Store> MakeStore(const StoreContext* context, const StoreOptions& options) {
  if (!options.pages.enabled) return NewLsmStore(context, options);
  return NewTablelessStore(context, options, NewLsmStore(context, KeyStoreOptions(options)));
}

}  // namespace compassdb
