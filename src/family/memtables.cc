// SPDX-License-Identifier: Apache-2.0
#include "family/memtables.h"

#include <algorithm>
#include <utility>

#include "util/checked.h"

namespace compassdb {

// Lives as long as the memtable, and a memtable lives as long as readers want.
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
  active_.mem = New(options, &charge_);
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
    const SequenceNumber next = newer.first_sequence();  // 0: it is empty, and may be written to
    COMPASSDB_INVARIANT(m.mem->immutable(), "a sealed memtable takes no writes");
    COMPASSDB_INVARIANT(m.mem->id() < newer.id(), "memtables lie in the order of their age");
    COMPASSDB_INVARIANT(next == 0 || m.mem->largest_sequence() < next,
                        "a newer memtable has newer records");
    COMPASSDB_INVARIANT(m.log_number <= LogBehind(i + 1), "a newer memtable is in newer logs");
  }
}

// --- The active memtable

std::shared_ptr<MemTable> MemTables::New(MemTableOptions options,
                                         std::shared_ptr<MemoryCharge>* charge) {
  // If families share memory, none gets all of it. At first each new key uses another page of the
  // filter.
  if (write_buffers_ != nullptr && write_buffers_->enabled()) {
    options.filter_for = write_buffers_->buffer_size() / 8;
  }
  auto charged = std::make_shared<MemoryCharge>(write_buffers_);
  std::shared_ptr<MemTable> made(new MemTable(options, next_id_++),
                                 [charged](MemTable* m) { delete m; });
  *charge = std::move(charged);
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
  const size_t now = active_.mem->MemoryAllocatedBytes();
  if (now > charge_->bytes) {
    write_buffers_->ReserveMem(now - charge_->bytes);
    charge_->bytes = now;
  }
}

void MemTables::Seal(const MemTableOptions& next, uint64_t log_number,
                     SequenceNumber earliest_sequence) {
  mu_->AssertHeld();
  // First what may run out of memory: nothing has changed then.
  std::shared_ptr<MemoryCharge> charge;
  std::shared_ptr<MemTable> mem = New(next, &charge);
  immutables_.push_back(active_);

  if (write_buffers_ != nullptr) write_buffers_->ScheduleFreeMem(charge_->bytes);
  active_.mem->MarkImmutable();
  ++sealed_count_;
  active_ = {std::move(mem), log_number};
  charge_ = std::move(charge);
  earliest_sequence_ = earliest_sequence;
  active_.mem->SetValueRoom(value_room_.bytes, value_room_.per_deletion);
  CheckInvariants();
}

void MemTables::Replace(const MemTableOptions& next) {
  mu_->AssertHeld();
  active_.mem = New(next, &charge_);
  active_.prepared_log = UINT64_MAX;
}

void MemTables::MoveToLog(uint64_t log_number) {
  mu_->AssertHeld();
  COMPASSDB_INVARIANT(active_.mem->empty(), "records stay in their logs");
  active_.log_number = log_number;
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
  return n < immutables_.size() ? immutables_[n].log_number : active_.log_number;
}

// --- Flushes

size_t MemTables::immutable_count() const {
  mu_->AssertHeld();
  return immutables_.size();
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
  if (flush_requested_) return true;
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
