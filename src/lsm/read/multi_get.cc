// SPDX-License-Identifier: Apache-2.0
// Point reads of many keys at once. A directory's "no" is exact, so the walk down
// the levels needs no data block up to the first table that may have
// the key. All keys take that walk first, run by run, in three passes
// whose cache misses overlap across the keys. The blocks that it leads to, on
// any level, are then loaded together if they are not in the cache.
// Each key continues alone from the table where its walk ended. Usually
// that table has it.
#include <algorithm>

#include "iter/merge_helper.h"
#include "lsm/read/point_values.h"
#include "lsm/version/lsm_version.h"
#include "table/piece/block_set.h"
#include "table/read_stats.h"

namespace compassdb {

namespace {

// Enough to overlap misses and reads, few enough for the directories' lines to stay in cache.
constexpr size_t kKeysAtOnce = 64;

struct Walk {
  PointLookup* lookup = nullptr;
  const TableHandle* table = nullptr;  // of the current run, or the one that may have the key
  size_t run = 0;
  DirectoryProbe probe;
  bool arrived = false;
};

}  // namespace

size_t LsmVersion::NumRuns() const { return levels_[0].size() + levels_.size() - 1; }

int LsmVersion::LevelOfRun(size_t run) const {
  return run < levels_[0].size() ? 0 : static_cast<int>(run - levels_[0].size() + 1);
}

const TableHandle* LsmVersion::TableInRun(size_t run, const PointLookup& lookup) const {
  if (run >= levels_[0].size()) {
    const TableRef* table = TableOf(run - levels_[0].size() + 1, lookup.user_key, lookup.hash);
    return table == nullptr ? nullptr : table->get();
  }
  const TableHandle* table = levels_[0][run].get();
  return comparator_->Compare(lookup.user_key, table->meta().smallest) < 0 ||
                 comparator_->Compare(lookup.user_key, table->meta().largest) > 0
             ? nullptr
             : table;
}

void LsmVersion::MultiGet(const BlockReadOptions& read, std::span<PointLookup> lookups) const {
  while (!lookups.empty()) {
    const size_t n = std::min(lookups.size(), kKeysAtOnce);
    MultiGetSome(read, lookups.first(n));
    lookups = lookups.subspan(n);
  }
}

void LsmVersion::MultiGetSome(const BlockReadOptions& read, std::span<PointLookup> lookups) const {
  std::vector<Walk> walks(lookups.size());
  for (size_t i = 0; i < walks.size(); ++i) walks[i].lookup = &lookups[i];
  std::vector<PointValues> values;
  std::vector<std::string> refs;  // by lookup; those that are not empty
  if (!values_->empty()) {
    values.reserve(lookups.size());
    refs.resize(lookups.size());
    for (size_t i = 0; i < lookups.size(); ++i) {
      lookups[i].ctx->SetValues(&values.emplace_back(*values_, read, lookups[i].hash));
      lookups[i].ctx->DeferSeparated(&refs[i]);
    }
  }
  BlockSet blocks;
  size_t on_the_way = walks.size();
  for (size_t run = 0; run < NumRuns() && on_the_way > 0; ++run) {
    if (run >= levels_[0].size() && levels_[run - levels_[0].size() + 1].empty()) continue;
    for (Walk& w : walks) {
      if (w.arrived) continue;
      w.run = run;
      w.table = TableInRun(run, *w.lookup);
      if (w.table != nullptr) {
        w.probe = DirectoryProbe(w.table->tph().resident_directory(), w.lookup->hash);
      }
    }
    for (Walk& w : walks) {
      if (!w.arrived && w.table != nullptr) w.probe.FindSlot(w.lookup->hash);
    }
    for (Walk& w : walks) {
      if (w.arrived || w.table == nullptr) continue;
      const PointLookup& l = *w.lookup;
      const Tph::Begun begun =
          w.table->tph().BeginGet(read, l.user_key, l.hash, w.probe, l.ctx, &blocks);
      w.arrived = begun != Tph::Begun::kAbsent;
      if (l.ctx->state() == GetContext::State::kFound) {
        CountLevelHit(context_->options.statistics, LevelOfRun(run));
      }
      if (w.arrived) --on_the_way;
    }
  }
  blocks.Load(read);
  BlockReadOptions with_blocks = read;
  with_blocks.blocks = &blocks;
  for (const Walk& w : walks) {
    if (w.arrived) w.lookup->status = GetFromRun(with_blocks, w.run, *w.lookup);
  }
  if (!refs.empty()) FetchDeferred(read, lookups, refs);
}

// The values that the records name, read together.
void LsmVersion::FetchDeferred(const BlockReadOptions& read, std::span<PointLookup> lookups,
                               const std::vector<std::string>& refs) const {
  std::vector<ValueRequest> requests;
  std::vector<PointLookup*> owners;
  for (size_t i = 0; i < lookups.size(); ++i) {
    lookups[i].ctx->SetValues(nullptr);
    lookups[i].ctx->DeferSeparated(nullptr);
    if (refs[i].empty() || !lookups[i].status.ok()) continue;
    requests.push_back({lookups[i].user_key, lookups[i].hash, refs[i], lookups[i].ctx->value(), {}});
    owners.push_back(&lookups[i]);
  }
  values_->ReadMany(read, requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    Status& s = requests[i].status;
    if (s.IsNotFound()) s = SeparatedValueIsGone(owners[i]->user_key);
    if (!s.ok()) owners[i]->ctx->Fail(std::move(s));
  }
}

Status LsmVersion::GetFromRun(const BlockReadOptions& read, size_t run,
                              const PointLookup& lookup) const {
  for (; run < NumRuns() && !lookup.ctx->done(); ++run) {
    const TableHandle* table = TableInRun(run, lookup);
    if (table == nullptr) continue;
    Status s = table->tph().Get(read, lookup.user_key, lookup.hash, lookup.ctx);
    if (!s.ok()) return AnnotateWithTable(s, LevelOfRun(run), table->meta());
    if (lookup.ctx->state() == GetContext::State::kFound) {
      CountLevelHit(context_->options.statistics, LevelOfRun(run));
    }
  }
  return Status::OK();
}

}  // namespace compassdb
