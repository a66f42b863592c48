// SPDX-License-Identifier: Apache-2.0
// A run of the value store, open for reading.
//
// The places of its values are loaded at the first use: they are resident, or with `paged` an entry of the
// block cache. Thread safe. The last reference to a run that was marked obsolete returns the extent to the
// ledger.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "cache/cache_charge.h"
#include "manifest/extent_ledger.h"
#include "manifest/value_run_meta.h"
#include "rocksdb/slice.h"
#include "table/directory/index_cache.h"
#include "table/read_options.h"
#include "table/table_context.h"
#include "util/mutex.h"
#include "value_store/place_index.h"
#include "value_store/update_counts.h"
#include "value_store/value_writer.h"

namespace compassdb {

// What all runs of a family share. Outlives them.
struct ValueContext {
  TableContextRef tables;
  ExtentLedger* ledger = nullptr;
  bool paged = false;                     // places are in the block cache
  std::shared_ptr<rocksdb::Cache> cache;  // of values; null: none
  bool own_cache = false;                 // it is for values alone (blob_cache)
  uint64_t cache_space = 0;               // NewValueCacheSpace()
  bool separates = false;                 // new values are separated
  // The live snapshots, ascending; null: there are never any.
  std::function<std::vector<SequenceNumber>()> snapshots;
  std::shared_ptr<UpdateCounts> updates;  // of its keys; null: not counted
  // Memory in addition to the pages of a family with paged places: null elsewhere.
  std::shared_ptr<CacheCharge> charge;
  // The bytes of replaced runs that still have users, which keep them on disk.
  mutable std::atomic<uint64_t> held_bytes{0};
  // The bytes of runs that jobs write, until their edits are installed.
  const std::shared_ptr<std::atomic<uint64_t>> uncommitted_bytes = std::make_shared<std::atomic<uint64_t>>(0);
  std::atomic<uint64_t>* pinned_runs = nullptr;  // counts runs with values that only snapshots see
  // Bytes of values that a notice ended, on average of recently counted ones.
  static constexpr uint64_t kUnknown = UINT64_MAX;
  mutable std::atomic<uint64_t> notice_worth{kUnknown};
  // Shared by runs, because there may be a run for every few dozen values. A run's places are loaded under one of them.
  mutable std::array<Mutex, 16> load_mu;
  mutable Mutex hints_mu;
  mutable Mutex files_mu;  // a leaf
};

// ValueRunMeta's hints, as far as they are known by now.
struct ValueHints {
  int64_t dead = 0;
  int64_t pinned = 0;
  SequenceNumber pinned_from = UINT64_MAX;
  SequenceNumber pinned_to = 0;
};

class ValueRun {
 public:
  ValueRun(std::shared_ptr<const ValueContext> context, const ValueRunMeta& meta);
  ~ValueRun();
  ValueRun(const ValueRun&) = delete;
  ValueRun& operator=(const ValueRun&) = delete;

  const ValueRunMeta& meta() const { return meta_; }
  bool MayHold(uint64_t number) const {
    return meta_.num_values > 0 && number >= meta_.min_number && number <= meta_.max_number;
  }
  // Loads the places of its values, as the first use would.
  Status Load() const;
  // The same of several, with overlapped reads. Errors of loading are returned at the use.
  static void LoadTogether(std::vector<const ValueRun*> runs);
  // *found: whether the value is here. Incomplete if it is not in memory and `cache_only`.
  Status Find(uint64_t number, bool cache_only, bool* found, ValuePlace* place) const;
  // The whole record, checked. It is in *room or in memory of the file system.
  Status ReadRecord(const ValuePlace& place, bool verify_checksum, std::string* room, Slice* record) const;
  // For reads of the caller: the file, and a check that the read bytes are the whole record. The run holds the file if
  // there may be many open ones; else *holder does.
  Status File(std::shared_ptr<CompactionFile>* holder, const CompactionFile** file) const;
  Status CheckRead(const ValuePlace& place, bool verify_checksum, const Slice& record) const;
  // The key table.
  Status ReadKeys(std::vector<ValueEntry>* values, std::vector<ValueNotice>* notices,
                  std::vector<ValueDeath>* deaths) const;
  // Records as they are stored, of `entries` (in the order of their places), each checked, to `take`. Those that
  // are close together are read together, up to about `span` bytes (0: 1 MiB), which are held in memory.
  Status ReadRecords(const std::vector<ValueEntry>& entries, uint64_t span,
                     const std::function<Status(const ValueEntry&, const Slice&)>& take) const;
  // Reads and checks everything.
  Status Verify() const;

  // The known garbage of the group: the manifest's, until a job counts.
  ValueHints hints() const;
  void SetHints(const ValueHints& hints);
  void ResetHints();
  // Its records were counted. This many records of others may have ended values.
  bool counted() const { return counted_.load(std::memory_order_relaxed); }
  void SetCounted() { counted_.store(true, std::memory_order_relaxed); }
  uint64_t events() const {
    const bool ends = meta_.dead_hint != 0 || meta_.pinned_hint != 0;
    return counted() ? 0 : meta_.num_notices + (ends ? meta_.num_values : 0);
  }

  size_t MemoryBytes() const;  // without what is loaded
  bool obsolete() const { return obsolete_.load(std::memory_order_relaxed); }
  void MarkObsolete() {
    if (!obsolete_.exchange(true)) context_->held_bytes += meta_.extent.length;
  }

 private:
  struct HeldPlaces;  // while it exists, they stay in memory
  Status Hold(bool cache_only, HeldPlaces* held) const;
  Status LoadPlaces(std::unique_ptr<PlaceIndex>* places) const;
  Status MakePlaces(const Slice& section, std::unique_ptr<PlaceIndex>* places) const;
  // Into the block cache; null: there is no space for them.
  void InsertPaged(std::unique_ptr<PlaceIndex> places, HeldPlaces* held) const;
  void Publish(std::unique_ptr<PlaceIndex> places) const;  // that stay; under their load_mu
  uint64_t places_offset() const { return meta_.records_bytes + meta_.keys_bytes; }
  Status Read(uint64_t offset, uint64_t n, std::string* room, Slice* bytes) const;
  Status ReadSection(uint64_t offset, uint64_t n, const char* what, std::string* room,
                     Slice* bytes) const;
  Status CheckSection(uint64_t offset, const char* what, Slice* bytes) const;  // and removes its checksum
  Status CheckRecord(const ValuePlace& place, const Slice& record) const;
  Status Corruption(const std::string& what) const;

  const std::shared_ptr<const ValueContext> context_;
  const ValueRunMeta meta_;
  const IndexCache::Key cache_key_;
  mutable std::atomic<const PlaceIndex*> places_{nullptr};  // owned; null: not loaded, or paged
  mutable std::atomic<const CompactionFile*> open_{nullptr};  // held_, once it is set
  mutable std::shared_ptr<CompactionFile> held_ GUARDED_BY(context_->files_mu);
  std::atomic<bool> obsolete_{false};
  std::atomic<bool> counted_;
  ValueHints hints_ GUARDED_BY(context_->hints_mu);
};

using ValueRunRef = std::shared_ptr<ValueRun>;

// The parts of a record. Corruption without a place if it is malformed.
struct ParsedValueRecord {
  uint64_t number = 0;
  Slice user_key;
  Slice stored;
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
};
bool ParseValueRecord(Slice record, ParsedValueRecord* parsed);

}  // namespace compassdb
