// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdint.h>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// How much the calling thread counts. Each level includes those before it; times cost a clock
// reading each.
enum PerfLevel : unsigned char {
  kUninitialized = 0,
  // Nothing. The level that a thread starts with is kEnableCount.
  kDisable = 1,
  kEnableCount = 2,
  // Times, except of waiting for the database mutex.
  kEnableTimeExceptForMutex = 3,
  // CPU times too.
  kEnableTimeAndCPUTimeExceptForMutex = 4,
  kEnableTime = 5,
  // Not a level. Keep last.
  kOutOfBounds = 6
};

// Both concern the calling thread only. A level out of range is ignored.
void SetPerfLevel(PerfLevel level);
PerfLevel GetPerfLevel();

}  // namespace ROCKSDB_NAMESPACE
