// SPDX-License-Identifier: Apache-2.0
#define COMPASSDB_ROCKSDB_LEVEL 1004  // NOLINT: read by rocksdb/c.h
#define LEVEL_TEST Level1004Test
#include "c_api/levels_cases.h"
