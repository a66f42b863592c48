// SPDX-License-Identifier: Apache-2.0
// Records of traces, as RocksDB 7.8 writes and reads them (version 0.2 of its format). Integers are little-endian.
//
//   record  := time:u64 (microseconds since 1970) type:u8 length:u32 payload
//   begin   := text: magic, version of the format, version of the library, separated by tabs
//   end     := nothing
//   others  := fields:u64, then the fields whose bits are set, in the order of their bits
//
// A family is a u32; keys, bounds and batches are length-prefixed. Of a MultiGet: number of keys:u32, then all
// families, then all keys, each list as one length-prefixed string.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/trace_record.h"

namespace compassdb {

using rocksdb::Slice;
using rocksdb::Status;

struct RawTraceRecord {
  uint64_t micros = 0;
  rocksdb::TraceType type = rocksdb::kTraceNone;
  std::string payload;
};

void EncodeTraceRecord(uint64_t micros, rocksdb::TraceType type, const Slice& payload,
                       std::string* out);
Status DecodeRawTraceRecord(const Slice& source, RawTraceRecord* out);

std::string TraceHeader();
// Corruption if it is none, or of a version that is not known.
Status CheckTraceHeader(const RawTraceRecord& header);

void EncodeTracedWrite(const Slice& batch, std::string* payload);
void EncodeTracedGet(uint32_t family, const Slice& key, std::string* payload);
void EncodeTracedSeek(uint32_t family, const Slice& target, const Slice& lower, const Slice& upper,
                      std::string* payload);
void EncodeTracedMultiGet(const std::vector<uint32_t>& families, size_t n, const Slice* keys,
                          std::string* payload);

// NotSupported for types that are no operations on a database.
Status DecodeTraceRecord(const RawTraceRecord& raw, std::unique_ptr<rocksdb::TraceRecord>* out);

}  // namespace compassdb
