// SPDX-License-Identifier: Apache-2.0
#include "family/memtables.h"

#include <algorithm>
#include <utility>

#include "util/checked.h"

namespace compassdb {

// Lives as long as a part of a memtable, which lives as long as readers want.
struct MemTables::MemoryCharge {
  explicit MemoryCharge(std::shared_ptr<rocksdb::WriteBufferManager> m) : manager(std::move(m)) {}
  ~MemoryCharge() {
    if (manager != nullptr && bytes > 0) manager->FreeMem(bytes);
  }
  const std::shared_ptr<rocksdb::WriteBufferManager> manager;
  size_t bytes = 0;
};

MemTables::MemTables(Mutex* mu, const MemTableOptions& options,
                     std::shared_ptr<rocksdb::WriteBufferManager> write_buffers)
    : mu_(mu), write_buffers_(std::move(write_buffers)) {
  MemTableOptions first = options;
  first.parts = 1;
  active_.mem = New(first, &charges_);
}

void MemTables::CheckInvariants() const {
  if constexpr (!kChecked) return;
  mu_->AssertHeld();
  COMPASSDB_INVARIANT(active_.mem != nullptr && !active_.mem->immutable(),
                      "the active memtable takes writes");
  COMPASSDB_INVARIANT(sealed_count_ - flushed_count_ == immutables_.size(),
                      "what was sealed waits or is in the store");
  COMPASSDB_INVARIANT(announced_count_ <= flushed_count_,
                      "listeners are notified of what is in the store");
  COMPASSDB_INVARIANT(flushing_ <= immutables_.size(), "a flush takes immutable memtables");
  for (size_t i = 0; i < immutables_.size(); ++i) {
    const InLogs& m = immutables_[i];
    const MemTable& newer = i + 1 < immutables_.size() ? *immutables_[i + 1].mem : *active_.mem;
    COMPASSDB_INVARIANT(m.mem->immutable(), "a sealed memtable takes no writes");
    COMPASSDB_INVARIANT(m.mem->id() < newer.id(), "memtables lie in the order of their age");
    COMPASSDB_INVARIANT(m.mem->Precedes(newer), "a newer memtable has newer records");
  }
}

// --- The active memtable

// If families share memory, none gets all of it. At first each new key uses another page of the filter.
MemTableOptions MemTables::Limited(MemTableOptions options) const {
  if (write_buffers_ != nullptr && write_buffers_->enabled()) {
    options.filter_for = write_buffers_->buffer_size() / 8;
  }
  return options;
}

std::shared_ptr<MemTables::MemoryCharge> MemTables::NewCharge(MemTablePart* part) const {
  auto charge = std::make_shared<MemoryCharge>(write_buffers_);
  part->Hold(charge);
  return charge;
}

std::shared_ptr<MemTable> MemTables::New(const MemTableOptions& options, Charges* charges) {
  auto made = std::make_shared<MemTable>(Limited(options), next_id_++);
  Charges held;
  for (size_t i = 0; i < made->part_count(); ++i) held.push_back(NewCharge(&made->part(i)));
  charges->swap(held);
  return made;
}

uint64_t MemTables::active_log() const {
  mu_->AssertHeld();
  return active_.log_number;
}

SequenceNumber MemTables::earliest_sequence() const {
  mu_->AssertHeld();
  return earliest_sequence_;
}

void MemTables::Charge() {
  // A flush of an empty memtable would not free its memory.
  if (write_buffers_ == nullptr || active_.mem->empty()) return;
  for (size_t i = 0; i < charges_.size(); ++i) {
    const size_t now = active_.mem->part(i).MemoryAllocatedBytes();
    size_t* const bytes = &charges_[i]->bytes;
    if (now <= *bytes) continue;
    write_buffers_->ReserveMem(now - *bytes);
    *bytes = now;
  }
}

void MemTables::Seal(const MemTableOptions& next, uint64_t log_number,
                     SequenceNumber earliest_sequence) {
  mu_->AssertHeld();
  // First what may run out of memory: nothing has changed then.
  Charges charges;
  std::shared_ptr<MemTable> mem = New(next, &charges);
  std::vector<uint64_t> part_logs(mem->part_count(), log_number);
  immutables_.push_back(active_);

  if (write_buffers_ != nullptr) {
    for (const auto& charge : charges_) write_buffers_->ScheduleFreeMem(charge->bytes);
  }
  active_.mem->MarkImmutable();
  ++sealed_count_;
  active_ = {std::move(mem), log_number};
  charges_.swap(charges);
  part_logs_.swap(part_logs);
  earliest_sequence_ = earliest_sequence;
  active_.mem->SetValueRoom(value_room_.bytes, value_room_.per_deletion);
  CheckInvariants();
}

bool MemTables::MaySealPart() const {
  mu_->AssertHeld();
  return active_.mem->part_count() > 1 && active_.mem->num_range_deletes() == 0 && active_.prepared_log == UINT64_MAX;
}

void MemTables::SealPart(const MemTableOptions& next, uint64_t log_number) {
  mu_->AssertHeld();
  COMPASSDB_INVARIANT(MaySealPart(), "the active memtable may lose a part");
  const MemTable& mem = *active_.mem;
  const auto size = [&](size_t i) { return mem.part(i).MemoryAllocatedBytes(); };
  size_t oldest = SIZE_MAX;
  for (size_t i = 0; i < part_logs_.size(); ++i) {
    if (mem.part(i).counters().entries == 0) {
      part_logs_[i] = log_number;
    } else if (oldest == SIZE_MAX || part_logs_[i] < part_logs_[oldest] ||
               (part_logs_[i] == part_logs_[oldest] && size(i) > size(oldest))) {
      oldest = i;
    }
  }
  if (oldest == SIZE_MAX) return;
  // First what may run out of memory: nothing has changed then.
  MemTable::Sealed made = mem.SealPart(oldest, Limited(next), next_id_);
  std::shared_ptr<MemoryCharge> charge = NewCharge(&made.next->part(oldest));
  immutables_.push_back({std::move(made.sealed), part_logs_[oldest]});

  ++next_id_;
  if (write_buffers_ != nullptr) write_buffers_->ScheduleFreeMem(charges_[oldest]->bytes);
  immutables_.back().mem->MarkImmutable();
  active_.mem->MarkImmutable();
  ++sealed_count_;
  part_logs_[oldest] = log_number;
  active_ = {std::move(made.next), *std::min_element(part_logs_.begin(), part_logs_.end())};
  charges_[oldest].swap(charge);
  active_.mem->SetValueRoom(value_room_.bytes, value_room_.per_deletion);
  CheckInvariants();
}

void MemTables::Replace(const MemTableOptions& next) {
  mu_->AssertHeld();
  MemTableOptions whole = next;
  whole.parts = 1;
  active_.mem = New(whole, &charges_);
  active_.prepared_log = UINT64_MAX;
}

void MemTables::MoveToLog(uint64_t log_number) {
  mu_->AssertHeld();
  COMPASSDB_INVARIANT(active_.mem->empty(), "records stay in their logs");
  active_.log_number = log_number;
  std::fill(part_logs_.begin(), part_logs_.end(), log_number);
}

void MemTables::BeginAt(uint64_t log_number, SequenceNumber earliest_sequence) {
  mu_->AssertHeld();
  MoveToLog(log_number);
  log_number_ = log_number;
  earliest_sequence_ = earliest_sequence;
}

void MemTables::KeepPreparedLog(uint64_t log_number) {
  mu_->AssertHeld();
  active_.prepared_log = std::min(active_.prepared_log, log_number);
}

void MemTables::SetValueRoom(const ValueRoom& room) {
  mu_->AssertHeld();
  value_room_ = room;
  active_.mem->SetValueRoom(room.bytes, room.per_deletion);
}

const ValueRoom& MemTables::value_room() const {
  mu_->AssertHeld();
  return value_room_;
}

// --- Logs

void MemTables::set_log_number(uint64_t log_number) {
  mu_->AssertHeld();
  log_number_ = log_number;
}

uint64_t MemTables::OldestLogNeeded() const {
  return std::min(OldestRecordLog(), OldestPreparedLog(0));
}

uint64_t MemTables::OldestPreparedLog(uint64_t records_from) const {
  mu_->AssertHeld();
  uint64_t oldest = active_.prepared_log;
  for (const InLogs& immutable : immutables_) {
    if (immutable.log_number >= records_from) oldest = std::min(oldest, immutable.prepared_log);
  }
  return oldest;
}

uint64_t MemTables::LogBehind(size_t n) const {
  mu_->AssertHeld();
  uint64_t oldest = active_.log_number;
  for (; n < immutables_.size(); ++n) oldest = std::min(oldest, immutables_[n].log_number);
  return oldest;
}

// --- Flushes

size_t MemTables::immutable_count() const {
  mu_->AssertHeld();
  return immutables_.size();
}

// While parts are sealed, the parts that are active have a share of 1 to all of theirs of a full memtable, so that
// together they always are as much as one; a sealed part is twice their mean.
size_t MemTables::full_count() const {
  mu_->AssertHeld();
  size_t whole = 0, sealed_parts = 0;
  for (const InLogs& m : immutables_) ++(m.mem->is_part() ? sealed_parts : whole);
  if (sealed_parts == 0) return whole;
  const size_t parts = std::max<size_t>(2, active_.mem->part_count());
  return whole + 1 + 2 * sealed_parts / (parts + 1);
}

uint64_t MemTables::sealed_count() const {
  mu_->AssertHeld();
  return sealed_count_;
}

uint64_t MemTables::flushed_count() const {
  mu_->AssertHeld();
  return flushed_count_;
}

uint64_t MemTables::announced_count() const {
  mu_->AssertHeld();
  return announced_count_;
}

void MemTables::RequestFlush() {
  mu_->AssertHeld();
  if (!immutables_.empty()) flush_requested_ = true;
}

void MemTables::RequestFlushOfLog(uint64_t log_number) {
  mu_->AssertHeld();
  if (flushing_ == 0 && OldestRecordLog() <= log_number) RequestFlush();
}

bool MemTables::flush_requested() const {
  mu_->AssertHeld();
  return flush_requested_;
}

void MemTables::SetFlushReason(rocksdb::FlushReason reason) {
  mu_->AssertHeld();
  flush_reason_ = reason;
  if (reason != rocksdb::FlushReason::kWriteBufferFull) flush_requested_ = true;
}

rocksdb::FlushReason MemTables::flush_reason() const {
  mu_->AssertHeld();
  return flush_reason_;
}

bool MemTables::FlushPending(int at_least, bool pairs) const {
  mu_->AssertHeld();
  if (flushing_ > 0 || immutables_.empty()) return false;
  if (flush_requested_ || immutables_.front().mem->is_part()) return true;
  return static_cast<int>(immutables_.size()) >=
         std::max(at_least, pairs && pace_.AwaitSecond() ? 2 : 1);
}

size_t MemTables::FitForFlush(uint64_t* value_load) const {
  mu_->AssertHeld();
  uint64_t load = 0;
  size_t n = 0;
  for (; n < immutables_.size(); ++n) {
    const uint64_t more = immutables_[n].mem->ValueLoad(value_room_.per_deletion);
    if (n > 0 && load + more > value_room_.bytes) break;
    // A part alone: its memory is free as soon as it is in the store. Unless all are to be there together.
    if (n > 0 && !flush_requested_ && (immutables_[n].mem->is_part() || immutables_[0].mem->is_part())) break;
    load += more;
  }
  if (value_load != nullptr) *value_load = load;
  return n;
}

MemTables::List MemTables::PickFlush(bool all) {
  mu_->AssertHeld();
  COMPASSDB_INVARIANT(flushing_ == 0, "a family has one flush at a time");
  List picked;
  const size_t n = all ? immutables_.size() : FitForFlush(nullptr);
  for (size_t i = 0; i < n; ++i) picked.push_back(immutables_[i].mem);
  // The next flush takes the rest.
  if (n == immutables_.size()) flush_requested_ = false;
  flushing_ = n;
  return picked;
}

bool MemTables::flush_running() const {
  mu_->AssertHeld();
  return flushing_ > 0;
}

void MemTables::FlushCommitted() {
  mu_->AssertHeld();
  immutables_.erase(immutables_.begin(), immutables_.begin() + static_cast<ptrdiff_t>(flushing_));
  flushed_count_ += flushing_;
  flushing_ = 0;
  CheckInvariants();
}

void MemTables::FlushFailed() {
  mu_->AssertHeld();
  flushing_ = 0;
  flush_requested_ = true;
}

void MemTables::Announced(uint64_t n) {
  mu_->AssertHeld();
  announced_count_ = std::max(announced_count_, n);
  CheckInvariants();
}

void MemTables::ForgetFlushed(const MemTableOptions& next) {
  mu_->AssertHeld();
  while (!immutables_.empty() && immutables_.front().log_number < log_number_) {
    immutables_.pop_front();
    ++flushed_count_;
  }
  if (active_.log_number >= log_number_) return;
  if (!active_.mem->empty()) Replace(next);
  active_.log_number = log_number_;
}

FlushPace& MemTables::pace() {
  mu_->AssertHeld();
  return pace_;
}

void MemTables::AddTo(ReadState* state) const {
  mu_->AssertHeld();
  state->mem = active_.mem;
  for (auto it = immutables_.rbegin(); it != immutables_.rend(); ++it) {
    state->immutables.push_back(it->mem);
  }
}

}  // namespace compassdb
