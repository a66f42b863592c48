// SPDX-License-Identifier: Apache-2.0
// The sizes of a section's records, before it is rehashed: in pages by a sample of the pages (keys are
// spread evenly, so any pages will do), in the overflow store from its index.
#pragma once

#include "tableless/sizing/size_distribution.h"
#include "tableless/tableless_view.h"

namespace compassdb {

// Sizes of the records that fit a page; a page's bytes if there are none. `batch`: pages per read.
Status SampleSizes(const TablelessView& view, uint32_t section, uint32_t batch, SizeDistribution* sizes,
                   uint64_t* bytes_read);

}  // namespace compassdb
