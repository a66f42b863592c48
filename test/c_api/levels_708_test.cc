// SPDX-License-Identifier: Apache-2.0
#define COMPASSDB_ROCKSDB_LEVEL 708  // NOLINT: read by rocksdb/c.h
#define LEVEL_TEST Level708Test
#include "c_api/levels_cases.h"
