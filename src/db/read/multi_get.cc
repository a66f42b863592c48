// SPDX-License-Identifier: Apache-2.0
// Point reads of many keys at one moment: one state per family, one sequence.
#include <algorithm>

#include "db/families/column_family_handle.h"
#include "db/read/reader.h"
#include "db/report/statistics_util.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "store/pages.h"
#include "wal/log_values.h"

namespace compassdb {

namespace {

// Keys searched together. The deadline and the size limit are checked after each.
constexpr size_t kMultiGetKeys = 256;

// Releases the acquired states of several families, also if a read throws.
class AcquiredStates {
 public:
  explicit AcquiredStates(const std::vector<ColumnFamily*>& families) : families_(families) {
    states_.reserve(families.size());
  }
  ~AcquiredStates() {
    for (size_t f = 0; f < states_.size(); ++f) families_[f]->read_state()->Release(states_[f]);
  }
  AcquiredStates(const AcquiredStates&) = delete;
  AcquiredStates& operator=(const AcquiredStates&) = delete;
  void Acquire() {
    for (ColumnFamily* family : families_) states_.push_back(family->read_state()->Acquire());
  }
  const ReadState& operator[](size_t f) const { return *states_[f]; }

 private:
  const std::vector<ColumnFamily*>& families_;
  std::vector<ReadState*> states_;
};

// Reads the values of those contexts whose memtable had only an address.
void FetchLogged(const LogValues& values, const std::vector<std::string>& addresses,
                 std::vector<GetContext>& contexts) {
  std::vector<LogValues::Request> requests;
  std::vector<GetContext*> owners;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].empty()) continue;
    requests.push_back({addresses[i], contexts[i].value()->GetSelf(), Status()});
    owners.push_back(&contexts[i]);
  }
  values.ReadMany(requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].status.ok()) {
      owners[i]->value()->PinSelf();
    } else {
      owners[i]->Fail(requests[i].status);
    }
  }
}

}  // namespace

// The keys of a MultiGet, grouped by family.
struct Reader::MultiGetCall {
  const ReadOptions& options;
  const Slice* keys;
  PinnableSlice* values;
  std::string* timestamps;  // null: not wanted
  Status* statuses;
  SequenceNumber sequence = 0;
  // For value_size_soft_limit and the statistics.
  uint64_t bytes = 0;
  uint64_t found = 0;
};

std::vector<Status> Reader::MultiGet(const ReadOptions& options,
                                     const std::vector<ColumnFamilyHandle*>& families,
                                     const std::vector<Slice>& keys,
                                     std::vector<std::string>* values,
                                     std::vector<std::string>* timestamps) {
  const size_t n = keys.size();
  std::vector<Status> statuses(n);
  if (timestamps != nullptr) timestamps->assign(n, "");
  std::vector<PinnableSlice> pinned(n);
  std::vector<ColumnFamilyHandle*> handles(families);
  MultiGet(options, n, handles.data(), keys.data(), pinned.data(),
           timestamps != nullptr ? timestamps->data() : nullptr, statuses.data(), false);
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

void Reader::MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool sorted_input) {
  std::vector<ColumnFamilyHandle*> handles(num_keys, family);
  MultiGet(options, num_keys, handles.data(), keys, values, timestamps, statuses, sorted_input);
}

// False if a key's family does not match the options; then no key is searched.
bool Reader::CheckMultiGet(const ReadOptions& options, size_t num_keys,
                           ColumnFamilyHandle** handles, Status* statuses) const {
  const ColumnFamily* last = nullptr;
  Status of_last;
  bool ok = true;
  for (size_t i = 0; i < num_keys; ++i) {
    const ColumnFamily* const family = FamilyOf(handles[i]);
    if (family != last) of_last = CheckRead(options, *family);
    last = family;
    statuses[i] = of_last;
    ok = ok && of_last.ok();
  }
  for (size_t i = 0; !ok && i < num_keys; ++i) {
    if (statuses[i].ok()) {
      statuses[i] = Status::Incomplete(
          "DB not queried due to invalid argument(s) in the same MultiGet call");
    }
  }
  return ok;
}

