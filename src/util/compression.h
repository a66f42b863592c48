// SPDX-License-Identifier: Apache-2.0
// One interface for block compression. All payloads but Snappy's start with the
// uncompressed size as a varint32 (Snappy has its own). The claimed size is checked
// before memory is allocated: hostile input costs a megabyte, or four times the
// decompressed bytes.
// Thread safe.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/compression_type.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace compassdb {

using rocksdb::CompressionType;
using rocksdb::Slice;
using rocksdb::Status;

// The level for "the library's default", as in rocksdb/advanced_options.h.
inline constexpr int kDefaultCompressionLevel = 32767;

bool CompressionTypeSupported(CompressionType type);
// "NoCompression", "Snappy", "LZ4", ... as RocksDB prints them.
const char* CompressionTypeName(CompressionType type);

// Replaces *out by the compressed form of `in`. False if the type is not
// supported or the library failed: the caller then stores `in` uncompressed.
// kNoCompression copies.
bool Compress(CompressionType type, int level, const Slice& in, std::string* out);

// The uncompressed size that the payload claims; Corruption if it is malformed, or larger than max_output (*size is
// the claim), or so large that a trial did not produce it.
Status UncompressedSize(CompressionType type, const Slice& in, size_t max_output, uint64_t* size);

// Replaces *out by the original. Corruption if the payload is damaged or would
// be longer than max_output; NotSupported, naming the type, if it cannot be read.
Status Decompress(CompressionType type, const Slice& in, size_t max_output, std::string* out);

// As above into memory of the caller, after UncompressedSize: writes exactly `size`
// bytes at `out`, or fails.
Status DecompressInto(CompressionType type, const Slice& in, char* out, size_t size);

}  // namespace compassdb
