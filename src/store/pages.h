// SPDX-License-Identifier: Apache-2.0
// A store's facet for pages, which are written in place. Older versions leave them: an iterator
// holds its sequence as a snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/key_hash.h"
#include "manifest/version_edit.h"
#include "store/compaction_task.h"

namespace compassdb {

class LogValues;

// Numbers of pages. A pair in the overflow store counts for the page that its key is hashed to.
struct PageContents {
  // [i]: filled to more than i percent and to at most i + 1; [0]: empty pages, too; [100]: to more.
  std::vector<uint64_t> by_fill;
  struct ByPairs {
    uint64_t pages = 0;
    uint64_t overflowing = 0;  // of them with pairs in the overflow store
  };
  std::map<uint64_t, ByPairs> by_pairs;
};

class Pages {
 public:
  virtual ~Pages() = default;
  // Memtables have only addresses of the values that this finds. Null: they have the values.
  virtual LogValues* log_values() = 0;
  // By the upper bits of a key's h1 its page is found.
  virtual KeyHasher hasher() const = 0;
  // On an open store, before its first use: the edit has what the options require and the state
  // lacks. The caller commits it.
  virtual Status Complete(VersionEdit* edit, bool* changed) = 0;
  // [mutex] The edit of the last successful Flush will not be installed.
  virtual void ForgetFlush() = 0;
  // [mutex] A task or a flush writes pages. None begins while deletions are disabled.
  virtual bool WritesInPlace() const = 0;
  // [mutex] Paths of the files: to be copied, never linked, while WritesInPlace is false.
  virtual std::vector<std::string> FilesInPlace() const = 0;
  // [mutex] Sections that are being rehashed, or will be.
  virtual uint64_t Rehashing() const = 0;
  // [mutex] Long work that PickCompaction does not return: neither waits for the other. Null: there
  // is none, or it is running.
  virtual std::unique_ptr<CompactionTask> PickLongWork() = 0;
  virtual bool NeedsLongWork() const = 0;
  // Reads every page. Any thread.
  virtual Status CountContents(PageContents* contents) const = 0;
};

}  // namespace compassdb
