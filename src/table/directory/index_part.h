// SPDX-License-Identifier: Apache-2.0
// Parts of an index (a piece's separators, a directory or a page of one). They
// are read from their file at their first use. IndexMode says whether they are
// then resident, or entries of the block cache.
//
// Thread safety: all methods. One thread loads a resident part, and others that
// need it wait. A use returns the error of loading; the next use tries again.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "rocksdb/status.h"
#include "table/directory/index_cache.h"
#include "table/read_options.h"
#include "table/table_context.h"
#include "util/heap_bytes.h"
#include "util/small_mutex.h"

namespace compassdb {

// MemoryOf(const T&) is the memory of a part, and constant for one part.

// A part that is counted in index_usage as long as it exists.
template <typename T>
class CountedPart {
 public:
  // `overhead`: of what holds it.
  CountedPart(TableContextRef context, std::unique_ptr<const T> part, size_t overhead)
      : context_(std::move(context)), part_(std::move(part)), overhead_(overhead) {
    context_->index_usage.Add(Memory());
  }
  ~CountedPart() { context_->index_usage.Subtract(Memory()); }
  CountedPart(const CountedPart&) = delete;
  CountedPart& operator=(const CountedPart&) = delete;
  const T* get() const { return part_.get(); }
  IndexMemory Memory() const {
    IndexMemory memory = MemoryOf(*part_);
    memory.other += HeapBytes(sizeof(*this)) + overhead_;
    return memory;
  }
  static void Delete(const rocksdb::Slice& /*key*/, void* counted) {
    delete static_cast<CountedPart*>(counted);
  }

 private:
  const TableContextRef context_;
  const std::unique_ptr<const T> part_;
  const size_t overhead_;
};

// A part, kept in memory as long as this exists. Its owner must outlive this. Move-only.
template <typename T>
class PartRef {
 public:
  PartRef() = default;
  explicit PartRef(const T* part) : part_(part) {}
  explicit PartRef(std::unique_ptr<CountedPart<T>> owned)
      : part_(owned->get()), owned_(std::move(owned)) {}
  explicit PartRef(IndexCache::Pin pin)
      : part_(static_cast<CountedPart<T>*>(pin.value())->get()), pin_(std::move(pin)) {}
  PartRef(PartRef&&) noexcept = default;
  PartRef& operator=(PartRef&&) noexcept = default;
  explicit operator bool() const { return part_ != nullptr; }
  const T* get() const { return part_; }
  const T& operator*() const { return *part_; }
  const T* operator->() const { return part_; }

 private:
  const T* part_ = nullptr;
  std::unique_ptr<CountedPart<T>> owned_;
  IndexCache::Pin pin_;
};

// A part in the cache, under a key of its own. load(std::unique_ptr<const T>*) reads it.
template <typename T, typename Load>
rocksdb::Status GetCachedPart(const TableContextRef& context, const IndexCache::Key& key,
                              const BlockReadOptions& read, Load load, PartRef<T>* ref) {
  const IndexCache& cache = context->index_cache;
  IndexCache::Pin pin = cache.Lookup(key);
  if (pin.value() != nullptr) {
    *ref = PartRef<T>(std::move(pin));
    return rocksdb::Status::OK();
  }
  if (read.cache_only) return IndexNotInMemory();
  std::unique_ptr<const T> loaded;
  rocksdb::Status s = load(&loaded);
  if (!s.ok()) return s;
  cache.CountRead(key);
  constexpr size_t kEntry = IndexCache::kEntryBytes;
  auto counted = std::make_unique<CountedPart<T>>(context, std::move(loaded),
                                                  read.fill_cache ? kEntry : 0);
  if (read.fill_cache) {
    pin = cache.Insert(key, counted.get(), &CountedPart<T>::Delete,
                       counted->Memory().total() - kEntry);
    if (pin.value() != nullptr) {
      counted.release();
      *ref = PartRef<T>(std::move(pin));
      return s;
    }
  }
  *ref = PartRef<T>(std::move(counted));
  return s;
}

template <typename T>
class IndexPart {
 public:
  IndexPart(TableContextRef context, IndexMode mode, IndexCache::Kind kind)
      : context_(std::move(context)), id_(IndexCache::NewKey(kind).id), mode_(mode), kind_(kind) {}
  ~IndexPart() {
    if (mode_ != IndexMode::kResident) {
      context_->index_cache.Erase(key());
    } else if (const T* const part = Resident(); part != nullptr) {
      context_->index_usage.Subtract(MemoryOf(*part));
      delete part;
    }
  }
  IndexPart(const IndexPart&) = delete;
  IndexPart& operator=(const IndexPart&) = delete;

  const TableContextRef& context() const { return context_; }
  // Null if it is not resident.
  const T* Resident() const { return resident_.load(std::memory_order_acquire); }

  // load(std::unique_ptr<const T>*) reads it. Incomplete if it must be read and may not be.
  template <typename Load>
  rocksdb::Status Get(const BlockReadOptions& read, Load load, PartRef<T>* ref) const {
    if (mode_ == IndexMode::kPaged) {
      return GetCachedPart<T>(context_, key(), read, std::move(load), ref);
    }
    if (Resident() == nullptr) [[unlikely]] {
      if (read.cache_only) return IndexNotInMemory();
      SmallMutexLock lock(&mu_);
      if (Resident() == nullptr) {
        rocksdb::Status s = Keep(std::move(load));
        if (!s.ok()) return s;
      }
    }
    *ref = PartRef<T>(Resident());
    return rocksdb::Status::OK();
  }

 private:
  IndexCache::Key key() const { return {id_, 0, kind_}; }

  template <typename Load>
  rocksdb::Status Keep(Load load) const REQUIRES(mu_) {
    if (mode_ == IndexMode::kPinned) {
      BlockReadOptions filling;
      auto pinned = std::make_unique<PartRef<T>>();
      rocksdb::Status s = GetCachedPart<T>(context_, key(), filling, std::move(load), pinned.get());
      if (!s.ok()) return s;
      pinned_ = std::move(pinned);
      resident_.store(pinned_->get(), std::memory_order_release);
      return s;
    }
    std::unique_ptr<const T> loaded;
    rocksdb::Status s = load(&loaded);
    if (!s.ok()) return s;
    context_->index_usage.Add(MemoryOf(*loaded));
    resident_.store(loaded.release(), std::memory_order_release);
    return s;
  }

  const TableContextRef context_;
  mutable std::atomic<const T*> resident_{nullptr};  // owned, unless pinned_ holds it
  mutable std::unique_ptr<PartRef<T>> pinned_ GUARDED_BY(mu_);
  const uint64_t id_;
  mutable SmallMutex mu_;
  const IndexMode mode_;
  const IndexCache::Kind kind_;
};

}  // namespace compassdb
