// SPDX-License-Identifier: Apache-2.0
//
// A second tier below the block cache, for blocks that it drops: slower memory, a file, or
// compressed blocks.
//
// Thread safety: every function may be called concurrently.

#pragma once

#include <stdint.h>
#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/customizable.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// A lookup that may still be running.
class SecondaryCacheResultHandle {
 public:
  virtual ~SecondaryCacheResultHandle() = default;

  // Whether the value is ready. Does not wait.
  virtual bool IsReady() = 0;

  // Waits for the value.
  virtual void Wait() = 0;

  // The object, or null if it was not found after all. The caller owns it.
  virtual void* Value() = 0;

  // What the object is charged, in bytes.
  virtual size_t Size() = 0;
};

// Keys and objects are those of the block cache.
class SecondaryCache : public Customizable {
 public:
  ~SecondaryCache() override = default;
  static const char* Type() { return "SecondaryCache"; }

  // Makes a cache from "compressed_secondary_cache://capacity=...;..." or from a registered id.
  static Status CreateFromString(const ConfigOptions& config_options,
                                 const std::string& id,
                                 std::shared_ptr<SecondaryCache>* result);

  // Stores a copy of the object, made with the helper's functions. May decline silently.
  virtual Status Insert(const Slice& key, void* value,
                        const Cache::CacheItemHelper* helper) = 0;

  // Null if there is no such key. With wait the handle is ready. advise_erase: the caller keeps the
  // object, so this copy may go; is_in_sec_cache says whether it stayed.
  virtual std::unique_ptr<SecondaryCacheResultHandle> Lookup(
      const Slice& key, const Cache::CreateCallback& create_cb, bool wait,
      bool advise_erase, bool& is_in_sec_cache) = 0;

  // Whether advise_erase is obeyed.
  [[nodiscard]] virtual bool SupportForceErase() const = 0;

  // Removes a key, if it exists.
  virtual void Erase(const Slice& key) = 0;

  // Waits for all of the handles.
  virtual void WaitAll(std::vector<SecondaryCacheResultHandle*> handles) = 0;

  // Bytes. Shrinking may drop entries.
  virtual Status SetCapacity(size_t /*capacity*/) {
    return Status::NotSupported();
  }
  virtual Status GetCapacity(size_t& /*capacity*/) {
    return Status::NotSupported();
  }
};

}  // namespace ROCKSDB_NAMESPACE
