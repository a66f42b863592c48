// SPDX-License-Identifier: Apache-2.0
#include "lsm/version/lsm_version.h"

#include "lsm/read/point_values.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "lsm/policy/picker.h"
#include "lsm/read/level_iterator.h"
#include "table/piece/key_order.h"
#include "table/read_stats.h"
#include "util/checked.h"

namespace compassdb {

namespace {

// More tables than usually overlap a key: level 0 is the rest.
constexpr size_t kProbesAtOnce = 16;

const std::vector<TableRef> kNoTables;

// The bytes of `table` before user_key.
uint64_t OffsetIn(const Comparator* cmp, const TableHandle& table, const Slice& user_key) {
  if (cmp->Compare(user_key, table.meta().smallest) <= 0) return 0;
  if (cmp->Compare(user_key, table.meta().largest) > 0) return table.meta().TotalBytes();
  return table.tph().ApproximateOffset(user_key);
}

}  // namespace

Status AnnotateWithTable(const Status& s, int level, const TphMeta& meta) {
  if (s.ok() || !s.IsCorruption()) return s;
  return Status::Corruption(s.getState() == nullptr ? "" : s.getState(),
                            "level " + std::to_string(level) + " table " +
                                std::to_string(meta.tph_id));
}

void JobCounters::Record(const JobReport& r) {
  MutexLock lock(&mu_);
  LevelStats& s = levels_[r.output_level];
  s.jobs++;
  s.bytes_read += r.bytes_read;
  s.hash_list_bytes_read += r.hash_list_bytes_read;
  s.piece_bytes_read += r.piece_bytes_read;
  s.whole_bytes_read += r.whole_bytes_read;
  s.bytes_written += r.bytes_written;
  s.value_bytes_read += r.value_bytes_read;
  s.value_bytes_written += r.value_bytes_written();
  s.bytes_in_upper += r.bytes_in_upper;
  s.micros += r.micros;
  if (r.reason == kScansReason) {
    s.consolidations++;
    s.consolidated_bytes += r.bytes_written;
  }
}

void JobCounters::AddTo(std::vector<LevelStats>* stats) const {
  MutexLock lock(&mu_);
  for (size_t i = 0; i < stats->size() && i < levels_.size(); ++i) {
    (*stats)[i] += levels_[i];
  }
}

LsmVersion::LsmVersion(TableContextRef context, std::vector<std::vector<TableRef>> levels,
                       std::shared_ptr<const JobCounters> counters,
                       const ScanAccounting* accounting, KeyHasher hasher,
                       std::shared_ptr<const ValueVersion> values, bool open_below,
                       std::shared_ptr<const NewestValues> newest)
    : context_(std::move(context)),
      comparator_(context_->options.comparator),
      order_(context_->order),
      hashes_identify_keys_(context_->order.HashesIdentifyKeys()),
      levels_(std::move(levels)),
      counters_(std::move(counters)),
      accounting_(accounting),
      hasher_(hasher),
      values_(std::move(values)),
      newest_(std::move(newest)),
      open_below_(open_below) {
  finders_.reserve(levels_.size());
  for (size_t level = 0; level < levels_.size(); ++level) {
    const bool by_keys = level > 0 && !IsHashLevel(levels_[level]);
    finders_.emplace_back(comparator_, by_keys ? levels_[level] : kNoTables);
    if (!levels_[level].empty()) deepest_ = level;
    for (const TableRef& table : levels_[level]) {
      if (table->has_range_tombstones()) with_tombstones_.push_back(table);
    }
  }
}

namespace {

// What is wrong with the order of two neighbouring tables.
const char* BrokenOrder(const Comparator* cmp, size_t level, const TphMeta& a, const TphMeta& b) {
  if (level == 0) {
    const bool newest_first = a.largest_seq > b.largest_seq || (a.largest_seq == b.largest_seq && a.tph_id > b.tph_id);
    return newest_first ? nullptr : "level 0 is newest first";
  }
  if (a.hash_range != b.hash_range) return "a level is cut by keys or by hash";
  if (a.hash_range) return a.search.last < b.search.first ? nullptr : "tables of a level share no search key";
  const int order = cmp->Compare(a.largest, b.smallest);
  return order < 0 || (order == 0 && a.largest_exclusive) ? nullptr : "tables of a level share no key";
}

}  // namespace

const char* LsmVersion::BrokenInvariant() const {
  std::unordered_set<uint64_t> tables, pieces;
  for (size_t level = 0; level < levels_.size(); ++level) {
    for (size_t i = 0; i < levels_[level].size(); ++i) {
      const TphMeta& meta = levels_[level][i]->meta();
      if (!tables.insert(meta.tph_id).second) return "a table is in a version once";
      for (const TphPiece& piece : meta.pieces) {
        if (!pieces.insert(piece.meta->piece_id).second) return "a piece is of one table";
      }
      if (i == 0) continue;
      if (const char* broken = BrokenOrder(comparator_, level, levels_[level][i - 1]->meta(), meta)) return broken;
    }
  }
  return nullptr;
}

void LsmVersion::CheckInvariants() const {
  if constexpr (!kChecked) return;
  const char* const broken = BrokenInvariant();
  COMPASSDB_INVARIANT(broken == nullptr, broken);
  size_t tombstones = 0;
  for (const auto& level : levels_) {
    for (const TableRef& table : level) {
      tombstones += table->has_range_tombstones() ? 1 : 0;
      COMPASSDB_INVARIANT(!table->obsolete(), "a table of the newest version is in the manifest");
      for (size_t i = 0; i < table->num_pieces(); ++i) {
        COMPASSDB_INVARIANT(!table->piece(i)->obsolete(), "a piece of the newest version is in the manifest");
      }
    }
  }
  COMPASSDB_INVARIANT(tombstones == with_tombstones_.size(), "tables with range tombstones are known");
}

std::shared_ptr<const LsmVersion> LsmVersion::ForJob(std::shared_ptr<const NewestValues> newest) const {
  return std::make_shared<const LsmVersion>(context_, levels_, counters_, accounting_, hasher_, values_->WithoutRuns(),
                                            open_below_, std::move(newest));
}

const TableRef* LsmVersion::TableOf(size_t level, const Slice& user_key,
                                    const KeyHash& hash) const {
  const std::vector<TableRef>& tables = levels_[level];
  if (IsHashLevel(tables)) {
    const uint32_t search_key = SearchKey(hash);
    const int i = FindTable(tables, search_key);
    return i >= 0 && tables[i]->meta().search.Contains(search_key) ? &tables[i] : nullptr;
  }
  const int i = finders_[level].Find(user_key);
  return i < 0 ? nullptr : &tables[i];
}

// The directories of all tables that may hold the key are asked in three steps,
// each for all of them, so that their cache misses overlap.
Status LsmVersion::Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                       GetContext* ctx) const {
  struct Probe {
    const TableHandle* table;
    int level;
    DirectoryProbe directory;
  };
  const PointValues values(*values_, read, hash);
  if (!values_->empty()) ctx->SetValues(&values);
  // Raw memory, because clearing unused probes took longer than the rest of this function.
  alignas(Probe) std::byte room[kProbesAtOnce * sizeof(Probe)];
  Probe* const probes = reinterpret_cast<Probe*>(room);
  size_t count = 0;
  const auto read_all = [&] {
    for (size_t i = 0; i < count; ++i) probes[i].directory.FindSlot(hash);
    Status s;
    for (size_t i = 0; i < count && s.ok() && !ctx->done(); ++i) {
      const Probe& probe = probes[i];
      s = probe.table->tph().Get(read, user_key, hash, probe.directory, ctx);
      if (!s.ok()) s = AnnotateWithTable(s, probe.level, probe.table->meta());
      if (ctx->state() == GetContext::State::kFound) {
        CountLevelHit(context_->options.statistics, probe.level);
      }
    }
    count = 0;
    return s;
  };
  Status s;
  const auto add = [&](const TableRef& table, int level) {
    if (count == kProbesAtOnce) s = read_all();
    new (&probes[count++]) Probe{table.get(), level,
                                 DirectoryProbe(table->tph().resident_directory(), hash)};
  };
  for (const TableRef& table : levels_[0]) {
    const TphMeta& meta = table->meta();
    if (order_.Compare(user_key, meta.smallest) < 0 || order_.Compare(user_key, meta.largest) > 0) {
      continue;
    }
    add(table, 0);
    if (!s.ok() || ctx->done()) return s;
  }
  for (size_t level = 1; level <= deepest_; ++level) {
    if (levels_[level].empty()) continue;
    const TableRef* table = TableOf(level, user_key, hash);
    if (table == nullptr) continue;
    add(*table, static_cast<int>(level));
    if (!s.ok() || ctx->done()) return s;
  }
  return read_all();
}

