// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "db/families/column_family_handle.h"
#include "db/read/reader.h"
#include "db/report/statistics_util.h"
#include "env/perf_cpu_span.h"
#include "util/perf_span.h"

namespace compassdb {

Reader::Reader(Clock* clock, std::shared_ptr<rocksdb::Statistics> statistics,
               const KeyHasher& hasher, bool read_only,
               const std::atomic<SequenceNumber>& last_sequence,
               const std::atomic<bool>& unlogged_data, SnapshotList* snapshots,
               Tracing* tracing, Mutex* mu)
    : clock_(clock),
      statistics_(std::move(statistics)),
      hasher_(hasher),
      read_only_(read_only),
      last_sequence_(last_sequence),
      unlogged_data_(unlogged_data),
      snapshots_(snapshots),
      tracing_(tracing),
      mu_(mu) {}

BlockReadOptions Reader::BlockOptions(const ReadOptions& options) const {
  BlockReadOptions block;
  // In files that the primary may punch, only checksums show a hole.
  const bool may_have_holes = primary_ != nullptr && primary_->MayPunch();
  block.verify_checksums = options.verify_checksums || may_have_holes;
  block.fill_cache = options.fill_cache;
  block.cache_only = options.read_tier == rocksdb::kBlockCacheTier;
  block.readahead_bytes = options.readahead_size;
  block.snapshot_held = options.snapshot != nullptr;
  if (options.deadline.count() > 0 || options.io_timeout.count() > 0) {
    block.limits.clock = clock_;
    block.limits.deadline = static_cast<uint64_t>(std::max<int64_t>(0, options.deadline.count()));
    block.limits.io_timeout = static_cast<uint64_t>(std::max<int64_t>(0, options.io_timeout.count()));
  }
  return block;
}

Status Reader::CheckRead(const ReadOptions& options, const ColumnFamily& family) const {
  if (options.timestamp != nullptr || options.iter_start_ts != nullptr ||
      family.timestamp_size() != 0) [[unlikely]] {
    if (Status s = CheckReadTime(options, family); !s.ok()) return s;
  }
  if (options.snapshot != nullptr && primary_ != nullptr) {
    // The primary does not know the snapshot, and drops records that only the snapshot sees.
    return Status::NotSupported("snapshot not supported in secondary mode");
  }
  // Checked again before each read of a file (table/io_limits.h).
  if (options.deadline.count() > 0 &&
      clock_->NowMicros() >= static_cast<uint64_t>(options.deadline.count())) {
    return Status::TimedOut("ReadOptions::deadline has passed");
  }
  return Status::OK();
}

SequenceNumber Reader::ReadSequence(const ReadOptions& options) const {
  return options.snapshot != nullptr ? options.snapshot->GetSequenceNumber()
                                     : last_sequence_.load(std::memory_order_acquire);
}

// kPersistedTier: only data that a crash would leave. Memtables count if they are logged.
bool Reader::SkipsMemTables(const ReadOptions& options) const {
  return options.read_tier == rocksdb::kPersistedTier &&
         unlogged_data_.load(std::memory_order_relaxed);
}

Status Reader::SearchMemTables(const ReadOptions& options, const ReadState& state,
                               const Slice& key, GetContext* ctx) {
  std::string in_log;
  const bool no_io = options.read_tier == rocksdb::kBlockCacheTier && state.mem->indexes_log();
  if (no_io) ctx->DeferSeparated(&in_log);
  if (!SkipsMemTables(options) && !(state.immutables.empty() && state.mem->empty())) {
    const LookupKey lookup(key, ctx->snapshot());
    state.mem->Get(lookup, ctx);
    for (const auto& immutable : state.immutables) {
      if (ctx->done()) break;
      immutable->Get(lookup, ctx);
    }
  }
  if (no_io) ctx->DeferSeparated(nullptr);
  Tick(statistics_.get(), ctx->done() ? rocksdb::MEMTABLE_HIT : rocksdb::MEMTABLE_MISS);
  if (!in_log.empty()) return Status::Incomplete("the value is in the log");
  if (!ctx->done() && options.read_tier == rocksdb::kMemtableTier) {
    return Status::Incomplete("the key may be outside the memtables");
  }
  return Status::OK();
}

Status Reader::GetFromState(const ReadOptions& options, const ColumnFamily& family,
                            const ReadState& state, const PointRead& read) {
  if (family.timestamp_size() != 0) [[unlikely]] return GetAtTime(options, family, state, read);
  const rocksdb::PerfLevel level = CurrentPerfLevel();
  const PerfCpuSpan cpu(level, &rocksdb::PerfContext::get_cpu_nanos);
  GetContext ctx(read.key, read.sequence, family.merge_operator(), read.value);
  if (read.operands != nullptr) ctx.CollectOperandsOnly(read.operands);
  if (read.is_entity != nullptr) ctx.KeepEntities();
  ctx.IgnoreTombstones(options.ignore_range_deletions);
  ctx.SetMergeSinks(nullptr, statistics_.get());
  PerfParts parts(level);
  parts.Begin(&rocksdb::PerfContext::get_from_memtable_time);
  Status s = SearchMemTables(options, state, read.key, &ctx);
  if (!s.ok()) return s;
  if (!ctx.done()) {
    parts.Begin(&rocksdb::PerfContext::get_from_output_files_time);
    BlockReadOptions block = BlockOptions(options);
    block.prefix_extractor = family.settings.point_prefixes.load(std::memory_order_relaxed);
    s = state.view->Get(block, read.key, hasher_(read.key), &ctx);
    if (!s.ok()) return s;
  }
  parts.Begin(&rocksdb::PerfContext::get_post_process_time);
  s = ctx.Finish();
  if (level >= rocksdb::kEnableCount) {
    rocksdb::PerfContext* const perf = CurrentPerfContext();
    if (!state.immutables.empty() || !state.mem->empty()) ++perf->get_from_memtable_count;
    if (s.ok() && read.value != nullptr) perf->get_read_bytes += read.value->size();
  }
  if (read.is_entity != nullptr) *read.is_entity = ctx.found_entity();
  return s;
}

// Reads the current state into read->value, and counts.
Status Reader::GetCounted(const ReadOptions& options, ColumnFamily* family, PointRead* read) {
  if (tracing_->running()) [[unlikely]] tracing_->Get(family->id(), read->key);
  const auto get = [&] {
    ReadStatePin state(family->read_state());
    read->sequence = ReadSequence(options);
    return GetFromState(options, *family, *state, *read);
  };
  Status s = get();
  // A store that changes in place may no longer have the versions of the sequence: take a later one.
  while (s.IsTryAgain() && options.snapshot == nullptr && !read_only_) {
    read->value->Reset();
    s = get();
  }
  if (primary_ != nullptr && primary_->CatchUpPast(s)) {
    read->value->Reset();
    s = get();
  }
  Tick(statistics_.get(), rocksdb::NUMBER_KEYS_READ);
  // As in RocksDB, an absent key counts as a size of 0.
  if (s.ok()) Tick(statistics_.get(), rocksdb::BYTES_READ, read->value->size());
  Record(statistics_.get(), rocksdb::BYTES_PER_READ, s.ok() ? read->value->size() : 0);
  return s;
}

Status Reader::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) {
  if (timestamp != nullptr) timestamp->clear();
  StopWatch watch(clock_, statistics_.get(), rocksdb::DB_GET);
  ColumnFamily* const family = FamilyOf(handle);
  if (Status s = CheckRead(options, *family); !s.ok()) return s;
  value->Reset();
  PointRead read;
  read.key = key;
  read.value = value;
  read.timestamp = timestamp;
  return GetCounted(options, family, &read);
}

