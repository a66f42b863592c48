// SPDX-License-Identifier: Apache-2.0
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

// Keeps what an iterator walks on; the family outlives its memtables' comparator.
struct IteratorPins {
  IteratorPins(std::shared_ptr<ColumnFamily> f, ReadState* s, std::shared_ptr<void> h)
      : family(std::move(f)), state(s), hold(std::move(h)) {}
  ~IteratorPins() { family->read_state()->Release(state); }
  IteratorPins(const IteratorPins&) = delete;
  IteratorPins& operator=(const IteratorPins&) = delete;
  const std::shared_ptr<ColumnFamily> family;
  ReadState* const state;
  const std::shared_ptr<void> hold;  // on the sequence; null: none is needed
};

// ReadOptions::table_filter; a piece whose properties cannot be read is for the scan to complain of.
bool PassesFilter(const ReadOptions& options, const ColumnFamily& family, const Piece& piece) {
  rocksdb::TableProperties properties;
  if (!ReadPieceProperties(family, piece, &properties).ok()) return true;
  return options.table_filter(properties);
}

// Takes over the reference to `state`.
Status BuildSource(const ReadOptions& options, const BlockReadOptions& block,
                   const std::shared_ptr<ColumnFamily>& family, ReadState* state,
                   HeldSequence at, DBIterSource* source) {
  const SequenceNumber sequence = at.sequence;
  const bool held = at.hold != nullptr;
  source->pins = std::make_shared<IteratorPins>(family, state, std::move(at.hold));
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
  if (options.read_tier != rocksdb::kMemtableTier) {
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
    BlockReadOptions of_values = block;
    of_values.snapshot = sequence;
    of_values.snapshot_held = held;
    source->values = state->view->NewValueResolver(of_values);
    if (source->values != nullptr && !block.cache_only && !options.table_filter) {
      source->scout = [state, block, family] {
        BlockReadOptions ahead = block;
        ahead.prefix_seek = nullptr;
        RangeTombstoneSet tombstones(family->user_comparator());
        std::vector<InternalIteratorPtr> tables;
        // What goes wrong here shows where the value is wanted.
        state->view->AddIterators(ahead, &tables, &tombstones).PermitUncheckedError();
        return NewMergingIterator(family->comparator(), std::move(tables));
      };
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
  if (family->timestamp_size() != 0) {
    iter.timestamp = options.timestamp->ToString();
    if (options.iter_start_ts != nullptr) iter.start_timestamp = options.iter_start_ts->ToString();
    if (options.iterate_upper_bound != nullptr) {
      auto bound = std::make_shared<TimedRange>(nullptr, options.iterate_upper_bound,
                                                /*with_end=*/false, family->timestamp_size());
      block.upper_bound = bound->end();
      iter.timed_bound = std::move(bound);
    }
  }
  Status s = BuildSource(options, block, family, state, std::move(at), &source);
  // Once more, as in GetAtTime.
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
  if (options.snapshot == nullptr || options.tailing) {
    ReadOptions latest = options;
    latest.snapshot = nullptr;
    iter.refresh = [this, latest, block, family, time = iter.timestamp](DBIterSource* fresh) {
      ReadState* now = family->read_state()->Acquire();
      Status renewed = BuildSource(latest, block, family, now, IteratorSequence(latest, *family), fresh);
      if (!renewed.ok() || time.empty()) return renewed;
      // The application's own slices are gone, perhaps.
      const Slice kept = time;
      ReadOptions at_time;
      at_time.timestamp = &kept;
      return CheckReadTime(at_time, *family);
    };
  }
  if (options.tailing) {
    iter.outdated = [this, family](const DBIterSource& present) {
      return present.snapshot != last_sequence_.load(std::memory_order_acquire) ||
             present.super_version_number != family->read_state()->number();
    };
  }
  Tick(statistics_.get(), rocksdb::NO_ITERATOR_CREATED);
  return NewDBIterator(std::move(iter), std::move(source));
}

HeldSequence Reader::IteratorSequence(const ReadOptions& options, const ColumnFamily& family) {
  if (family.store()->NeedsHeldSnapshots()) return snapshots_->Hold(options.snapshot);
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
  Status s = BuildSource(options, block, family, state, {kMaxSequenceNumber, nullptr}, &source);
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
