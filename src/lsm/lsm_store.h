// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/store.h"

namespace compassdb {

// The LSM store: levels of TPHs (docs/design/compaction.md).
std::unique_ptr<Store> NewLsmStore(const StoreContext* context, const StoreOptions& options);

}  // namespace compassdb
