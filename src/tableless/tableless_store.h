// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/store.h"

namespace compassdb {

// The table-less store (KallaxDB; docs/design.md). `keys`, an LSM store of the same family, becomes its key store.
std::unique_ptr<Store> NewTablelessStore(const StoreContext* context, const StoreOptions& options,
                                         std::unique_ptr<Store> keys);

}  // namespace compassdb
