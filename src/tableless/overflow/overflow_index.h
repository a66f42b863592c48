// SPDX-License-Identifier: Apache-2.0
// The places of one section's overflow records, in memory, by the hash of their key (KallaxDB 3.2).
// Immutable and thread safe; a change makes another index.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "format/key_hash.h"
#include "tableless/overflow/overflow_run.h"

namespace compassdb {

class OverflowIndex {
 public:
  struct Entry {
    uint64_t hash = 0;  // KeyHash::h1
    uint64_t run_id = 0;
    OverflowPlace place;
  };

  OverflowIndex() = default;
  // Sorted here; `runs` are those that entries name, by id.
  OverflowIndex(std::vector<Entry> entries, std::vector<OverflowRunRef> runs);

  // The record of the key, with its bytes in *room. NotFound if there is none.
  Status Find(const Slice& user_key, const KeyHash& hash, std::string* room, PageRecord* record,
              rocksdb::Statistics* statistics = nullptr) const;
  Status Read(const Entry& entry, std::string* room, OverflowEntry* record,
              rocksdb::Statistics* statistics = nullptr) const;
  // Entries of all keys with this hash: one, except for collisions. Reads nothing.
  std::span<const Entry> EntriesOf(const KeyHash& hash) const;
  Status FindRun(const Entry& entry, const OverflowRun** run) const;
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<OverflowRunRef>& runs() const { return runs_; }
  // The bytes of runs with only these entries.
  uint64_t run_bytes() const { return run_bytes_; }
  // Estimated bytes of the records that are larger than this.
  uint64_t BytesOfLarger(uint64_t bytes) const;
  size_t MemoryBytes() const { return entries_.capacity() * sizeof(Entry) + sizeof(*this); }

 private:
  std::vector<Entry> entries_;  // by hash; keys with one hash in any order
  std::vector<OverflowRunRef> runs_;
  uint64_t run_bytes_ = 0;
};

using OverflowIndexRef = std::shared_ptr<const OverflowIndex>;

// Changes an index entry by entry, and then returns the next one.
class OverflowIndexBuilder {
 public:
  // `base` may be null: empty.
  explicit OverflowIndexBuilder(OverflowIndexRef base);
  // An entry of a run with an id not below the previous ones, and the entries that the run's list says it replaces.
  // Reads records with its hash, to compare their keys, except those in `replaced`.
  Status Apply(const OverflowRunRef& run, const OverflowSlot& slot, const OverflowEntryNames& replaced);
  // The base itself if nothing was applied.
  OverflowIndexRef Finish();

 private:
  const OverflowIndexRef base_;
  std::vector<bool> gone_;  // of base_'s entries, once something is applied
  std::multimap<uint64_t, OverflowIndex::Entry> added_;  // by hash
  std::vector<OverflowRunRef> runs_;  // by id
};

}  // namespace compassdb