// One consistent view of all families: if there are several, their states are
// pinned under the mutex, so that no memtable switch comes between them.
void Reader::MultiGetAtOneTime(MultiGetCall* whole, size_t num_keys, ColumnFamilyHandle** handles,
                               bool sorted_input) {
  MultiGetCall& call = *whole;
  const ReadOptions& options = call.options;
  call.bytes = call.found = 0;
  std::vector<ColumnFamily*> families;
  for (size_t i = 0; i < num_keys; ++i) {
    ColumnFamily* const family = FamilyOf(handles[i]);
    if (families.empty() || (families.back() != family &&
                             std::find(families.begin(), families.end(), family) == families.end())) {
      families.push_back(family);
    }
  }
  std::vector<uint32_t> order(num_keys);
  for (size_t i = 0; i < num_keys; ++i) order[i] = static_cast<uint32_t>(i);
  if (families.size() == 1) {
    ColumnFamily* const family = families.front();
    ReadStatePin state(family->read_state());
    call.sequence = ReadSequence(options);
    MultiGetFamily(&call, *family, *state, order, sorted_input);
  } else if (families.size() > 1) {
    std::sort(families.begin(), families.end(),
              [](const ColumnFamily* a, const ColumnFamily* b) { return a->id() < b->id(); });
    AcquiredStates states(families);
    {
      // The sequence, too: after a switch it would admit batches, and these
      // states would only have their parts in families that were not switched.
      MutexLock lock(mu_);
      states.Acquire();
      call.sequence = ReadSequence(options);
    }
    for (size_t f = 0; f < families.size(); ++f) {
      order.clear();
      for (size_t i = 0; i < num_keys; ++i) {
        if (FamilyOf(handles[i]) == families[f]) order.push_back(static_cast<uint32_t>(i));
      }
      MultiGetFamily(&call, *families[f], states[f], order, sorted_input);
    }
  }
}

void Reader::MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** handles,
                      const Slice* keys, PinnableSlice* values, std::string* timestamps,
                      Status* statuses, bool sorted_input) {
  StopWatch watch(clock_, statistics_.get(), rocksdb::DB_MULTIGET);
  for (size_t i = 0; i < num_keys; ++i) values[i].Reset();
  for (size_t i = 0; timestamps != nullptr && i < num_keys; ++i) timestamps[i].clear();
  if (!CheckMultiGet(options, num_keys, handles, statuses)) return;
  if (tracing_->running()) [[unlikely]] {
    std::vector<uint32_t> families;
    for (size_t i = 0; i < num_keys; ++i) families.push_back(FamilyOf(handles[i])->id());
    tracing_->MultiGet(families, num_keys, keys);
  }
  MultiGetCall call{options, keys, values, timestamps, statuses};
  const auto outdated = [&] {
    return options.snapshot == nullptr && !read_only_ &&
           std::any_of(statuses, statuses + num_keys, [](const Status& s) { return s.IsTryAgain(); });
  };
  bool caught_up = false;
  const auto catch_up = [&] {
    if (caught_up || primary_ == nullptr) return false;
    Status* const end = statuses + num_keys;
    const Status* const damaged = std::find_if(statuses, end, [](const Status& s) { return s.IsCorruption(); });
    caught_up = damaged != end;
    return caught_up && primary_->CatchUpPast(*damaged);
  };
  do {
    // Again, if a store that changes in place no longer has the versions of the sequence: take a later one.
    for (size_t i = 0; i < num_keys; ++i) {
      values[i].Reset();
      statuses[i] = Status::OK();
    }
    MultiGetAtOneTime(&call, num_keys, handles, sorted_input);
  } while (outdated() || catch_up());
  Tick(statistics_.get(), rocksdb::NUMBER_MULTIGET_CALLS);
  Tick(statistics_.get(), rocksdb::NUMBER_MULTIGET_KEYS_READ, num_keys);
  Tick(statistics_.get(), rocksdb::NUMBER_MULTIGET_KEYS_FOUND, call.found);
  Tick(statistics_.get(), rocksdb::NUMBER_MULTIGET_BYTES_READ, call.bytes);
  Record(statistics_.get(), rocksdb::BYTES_PER_MULTIGET, call.bytes);
  if (rocksdb::GetPerfLevel() >= rocksdb::kEnableCount) {
    rocksdb::get_perf_context()->multiget_read_bytes += call.bytes;
  }
}