Status LsmVersion::AddIterators(const BlockReadOptions& read,
                                std::vector<InternalIteratorPtr>* iterators,
                                RangeTombstoneSet* tombstones) const {
  BlockReadOptions unfiltered = read;  // the filter is asked here
  unfiltered.piece_filter = nullptr;
  const auto add = [&](std::span<const TableRef> tables, size_t level, bool above_others) {
    const LevelScan scan{accounting_, level, above_others};
    iterators->push_back(NewLevelIterator(comparator_, tables, unfiltered, scan));
  };
  const auto wanted = [&](const TableRef& table) {
    if (read.piece_filter == nullptr) return true;
    const auto& pieces = table->tph().pieces();
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const auto& piece) { return (*read.piece_filter)(*piece); });
  };
  for (const TableRef& table : levels_[0]) {
    if (!wanted(table)) continue;
    add({&table, 1}, 0, deepest_ > 0 || &table != &levels_[0].back());
  }
  for (size_t level = 1; level < levels_.size(); ++level) {
    if (IsHashLevel(levels_[level]) || read.piece_filter != nullptr) {
      for (const TableRef& table : levels_[level]) {
        if (wanted(table)) add({&table, 1}, level, deepest_ > level);
      }
    } else if (!levels_[level].empty()) {
      add(levels_[level], level, deepest_ > level);
    }
  }
  Status s;
  for (size_t i = 0; s.ok() && i < with_tombstones_.size(); ++i) {
    if (!wanted(with_tombstones_[i])) continue;
    s = AddRangeTombstones(with_tombstones_[i], read, tombstones);
  }
  return s;
}

