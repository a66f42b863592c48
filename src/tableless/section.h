// SPDX-License-Identifier: Apache-2.0
// A section: one file of pages and the overflow records of its keys.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/file_system.h"
#include "manifest/page_store_meta.h"
#include "tableless/overflow_index.h"
#include "tableless/page_hash.h"
#include "util/mutex.h"

namespace compassdb {

// The open file. Thread safe: pages are read by everyone, written by one job at a time.
class SectionFile {
 public:
  // `release` takes the path of a file that nobody needs any more, from whichever thread.
  SectionFile(FileSystem* fs, std::string path, uint64_t number,
              std::function<void(const std::string&)> release)
      : fs_(fs), path_(std::move(path)), number_(number), release_(std::move(release)) {}
  ~SectionFile();
  SectionFile(const SectionFile&) = delete;
  SectionFile& operator=(const SectionFile&) = delete;

  // Makes a file of empty pages, durably but for its directory entry.
  static Status Create(FileSystem* fs, const std::string& path, uint64_t number, uint64_t pages,
                       uint32_t page_bytes, const FileOptions& options);
  // For reading. Corruption if the file has not so many bytes.
  Status Open(const FileOptions& options, uint64_t bytes);

  const RandomAccessFile* reader() const { return reader_.get(); }
  // Opened by the first who writes.
  Status Writer(const FileOptions& options, PageFile** writer);
  const std::string& path() const { return path_; }
  uint64_t number() const { return number_; }
  void MarkObsolete() { obsolete_.store(true, std::memory_order_relaxed); }

 private:
  FileSystem* const fs_;
  const std::string path_;
  const uint64_t number_;
  const std::function<void(const std::string&)> release_;
  std::unique_ptr<RandomAccessFile> reader_;
  std::atomic<bool> obsolete_{false};
  Mutex mu_;
  std::unique_ptr<PageFile> writer_ GUARDED_BY(mu_);
};

// Immutable: a change makes another one.
struct Section {
  PageSectionMeta meta;
  uint64_t divisor = 1;
  std::shared_ptr<SectionFile> file;
  OverflowIndexRef overflow;
  uint64_t large_bytes = 0;  // of records that no page can hold, about

  uint64_t PageOf(const MasterHash& hash) const { return hash.value / divisor; }
};

using SectionRef = std::shared_ptr<const Section>;

}  // namespace compassdb
