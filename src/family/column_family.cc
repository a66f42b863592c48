// SPDX-License-Identifier: Apache-2.0
#include "family/column_family.h"

#include <algorithm>

#include "options/projection.h"
#include "rocksdb/memtablerep.h"
#include "store/value_space.h"
#include "util/checked.h"
#include "util/no_memory.h"

namespace compassdb {
namespace {

bool HashesPrefixes(const rocksdb::MemTableRepFactory* factory) {
  return factory != nullptr && (factory->IsInstanceOf("HashSkipListRepFactory") ||
                                factory->IsInstanceOf("HashLinkListRepFactory"));
}

}  // namespace

ColumnFamily::ColumnFamily(uint32_t id, std::string name,
                           const rocksdb::ColumnFamilyOptions& options,
                           std::unique_ptr<Store> store,
                           std::shared_ptr<rocksdb::WriteBufferManager> write_buffers)
    : id_(id),
      name_(std::move(name)),
      comparator_(options.comparator),
      hashes_prefixes_(HashesPrefixes(options.memtable_factory.get())),
      merge_operator_(options.merge_operator),
      store_(std::move(store)),
      write_buffers_(std::move(write_buffers)) {
  set_options(options);
  StartMemTable();
}

// Lives as long as the memtable, and a memtable lives as long as readers want.
struct ColumnFamily::MemTableCharge {
  explicit MemTableCharge(std::shared_ptr<rocksdb::WriteBufferManager> m) : manager(std::move(m)) {}
  ~MemTableCharge() {
    if (manager != nullptr && bytes > 0) manager->FreeMem(bytes);
  }
  const std::shared_ptr<rocksdb::WriteBufferManager> manager;
  size_t bytes = 0;
};

void ColumnFamily::StartMemTable() {
  mem = NewMemTable(&charge_);
  mem_prepared_log = UINT64_MAX;
}

std::shared_ptr<MemTable> ColumnFamily::NewMemTable(std::shared_ptr<MemTableCharge>* charge) {
  MemTableOptions memtable;
  memtable.comparator = user_comparator();
  memtable.write_buffer_size = settings.write_buffer_size;
  // If families share memory, none gets all of it. At first each new key uses another page of the filter.
  if (write_buffers_ != nullptr && write_buffers_->enabled()) memtable.filter_for = write_buffers_->buffer_size() / 8;
  {
    MutexLock lock(&options_mu_);
    if (options_.arena_block_size > 0) {
      memtable.arena_block_size = options_.arena_block_size;
    } else {
      memtable.arena_block_size =
          std::clamp<size_t>(memtable.write_buffer_size / 8, 4096, size_t{1} << 20);
    }
    if (options_.enable_blob_files && options_.blob_file_starting_level == 0) {
      memtable.separated_from = LeastSeparated(options_);
    }
  }
  auto charged = std::make_shared<MemTableCharge>(write_buffers_);
  std::shared_ptr<MemTable> made(new MemTable(memtable, next_memtable_id_++),
                                 [charged](MemTable* m) { delete m; });
  *charge = std::move(charged);
  return made;
}

void ColumnFamily::ChargeMemTable() {
  // A flush of an empty memtable would not free its memory.
  if (write_buffers_ == nullptr || mem->empty()) return;
  const size_t now = mem->MemoryAllocatedBytes();
  if (now > charge_->bytes) {
    write_buffers_->ReserveMem(now - charge_->bytes);
    charge_->bytes = now;
  }
}

rocksdb::ColumnFamilyOptions ColumnFamily::options() const {
  MutexLock lock(&options_mu_);
  return options_;
}

std::shared_ptr<const rocksdb::SliceTransform> ColumnFamily::prefix_extractor() const {
  MutexLock lock(&options_mu_);
  return options_.prefix_extractor;
}

void ColumnFamily::set_options(const rocksdb::ColumnFamilyOptions& options) {
  MutexLock lock(&options_mu_);
  options_ = options;
  settings.write_buffer_size = options.write_buffer_size;
  settings.max_write_buffer_number = std::max(2, options.max_write_buffer_number);
  settings.min_write_buffers_to_merge =
      std::clamp(options.min_write_buffer_number_to_merge, 1,
                 std::max(1, options.max_write_buffer_number - 1));
  settings.disable_auto_compactions = options.disable_auto_compactions;
  settings.max_sequential_skip = options.max_sequential_skip_in_iterations;
  settings.level0_trigger = options.level0_file_num_compaction_trigger;
  settings.level0_slowdown = options.level0_slowdown_writes_trigger;
  settings.level0_stop = options.level0_stop_writes_trigger;
  settings.soft_pending_bytes = options.soft_pending_compaction_bytes_limit;
  settings.hard_pending_bytes = options.hard_pending_compaction_bytes_limit;
  settings.paranoid = options.paranoid_file_checks;
  const FilterOptions& filter = store_->options().filter;
  const auto& extractor = options.prefix_extractor;
  if (extractor != nullptr && (extractors_.empty() || extractors_.back() != extractor)) {
    extractors_.push_back(extractor);
  }
  const bool filters = static_cast<bool>(filter.new_bits);
  settings.prefix_seeks = filters && extractor != nullptr;
  settings.point_prefixes = filters && !filter.whole_keys ? extractor.get() : nullptr;
}

void ColumnFamily::CheckInvariants() const {
  if constexpr (!kChecked) return;
  COMPASSDB_INVARIANT(mem != nullptr && !mem->immutable(), "the active memtable takes writes");
  COMPASSDB_INVARIANT(sealed_count - flushed_count == immutables.size(), "what was sealed waits or is in the store");
  COMPASSDB_INVARIANT(announced_count <= flushed_count, "listeners are notified of what is in the store");
  COMPASSDB_INVARIANT(flush_running == (!immutables.empty() && immutables.front().flushing),
                      "a flush takes the oldest memtable");
  bool flushing = true;
  for (size_t i = 0; i < immutables.size(); ++i) {
    const ImmutableMemTable& m = immutables[i];
    const MemTable& newer = i + 1 < immutables.size() ? *immutables[i + 1].mem : *mem;
    const SequenceNumber next = newer.first_sequence();  // 0: it is empty, and may be written to
    COMPASSDB_INVARIANT(m.mem->immutable(), "a sealed memtable takes no writes");
    COMPASSDB_INVARIANT(m.mem->id() < newer.id(), "memtables lie in the order of their age");
    COMPASSDB_INVARIANT(next == 0 || m.mem->largest_sequence() < next, "a newer memtable has newer records");
    COMPASSDB_INVARIANT(m.log_number <= LogBehind(i + 1), "a newer memtable is in newer logs");
    COMPASSDB_INVARIANT(!m.flushing || flushing, "the oldest memtables are flushed first");
    flushing = m.flushing;
  }
}

std::unique_ptr<ReadState> ColumnFamily::NewReadState() const {
  auto state = std::make_unique<ReadState>();
  state->mem = mem;
  for (auto it = immutables.rbegin(); it != immutables.rend(); ++it) {
    state->immutables.push_back(it->mem);
  }
  state->view = store_->view();
  return state;
}

void ColumnFamily::InstallReadState(std::vector<ReadState*>* garbage) {
  CheckInvariants();
  ReadStateHolder::MakeRoom(garbage);
  read_state_.Install(NewReadState().release(), garbage);
}

void ColumnFamily::SealMemTable(uint64_t log_number, std::vector<ReadState*>* garbage) {
  // First what may run out of memory: nothing has changed then.
  std::shared_ptr<MemTableCharge> charge;
  std::shared_ptr<MemTable> next = NewMemTable(&charge);
  std::unique_ptr<ReadState> state = NewReadState();
  state->immutables.insert(state->immutables.begin(), mem);
  state->mem = next;
  ReadStateHolder::MakeRoom(garbage);
  immutables.push_back({mem, mem_log_number, mem_prepared_log, false});

  if (write_buffers_ != nullptr) write_buffers_->ScheduleFreeMem(charge_->bytes);
  mem->MarkImmutable();
  mem->set_log_number(mem_log_number);
  mem->set_next_log_number(log_number);
  ++sealed_count;
  mem = std::move(next);
  charge_ = std::move(charge);
  mem_prepared_log = UINT64_MAX;
  mem->SetValueRoom(value_room_.bytes, value_room_.per_deletion);
  mem_log_number = log_number;
  CheckInvariants();
  read_state_.Install(state.release(), garbage);
}

size_t ColumnFamily::MemTableBytes(bool with_immutables) const {
  size_t bytes = mem->ApproximateMemoryUsage();
  if (!with_immutables) return bytes;
  for (const ImmutableMemTable& immutable : immutables) {
    bytes += immutable.mem->ApproximateMemoryUsage();
  }
  return bytes;
}

uint64_t ColumnFamily::OldestLogNeeded() const {
  return std::min(OldestRecordLog(), OldestPreparedLog(0));
}

uint64_t ColumnFamily::OldestPreparedLog(uint64_t records_from) const {
  uint64_t oldest = mem_prepared_log;
  for (const ImmutableMemTable& immutable : immutables) {
    if (immutable.log_number >= records_from) oldest = std::min(oldest, immutable.prepared_log);
  }
  return oldest;
}

uint64_t ColumnFamily::OldestRecordLog() const {
  return immutables.empty() ? mem_log_number : immutables.front().log_number;
}

bool ColumnFamily::FlushPending() const {
  if (dropped || flush_running || immutables.empty()) return false;
  if (flush_requested) return true;
  const bool pair = settings.max_write_buffer_number >= 3 && pace.AwaitSecond();
  return static_cast<int>(immutables.size()) >=
         std::max<int>(settings.min_write_buffers_to_merge, pair ? 2 : 1);
}

void ColumnFamily::LimitMemTable() {
  if (const ValueSpace* const values = store_->values()) {
    value_room_ = UnlessOutOfMemory(value_room_, [&] { return values->FlushRoom(); });
  }
  mem->SetValueRoom(value_room_.bytes, value_room_.per_deletion);
}

size_t ColumnFamily::FitForFlush(uint64_t* value_load) const {
  uint64_t load = 0;
  size_t n = 0;
  for (; n < immutables.size(); ++n) {
    const uint64_t more = immutables[n].mem->ValueLoad(value_room_.per_deletion);
    if (n > 0 && load + more > value_room_.bytes) break;
    load += more;
  }
  if (value_load != nullptr) *value_load = load;
  return n;
}

std::vector<std::shared_ptr<MemTable>> ColumnFamily::PickFlush(bool all) {
  std::vector<std::shared_ptr<MemTable>> picked;
  const size_t n = all ? immutables.size() : FitForFlush(nullptr);
  for (size_t i = 0; i < n; ++i) {
    immutables[i].flushing = true;
    picked.push_back(immutables[i].mem);
  }
  // The next flush takes the rest.
  if (n == immutables.size()) flush_requested = false;
  flush_running = !picked.empty();
  CheckInvariants();
  return picked;
}

void ColumnFamily::FlushCommitted(size_t n) {
  immutables.erase(immutables.begin(), immutables.begin() + static_cast<ptrdiff_t>(n));
  flushed_count += n;
  flush_running = false;
  CheckInvariants();
}

void ColumnFamily::FlushFailed() {
  for (ImmutableMemTable& immutable : immutables) immutable.flushing = false;
  flush_requested = true;
  flush_running = false;
  CheckInvariants();
}

std::shared_ptr<ColumnFamily> ColumnFamilySet::ById(uint32_t id) const {
  MutexLock lock(&mu_);
  auto it = families_.find(id);
  return it == families_.end() ? nullptr : it->second;
}

ColumnFamily* ColumnFamilySet::ByIdAtFront(uint32_t id) const {
  auto it = families_.find(id);
  return it == families_.end() ? nullptr : it->second.get();
}

void ColumnFamilySet::ChargeAllAtFront() {
  for (auto& [id, family] : families_) family->ChargeMemTable();
}

std::shared_ptr<ColumnFamily> ColumnFamilySet::ByName(const std::string& name) const {
  MutexLock lock(&mu_);
  for (const auto& [id, family] : families_) {
    if (family->name() == name) return family;
  }
  return nullptr;
}

Families ColumnFamilySet::All() const {
  MutexLock lock(&mu_);
  Families all;
  for (const auto& [id, family] : families_) all.push_back(family);
  return all;
}

size_t ColumnFamilySet::size() const {
  MutexLock lock(&mu_);
  return families_.size();
}

void ColumnFamilySet::Add(std::shared_ptr<ColumnFamily> family) {
  MutexLock lock(&mu_);
  const uint32_t id = family->id();
  families_.emplace(id, std::move(family));
}

void ColumnFamilySet::Remove(uint32_t id) {
  MutexLock lock(&mu_);
  families_.erase(id);
}

Status TimestampsDisabled(const ColumnFamily& family) {
  return Status::InvalidArgument("cannot call this method on column family " + family.name() +
                                 " that does not enable timestamp");
}

Status TimestampsEnabled(const ColumnFamily& family) {
  return Status::InvalidArgument("cannot call this method on column family " + family.name() +
                                 " that enables timestamp");
}

Status TimestampSizeMismatch(size_t wanted, size_t given) {
  return Status::InvalidArgument("Timestamp sizes mismatch: expect " + std::to_string(wanted) +
                                 ", " + std::to_string(given) + " given");
}

}  // namespace compassdb
