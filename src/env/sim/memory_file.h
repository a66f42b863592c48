// SPDX-License-Identifier: Apache-2.0
// The contents of one file of MemoryFileSystem, visible and durable.
//
// Thread safety: all functions lock inside.
// Invariant: without `image_`, the durable data are the first durable_size_ bytes of
// the visible ones: the file was only appended to. With it, they are *image_, and
// `changes_`, applied to it in their order, give the visible data.
#pragma once

#include <memory>
#include <string>
#include <vector>

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
  // Whole pages that were never written, or punched, take no space.
  uint64_t AllocatedBytes() const;
  // Copies up to n bytes at offset; returns how many there were.
  size_t Read(uint64_t offset, size_t n, char* dst) const;
  void Append(const Slice& data, uint64_t mtime);
  void Write(uint64_t offset, const Slice& data, uint64_t mtime);
  void Truncate(uint64_t size);
  void PunchHole(uint64_t offset, uint64_t length);
  void Sync();

  enum class Survives { kDurable, kAll, kBytes, kPages };
  // The visible and the durable state become what a power cut leaves. Writes in place of blocks of this size, at
  // multiples of it, are torn between blocks only. 0: none is spared.
  void Cut(Survives survives, uint64_t atomic_bytes, Random* random);

 private:
  struct Change {
    enum Kind { kAppend, kWrite, kResize };
    Kind kind;
    uint64_t offset;   // kResize: the size
    std::string data;  // not of kResize
  };

  void KeepImage() REQUIRES(mu_);
  void MarkPages(uint64_t begin, uint64_t end, bool hole) REQUIRES(mu_);
  static void Apply(const Change& change, std::string* data);
  void CutTail(Survives survives, Random* random) REQUIRES(mu_);
  std::string Torn(Survives survives, uint64_t atomic_bytes, Random* random) const REQUIRES(mu_);

  mutable Mutex mu_;
  std::string data_ GUARDED_BY(mu_);
  uint64_t durable_size_ GUARDED_BY(mu_) = 0;
  std::unique_ptr<std::string> image_ GUARDED_BY(mu_);
  std::vector<Change> changes_ GUARDED_BY(mu_);
  std::vector<bool> holes_ GUARDED_BY(mu_);  // by page; those behind its end are none
  uint64_t mtime_ GUARDED_BY(mu_);
};

}  // namespace compassdb
