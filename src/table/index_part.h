// SPDX-License-Identifier: Apache-2.0
// Parts of an index (a piece's separators, a directory) that are read from
// their file when they are first used, and then stay.
//
// Thread safety: all methods. One thread loads, others that want the part wait
// for it. An error is the status of that use; the next use tries again.
#pragma once

#include <atomic>
#include <memory>

#include "rocksdb/status.h"
#include "table/read_options.h"
#include "util/mutex.h"

namespace compassdb {

// A part, held in memory as long as this lives. Its owner must outlive this.
template <typename T>
class PartRef {
 public:
  PartRef() = default;
  explicit PartRef(const T* part) : part_(part) {}
  PartRef(PartRef&&) noexcept = default;
  PartRef& operator=(PartRef&&) noexcept = default;
  explicit operator bool() const { return part_ != nullptr; }
  const T* get() const { return part_; }
  const T& operator*() const { return *part_; }
  const T* operator->() const { return part_; }

 private:
  const T* part_ = nullptr;
};

template <typename T>
class IndexPart {
 public:
  IndexPart() = default;
  ~IndexPart() { delete resident_.load(std::memory_order_relaxed); }
  IndexPart(const IndexPart&) = delete;
  IndexPart& operator=(const IndexPart&) = delete;

  // Null if it is not loaded.
  const T* Resident() const { return resident_.load(std::memory_order_acquire); }

  // load(std::unique_ptr<const T>*) reads it. Incomplete if that is needed and not allowed.
  template <typename Load>
  rocksdb::Status Get(const BlockReadOptions& read, Load load, PartRef<T>* ref) const {
    const T* part = Resident();
    if (part == nullptr) [[unlikely]] {
      if (read.cache_only) return NotInMemory();
      MutexLock lock(&mu_);
      part = resident_.load(std::memory_order_relaxed);
      if (part == nullptr) {
        std::unique_ptr<const T> loaded;
        rocksdb::Status s = load(&loaded);
        if (!s.ok()) return s;
        part = loaded.release();
        resident_.store(part, std::memory_order_release);
      }
    }
    *ref = PartRef<T>(part);
    return rocksdb::Status::OK();
  }

 private:
  static rocksdb::Status NotInMemory() {
    return rocksdb::Status::Incomplete("index is not in memory, and no file may be read");
  }

  mutable std::atomic<const T*> resident_{nullptr};
  mutable Mutex mu_;  // of loading
};

}  // namespace compassdb
