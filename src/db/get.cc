// SPDX-License-Identifier: Apache-2.0
// Point reads. The state (memtables, store view) is pinned first, the sequence
// is read second: whatever the sequence admits up to the pinning is in the state.
#include <algorithm>

#include "db/db_impl.h"
#include "db/statistics_util.h"

namespace compassdb {
namespace {

BlockReadOptions BlockOptions(const ReadOptions& options) {
  BlockReadOptions block;
  block.verify_checksums = options.verify_checksums;
  block.fill_cache = options.fill_cache;
  block.cache_only = options.read_tier == rocksdb::kBlockCacheTier;
  block.readahead_bytes = options.readahead_size;
  return block;
}

}  // namespace

Status DBImpl::CheckRead(const ReadOptions& options) const {
  if (options.timestamp != nullptr) {
    return Status::InvalidArgument(
        "ReadOptions::timestamp: the column family's comparator has none");
  }
  if (options.io_timeout.count() > 0) return Status::NotSupported("ReadOptions::io_timeout");
  // Looked at before a read begins; one that is under way is not cut short.
  if (options.deadline.count() > 0 &&
      config_.clock->NowMicros() >= static_cast<uint64_t>(options.deadline.count())) {
    return Status::TimedOut("ReadOptions::deadline has passed");
  }
  return Status::OK();
}

SequenceNumber DBImpl::ReadSequence(const ReadOptions& options) const {
  return options.snapshot != nullptr ? options.snapshot->GetSequenceNumber()
                                     : last_sequence_.load(std::memory_order_acquire);
}

Status DBImpl::GetFromState(const ReadOptions& options, const ColumnFamily& family,
                            const ReadState& state, const PointRead& read) {
  rocksdb::Statistics* const statistics = config_.options.statistics.get();
  GetContext ctx(read.key, read.sequence, family.merge_operator(), read.value);
  if (read.operands != nullptr) ctx.CollectOperandsOnly(read.operands);
  // kPersistedTier: what a crash would leave; memtables count if they are logged.
  const bool skip_memtables = options.read_tier == rocksdb::kPersistedTier &&
                              unlogged_data_.load(std::memory_order_relaxed);
  if (!skip_memtables) {
    const LookupKey lookup(read.key, read.sequence);
    state.mem->Get(lookup, &ctx);
    for (const auto& immutable : state.immutables) {
      if (ctx.done()) break;
      immutable->Get(lookup, &ctx);
    }
  }
  if (ctx.done()) {
    Tick(statistics, rocksdb::MEMTABLE_HIT);
  } else {
    Tick(statistics, rocksdb::MEMTABLE_MISS);
    if (options.read_tier == rocksdb::kMemtableTier) {
      return Status::Incomplete("the key may be outside the memtables");
    }
    Status s = state.view->Get(BlockOptions(options), read.key, store_context_.hasher(read.key),
                               &ctx);
    if (!s.ok()) return s;
  }
  return ctx.Finish();
}

Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value) {
  rocksdb::Statistics* const statistics = config_.options.statistics.get();
  StopWatch watch(config_.clock, statistics, rocksdb::DB_GET);
  if (Status s = CheckRead(options); !s.ok()) return s;
  ColumnFamily* const family = FamilyOf(handle);
  value->Reset();
  PointRead read;
  read.key = key;
  read.value = value;
  ReadStatePin state(family->read_state());
  read.sequence = ReadSequence(options);
  Status s = GetFromState(options, *family, *state, read);
  Tick(statistics, rocksdb::NUMBER_KEYS_READ);
  if (s.ok()) {
    Tick(statistics, rocksdb::BYTES_READ, value->size());
    Record(statistics, rocksdb::BYTES_PER_READ, value->size());
  }
  return s;
}

Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) {
  if (timestamp != nullptr) timestamp->clear();
  return Get(options, family, key, value);
}

Status DBImpl::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* handle,
                                const Slice& key, PinnableSlice* operands,
                                rocksdb::GetMergeOperandsOptions* merge_options,
                                int* number_of_operands) {
  if (Status s = CheckRead(options); !s.ok()) return s;
  if (operands == nullptr || merge_options == nullptr || number_of_operands == nullptr) {
    return Status::InvalidArgument("GetMergeOperands: a result pointer is null");
  }
  ColumnFamily* const family = FamilyOf(handle);
  std::vector<std::string> collected;
  PointRead read;
  read.key = key;
  read.operands = &collected;
  {
    ReadStatePin state(family->read_state());
    read.sequence = ReadSequence(options);
    if (Status s = GetFromState(options, *family, *state, read); !s.ok()) return s;
  }
  *number_of_operands = static_cast<int>(collected.size());
  if (*number_of_operands > merge_options->expected_max_number_of_operands) {
    return Status::Incomplete(
        Status::SubCode::KMergeOperandsInsufficientCapacity);
  }
  // Oldest first, as they were written.
  for (auto it = collected.rbegin(); it != collected.rend(); ++it) (operands++)->PinSelf(*it);
  return Status::OK();
}

