// SPDX-License-Identifier: Apache-2.0
//
// The order of keys. A database remembers the name of its comparator and refuses to open with
// another.
//
// Thread safety: the engine calls one comparator from many threads at once, without locks.

#pragma once

#include <string>

#include "rocksdb/customizable.h"
#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

class Slice;

// The comparison alone, without the other functions that a database needs.
class CompareInterface {
 public:
  virtual ~CompareInterface() {}

  // Negative, zero or positive as `a` sorts before, equals, or sorts after `b`.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;
};

// A total order over keys. A key may end in a timestamp of fixed size (user-defined timestamps);
// newer timestamps of one key then come first.
class Comparator : public Customizable, public CompareInterface {
 public:
  Comparator() : timestamp_size_(0) {}

  // ts_sz: bytes of the timestamp at the end of each key; 0 for none.
  Comparator(size_t ts_sz) : timestamp_size_(ts_sz) {}

  Comparator(const Comparator& orig) : timestamp_size_(orig.timestamp_size_) {}
  Comparator& operator=(const Comparator& rhs) {
    timestamp_size_ = rhs.timestamp_size_;
    return *this;
  }

  ~Comparator() override {}

  // Makes a built-in or registered comparator by name. *comp lives as long as the process.
  static Status CreateFromString(const ConfigOptions& opts,
                                 const std::string& id,
                                 const Comparator** comp);
  static const char* Type() { return "Comparator"; }

  // Change the name whenever the order changes. Names that begin with "rocksdb." are taken.
  const char* Name() const override = 0;

  // Whether Compare() gives 0; override where that is cheaper to compute.
  virtual bool Equal(const Slice& a, const Slice& b) const {
    return Compare(a, b) == 0;
  }

  // For indexes: may shorten *start to any key in [*start, limit). Leaving it alone is correct.
  virtual void FindShortestSeparator(std::string* start,
                                     const Slice& limit) const = 0;

  // For indexes: may replace *key by a shorter key at or after it. Leaving it alone is correct.
  virtual void FindShortSuccessor(std::string* key) const = 0;

  // True only if t is as long as s and no key of that length is between them. False is always
  // safe.
  virtual bool IsSameLengthImmediateSuccessor(const Slice& /*s*/,
                                              const Slice& /*t*/) const {
    return false;
  }

  // Whether Compare() may give 0 for different bytes. Only where this is false may the engine hash
  // keys, so say false if you can.
  virtual bool CanKeysWithDifferentByteContentsBeEqual() const { return true; }

  // What a wrapper wraps, innermost.
  virtual const Comparator* GetRootComparator() const { return this; }

  // Bytes of timestamp at the end of each key.
  inline size_t timestamp_size() const { return timestamp_size_; }

  // Compare() of keys whose timestamps are left out. The flags say whether a key has a timestamp.
  int CompareWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true);
  }

  // Negative if ts1 is older than ts2, zero if equal, positive if newer.
  virtual int CompareTimestamp(const Slice& /*ts1*/,
                               const Slice& /*ts2*/) const {
    return 0;
  }
  virtual int CompareWithoutTimestamp(const Slice& a, bool /*a_has_ts*/,
                                      const Slice& b, bool /*b_has_ts*/) const {
    return Compare(a, b);
  }
  virtual bool EqualWithoutTimestamp(const Slice& a, const Slice& b) const {
    return CompareWithoutTimestamp(a, /*a_has_ts=*/true, b, /*b_has_ts=*/true) == 0;
  }

 private:
  size_t timestamp_size_;
};

// Order by unsigned bytes, as Slice::compare() does; the default. Lives as long as the process.
extern const Comparator* BytewiseComparator();

// The opposite order.
extern const Comparator* ReverseBytewiseComparator();

}  // namespace ROCKSDB_NAMESPACE
