// SPDX-License-Identifier: Apache-2.0
// A directory in the block cache: its head is one entry, and so is each page
// of slots. A lookup reads what is missing.
//
// Thread safety: all methods.
#pragma once

#include <atomic>
#include <memory>

#include "table/directory/directory.h"
#include "table/directory/index_part.h"

namespace compassdb {

class PagedDirectory {
 public:
  PagedDirectory(const TableContextRef& context, const TphMeta& meta);
  ~PagedDirectory();
  PagedDirectory(const PagedDirectory&) = delete;
  PagedDirectory& operator=(const PagedDirectory&) = delete;

  Status Lookup(const BlockReadOptions& read, const KeyHash& hash, DirectoryHit* hit) const;
  // As much of it as fits the cache.
  Status Load(const BlockReadOptions& read) const;

 private:
  class Page;
  friend IndexMemory MemoryOf(const Page& page);
  Status OpenHead(const BlockReadOptions& read, PartRef<DirectoryHead>* head) const;
  Status OpenPage(const BlockReadOptions& read, const DirectoryHead& head, uint64_t number,
                  PartRef<Page>* page) const;

  const TableContextRef context_;
  const TphMeta& meta_;  // the table's, which outlives this
  const IndexPart<DirectoryHead> head_;
  const IndexCache::Key pages_key_;
  mutable std::atomic<uint64_t> num_pages_{0};  // known once the head was read
};

// Corruption if this is not the directory that the manifest names.
Status CheckDirectory(const TphMeta& meta, uint64_t keys, size_t pieces);

}  // namespace compassdb
