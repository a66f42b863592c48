// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "db/families/column_family_handle.h"
#include "db/read/db_iter.h"
#include "db/read/reader.h"
#include "db/report/statistics_util.h"
#include "db/report/table_properties.h"
#include "format/user_timestamp.h"
#include "iter/merging_iterator.h"
#include "iter/prefix_bucket_iterator.h"
#include "rocksdb/table_properties.h"
#include "table/piece/piece.h"

namespace compassdb {
namespace {

// The pinned state of an iterator. It pins the family for the memtables' comparator.
class IteratorPins final : public DBIterPins {
 public:
  // `hold`: on the sequence; null: none is needed. `bound` (may be null): the tables' iterators end there.
  IteratorPins(std::shared_ptr<ColumnFamily> family, ReadState* state, std::shared_ptr<void> hold,
               std::shared_ptr<const TimedRange> bound)
      : family_(std::move(family)), state_(state), hold_(std::move(hold)), bound_(std::move(bound)) {}
  ~IteratorPins() override { family_->read_state()->Release(state_); }
  IteratorPins(const IteratorPins&) = delete;
  IteratorPins& operator=(const IteratorPins&) = delete;

  void AllowScouts(const BlockReadOptions& block) {
    scout_block_ = block;
    scout_block_->prefix_seek = nullptr;
  }
  InternalIteratorPtr NewScout() const override {
    if (!scout_block_.has_value()) return nullptr;
    RangeTombstoneSet tombstones(family_->user_comparator());
    std::vector<InternalIteratorPtr> tables;
    // An error appears again when the value is needed.
    state_->view->AddIterators(*scout_block_, &tables, &tombstones).PermitUncheckedError();
    const auto add = [&](const MemTable& mem) {
      if (mem.indexes_log()) tables.push_back(mem.NewIterator());
    };
    add(*state_->mem);
    for (const auto& immutable : state_->immutables) add(*immutable);
    return NewMergingIterator(family_->comparator(), std::move(tables));
  }

 private:
  const std::shared_ptr<ColumnFamily> family_;
  ReadState* const state_;
  const std::shared_ptr<void> hold_;
  const std::shared_ptr<const TimedRange> bound_;
  std::optional<BlockReadOptions> scout_block_;
};

// ReadOptions::table_filter; the scan reports a piece whose properties cannot be read.
bool PassesFilter(const ReadOptions& options, const ColumnFamily& family, const Piece& piece) {
  rocksdb::TableProperties properties;
  if (!ReadPieceProperties(family, piece, &properties).ok()) return true;
  return options.table_filter(properties);
}

// Takes ownership of the reference to `state`.
Status BuildSource(const ReadOptions& options, const BlockReadOptions& block,
                   const std::shared_ptr<ColumnFamily>& family, ReadState* state,
                   HeldSequence at, std::shared_ptr<const TimedRange> bound,
                   DBIterSource* source) {
  const SequenceNumber sequence = at.sequence;
  const bool held = at.hold != nullptr;
  auto owned = std::make_unique<IteratorPins>(family, state, std::move(at.hold), std::move(bound));
  IteratorPins* const pins = owned.get();
  source->pins = std::move(owned);
  source->snapshot = sequence;
  source->super_version_number = state->number;
  std::vector<InternalIteratorPtr> children;
  std::shared_ptr<const rocksdb::SliceTransform> bucketed;
  if (family->hashes_prefixes() && !options.total_order_seek && !options.auto_prefix_mode) {
    bucketed = family->prefix_extractor();
  }
  const auto add = [&](const MemTable& mem) {
    InternalIteratorPtr it = mem.NewIterator();
    if (bucketed != nullptr) {
      it = NewPrefixBucketIterator(std::move(it), bucketed, family->timestamp_size());
    }
    children.push_back(std::move(it));
    if (!options.ignore_range_deletions && mem.num_range_deletes() > 0) {
      source->tombstones.Add(mem.RangeTombstones());
    }
  };
  add(*state->mem);
  for (const auto& immutable : state->immutables) add(*immutable);
  const bool tables = options.read_tier != rocksdb::kMemtableTier;
  if (tables) {
    RangeTombstoneSet ignored(family->user_comparator());
    BlockReadOptions filtered = block;
    std::function<bool(const Piece&)> wanted;
    if (options.table_filter) {
      wanted = [&](const Piece& piece) { return PassesFilter(options, *family, piece); };
      filtered.piece_filter = &wanted;
    }
    Status s = state->view->AddIterators(
        filtered, &children, options.ignore_range_deletions ? &ignored : &source->tombstones);
    if (!s.ok()) return s;
  }
  if (tables || state->mem->indexes_log()) {
    BlockReadOptions of_values = block;
    of_values.snapshot = sequence;
    of_values.snapshot_held = held;
    source->values = state->view->NewValueResolver(of_values);
    if (tables && source->values != nullptr && !block.cache_only && !options.table_filter) {
      pins->AllowScouts(block);
    }
  }
  source->iter = NewMergingIterator(family->comparator(), std::move(children));
  return Status::OK();
}

Status CheckIterator(const ReadOptions& options, const ColumnFamily& family) {
  const StoreOptions& store = family.store()->options();
  if (store.pages.enabled && !store.pages.key_store) {
    return Status::NotSupported("column family " + family.name(),
                                "has no key store (tableless_key_store=false), which iterators need");
  }
  if (options.managed) return Status::NotSupported("ReadOptions::managed");
  if (options.read_tier == rocksdb::kPersistedTier) {
    return Status::NotSupported("ReadTier::kPersistedTier is not supported for iterators");
  }
  return Status::OK();
}

}  // namespace

class Reader::IteratorRenewer final : public DBIterRenewer {
 public:
  // `time`: in families with timestamps.
  IteratorRenewer(Reader* reader, const ReadOptions& options, const BlockReadOptions& block,
                  std::shared_ptr<ColumnFamily> family, std::shared_ptr<const TimedRange> bound,
                  std::string time)
      : reader_(*reader),
        options_(options),
        block_(block),
        family_(std::move(family)),
        bound_(std::move(bound)),
        time_(std::move(time)) {
    options_.snapshot = nullptr;
    options_.timestamp = nullptr;  // the application's slice may be invalid now
  }