uint64_t LsmVersion::ApproximateSize(const Slice& begin, const Slice& end) const {
  if (comparator_->Compare(begin, end) >= 0) return 0;
  uint64_t sum = 0;
  for (const auto& level : levels_) {
    for (const TableRef& table : level) {
      const uint64_t a = OffsetIn(comparator_, *table, begin);
      const uint64_t b = OffsetIn(comparator_, *table, end);
      if (b > a) sum += b - a;
    }
  }
  return sum;
}

std::vector<LevelStats> LsmVersion::Levels() const {
  std::vector<LevelStats> result(levels_.size());
  for (size_t l = 0; l < levels_.size(); ++l) {
    LevelStats& s = result[l];
    std::unordered_set<uint64_t> files;
    for (const TableRef& table : levels_[l]) {
      const TphMeta& meta = table->meta();
      s.tables++;
      s.pieces += meta.pieces.size();
      s.total_bytes += meta.TotalBytes();
      s.live_data_bytes += meta.LiveDataBytes();
      s.keys += meta.num_keys;
      if (meta.directory.length > 0) files.insert(meta.directory.file_number);
      for (const TphPiece& p : meta.pieces) {
        files.insert(p.meta->extent.file_number);
        s.data_bytes += p.meta->data_bytes;
        s.records += p.meta->num_records;
        s.deletions += p.meta->num_deletions;
        s.range_tombstones += p.meta->num_range_tombstones;
        s.raw_bytes += p.meta->raw_bytes;
      }
    }
    s.files = files.size();
  }
  counters_->AddTo(&result);
  return result;
}

IndexMemory LsmVersion::Index() const {
  IndexMemory sum = context_->index_usage.Get();
  for (const auto& level : levels_) {
    for (const TableRef& table : level) sum.other += table->MemoryBytes();
  }
  if (!values_->empty()) sum.values += values_->MemoryBytes();
  return sum;
}

Status LsmVersion::LoadIndex() const {
  for (size_t level = 0; level < levels_.size(); ++level) {
    for (const TableRef& table : levels_[level]) {
      Status s = AnnotateWithTable(table->tph().Load(), static_cast<int>(level), table->meta());
      if (!s.ok()) return s;
    }
  }
  for (const ValueRunRef& run : values_->runs()) {
    if (Status s = run->Load(); !s.ok()) return s;
  }
  return Status::OK();
}

