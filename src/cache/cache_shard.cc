// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_shard.h"

#include <algorithm>
#include <new>
#include <utility>

#include "rocksdb/secondary_cache.h"
#include "util/no_memory.h"

namespace compassdb {

namespace {

// The most entries that one call checks when the limit is not strict. Otherwise
// pinned entries could make every insertion walk the whole shard.
constexpr size_t kScanBudget = 1024;
constexpr int kAdaptiveSpins = 100;

size_t ProbationShare(size_t capacity) { return capacity / 50; }

}  // namespace

// Blocks at once, or, with an adaptive mutex, after some attempts.
class SCOPED_CAPABILITY CacheShard::Locker {
 public:
  explicit Locker(const CacheShard* shard) ACQUIRE(shard->mu_) NO_THREAD_SAFETY_ANALYSIS
      : mu_(&shard->mu_) {
    if (shard->adaptive_) {
      for (int i = 0; i < kAdaptiveSpins; ++i) {
        if (mu_->TryLock()) return;
      }
    }
    mu_->Lock();
  }
  ~Locker() RELEASE() { mu_->Unlock(); }
  Locker(const Locker&) = delete;
  Locker& operator=(const Locker&) = delete;

 private:
  Mutex* const mu_;
};

CacheShard::CacheShard(const CacheOptions& options)
    : high_ratio_(options.high_pri_pool_ratio),
      low_ratio_(options.low_pri_pool_ratio),
      adaptive_(options.adaptive_mutex),
      secondary_(options.secondary_cache),
      capacity_(0),
      strict_(options.strict_capacity_limit),
      ghost_(table_.slots() / kSlotsPerGhost) {}

CacheShard::~CacheShard() {
  Locker lock(this);
  while (unlisted_ != nullptr) CacheEntry::Free(std::exchange(unlisted_, unlisted_->older));
  if (disowned_) return;
  table_.ForEach(0, table_.slots(), [](CacheEntry* entry) {
    // Handles must not outlive the cache. If one does, its entry leaks.
    if (entry->Claim()) entry->Discard(true);
  });
}

void CacheShard::PushNewest(CacheEntry* entry, QueueId id) {
  Queue& queue = queues_[id];
  entry->queue = id;
  entry->newer = nullptr;
  entry->older = queue.newest;
  if (queue.newest != nullptr) queue.newest->newer = entry;
  queue.newest = entry;
  if (queue.oldest == nullptr) queue.oldest = entry;
  queue.usage += entry->total_charge;
  ++queue.count;
}

void CacheShard::Unlink(CacheEntry* entry) {
  Queue& queue = queues_[entry->queue];
  (entry->newer != nullptr ? entry->newer->older : queue.newest) = entry->older;
  (entry->older != nullptr ? entry->older->newer : queue.oldest) = entry->newer;
  queue.usage -= entry->total_charge;
  --queue.count;
}

void CacheShard::TakeOut(CacheEntry* entry) {
  table_.Erase(entry);
  if (entry->hint != nullptr) {
    entry->hint->store(nullptr, std::memory_order_seq_cst);
    entry->hint = nullptr;
  }
  Unlink(entry);
  entry->in_table.store(false, std::memory_order_relaxed);
}

bool CacheShard::Remove(CacheEntry* entry) {
  TakeOut(entry);
  // Counted as detached before the table releases it: the last reference uncounts.
  detached_usage_.fetch_add(entry->total_charge, std::memory_order_relaxed);
  if (entry->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  Uncount(entry);
  return true;
}

bool CacheShard::RemoveUnreferenced(CacheEntry* entry, Victims* victims) {
  victims->push_back(entry);  // first, since it may find no memory
  if (!entry->Claim()) {
    victims->pop_back();
    return false;
  }
  TakeOut(entry);
  usage_.fetch_sub(entry->total_charge, std::memory_order_relaxed);
  return true;
}

void CacheShard::Uncount(const CacheEntry* entry) {
  detached_usage_.fetch_sub(entry->total_charge, std::memory_order_relaxed);
  usage_.fetch_sub(entry->total_charge, std::memory_order_relaxed);
}

// Handles are released in destructors, so nothing may be thrown. Entries that do not fit the list of waiting ones, for
// lack of memory, are tried again with the next.
void CacheShard::Delete(std::span<CacheEntry* const> victims) {
  if (victims.empty()) return;
  for (CacheEntry* entry : victims) entry->DeletePlainValue();
  std::vector<RetireList::Object> due;
  try {
    Locker lock(this);
    for (CacheEntry* entry : victims) entry->older = std::exchange(unlisted_, entry);
    while (unlisted_ != nullptr) {
      deferred_.Add(unlisted_, &CacheEntry::Free, unlisted_->DeferredBytes());
      unlisted_ = unlisted_->older;
    }
    if (deferred_.count() >= kMaxDeferred || deferred_.bytes() >= kMaxDeferredBytes) {
      deferred_.Collect(&due);
    }
  } catch (const std::bad_alloc&) {
  }
  RetireList::Free(due);
}

void CacheShard::Demote(const Victims& victims) {
  if (secondary_ != nullptr) {
    for (CacheEntry* entry : victims) {
      // A full or broken tier only costs hits.
      if (entry->helper != nullptr) {
        CatchOutOfMemory("secondary cache", [&] {
          return secondary_->Insert(entry->key(), entry->value, entry->helper);
        }).PermitUncheckedError();
      }
    }
  }
  Delete(victims);
}

CacheShard::QueueId CacheShard::QueueFor(const CacheEntry& entry, Priority priority) {
  if (priority == Priority::HIGH && high_ratio_ > 0) return kHigh;
  uint32_t* ghost = GhostSlot(entry.hash);
  if (*ghost == GhostTag(entry.hash)) {
    *ghost = 0;
    return kProtected;
  }
  return priority == Priority::BOTTOM && low_ratio_ > 0 ? kBottom : kProbation;
}

void CacheShard::Spill(QueueId from, QueueId to, double ratio) {
  const auto share =
      static_cast<size_t>(static_cast<double>(capacity_.load(std::memory_order_relaxed)) * ratio);
  while (queues_[from].usage > share) {
    CacheEntry* entry = queues_[from].oldest;
    if (entry == nullptr) return;
    Unlink(entry);
    PushNewest(entry, to);
  }
}

void CacheShard::SpillPools() {
  Spill(kHigh, kProtected, high_ratio_);
  if (low_ratio_ > 0) Spill(kProbation, kBottom, low_ratio_);
}

// Walks a queue from its old end until an entry leaves. Each step costs
// one of the budget.
bool CacheShard::EvictFrom(QueueId id, size_t* budget, Victims* victims) {
  Queue& queue = queues_[id];
  // Four rounds use up the hits of every entry.
  for (size_t steps = queue.count * (CacheEntry::kMaxHits + 1); steps > 0 && *budget > 0; --steps, --*budget) {
    CacheEntry* entry = queue.oldest;
    if (entry == nullptr) return false;
    if (entry->refs.load(std::memory_order_acquire) > 1) {  // in use
      Unlink(entry);
      PushNewest(entry, id);
      continue;
    }
    const uint8_t hits = entry->hits.load(std::memory_order_relaxed);
    if (hits > 0) {
      const bool promote = id == kProbation || id == kBottom;
      entry->hits.store(promote ? 0 : static_cast<uint8_t>(hits - 1), std::memory_order_relaxed);
      Unlink(entry);
      PushNewest(entry, promote ? kProtected : id);
      continue;
    }
    const uint64_t hash = entry->hash;
    if (!RemoveUnreferenced(entry, victims)) continue;  // just taken into use
    if (id != kProtected) *GhostSlot(hash) = GhostTag(hash);
    return true;
  }
  return false;
}

void CacheShard::MakeRoom(size_t bytes, Victims* victims) {
  const size_t capacity = capacity_.load(std::memory_order_relaxed);
  size_t budget = strict_ ? SIZE_MAX : kScanBudget;
  while (usage_.load(std::memory_order_relaxed) + bytes > capacity) {
    const bool probation_first = queues_[kProbation].usage > ProbationShare(capacity);
    const QueueId order[] = {kBottom, probation_first ? kProbation : kProtected,
                             probation_first ? kProtected : kProbation, kHigh};
    bool evicted = false;
    for (QueueId id : order) {
      evicted = EvictFrom(id, &budget, victims);
      if (evicted) break;
    }
    if (!evicted) return;
    if (!strict_) budget = kScanBudget;
  }
}

void CacheShard::GrowTable() {
  ghost_.assign(2 * table_.slots() / kSlotsPerGhost, 0);
  table_.Grow(&deferred_);
}

// False if the entry must fit (a strict capacity, or no handle) and does not. Throws if there is no memory, and then
// has changed nothing.
bool CacheShard::Place(CacheEntry* entry, Priority priority, bool with_handle, Victims* evicted,
                       CacheEntry** replaced) {
  const size_t capacity = capacity_.load(std::memory_order_relaxed);
  const bool must_fit = strict_ || !with_handle;
  if (must_fit && entry->total_charge > capacity) return false;
  MakeRoom(entry->total_charge, evicted);
  if (must_fit && usage_.load(std::memory_order_relaxed) + entry->total_charge > capacity) {
    return false;
  }
  if (table_.Full()) GrowTable();
  // From here on nothing needs memory.
  CacheEntry* const old = table_.Find(entry->key(), entry->hash);
  if (old != nullptr && Remove(old)) *replaced = old;
  entry->refs.store(with_handle ? 2 : 1, std::memory_order_relaxed);
  entry->in_table.store(true, std::memory_order_relaxed);
  PushNewest(entry, QueueFor(*entry, priority));
  usage_.fetch_add(entry->total_charge, std::memory_order_relaxed);
  table_.Insert(entry);
  SpillPools();
  return true;
}

Status CacheShard::Insert(CacheEntry* entry, Priority priority, CacheEntry** handle) {
  Victims evicted;
  CacheEntry* replaced = nullptr;
  bool placed = false;
  try {
    Locker lock(this);
    placed = Place(entry, priority, handle != nullptr, &evicted, &replaced);
  } catch (const std::bad_alloc&) {  // as if there were no room for it
  }
  Demote(evicted);
  if (replaced != nullptr) Delete({&replaced, 1});
  if (placed) {
    if (handle != nullptr) *handle = entry;
    return Status::OK();
  }
  // Without a handle it is as if it had been evicted at once.
  entry->Discard(handle == nullptr);
  if (handle == nullptr) return Status::OK();
  *handle = nullptr;
  return Status::MemoryLimit("block cache is full and its capacity limit is strict");
}

CacheEntry* CacheShard::Lookup(const Slice& key, uint64_t hash) {
  {
    EpochGuard guard;
    CacheEntry* const entry = table_.Find(key, hash);
    if (entry != nullptr && entry->TryRef()) {
      entry->CountHit();
      return entry;
    }
  }
  Locker lock(this);
  CacheEntry* const entry = table_.Find(key, hash);
  if (entry == nullptr) return nullptr;
  Ref(entry);
  entry->CountHit();
  return entry;
}

bool CacheShard::Release(CacheEntry* entry, bool erase_if_last_ref) {
  const bool crowded = usage_.load(std::memory_order_relaxed) >
                       capacity_.load(std::memory_order_relaxed);
  if (erase_if_last_ref || crowded) [[unlikely]] {
    Locker lock(this);
    // Two references: the table's and ours.
    if (entry->in_table.load(std::memory_order_relaxed) &&
        entry->refs.load(std::memory_order_acquire) == 2) {
      Remove(entry);  // which leaves ours
    }
  }
  if (entry->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  Uncount(entry);
  Delete({&entry, 1});
  return true;
}

void CacheShard::Erase(const Slice& key, uint64_t hash) {
  CacheEntry* entry;
  {
    Locker lock(this);
    entry = table_.Find(key, hash);
    if (entry == nullptr || !Remove(entry)) return;
  }
  Delete({&entry, 1});
}

void CacheShard::SetHint(CacheEntry* entry, std::atomic<CacheEntry*>* hint) {
  if (!mu_.TryLock()) return;
  if (entry->in_table.load(std::memory_order_relaxed) && entry->hint == nullptr &&
      hint->load(std::memory_order_relaxed) == nullptr) {
    entry->hint = hint;
    hint->store(entry, std::memory_order_seq_cst);
  }
  mu_.Unlock();
}

void CacheShard::DropHint(CacheEntry* entry, std::atomic<CacheEntry*>* hint) {
  Locker lock(this);
  if (hint->load(std::memory_order_relaxed) != entry) return;  // it has left the table
  entry->hint = nullptr;
  hint->store(nullptr, std::memory_order_seq_cst);
}

void CacheShard::EraseUnreferenced() {
  Victims victims;
  {
    Locker lock(this);
    std::vector<CacheEntry*> all;
    table_.ForEach(0, table_.slots(), [&](CacheEntry* entry) { all.push_back(entry); });
    for (CacheEntry* entry : all) RemoveUnreferenced(entry, &victims);
  }
  Delete(victims);
}

void CacheShard::SetCapacity(size_t capacity) {
  Victims victims;
  {
    Locker lock(this);
    capacity_.store(capacity, std::memory_order_relaxed);
    SpillPools();
    MakeRoom(0, &victims);
  }
  Demote(victims);
}

void CacheShard::SetStrictCapacityLimit(bool strict) {
  Locker lock(this);
  strict_ = strict;
}

void CacheShard::DisownData() {
  Locker lock(this);
  disowned_ = true;
}

size_t CacheShard::PinnedUsage() const {
  Locker lock(this);
  size_t pinned = detached_usage_.load(std::memory_order_relaxed);
  table_.ForEach(0, table_.slots(), [&](const CacheEntry* entry) {
    if (entry->refs.load(std::memory_order_relaxed) > 1) pinned += entry->total_charge;
  });
  return pinned;
}

size_t CacheShard::Occupancy() const {
  Locker lock(this);
  return table_.entries();
}

size_t CacheShard::TableSize() const {
  Locker lock(this);
  return table_.slots();
}

void CacheShard::ApplyToSome(const EntryCallback& callback, size_t entries,
                             size_t* position) const {
  Locker lock(this);
  // The upper bits of a hash select the home. So a position, which is a hash, has
  // the same meaning after the table has grown.
  const size_t stride = (SIZE_MAX / table_.slots()) + 1;
  const size_t begin = *position / stride;
  const size_t end = begin + std::min(table_.slots() - begin, entries);
  table_.ForEach(begin, end, [&](const CacheEntry* e) {
    callback(e->key(), e->value, e->charge, e->deleter);
  });
  *position = end == table_.slots() ? SIZE_MAX : end * stride;
}

}  // namespace compassdb