Status Reader::GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                         rocksdb::PinnableWideColumns* columns) {
  if (family == nullptr) {
    return Status::InvalidArgument("Cannot call GetEntity without a column family handle");
  }
  if (columns == nullptr) {
    return Status::InvalidArgument("Cannot call GetEntity without a PinnableWideColumns object");
  }
  columns->Reset();
  StopWatch watch(clock_, statistics_.get(), rocksdb::DB_GET);
  if (Status s = CheckRead(options, *FamilyOf(family)); !s.ok()) return s;
  PinnableSlice stored;
  bool is_entity = false;
  PointRead read;
  read.key = key;
  read.value = &stored;
  read.is_entity = &is_entity;
  Status s = GetCounted(options, FamilyOf(family), &read);
  if (!s.ok()) return s;
  rocksdb::Cleanable* const pin = stored.IsPinned() ? &stored : nullptr;
  if (is_entity) return columns->SetWideColumnValue(stored, pin);
  columns->SetPlainValue(stored, pin);
  return s;
}

Status Reader::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* handle,
                                const Slice& key, PinnableSlice* operands,
                                rocksdb::GetMergeOperandsOptions* merge_options,
                                int* number_of_operands) {
  ColumnFamily* const family = FamilyOf(handle);
  if (Status s = CheckRead(options, *family); !s.ok()) return s;
  if (operands == nullptr || merge_options == nullptr || number_of_operands == nullptr) {
    return Status::InvalidArgument("GetMergeOperands: a result pointer is null");
  }
  if (tracing_->running()) [[unlikely]] tracing_->Get(family->id(), key);
  std::vector<std::string> collected;
  PointRead read;
  read.key = key;
  read.operands = &collected;
  const auto get = [&] {
    collected.clear();
    ReadStatePin state(family->read_state());
    read.sequence = ReadSequence(options);
    return GetFromState(options, *family, *state, read);
  };
  Status s = get();
  while (s.IsTryAgain() && options.snapshot == nullptr && !read_only_) s = get();
  if (primary_ != nullptr && primary_->CatchUpPast(s)) s = get();
  if (!s.ok()) return s;
  *number_of_operands = static_cast<int>(collected.size());
  if (*number_of_operands > merge_options->expected_max_number_of_operands) {
    return Status::Incomplete(
        Status::SubCode::KMergeOperandsInsufficientCapacity);
  }
  // Oldest first, as they were written.
  for (auto it = collected.rbegin(); it != collected.rend(); ++it) (operands++)->PinSelf(*it);
  return Status::OK();
}

