// SPDX-License-Identifier: Apache-2.0
#include "family/column_family.h"

#include <algorithm>

#include "options/projection.h"
#include "rocksdb/memtablerep.h"
#include "store/pages.h"
#include "store/value_space.h"
#include "util/no_memory.h"
#include "wal/log_values.h"

namespace compassdb {
namespace {

// More parts take less memory next to the one that is flushed, and more flushes.
constexpr uint32_t kMostParts = 8;
constexpr size_t kLeastPart = 128 << 10;
constexpr size_t kLeastSplit = 64 << 10;  // less is hardly more than what a part takes at first

uint32_t PartsOf(size_t write_buffer_size) {
  if (write_buffer_size < kLeastSplit) return 1;
  uint32_t parts = 2;
  while (parts < kMostParts && write_buffer_size / kLeastPart > parts) parts *= 2;
  return parts;
}

MemTableOptions MemTableOptionsOf(const rocksdb::ColumnFamilyOptions& options, Store* store) {
  MemTableOptions memtable;
  Pages* const pages = store->pages();
  if (pages != nullptr) memtable.log_values = pages->log_values();
  // A compaction filter's decision has the sequence of its flush, which is newer than records of other parts.
  const bool filtered = options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
  if (memtable.log_values != nullptr && !filtered) {
    memtable.parts = PartsOf(options.write_buffer_size);
    memtable.hasher = pages->hasher();
  }
  memtable.comparator = options.comparator;
  memtable.write_buffer_size = options.write_buffer_size;
  if (options.arena_block_size > 0) {
    memtable.arena_block_size = options.arena_block_size;
  } else {
    memtable.arena_block_size =
        std::clamp<size_t>(memtable.write_buffer_size / 8, 4096, size_t{1} << 20);
  }
  if (options.enable_blob_files && options.blob_file_starting_level == 0) {
    memtable.separated_from = LeastSeparated(options);
  }
  return memtable;
}

bool HashesPrefixes(const rocksdb::MemTableRepFactory* factory) {
  return factory != nullptr && (factory->IsInstanceOf("HashSkipListRepFactory") ||
                                factory->IsInstanceOf("HashLinkListRepFactory"));
}

}  // namespace

ColumnFamily::ColumnFamily(uint32_t id, std::string name,
                           const rocksdb::ColumnFamilyOptions& options,
                           std::unique_ptr<Store> store,
                           std::shared_ptr<HistoryLow> history, Mutex* mu,
                           std::shared_ptr<rocksdb::WriteBufferManager> write_buffers)
    : id_(id),
      name_(std::move(name)),
      comparator_(options.comparator),
      hashes_prefixes_(HashesPrefixes(options.memtable_factory.get())),
      merge_operator_(options.merge_operator),
      store_(std::move(store)),
      history_(std::move(history)),
      memtables_(mu, MemTableOptionsOf(options, store_.get()), std::move(write_buffers)) {
  set_options(options);
}

MemTableOptions ColumnFamily::NewMemTableOptions() const {
  MutexLock lock(&options_mu_);
  return MemTableOptionsOf(options_, store_.get());
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

std::unique_ptr<ReadState> ColumnFamily::NewReadState(std::vector<ReadState*>* garbage) const {
  ReadStateHolder::MakeRoom(garbage);
  auto state = std::make_unique<ReadState>();
  state->immutables.reserve(memtables_.immutable_count() + 1);
  return state;
}

void ColumnFamily::Install(std::unique_ptr<ReadState> state, std::vector<ReadState*>* garbage) {
  memtables_.AddTo(state.get());
  state->view = store_->view();
  read_state_.Install(state.release(), garbage);
}

void ColumnFamily::InstallReadState(std::vector<ReadState*>* garbage) {
  memtables_.CheckInvariants();
  Install(NewReadState(garbage), garbage);
}

void ColumnFamily::SealMemTable(uint64_t log_number, SequenceNumber earliest_sequence,
                                std::vector<ReadState*>* garbage, bool part) {
  // First what may run out of memory: readers see every memtable.
  std::unique_ptr<ReadState> state = NewReadState(garbage);
  if (part && memtables_.MaySealPart()) {
    memtables_.SealPart(NewMemTableOptions(), log_number);
  } else {
    memtables_.Seal(NewMemTableOptions(), log_number, earliest_sequence);
  }
  Install(std::move(state), garbage);
}

bool ColumnFamily::FlushPending() const {
  return !dropped_ && memtables_.FlushPending(settings.min_write_buffers_to_merge,
                                             /*pairs=*/settings.max_write_buffer_number >= 3);
}

void ColumnFamily::LimitMemTables() {
  ValueRoom room = memtables_.value_room();
  if (const ValueSpace* const values = store_->values()) {
    room = UnlessOutOfMemory(room, [&] { return values->FlushRoom(); });
  }
  memtables_.SetValueRoom(room);
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
  for (auto& [id, family] : families_) family->memtables().Charge();
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
