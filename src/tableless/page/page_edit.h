// SPDX-License-Identifier: Apache-2.0
// One page being changed: the records that stay, the new ones, and those that do not fit.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "memtable/memtable.h"
#include "store/store.h"
#include "tableless/overflow/overflow_run.h"
#include "tableless/page/key_fold.h"
#include "tableless/page/page_format.h"

namespace compassdb {

// Counts of a section as its pages change.
struct SectionCounts {
  int64_t records = 0;
  int64_t bytes = 0;
  int64_t overflow_records = 0;
  int64_t overflow_bytes = 0;
};

// Adds the records of an outcome for the key store. `key_store`: it has every key; else only versions for snapshots.
// `held`: if the key is deleted, a held snapshot is older than that. Thread safe like MemTable::Add(concurrent).
Status AddToKeyStore(bool key_store, const Slice& user_key, const KeyOutcome& outcome,
                    bool existed, bool held, MemTable* keys);

// One thread. Slices must stay valid until the next Begin.
class PageEdit {
 public:
  PageEdit(uint32_t section, size_t page_bytes) : section_(section), page_bytes_(page_bytes) {}

  void Begin(std::vector<PageRecord> existing);
  // The page's own record of the key; null if it has none. From now on it stays only if it is added again.
  const PageRecord* Take(const Slice& user_key);
  // The new record of a key. `overflowed`: the old one, in the overflow store.
  void Put(const PageRecord& record, const PageRecord* overflowed);
  void Remove(const Slice& user_key, SequenceNumber sequence, const PageRecord* overflowed);
  // Places everything. *changed: the page's own records have changed.
  void Finish(bool* changed);

  const std::vector<PageRecord>& records() const { return kept_; }
  // A key's record moved from the page to the overflow store, or back.
  bool crossed() const { return crossed_; }
  // For the page alone.
  PageChange change() const { return change_; }
  size_t used() const { return used_; }  // by header and records
  // Entries for the overflow store, whose slices are valid as long as the given ones.
  std::vector<OverflowEntry>* overflow() { return &overflow_; }
  SectionCounts* counts() { return &counts_; }

 private:
  bool WasTaken(const Slice& user_key) const;

  struct Arrival {
    PageRecord record;
    bool was_overflow;
    size_t overflow_size;
  };
  const uint32_t section_;
  const size_t page_bytes_;
  std::vector<PageRecord> existing_;
  std::vector<bool> taken_;
  std::vector<Arrival> arrivals_;
  std::vector<PageRecord> kept_;
  std::vector<OverflowEntry> overflow_;
  bool crossed_ = false;
  size_t used_ = 0;
  PageChange change_;
  SectionCounts counts_;
};

}  // namespace compassdb