bool Reader::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         std::string* value, std::string* timestamp, bool* value_found) {
  if (value_found != nullptr) *value_found = true;
  if (timestamp != nullptr) timestamp->clear();
  if (value != nullptr) value->clear();
  ReadOptions memory_only = options;
  memory_only.read_tier = rocksdb::kBlockCacheTier;
  PinnableSlice found;
  ColumnFamily* const family = FamilyOf(handle);
  if (family->timestamp_size() != 0 && !CheckReadTime(options, *family).ok()) return true;
  if (tracing_->running()) [[unlikely]] tracing_->Get(family->id(), key);
  PointRead read;
  read.key = key;
  read.value = &found;
  read.timestamp = timestamp;
  ReadStatePin state(family->read_state());
  read.sequence = ReadSequence(memory_only);
  Status s = GetFromState(memory_only, *family, *state, read);
  if (s.ok() && value != nullptr) value->assign(found.data(), found.size());
  // It is also certain that a key does not exist.
  if (!s.ok() && !s.IsNotFound() && value_found != nullptr) *value_found = false;
  return s.ok() || s.IsIncomplete() || s.IsTryAgain() || s.IsInvalidArgument();
}

Status Reader::NewestSequence(ColumnFamilyHandle* handle, const Slice& key, SequenceNumber since,
                              SequenceNumber* newest, std::string* time) {
  *newest = 0;
  ColumnFamily* const family = FamilyOf(handle);
  if (family->timestamp_size() != 0) return NewestTimedSequence(family, key, since, newest, time);
  // Without a value nothing is read or merged for it.
  GetContext ctx(key, kMaxSequenceNumber, family->merge_operator(), nullptr);
  ReadStatePin state(family->read_state());
  const LookupKey lookup(key, kMaxSequenceNumber);
  SequenceNumber first_in_memory = state->mem->first_sequence_of(key);
  state->mem->Get(lookup, &ctx);
  for (const auto& immutable : state->immutables) {
    *newest = std::max(ctx.found_sequence(), ctx.covering_tombstone());
    if (*newest > 0) return Status::OK();
    if (const SequenceNumber first = immutable->first_sequence_of(key); first > 0) first_in_memory = first;
    immutable->Get(lookup, &ctx);
  }
  *newest = std::max(ctx.found_sequence(), ctx.covering_tombstone());
  // Older records than the memtables' do not matter if they are old enough. Nor do ingested ones below `since`.
  const bool in_memory = first_in_memory > 0 && since + 1 >= first_in_memory && since >= family->last_ingested();
  if (*newest > 0 || in_memory) return Status::OK();
  Status s = state->view->Get(BlockOptions(ReadOptions()), key, hasher_(key), &ctx);
  *newest = std::max(ctx.found_sequence(), ctx.covering_tombstone());
  return s;
}

}  // namespace compassdb