// The keys `order` of one family. Their order only decides which keys
// value_size_soft_limit leaves out: the last by key.
void Reader::MultiGetFamily(MultiGetCall* call, const ColumnFamily& family, const ReadState& state,
                            std::span<uint32_t> order, bool sorted_input) {
  const ReadOptions& options = call->options;
  const bool limited = options.value_size_soft_limit != UINT64_MAX;
  if (limited && !sorted_input) {
    const rocksdb::Comparator* comparator = family.user_comparator();
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return comparator->CompareWithoutTimestamp(call->keys[a], false, call->keys[b], false) < 0;
    });
  }
  while (!order.empty()) {
    const auto some = order.first(std::min(order.size(), kMultiGetKeys));
    order = order.subspan(some.size());
    Status s = CheckRead(options, family);
    if (s.ok() && limited && call->bytes > options.value_size_soft_limit) {
      s = Status::Aborted("value_size_soft_limit exceeded");
    }
    if (!s.ok()) {
      for (uint32_t i : some) call->statuses[i] = s;
      continue;
    }
    MultiGetSome(call, family, state, some);
    for (uint32_t i : some) {
      if (limited && call->bytes > options.value_size_soft_limit) {
        call->values[i].Reset();
        call->statuses[i] = Status::Aborted("value_size_soft_limit exceeded");
      } else if (call->statuses[i].ok()) {
        call->bytes += call->values[i].size();
        ++call->found;
      }
    }
  }
}

void Reader::MultiGetSome(MultiGetCall* call, const ColumnFamily& family, const ReadState& state,
                          std::span<const uint32_t> keys) {
  if (family.timestamp_size() != 0) {
    for (uint32_t k : keys) {
      PointRead read;
      read.key = call->keys[k];
      read.value = &call->values[k];
      if (call->timestamps != nullptr) read.timestamp = &call->timestamps[k];
      read.sequence = call->sequence;
      call->statuses[k] = GetAtTime(call->options, family, state, read);
    }
    return;
  }
  std::vector<GetContext> contexts;
  contexts.reserve(keys.size());
  std::vector<PointLookup> lookups;
  lookups.reserve(keys.size());
  // Values that are in the log are read together.
  const bool deferred =
      state.mem->indexes_log() && call->options.read_tier != rocksdb::kBlockCacheTier;
  std::vector<std::string> in_log(deferred ? keys.size() : 0);  // their addresses
  std::vector<uint32_t> lookup_keys;  // of lookups, as indices into `keys`
  lookup_keys.reserve(keys.size());
  for (uint32_t k = 0; k < keys.size(); ++k) {
    const Slice& key = call->keys[keys[k]];
    GetContext& ctx = contexts.emplace_back(key, call->sequence, family.merge_operator(),
                                            &call->values[keys[k]]);
    ctx.IgnoreTombstones(call->options.ignore_range_deletions);
    ctx.SetMergeSinks(nullptr, statistics_.get());
    Status& status = call->statuses[keys[k]];
    if (deferred) ctx.DeferSeparated(&in_log[k]);
    status = SearchMemTables(call->options, state, key, &ctx);
    if (deferred) ctx.DeferSeparated(nullptr);
    if (!status.ok() || ctx.done()) continue;
    lookups.push_back({key, hasher_(key), &ctx, Status()});
    lookup_keys.push_back(k);
  }
  if (deferred) FetchLogged(*family.store()->pages()->log_values(), in_log, contexts);
  if (!lookups.empty()) {
    BlockReadOptions block = BlockOptions(call->options);
    block.prefix_extractor = family.settings.point_prefixes.load(std::memory_order_relaxed);
    state.view->MultiGet(block, lookups);
  }
  for (size_t l = 0; l < lookups.size(); ++l) {
    call->statuses[keys[lookup_keys[l]]] = std::move(lookups[l].status);
  }
  for (size_t k = 0; k < keys.size(); ++k) {
    Status& status = call->statuses[keys[k]];
    if (status.ok()) status = contexts[k].Finish();
    if (!status.ok()) call->values[keys[k]].Reset();
  }
}

}  // namespace compassdb
