// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// On whose behalf a table is read. Stored in traces.
enum TableReaderCaller : char {
  kUserGet = 1,
  kUserMultiGet = 2,
  kUserIterator = 3,
  kUserApproximateSize = 4,
  kUserVerifyChecksum = 5,
  kSSTDumpTool = 6,
  kExternalSSTIngestion = 7,
  kRepair = 8,
  kPrefetch = 9,
  kCompaction = 10,
  kCompactionRefill = 11,
  kFlush = 12,
  kSSTFileReader = 13,
  kUncategorized = 14,
  kMaxBlockCacheLookupCaller
};

}  // namespace ROCKSDB_NAMESPACE
