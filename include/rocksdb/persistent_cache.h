// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdint.h>
#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// A cache of blocks on a device. Every function may be called concurrently.
class PersistentCache {
 public:
  // Statistics by name, for each tier.
  using StatsType = std::vector<std::map<std::string, double>>;
  virtual ~PersistentCache() {}

  // Stores a copy of the block.
  virtual Status Insert(const Slice& key, const char* data,
                        const size_t size) = 0;

  // NotFound if it is not in the cache.
  virtual Status Lookup(const Slice& key, std::unique_ptr<char[]>* data,
                        size_t* size) = 0;

  // Whether it wants compressed blocks.
  virtual bool IsCompressed() = 0;
  virtual StatsType Stats() = 0;

  // For people.
  virtual std::string GetPrintableOptions() const = 0;

  // A prefix for keys that no other caller gets.
  virtual uint64_t NewId() = 0;
};

// A cache of `size` bytes in files at `path`. NotSupported where the build has none.
Status NewPersistentCache(Env* const env, const std::string& path,
                          const uint64_t size,
                          const std::shared_ptr<Logger>& log,
                          const bool optimized_for_nvm,
                          std::shared_ptr<PersistentCache>* cache);

}  // namespace ROCKSDB_NAMESPACE
