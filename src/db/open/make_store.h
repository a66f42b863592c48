// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/store.h"

namespace compassdb {

// The store that the family's options ask for.
std::unique_ptr<Store> MakeStore(const StoreContext* context, const StoreOptions& options);

}  // namespace compassdb
