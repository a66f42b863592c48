// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "format/key_hash.h"
#include "iter/get_context.h"
#include "iter/internal_iterator.h"
#include "iter/range_tombstone_set.h"
#include "iter/value_resolver.h"
#include "manifest/version_edit.h"
#include "table/directory/index_memory.h"
#include "table/read_options.h"

namespace compassdb {

// The statistics of separated values.
struct ValueStats {
  uint64_t runs = 0;
  uint64_t files = 0;
  uint64_t values = 0;
  uint64_t total_bytes = 0;  // extents
  uint64_t dead_bytes = 0;   // of them garbage, estimated
  uint64_t pinned_bytes = 0;  // of them only for snapshots, estimated
  uint64_t held_bytes = 0;    // in addition: replaced, and still on disk for readers
  uint64_t uncommitted_bytes = 0;  // in addition: written by jobs that are not committed yet
  uint64_t raw_bytes = 0;
  // How evenly the values, garbage included, are spread over the groups; a wide group counts as its parts.
  uint64_t groups = 0;
  uint64_t least_in_group = 0, most_in_group = 0;
};

// The statistics of a table-less store.
struct PageStats {
  uint64_t page_bytes = 0;
  uint64_t pages = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;  // of records, encoded
  uint64_t overflow_records = 0;
  uint64_t overflow_bytes = 0;
  uint64_t overflow_index_bytes = 0;
  uint64_t pending_pages = 0;  // in journals, to be written in place
  // Since open:
  uint64_t pages_in_place = 0;     // written in place, one page each time
  uint64_t unjournaled_pages = 0;  // of them without a journal
  uint64_t overflow_written = 0;   // records that flushes, rehashes and rewriting appended to the overflow store
  uint64_t rehashes = 0;           // of one section each
  uint64_t stored_bytes = 0;   // of files of pages, journals and overflow runs
};

// What a level holds, and what jobs wrote to it. Flushes, compactions and stalls of the family are
// counted in ColumnFamily::Counters.
struct LevelStats {
  uint64_t tables = 0;
  uint64_t pieces = 0;
  uint64_t files = 0;       // physical files that hold them
  uint64_t total_bytes = 0;  // extents, directories included
  uint64_t data_bytes = 0;
  uint64_t live_data_bytes = 0;
  uint64_t records = 0;
  uint64_t keys = 0;  // directory entries
  uint64_t deletions = 0;  // tombstones
  uint64_t range_tombstones = 0;
  uint64_t raw_bytes = 0;
  // Since open, of jobs with this output level, except moves of whole tables (JobCounters::Record):
  uint64_t jobs = 0;
  uint64_t bytes_read = 0;
  uint64_t hash_list_bytes_read = 0;  // these three as in JobReport
  uint64_t piece_bytes_read = 0;
  uint64_t whole_bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t value_bytes_read = 0;     // of both, separated values
  uint64_t value_bytes_written = 0;
  uint64_t bytes_in_upper = 0;  // delta bytes that came from above
  uint64_t micros = 0;
  uint64_t consolidations = 0;  // of the jobs, those for scans
  uint64_t consolidated_bytes = 0;

