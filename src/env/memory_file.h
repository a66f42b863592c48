// SPDX-License-Identifier: Apache-2.0
// The contents of one file of MemoryFileSystem, visible and durable.
//
// Thread safety: all functions lock inside.
// Invariant: without `before_`, the durable data are the first durable_size_
// bytes of the visible ones; with it, they are *before_ (the visible data were
// changed otherwise than by appending since the last sync).
#pragma once

#include <memory>
#include <string>

#include "rocksdb/slice.h"
#include "util/mutex.h"
#include "util/random.h"

namespace compassdb {

using rocksdb::Slice;

class MemoryFile {
 public:
  explicit MemoryFile(uint64_t mtime) : mtime_(mtime) {}

  uint64_t Size() const;
  uint64_t mtime() const;
  uint64_t AllocatedBytes() const;
  // Copies up to n bytes at offset; returns how many there were.
  size_t Read(uint64_t offset, size_t n, char* dst) const;
  void Append(const Slice& data, uint64_t mtime);
  void Truncate(uint64_t size);
  void PunchHole(uint64_t offset, uint64_t length);
  void Sync();

  enum class Survives { kDurable, kAll, kBytePrefix, kPages };
  // The visible and the durable state become what a power cut leaves.
  void Cut(Survives survives, Random* random);

 private:
  mutable Mutex mu_;
  std::string data_ GUARDED_BY(mu_);
  uint64_t durable_size_ GUARDED_BY(mu_) = 0;
  std::unique_ptr<std::string> before_ GUARDED_BY(mu_);
  uint64_t punched_ GUARDED_BY(mu_) = 0;  // bytes freed by holes
  uint64_t mtime_ GUARDED_BY(mu_);
};

}  // namespace compassdb
