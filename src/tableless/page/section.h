// SPDX-License-Identifier: Apache-2.0
// A section: one file of pages and the overflow records of its keys.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "manifest/page_store_meta.h"
#include "table/file/file_cache.h"
#include "tableless/overflow/overflow_index.h"
#include "tableless/page/page_format.h"
#include "tableless/page/page_hash.h"
#include "tableless/sizing/page_sizing.h"

namespace compassdb {

// The file. It is open for reading while the file cache has it, and always if that has no limit.
// Thread safe: any thread reads pages, one job at a time writes them.
class SectionFile {
 public:
  // `release` is called by any thread with the path of a file that is no longer needed.
  SectionFile(FileCache* files, std::string path, uint64_t number,
              std::function<void(const std::string&)> release)
      : files_(files), path_(std::move(path)), number_(number), release_(std::move(release)) {}
  ~SectionFile();
  SectionFile(const SectionFile&) = delete;
  SectionFile& operator=(const SectionFile&) = delete;

  // Creates a file of empty pages, durable except for its directory entry.
  static Status Create(FileSystem* fs, const std::string& path, uint64_t number, uint64_t pages,
                       uint32_t page_bytes, const FileOptions& options);
  // Corruption if the file has fewer bytes.
  Status Open(uint64_t bytes);

  // `hold` keeps `*reader` open. Never NotFound, which means a missing key to the callers.
  Status Reader(std::shared_ptr<CompactionFile>* hold, const RandomAccessFile** reader) const;
  const FileCache& files() const { return *files_; }
  const std::string& path() const { return path_; }
  uint64_t number() const { return number_; }
  void MarkObsolete() { obsolete_.store(true, std::memory_order_relaxed); }

 private:
  FileCache* const files_;
  const std::string path_;
  const uint64_t number_;
  const std::function<void(const std::string&)> release_;
  std::shared_ptr<CompactionFile> kept_;  // null if descriptors are limited
  std::atomic<bool> obsolete_{false};
};

// Immutable: a change makes another one.
struct Section {
  PageSectionMeta meta;
  uint64_t divisor = 1;
  std::shared_ptr<SectionFile> file;
  OverflowIndexRef overflow;
  uint64_t large_bytes = 0;  // of records that fit no page, estimated

  // The load by records that fit pages. Limited to the space of pages and overflow store, if the manifest says more.
  SectionLoad Load(const PageGeometry& geometry) const {
    const uint64_t usable = geometry.page_bytes - kPageHeaderBytes;
    const uint64_t overflow_bytes = std::min(meta.overflow_bytes, overflow->run_bytes());
    const uint64_t bytes = std::min(meta.bytes, meta.pages * usable + overflow->run_bytes());
    return {meta.pages, usable, bytes - std::min(bytes, large_bytes),
            overflow_bytes - std::min(overflow_bytes, large_bytes)};
  }
  uint64_t PageOf(const MasterHash& hash) const { return hash.value / divisor; }
  void CheckInvariants() const;
};

using SectionRef = std::shared_ptr<const Section>;

}  // namespace compassdb