void LsmVersion::ForEachTable(const std::function<void(int, const TphMeta&)>& f) const {
  for (size_t level = 0; level < levels_.size(); ++level) {
    for (const TableRef& table : levels_[level]) f(static_cast<int>(level), table->meta());
  }
}

Status LsmVersion::ForEachPiece(const PieceVisitor& f) const {
  for (const auto& level : levels_) {
    for (const TableRef& table : level) {
      for (const auto& piece : table->tph().pieces()) {
        if (Status s = f(table->meta(), *piece); !s.ok()) return s;
      }
    }
  }
  return Status::OK();
}

bool LsmVersion::HasHashLevels() const {
  return std::any_of(levels_.begin() + 1, levels_.end(),
                     [](const auto& tables) { return IsHashLevel(tables); });
}

bool LsmVersion::MayHoldBelow(int level, const Slice& user_key, const KeyHash& hash) const {
  if (open_below_) return true;
  for (size_t l = static_cast<size_t>(level) + 1; l < levels_.size(); ++l) {
    const TableRef* table = TableOf(l, user_key, hash);
    if (table == nullptr) continue;
    // Equal keys may have different bytes: their hashes prove nothing (rule 6).
    if (!hashes_identify_keys_) return true;
    if ((*table)->tph().MayHold(user_key, hash)) return true;
  }
  return false;
}

bool LsmVersion::MayHoldInLevel0(const Slice& user_key, const KeyHash& hash,
                                 std::span<const TableRef> others) const {
  for (const TableRef& table : levels_[0]) {
    const TphMeta& meta = table->meta();
    if (order_.Compare(user_key, meta.smallest) < 0 || order_.Compare(user_key, meta.largest) > 0 ||
        std::find(others.begin(), others.end(), table) != others.end()) {
      continue;
    }
    if (!hashes_identify_keys_ || table->tph().MayHold(user_key, hash)) return true;
  }
  return false;
}

bool LsmVersion::MayHoldAbove(int level, const Slice& user_key, const KeyHash& hash,
                              std::span<const TableRef> others) const {
  if (MayHoldInLevel0(user_key, hash, others)) return true;
  for (int l = 1; l < level; ++l) {
    const TableRef* table = TableOf(static_cast<size_t>(l), user_key, hash);
    if (table == nullptr || (hashes_identify_keys_ && !(*table)->tph().MayHold(user_key, hash))) continue;
    if (std::find(others.begin(), others.end(), *table) == others.end()) return true;
  }
  return false;
}

std::unique_ptr<ValueResolver> LsmVersion::NewValueResolver(const BlockReadOptions& read) const {
  if (newest_ != nullptr) return std::make_unique<JobValues>(newest_, hasher_, read);
  if (values_->empty()) return nullptr;
  return std::make_unique<IteratorValues>(*values_, hasher_, read);
}

void LsmVersion::ForEachValueRun(const std::function<void(const ValueRunMeta&, uint64_t)>& f) const {
  const std::vector<uint64_t> dead = values_->DeadBytes();
  for (size_t i = 0; i < dead.size(); ++i) f(values_->runs()[i]->meta(), dead[i]);
}

bool LsmVersion::OverlapsBelow(int level, const Slice* begin, const Slice* end,
                               const SearchRange& search) const {
  if (open_below_) return true;
  for (size_t l = static_cast<size_t>(level) + 1; l < levels_.size(); ++l) {
    if (IsHashLevel(levels_[l])) {
      for (const TableRef& t : levels_[l]) {
        const TphMeta& m = t->meta();
        if (m.search.Overlaps(search) &&
            (begin == nullptr || comparator_->Compare(m.largest, *begin) >= 0) &&
            (end == nullptr || comparator_->Compare(m.smallest, *end) <= 0)) {
          return true;
        }
      }
      continue;
    }
    // The first table that does not end before `begin`.
    const auto table = std::partition_point(
        levels_[l].begin(), levels_[l].end(), [&](const TableRef& t) {
          return begin != nullptr && comparator_->Compare(t->meta().largest, *begin) < 0;
        });
    if (table == levels_[l].end()) continue;
    if (end == nullptr || comparator_->Compare((*table)->meta().smallest, *end) <= 0) return true;
  }
  return false;
}

}  // namespace compassdb
