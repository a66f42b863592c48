// SPDX-License-Identifier: Apache-2.0
// Two functions that RocksDB's library exports and its header does not declare.
#pragma once

#include "rocksdb/c.h"

extern "C" {

ROCKSDB_LIBRARY_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_format(double bits_per_key,
                                                                                     bool original_format);
ROCKSDB_LIBRARY_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_format(
    double bloom_equivalent_bits_per_key, int bloom_before_level);

}  // extern "C"
