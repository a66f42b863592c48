// SPDX-License-Identifier: Apache-2.0
// What the pages of a store hold, to be compared with what the formulas say (page_load.h).
#pragma once

#include "store/pages.h"
#include "tableless/tableless_view.h"

namespace compassdb {

// Reads all pages. Concurrent writes may be counted in part.
Status CountContents(const TablelessView& view, PageContents* contents);

}  // namespace compassdb