  Status Renew(DBIterSource* source) override {
    ReadState* const state = family_->read_state()->Acquire();
    Status s = BuildSource(options_, block_, family_, state, reader_.IteratorSequence(options_, *family_),
                           bound_, source);
    if (!s.ok() || time_.empty()) return s;
    const Slice time = time_;
    ReadOptions at_time;
    at_time.timestamp = &time;
    return CheckReadTime(at_time, *family_);
  }
  bool IsOutdated(const DBIterSource& source) const override {
    return source.snapshot != reader_.last_sequence_.load(std::memory_order_acquire) ||
           source.super_version_number != family_->read_state()->number();
  }

 private:
  Reader& reader_;
  ReadOptions options_;
  const BlockReadOptions block_;
  const std::shared_ptr<ColumnFamily> family_;
  const std::shared_ptr<const TimedRange> bound_;
  const std::string time_;
};

rocksdb::Iterator* Reader::NewIteratorOn(const ReadOptions& options,
                                         const std::shared_ptr<ColumnFamily>& family,
                                         ReadState* state, HeldSequence at) {
  DBIterSource source(family->user_comparator());
  BlockReadOptions block = BlockOptions(options);
  block.async_io = options.async_io;
  block.upper_bound = options.iterate_upper_bound;
  DBIterOptions iter;
  if (family->settings.prefix_seeks && (options.auto_prefix_mode || !options.total_order_seek)) {
    iter.prefix_seek = std::make_shared<PrefixSeek>();
    iter.prefix_seek->extractor = family->prefix_extractor();
    iter.prefix_seek->automatic = options.auto_prefix_mode;
    if (iter.prefix_seek->extractor == nullptr) iter.prefix_seek.reset();
    block.prefix_seek = iter.prefix_seek.get();
  }
  std::shared_ptr<const TimedRange> bound;
  if (family->timestamp_size() != 0) {
    iter.timestamp = options.timestamp->ToString();
    if (options.iter_start_ts != nullptr) iter.start_timestamp = options.iter_start_ts->ToString();
    if (options.iterate_upper_bound != nullptr) {
      bound = std::make_shared<TimedRange>(nullptr, options.iterate_upper_bound,
                                           /*with_end=*/false, family->timestamp_size());
      block.upper_bound = bound->end();
    }
  }
  Status s = BuildSource(options, block, family, state, std::move(at), bound, &source);
  // Again, as in GetAtTime.
  if (s.ok() && family->timestamp_size() != 0) s = CheckReadTime(options, *family);
  if (!s.ok()) return rocksdb::NewErrorIterator(s);
  iter.comparator = family->user_comparator();
  iter.merge.op = family->merge_operator();
  iter.merge.statistics = statistics_.get();
  iter.lower_bound = options.iterate_lower_bound;
  iter.upper_bound = options.iterate_upper_bound;
  if (options.prefix_same_as_start) iter.prefix_extractor = family->prefix_extractor();
  iter.prefix_same_as_start = options.prefix_same_as_start;
  iter.pin_data = options.pin_data;
  iter.max_skippable_internal_keys = options.max_skippable_internal_keys;
  iter.max_sequential_skip = family->settings.max_sequential_skip;
  iter.statistics = statistics_;
  iter.clock = clock_;
  iter.tracing = tracing_;
  iter.family_id = family->id();
  iter.tailing = options.tailing;
  block.snapshot_held = false;  // a refreshed iterator has left its snapshot
  auto renewer = std::make_unique<IteratorRenewer>(this, options, block, family, std::move(bound), iter.timestamp);
  Tick(statistics_.get(), rocksdb::NO_ITERATOR_CREATED);
  return NewDBIterator(iter, std::move(source), std::move(renewer));
}

HeldSequence Reader::IteratorSequence(const ReadOptions& options, const ColumnFamily& family) {
  if (family.store()->pages() != nullptr) return snapshots_->Hold(options.snapshot);
  return {ReadSequence(options)};
}

rocksdb::Iterator* Reader::NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) {
  const std::shared_ptr<ColumnFamily>& family = SharedFamilyOf(handle);
  Status s = CheckRead(options, *family);
  if (s.ok()) s = CheckIterator(options, *family);
  if (!s.ok()) return rocksdb::NewErrorIterator(s);
  ReadState* const state = family->read_state()->Acquire();
  return NewIteratorOn(options, family, state, IteratorSequence(options, *family));
}

