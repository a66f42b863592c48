// SPDX-License-Identifier: Apache-2.0
// A set of keys with false positives. RocksDB's FilterPolicy names these two classes and leaves them to the
// engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/slice.h"

namespace rocksdb {

// One thread.
class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  // A key that is added twice in a row counts once.
  virtual void AddKey(const Slice& key) = 0;
  // Once. Empty if there were no keys.
  virtual std::string Finish() = 0;
};

// Thread safety: all methods.
class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  // False: certainly not added.
  virtual bool MayMatch(const Slice& key) const = 0;
};

}  // namespace rocksdb

namespace compassdb {

// FilterPolicy::CompatibilityName of all that read and write these filters.
inline constexpr const char* kFilterFormatName = "rocksdb.BuiltinBloomFilter";

// Bits per key in thousandths, as the policies count them: less than half a bit is none (0: no filter), the
// rest is between 1 and 100 bits.
int FilterMilliBits(double bits_per_key);

std::unique_ptr<rocksdb::FilterBitsBuilder> NewBloomBuilder(int millibits_per_key);
// As many false positives as the Bloom filter, in less memory. Small ones, for which that does not
// hold, and those that cannot be solved are Bloom filters.
std::unique_ptr<rocksdb::FilterBitsBuilder> NewRibbonBuilder(int bloom_millibits_per_key);

// Reads the filters of all builders. `bits` must outlive the reader. Bytes of no known kind match every key,
// and no bytes match none.
std::unique_ptr<rocksdb::FilterBitsReader> NewFilterReader(const rocksdb::Slice& bits);

}  // namespace compassdb