  // Of what jobs did since open, leaves what they did after `earlier`.
  void CountFrom(const LevelStats& earlier);
  // All but `files`: levels may share them.
  LevelStats& operator+=(const LevelStats& o);
};

// A field, and its name in the property compassdb.stats-json.
struct LevelField {
  const char* name;
  uint64_t LevelStats::* value;
  bool since_open = false;
};
inline constexpr LevelField kLevelFields[] = {
    {"tables", &LevelStats::tables},
    {"pieces", &LevelStats::pieces},
    {"files", &LevelStats::files},
    {"total_bytes", &LevelStats::total_bytes},
    {"data_bytes", &LevelStats::data_bytes},
    {"live_data_bytes", &LevelStats::live_data_bytes},
    {"records", &LevelStats::records},
    {"keys", &LevelStats::keys},
    {"deletions", &LevelStats::deletions},
    {"range_tombstones", &LevelStats::range_tombstones},
    {"raw_bytes", &LevelStats::raw_bytes},
    {"jobs", &LevelStats::jobs, true},
    {"bytes_read", &LevelStats::bytes_read, true},
    {"hash_list_bytes_read", &LevelStats::hash_list_bytes_read, true},
    {"piece_bytes_read", &LevelStats::piece_bytes_read, true},
    {"whole_bytes_read", &LevelStats::whole_bytes_read, true},
    {"bytes_written", &LevelStats::bytes_written, true},
    {"value_bytes_read", &LevelStats::value_bytes_read, true},
    {"value_bytes_written", &LevelStats::value_bytes_written, true},
    {"bytes_in_upper", &LevelStats::bytes_in_upper, true},
    {"micros", &LevelStats::micros, true},
    {"consolidations", &LevelStats::consolidations, true},
    {"consolidated_bytes", &LevelStats::consolidated_bytes, true}};
static_assert(sizeof(LevelStats) == std::size(kLevelFields) * sizeof(uint64_t), "all are listed");

inline void LevelStats::CountFrom(const LevelStats& earlier) {
  for (const LevelField& field : kLevelFields) {
    if (!field.since_open) continue;
    this->*field.value -= std::min(this->*field.value, earlier.*field.value);
  }
}

inline LevelStats& LevelStats::operator+=(const LevelStats& o) {
  for (const LevelField& field : kLevelFields) {
    if (field.value != &LevelStats::files) this->*field.value += o.*field.value;
  }
  return *this;
}

// One key of a MultiGet on its way through a store.
struct PointLookup {
  Slice user_key;
  KeyHash hash;
  GetContext* ctx = nullptr;
  Status status;
};

// An immutable state of a store, pinned by readers. Thread safe.
class StoreView {
 public:
  virtual ~StoreView() = default;
  // Feeds ctx the versions of user_key that it may see, newest first.
  virtual Status Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                     GetContext* ctx) const = 0;
  // Get for each, with their memory accesses and their reads overlapped.
  virtual void MultiGet(const BlockReadOptions& read, std::span<PointLookup> lookups) const = 0;
  // Appends iterators that together have every record, and every list of range
  // tombstones. They may be used as long as the view is pinned.
  virtual Status AddIterators(const BlockReadOptions& read,
                              std::vector<InternalIteratorPtr>* iterators,
                              RangeTombstoneSet* tombstones) const = 0;
  // Fetches the values that its records name. Null if it has none. May be used as long as the view is pinned.
  virtual std::unique_ptr<ValueResolver> NewValueResolver(const BlockReadOptions& read) const = 0;
  virtual ValueStats Values() const = 0;
  // With their files and garbage: each run's share of its group's, so that they add up to Values().
  virtual void ForEachValueRun(const std::function<void(const ValueRunMeta&, uint64_t dead_bytes)>& f) const = 0;
  virtual uint64_t ApproximateSize(const Slice& begin, const Slice& end) const = 0;
  virtual std::vector<LevelStats> Levels() const = 0;
  // Extents of the tables of every state that is alive, and the pages of this one.
  virtual uint64_t StoredBytes() const = 0;
  // The memory of all indexes, of every state.
  virtual IndexMemory Index() const = 0;
  // Loads what reads would load. With a limit on memory, parts may be evicted again.
  virtual Status LoadIndex() const = 0;
  // All tables with their level: for metadata, live files and properties.
  virtual void ForEachTable(const std::function<void(int level, const TphMeta&)>& f) const = 0;
  // All pieces with their tables, until `f` returns an error. It may read the piece.
  using PieceVisitor = std::function<Status(const TphMeta&, const Piece&)>;
  virtual Status ForEachPiece(const PieceVisitor& f) const = 0;
  // Reads and checks everything. With several findings, the status has a line for each.
  virtual Status Verify() const = 0;
  virtual PageStats Pages() const { return {}; }
};

}  // namespace compassdb