Status Reader::NewIterators(const ReadOptions& options,
                            const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<rocksdb::Iterator*>* iterators) {
  iterators->clear();
  for (ColumnFamilyHandle* handle : handles) {
    Status s = CheckRead(options, *FamilyOf(handle));
    if (s.ok()) s = CheckIterator(options, *FamilyOf(handle));
    if (!s.ok()) return s;
  }
  std::vector<ReadState*> states;
  HeldSequence at;
  {
    // One moment for all: no memtable is switched while the mutex is held.
    MutexLock lock(mu_);
    for (ColumnFamilyHandle* handle : handles) {
      states.push_back(FamilyOf(handle)->read_state()->Acquire());
    }
    at.sequence = ReadSequence(options);
    for (ColumnFamilyHandle* handle : handles) {
      if (at.hold == nullptr) at = IteratorSequence(options, *FamilyOf(handle));
    }
  }
  for (size_t i = 0; i < handles.size(); ++i) {
    iterators->push_back(NewIteratorOn(options, SharedFamilyOf(handles[i]), states[i], at));
  }
  return Status::OK();
}

Status Reader::ForEachRecord(
    ColumnFamilyHandle* handle, const Slice& begin, const Slice& end,
    const std::function<bool(const ParsedInternalKey&, const Slice&)>& f) {
  const std::shared_ptr<ColumnFamily>& family = SharedFamilyOf(handle);
  const Comparator* const cmp = family->user_comparator();
  ReadOptions options;
  options.total_order_seek = true;
  const BlockReadOptions block = BlockOptions(options);
  DBIterSource source(cmp);
  ReadState* const state = family->read_state()->Acquire();
  Status s = BuildSource(options, block, family, state, {kMaxSequenceNumber}, nullptr, &source);
  if (!s.ok()) return s;
  InternalIterator* const it = source.iter.get();
  if (begin.empty()) {
    it->SeekToFirst();
  } else {
    it->Seek(LookupKey(begin, kMaxSequenceNumber).internal_key());
  }
  for (; it->Valid(); it->Next()) {
    ParsedInternalKey key;
    if (!ParseInternalKey(it->key(), &key)) return Status::Corruption("a key that is no internal key");
    if (!end.empty() && cmp->Compare(key.user_key, end) > 0) break;
    if (source.tombstones.Covers(key.user_key, key.sequence, kMaxSequenceNumber)) continue;
    if (!f(key, it->value())) break;
  }
  return it->status();
}

}  // namespace compassdb
