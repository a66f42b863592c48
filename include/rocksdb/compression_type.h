// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// How blocks are compressed. Stored with each block, so the numbers never change. What this build
// can do: GetSupportedCompressions().
enum CompressionType : unsigned char {
  kNoCompression = 0x0,
  kSnappyCompression = 0x1,
  kZlibCompression = 0x2,
  kBZip2Compression = 0x3,
  kLZ4Compression = 0x4,
  kLZ4HCCompression = 0x5,
  kXpressCompression = 0x6,
  kZSTD = 0x7,
  // An early form of kZSTD; still read.
  kZSTDNotFinalCompression = 0x40,
  // For bottommost_compression: as the other levels.
  kDisableCompressionOption = 0xff,
};

}  // namespace ROCKSDB_NAMESPACE