std::vector<Status> DBImpl::MultiGet(const ReadOptions& options,
                                     const std::vector<ColumnFamilyHandle*>& families,
                                     const std::vector<Slice>& keys,
                                     std::vector<std::string>* values) {
  const size_t n = keys.size();
  std::vector<Status> statuses(n);
  std::vector<PinnableSlice> pinned(n);
  std::vector<ColumnFamilyHandle*> handles(families);
  MultiGet(options, n, handles.data(), keys.data(), pinned.data(), statuses.data(), false);
  values->resize(n);
  for (size_t i = 0; i < n; ++i) {
    if (statuses[i].ok()) {
      (*values)[i].assign(pinned[i].data(), pinned[i].size());
    } else {
      (*values)[i].clear();
    }
  }
  return statuses;
}

void DBImpl::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                      const Slice* keys, PinnableSlice* values, Status* statuses,
                      bool sorted_input) {
  std::vector<ColumnFamilyHandle*> handles(num_keys, family);
  MultiGet(options, num_keys, handles.data(), keys, values, statuses, sorted_input);
}

// One consistent view of all families: their states are pinned under the
// mutex, so no memtable switch falls between them. Within one family keys are
// read in key order, for the sake of neighbours in one block.
void DBImpl::MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** handles,
                      const Slice* keys, PinnableSlice* values, Status* statuses,
                      bool sorted_input) {
  rocksdb::Statistics* const statistics = config_.options.statistics.get();
  StopWatch watch(config_.clock, statistics, rocksdb::DB_MULTIGET);
  if (Status s = CheckRead(options); !s.ok()) {
    std::fill(statuses, statuses + num_keys, s);
    return;
  }
  std::vector<std::pair<ColumnFamily*, ReadState*>> states;
  const auto find = [&states](ColumnFamily* family) {
    return std::find_if(states.begin(), states.end(),
                        [family](const auto& s) { return s.first == family; });
  };
  for (size_t i = 0; i < num_keys; ++i) {
    ColumnFamily* const family = FamilyOf(handles[i]);
    if (find(family) == states.end()) states.emplace_back(family, nullptr);
  }
  SequenceNumber sequence;
  if (states.size() == 1) {
    states.front().second = states.front().first->read_state()->Acquire();
    sequence = ReadSequence(options);
  } else {
    // The sequence, too: one read after a switch would admit batches of which
    // only the part in families not switched is in these states.
    MutexLock lock(&mu_);
    for (auto& [family, state] : states) state = family->read_state()->Acquire();
    sequence = ReadSequence(options);
  }

  std::vector<size_t> order(num_keys);
  for (size_t i = 0; i < num_keys; ++i) order[i] = i;
  if (!sorted_input && states.size() == 1) {
    const rocksdb::Comparator* comparator = states.front().first->user_comparator();
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return comparator->Compare(keys[a], keys[b]) < 0;
    });
  }
  uint64_t bytes = 0, found = 0;
  for (size_t i : order) {
    ColumnFamily* const family = FamilyOf(handles[i]);
    values[i].Reset();
    if (options.value_size_soft_limit != UINT64_MAX && bytes > options.value_size_soft_limit) {
      statuses[i] = Status::Aborted("value_size_soft_limit exceeded");
      continue;
    }
    PointRead read;
    read.key = keys[i];
    read.value = &values[i];
    read.sequence = sequence;
    statuses[i] = GetFromState(options, *family, *find(family)->second, read);
    if (statuses[i].ok()) {
      bytes += values[i].size();
      ++found;
    }
  }
  for (auto& [family, state] : states) state->Unref();
  Tick(statistics, rocksdb::NUMBER_MULTIGET_CALLS);
  Tick(statistics, rocksdb::NUMBER_MULTIGET_KEYS_READ, num_keys);
  Tick(statistics, rocksdb::NUMBER_MULTIGET_KEYS_FOUND, found);
  Tick(statistics, rocksdb::NUMBER_MULTIGET_BYTES_READ, bytes);
}

bool DBImpl::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         std::string* value, std::string* timestamp, bool* value_found) {
  if (value_found != nullptr) *value_found = true;
  if (timestamp != nullptr) timestamp->clear();
  ReadOptions memory_only = options;
  memory_only.read_tier = rocksdb::kBlockCacheTier;
  PinnableSlice found;
  ColumnFamily* const family = FamilyOf(handle);
  PointRead read;
  read.key = key;
  read.value = &found;
  ReadStatePin state(family->read_state());
  read.sequence = ReadSequence(memory_only);
  Status s = GetFromState(memory_only, *family, *state, read);
  if (s.ok() && value != nullptr) value->assign(found.data(), found.size());
  if (!s.ok() && value_found != nullptr) *value_found = false;
  return s.ok() || s.IsIncomplete();
}

}  // namespace compassdb
