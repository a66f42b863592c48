// SPDX-License-Identifier: Apache-2.0
#include "db/report/family_state.h"

#include "db/report/table_properties.h"
#include "store/pages.h"
#include "store/value_space.h"

namespace compassdb {

FamilyState::FamilyState(const ReportSources& of, ColumnFamily* family_of) : sources(of), family(family_of) {
  {
    ReadStatePin state(family->read_state());
    view = family->read_state()->ViewOf(*state);
    memtables.push_back(state->mem);
    for (const auto& immutable : state->immutables) memtables.push_back(immutable);
  }
  levels = view->Levels();
  MutexLock lock(&sources.mu);
  const std::vector<LevelStats>& earlier = family->levels_at_reset;
  for (size_t i = 0; i < earlier.size(); ++i) levels[i].CountFrom(earlier[i]);
  flush_pending = family->FlushPending();
  Store* const store = family->store();
  const ValueSpace* const values = store->values();
  const Pages* const pages = store->pages();
  compaction_pending = store->NeedsCompaction() || (pages != nullptr && pages->NeedsLongWork());
  // Scans request compactions in steps, so one may be pending that nothing has scheduled. A caller that
  // waits until compaction-pending is 0 would wait for ever.
  if (compaction_pending) sources.background.MaybeSchedule();
  pending_bytes = store->PendingCompactionBytes();
  if (values != nullptr) value_bound = values->ValueBound();
  if (pages != nullptr) rehashing = pages->Rehashing();
  flushes_running = sources.background.FlushesRunning();
  compactions_running = sources.background.CompactionsRunning();
  stall = sources.stalls.state();
  delayed_rate = sources.stalls.rate();
  oldest_log = family->memtables().OldestLogNeeded();
}

LevelStats FamilyState::Sum() const {
  LevelStats sum;
  for (const LevelStats& level : levels) sum += level;
  return sum;
}

rocksdb::TableProperties FamilyState::TableTotals(int wanted) const {
  rocksdb::TableProperties sum;
  view->ForEachTable([&](int level, const TphMeta& tph) {
    if (wanted >= 0 && level != wanted) return;
    for (const TphPiece& piece : tph.pieces) {
      rocksdb::TableProperties one;
      AddPieceProperties(*family, *piece.meta, &one);
      sum.Add(one);
    }
    sum.index_size += tph.directory.length;
  });
  return sum;
}

}  // namespace compassdb
