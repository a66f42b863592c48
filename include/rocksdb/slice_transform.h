// SPDX-License-Identifier: Apache-2.0
//
// A function from keys to prefixes. With one, filters and iterators can answer "any key with this
// prefix?" without reading data.
//
// Thread safety: called from many threads at once, without locks. Must be a pure function.

#pragma once

#include <memory>
#include <string>

#include "rocksdb/customizable.h"
#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

class Slice;
struct ConfigOptions;

class SliceTransform : public Customizable {
 public:
  virtual ~SliceTransform() {}

  // Written into tables; a table made under another name is read without prefixes.
  virtual const char* Name() const override = 0;
  static const char* Type() { return "SliceTransform"; }

  // Makes a transform from its id: "rocksdb.FixedPrefix.N" or "fixed:N", "rocksdb.CappedPrefix.N"
  // or "capped:N", "rocksdb.Noop". "nullptr" or an empty id gives null.
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& id,
                                 std::shared_ptr<const SliceTransform>* result);

  // The id, from which CreateFromString() makes an equal transform.
  std::string AsString() const;

  // The prefix of a key, usually a part of it. REQUIRES: InDomain(key).
  virtual Slice Transform(const Slice& key) const = 0;

  // Whether the key has a prefix. Keys that have none are left out of prefix filters.
  virtual bool InDomain(const Slice& key) const = 0;

  // Unused; kept for old callers.
  virtual bool InRange(const Slice& /*dst*/) const { return false; }

  // True, with the length in *len, if every prefix that is cut short of its key's end has the same
  // length. Lets range scans with an upper bound use prefix filters.
  virtual bool FullLengthEnabled(size_t* /*len*/) const { return false; }

  // Whether every key that begins with `prefix` has the same transform as `prefix` itself.
  virtual bool SameResultWhenAppended(const Slice& /*prefix*/) const {
    return false;
  }
};

// The first prefix_len bytes; shorter keys have no prefix. The caller owns the result.
extern const SliceTransform* NewFixedPrefixTransform(size_t prefix_len);

// The first cap_len bytes, or the whole key if it is shorter.
extern const SliceTransform* NewCappedPrefixTransform(size_t cap_len);

// The whole key.
extern const SliceTransform* NewNoopTransform();

}  // namespace ROCKSDB_NAMESPACE
