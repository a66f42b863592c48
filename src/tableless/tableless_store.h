// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/store.h"

namespace compassdb {

// The options of the key store, from those of the family.
StoreOptions KeyStoreOptions(const StoreOptions& options);

// The table-less store (KallaxDB; docs/design/pages.md). `keys`, an LSM store with KeyStoreOptions, becomes its key store.
std::unique_ptr<Store> NewTablelessStore(const StoreContext* context, const StoreOptions& options,
                                         std::unique_ptr<Store> keys);

}  // namespace compassdb
