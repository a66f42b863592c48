// SPDX-License-Identifier: Apache-2.0
// Parts of indexes as entries of the block cache. Thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cache/cache_entry.h"
#include "rocksdb/cache.h"
#include "rocksdb/statistics.h"
#include "rocksdb/status.h"
#include "util/heap_bytes.h"

namespace compassdb {

enum class IndexMode : uint8_t {
  kResident,  // loaded once, stays, not in the cache
  kPinned,    // loaded once, stays, charged to the cache
  kPaged,     // in the cache, may be evicted
};

rocksdb::Status IndexNotInMemory();

class IndexCache {
 public:
  // The tickers that count it: directories count as filters.
  enum class Kind : uint8_t { kIndex, kFilter };

  // The name of a part, used once per process: no other object finds entries that one
  // left in the cache. Directories have many parts, one per `page`.
  struct Key {
    uint64_t id = 0;
    uint64_t page = 0;
    Kind kind = Kind::kIndex;
    Key Page(uint64_t number) const { return {id, number + 1, kind}; }
  };
  static Key NewKey(Kind kind);

  class Pin {
   public:
    Pin() = default;
    Pin(rocksdb::Cache* cache, rocksdb::Cache::Handle* handle) : cache_(cache), handle_(handle) {}
    Pin(Pin&& other) noexcept { *this = std::move(other); }
    Pin& operator=(Pin&& other) noexcept {
      std::swap(cache_, other.cache_);
      std::swap(handle_, other.handle_);
      return *this;
    }
    ~Pin() {
      if (handle_ != nullptr) cache_->Release(handle_);
    }
    void* value() const { return handle_ == nullptr ? nullptr : cache_->Value(handle_); }

   private:
    rocksdb::Cache* cache_ = nullptr;
    rocksdb::Cache::Handle* handle_ = nullptr;
  };

  // `cache` may be null: then nothing is found and nothing is kept.
  IndexCache(std::shared_ptr<rocksdb::Cache> cache, rocksdb::Cache::Priority priority,
             rocksdb::Statistics* statistics)
      : cache_(std::move(cache)), priority_(priority), statistics_(statistics) {}

  // The bytes of an entry, without its value: the entry itself, its key, its share of the table.
  static constexpr size_t kEntryBytes = HeapBytes(sizeof(CacheEntry) + 16) + 40;

  // Empty if it is not in the cache.
  Pin Lookup(const Key& key) const;
  // Takes ownership of `value`. If there is no space: empty, and the value is still the caller's.
  Pin Insert(const Key& key, void* value, rocksdb::Cache::DeleterFn deleter, size_t charge) const;
  void Erase(const Key& key) const;
  void CountRead(const Key& key) const;  // a part was read from its file

 private:
  const std::shared_ptr<rocksdb::Cache> cache_;
  const rocksdb::Cache::Priority priority_;
  rocksdb::Statistics* const statistics_;
};

}  // namespace compassdb
