// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/region_merge.h"

#include <algorithm>
#include <span>

#include "format/user_timestamp.h"
#include "iter/merging_iterator.h"
#include "lsm/compaction/table_run.h"
#include "lsm/policy/picker.h"
#include "table/piece/key_order.h"

namespace compassdb {

namespace {

constexpr size_t kReadahead = 2 << 20;

bool HasMerges(const TphMeta& meta) {
  return std::any_of(meta.pieces.begin(), meta.pieces.end(),
                     [](const TphPiece& p) { return p.meta->num_merges > 0; });
}

}  // namespace

BlockReadOptions CompactionReads() {
  BlockReadOptions read;
  read.fill_cache = false;
  read.readahead_bytes = kReadahead;
  read.whole_piece = true;
  return read;
}

RegionMerge::RegionMerge(const CompactionJobInput& input, const Delta& delta,
                         const std::vector<SequenceNumber>& snapshots,
                         const std::atomic<bool>* cancel, JobFiles* files)
    : in_(input),
      delta_(delta),
      snapshots_(snapshots),
      cancel_(cancel),
      cmp_(input.options->comparator),
      icmp_(cmp_),
      files_(files),
      values_(input.context, input.options, SeparatorOptions()),
      history_low_(input.options->history != nullptr ? input.options->history->Get() : ""),
      trim_to_(input.options->history != nullptr ? input.options->history->TrimmedTo() : ""),
      resolver_(input.version->NewValueResolver(CompactionReads())) {
  CreateFilter();
}

void RegionMerge::CreateFilter() {
  const StoreOptions& o = *in_.options;
  filter_ = o.compaction_filter;
  if (o.compaction_filter_factory == nullptr || filter_ != nullptr) return;
  rocksdb::CompactionFilter::Context context;
  context.is_full_compaction = in_.full;
  context.is_manual_compaction = in_.manual;
  context.column_family_id = o.column_family_id;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  if (!o.compaction_filter_factory->ShouldFilterTableFileCreation(context.reason)) return;
  owned_filter_ = o.compaction_filter_factory->CreateCompactionFilter(context);
  filter_ = owned_filter_.get();
}

uint64_t RegionMerge::OldestCreation(const Region& region) const {
  uint64_t oldest = delta_.oldest_creation();
  for (const TableRef& base : region.bases) {
    for (const TphPiece& p : base->meta().pieces) oldest = std::min(oldest, p.meta->creation_time);
  }
  return oldest == UINT64_MAX ? 0 : oldest;
}

ValueSeparator::Options RegionMerge::SeparatorOptions() const {
  ValueSeparator::Options options;
  options.level = in_.output_level;
  options.file = &files_->values;
  options.group_bits = in_.group_bits;
  options.version = in_.version.get();
  for (const auto& m : in_.memtables) {
    options.fresh_from = std::min(options.fresh_from, m->first_sequence());
  }
  options.newer_outside = [this](const Slice& user_key, const KeyHash& hash) {
    // Tables next to the inputs, too: bases reach beyond the overlap with the inputs.
    return in_.version->MayHoldAbove(in_.output_level, user_key, hash, in_.inputs);
  };
  return options;
}

Status RegionMerge::Finish() {
  if (Status s = values_.Finish(&edit_); !s.ok()) return s;
  if (table_bytes_ > 0) report_.AddFile(files_->tables.number(), files_->tables.path(), table_bytes_);
  if (edit_.added_values.empty()) return Status::OK();
  JobReport::ValueFile& values =
      report_.value_files.emplace_back(JobReport::ValueFile{files_->values.number(), files_->values.path(), 0, 0});
  for (const ValueRunMeta& run : edit_.added_values) {
    values.values += run.num_values;
    values.bytes += run.extent.length;
  }
  report_.bytes_written += values.bytes;
  return Status::OK();
}

Status RegionMerge::Add(const CompactionIterator& record, PieceBuilder* builder) {
  Slice key = record.key(), value = record.value();
  Status s;
  if (!values_.idle()) s = values_.Pass(record.stale(), record.made(), &key, &value);
  return s.ok() ? builder->Add(key, value, record.stale()) : s;
}

Status RegionMerge::AddAll(CompactionIterator* records, int level, std::unique_ptr<PieceBuilder>* builder) {
  Status s;
  uint64_t n = 0;
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    if (*builder == nullptr) s = NewPiece(level, builder);
    if (s.ok()) s = Add(*records, builder->get());
    if (s.ok()) s = Pause(++n);
    if (!s.ok()) return s;
  }
  if (!records->status().ok()) return records->status();
  report_.AddMerged(records->stats());
  return Status::OK();
}

CompactionIteratorOptions RegionMerge::IteratorOptions(RangeTombstoneSet* covering) {
  CompactionIteratorOptions options;
  options.comparator = cmp_;
  options.snapshots = snapshots_;
  options.tombstones = covering;
  options.merge.op = in_.options->merge_operator.get();
  options.merge.statistics = in_.context->statistics;
  options.filter = filter_;
  options.level = in_.input_level;
  options.history_low = history_low_;
  options.trim_to = trim_to_;
  options.values = resolver_.get();
  if (resolver_ != nullptr) {
    options.dropped_value = [this](const Slice& user_key, const Slice& ref, bool superseded) {
      values_.Dropped(user_key, ref, superseded);
    };
  }
  return options;
}

Status RegionMerge::NewPiece(int level, std::unique_ptr<PieceBuilder>* builder) {
  CompactionFileWriter* writer = nullptr;
  Status s = files_->tables.Writer(&writer);
  if (!s.ok()) return s;
  FilterPlace place;
  place.level = level;
  place.bottommost = level > 0 && !in_.version->OverlapsBelow(level, nullptr, nullptr);
  const size_t tables = delta_.tables().size();
  place.flush = (tables == 0 && !delta_.empty()) ||
                (tables == 1 && in_.input_level == 0 && in_.bases.empty());
  *builder = std::make_unique<PieceBuilder>(PieceOptions(*in_.context, *in_.options, place),
                                            writer, in_.context->new_number());
  return Status::OK();
}

Status RegionMerge::Pause(uint64_t records) {
  if ((records & 0x3ff) != 0) return Status::OK();
  files_->tables.Throttle();
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) {
    return Status::ShutdownInProgress("compaction cancelled");
  }
  return Status::OK();
}

Status RegionMerge::RegionTombstones(const Region& region, const BaseTable* base,
                                     std::vector<RangeTombstone>* result) {
  const auto add = [&](std::span<const RangeTombstone> tombstones) {
    for (RangeTombstone t : tombstones) {
      if (ClipTombstone(cmp_, region.lower, region.upper, &t) && !Trimmed(t)) {
        result->push_back(std::move(t));
      }
    }
  };
  add(delta_.TombstonesIn(region.lower, region.upper));
  for (const TableRef& table : region.bases) {
    const auto& pieces = table->tph().pieces();
    std::vector<RangeTombstone> of_base;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (base != nullptr && !base->is_victim(i)) continue;
      if (Status s = pieces[i]->ReadRangeTombstones(&of_base); !s.ok()) return s;
    }
    add(of_base);
  }
  JoinTombstones(cmp_, result);
  report_.range_tombstones_dropped += std::erase_if(
      *result, [&](const RangeTombstone& t) { return !TombstoneNeeded(region, t, base); });
  DropHiddenTombstones(cmp_, snapshots_, result);
  return Status::OK();
}

bool RegionMerge::Trimmed(const RangeTombstone& t) const {
  return !trim_to_.empty() && cmp_->CompareTimestamp(t.timestamp, trim_to_) > 0;
}

// A range tombstone is dropped when all readers see it and nothing that it covers
// may be left: in this table, or deeper (rules 1, 4). With user-defined timestamps it must also be below
// the history that stays, like a record.
bool RegionMerge::TombstoneNeeded(const Region& region, const RangeTombstone& t,
                                  const BaseTable* base) const {
  if (!snapshots_.empty() && t.sequence > snapshots_.front()) return true;
  if (!t.timestamp.empty() &&
      (history_low_.empty() || cmp_->CompareTimestamp(t.timestamp, history_low_) >= 0)) {
    return true;
  }
  if (base != nullptr && base->StayingOverlaps(cmp_, t.start, t.end)) return true;
  const Slice start(t.start), end(t.end);
  return in_.version->OverlapsBelow(in_.output_level, &start, &end, region.search);
}

Status RegionMerge::AddCovering(const Region& region, RangeTombstoneSet* set) const {
  Status s = delta_.AddCovering(set);
  for (size_t i = 0; s.ok() && i < region.bases.size(); ++i) {
    s = AddRangeTombstones(region.bases[i], {}, set);
  }
  return s;
}

Status RegionMerge::CoveredBytes(const Region& region, const Tph& base,
                                 std::vector<uint64_t>* covered) const {
  const auto of_delta = delta_.TombstonesIn(region.lower, region.upper);
  std::vector<RangeTombstone> all(of_delta.begin(), of_delta.end());
  for (const auto& piece : base.pieces()) {
    if (Status s = piece->ReadRangeTombstones(&all); !s.ok()) return s;
  }
  // Tombstones that a snapshot does not see, and with times those that history keeps, hide nothing permanently.
  std::erase_if(all, [&](RangeTombstone& t) {
    return !t.timestamp.empty() || (!snapshots_.empty() && t.sequence > snapshots_.front()) ||
           !ClipTombstone(cmp_, region.lower, region.upper, &t);
  });
  // Records that a released snapshot kept are not live either.
  const auto superseded = [&](const PieceMeta& meta) {
    return snapshots_.empty() || snapshots_.front() >= meta.largest_seq ? SupersededBytes(meta) : 0;
  };
  if (all.empty() && std::all_of(base.pieces().begin(), base.pieces().end(), [&](const auto& piece) {
        return superseded(piece->meta()) == 0;
      })) {
    return Status::OK();
  }
  std::sort(all.begin(), all.end(), [this](const RangeTombstone& a, const RangeTombstone& b) {
    return cmp_->Compare(a.start, b.start) < 0;
  });
  for (const auto& piece : base.pieces()) {
    const PieceMeta& meta = piece->meta();
    uint64_t bytes = 0, behind = 0;  // up to `behind` it was counted
    for (const RangeTombstone& t : all) {
      if (t.sequence <= meta.largest_seq || meta.num_records == 0 || cmp_->Compare(t.start, meta.largest) > 0 ||
          cmp_->Compare(t.end, meta.smallest) <= 0) {
        continue;
      }
      const bool from_start = cmp_->Compare(t.start, meta.smallest) <= 0;
      const bool to_end = cmp_->Compare(meta.largest, t.end) < 0;
      const uint64_t begin = std::max(behind, from_start ? 0 : piece->ApproximateOffset(t.start));
      const uint64_t end = to_end ? meta.data_bytes : piece->ApproximateOffset(t.end);
      if (end <= begin) continue;
      bytes += end - begin;
      behind = end;
    }
    covered->push_back(std::min(bytes + superseded(meta), meta.data_bytes));
  }
  return Status::OK();
}

void RegionMerge::Replace(const TableRef& base) {
  edit_.deleted.push_back({in_.output_level, base->meta().tph_id});
}

Status RegionMerge::Rewrite(const TableRef& table) {
  const InternalIteratorPtr none = NewEmptyInternalIterator();
  Region region;
  region.bases = {table};
  region.hash_range = table->meta().hash_range;
  region.search = table->meta().search;
  return RunWhole(region, none.get());
}

Status RegionMerge::Run(const Region& region, InternalIterator* delta) {
  if (Status s = Pause(0); !s.ok()) return s;
  BoundedIterator records(cmp_, delta, region.upper ? &*region.upper : nullptr);
  if (!records.status().ok()) return records.status();
  if (region.part) return RunWhole(region, &records);
  if (!records.Valid()) {
    const auto tombstones = delta_.TombstonesIn(region.lower, region.upper);
    const bool any = std::any_of(tombstones.begin(), tombstones.end(), [&](RangeTombstone t) {
      return ClipTombstone(cmp_, region.lower, region.upper, &t);
    });
    if (!any) return Status::OK();  // the base stays unchanged
  }
  // Equal keys may have different bytes, or tables have no directory, so that it is unknown what is
  // shadowed.
  if (region.bases.size() != 1 || in_.whole || !region.bases[0]->tph().has_directory()) {
    return RunWhole(region, &records);
  }
  const Tph& base = region.bases[0]->tph();
  const uint64_t delta_bytes =
      region.delta_bytes ? *region.delta_bytes : delta_.Bytes(region.lower, region.upper);
  std::vector<uint64_t> covered;
  if (Status s = CoveredBytes(region, base, &covered); !s.ok()) return s;
  const GcChoice choice = ChooseVictimPieces(base.meta(), delta_bytes, *in_.options, covered);
  // Keys that share a 64-bit hash make the directory's answers inexact: BaseTable's invariant.
  DirectoryRef directory;
  if (Status s = base.OpenDirectory({}, &directory); !s.ok()) return s;
  if (choice.whole || directory->has_ambiguous()) return RunWhole(region, &records);
  // Operands of a key may be folded only with their neighbours in sequence,
  // and a piece that stays may hold those between two victims' operands, or,
  // where a snapshot keeps a victim's old record, between it and the delta's.
  if (!choice.victims.empty() &&
      (HasMerges(base.meta()) || (!snapshots_.empty() && delta_.has_merges()))) {
    return RunWhole(region, &records);
  }
  return RunPartial(region, choice, &records);
}

Status RegionMerge::RunPartial(const Region& region, const GcChoice& choice,
                               InternalIterator* records) {
  const TableRef& table = region.bases[0];
  BaseTable base(table, /*whole=*/false, choice.victims, &snapshots_);
  Status s = base.Load();
  if (!s.ok()) return s;
  std::vector<InternalIteratorPtr> victims;
  for (size_t v : choice.victims) {
    victims.push_back(table->tph().pieces()[v]->NewIterator(CompactionReads()));
    report_.AddBaseRead(&JobReport::piece_bytes_read, table->meta().pieces[v].meta->extent.length);
  }
  report_.AddBaseRead(&JobReport::hash_list_bytes_read, base.bytes_read());
  JobInput input(&icmp_, in_.context->hasher, records, std::move(victims), &base);
  RangeTombstoneSet covering(cmp_);
  s = AddCovering(region, &covering);
  if (!s.ok()) return s;

  CompactionIteratorOptions options = IteratorOptions(&covering);
  options.may_exist_outside = [&](const Slice& user_key) {
    const KeyHash hash = in_.context->hasher(user_key);
    return base.StayingMayHold(hash) ||
           in_.version->MayHoldBelow(in_.output_level, user_key, hash);
  };
  options.is_stale = [&](const Slice& user_key) { return input.IsStale(user_key); };
  CompactionIterator it(&input, std::move(options));

  std::unique_ptr<PieceBuilder> builder;
  s = AddAll(&it, in_.output_level, &builder);
  if (!s.ok()) return s;

  std::vector<RangeTombstone> tombstones;
  s = RegionTombstones(region, &base, &tombstones);
  if (!s.ok()) return s;
  for (const RangeTombstone& t : tombstones) {
    if (builder == nullptr) s = NewPiece(in_.output_level, &builder);
    if (!s.ok()) return s;
    builder->AddRangeTombstone(t);
  }
  PieceMeta head;
  PieceHashes head_hashes;
  if (builder != nullptr) {
    s = builder->Finish(&head, &head_hashes);
    if (!s.ok()) return s;
    head.creation_time = OldestCreation(region);
  }
  TphMeta meta = table->meta();
  std::vector<DirectoryEntry> entries;
  base.Assemble(builder != nullptr ? &head : nullptr, &head_hashes, &meta, &entries);
  Replace(table);
  if (meta.pieces.empty()) return Status::OK();
  if (builder != nullptr) ExtendBounds(cmp_, head, tombstones, /*first=*/false, &meta);
  meta.tph_id = in_.context->new_number();
  s = WriteTableDirectory(entries, Fingerprints(), FunctionOptions(*in_.context, *in_.options),
                          &files_->tables, &meta);
  if (!s.ok()) return s;
  table_bytes_ += head.extent.length + meta.directory.length;
  report_.outputs.push_back(meta);
  edit_.added.push_back({in_.output_level, std::move(meta)});
  return Status::OK();
}

Status RegionMerge::FinishWholeTable(int level, const Region& region,
                                     std::unique_ptr<PieceBuilder> builder, uint64_t creation_time,
                                     const std::vector<RangeTombstone>& tombstones) {
  for (const RangeTombstone& t : tombstones) builder->AddRangeTombstone(t);
  PieceMeta piece;
  PieceHashes hashes;
  Status s = builder->Finish(&piece, &hashes);
  if (!s.ok()) return s;
  piece.creation_time = creation_time;
  TphMeta meta;
  meta.hash_range = region.hash_range;
  meta.search = region.search;
  s = WriteOnePieceTable(*in_.context, *in_.options, piece, hashes, tombstones,
                         level == 0 ? kUpperFingerprints : Fingerprints(), &files_->tables, &meta);
  if (!s.ok()) return s;
  table_bytes_ += meta.TotalBytes();
  report_.outputs.push_back(meta);
  edit_.added.push_back({level, std::move(meta)});
  return Status::OK();
}

// No deeper table shares keys with the region.
bool RegionMerge::IsBottom(const Region& region) const {
  std::optional<Slice> low, high;
  const auto extend = [&](const std::string& smallest, const std::string& largest) {
    if (!low || cmp_->Compare(smallest, *low) < 0) low = smallest;
    if (!high || cmp_->Compare(largest, *high) > 0) high = largest;
  };
  for (const TableRef& base : region.bases) extend(base->meta().smallest, base->meta().largest);
  if (!delta_.empty()) extend(delta_.smallest(), delta_.largest());
  if (region.lower && (!low || cmp_->Compare(*region.lower, *low) > 0)) low = *region.lower;
  if (region.upper && (!high || cmp_->Compare(*region.upper, *high) < 0)) high = *region.upper;
  return !in_.version->OverlapsBelow(in_.output_level, low ? &*low : nullptr,
                                     high ? &*high : nullptr, region.search);
}

// In hash range an older range tombstone may be in another partition. Iterators
// apply that copy to all keys, by sequence.
bool RegionMerge::MayZeroSequences(const Region& region) const {
  if (region.hash_range || in_.version->HasHashLevels()) {
    return delta_.tombstones().empty() && !in_.version->HasRangeTombstones();
  }
  // Where levels were once cut by hash, a tombstone above may be older than records here.
  const Slice lower = region.lower ? Slice(*region.lower) : Slice();
  const Slice upper = region.upper ? Slice(*region.upper) : Slice();
  const auto& levels = in_.version->levels();
  const auto is_input = [this](const TableRef& t) {
    return std::find(in_.inputs.begin(), in_.inputs.end(), t) != in_.inputs.end();
  };
  for (int level = 0; level < in_.output_level; ++level) {
    for (const TableRef& t : levels[static_cast<size_t>(level)]) {
      if (t->has_range_tombstones() && !is_input(t) &&
          OverlapsRange(cmp_, t->meta(), region.lower ? &lower : nullptr,
                        region.upper ? &upper : nullptr)) {
        return false;
      }
    }
  }
  return true;
}

// In hash range regions are cut to size beforehand. Where tables are always rewritten they are
// cut evenly, so that no small one is left at a region's end.
uint64_t RegionMerge::CutBytes(const Region& region) const {
  if (region.hash_range) return UINT64_MAX;
  const uint64_t target = in_.options->target_table_bytes;
  if (!in_.options->leveled) return target;
  uint64_t bytes = region.delta_bytes.value_or(0);
  for (const TableRef& base : region.bases) bytes += base->live_bytes();
  const uint64_t tables = std::max<uint64_t>(1, (bytes + target / 2) / target);
  return std::max(target / 2, bytes / tables);
}

// Everything in the region is rewritten: into tables of the target size, or, in
// hash range, where regions are cut to size beforehand, into one.
Status RegionMerge::RunWhole(const Region& region, InternalIterator* records) {
  std::vector<InternalIteratorPtr> victims;
  uint64_t creation = OldestCreation(region);
  if (region.bases.size() > 1) {
    victims.push_back(NewTableRunIterator(cmp_, region.bases, CompactionReads()));
  } else if (region.part) {
    for (const RecordBuffer& piece : *region.base_records) victims.push_back(piece.NewIterator());
  } else if (!region.bases.empty()) {
    for (const auto& piece : region.bases[0]->tph().pieces()) {
      victims.push_back(piece->NewIterator(CompactionReads()));
    }
  }
  if (!region.part || region.first_part) {
    for (const TableRef& base : region.bases) {
      report_.AddBaseRead(&JobReport::whole_bytes_read, base->meta().TotalBytes());
    }
  }
  if (!region.bases.empty() && in_.rewrite) creation = in_.context->clock->NowMicros() / 1000000;
  JobInput input(&icmp_, in_.context->hasher, records, std::move(victims), nullptr);
  RangeTombstoneSet covering(cmp_);
  Status s = AddCovering(region, &covering);
  if (!s.ok()) return s;
  const bool bottom = IsBottom(region);
  CompactionIteratorOptions options = IteratorOptions(&covering);
  options.bottommost = bottom;
  // The value store decides by sequences which values are live.
  options.allow_zero_sequence = bottom && MayZeroSequences(region) && values_.idle();
  if (!bottom) {
    options.may_exist_outside = [&](const Slice& user_key) {
      return in_.version->MayHoldBelow(in_.output_level, user_key, in_.context->hasher(user_key));
    };
  }
  CompactionIterator it(&input, std::move(options));

  std::vector<RangeTombstone> tombstones;
  s = RegionTombstones(region, nullptr, &tombstones);
  if (!s.ok()) return s;
  // Tombstones of the table now open: from `lower` up to where it is cut.
  std::optional<std::string> lower = region.lower;
  const auto take = [&](const std::optional<std::string>& to) {
    std::vector<RangeTombstone> part;
    for (RangeTombstone t : tombstones) {
      if (ClipTombstone(cmp_, lower, to, &t)) part.push_back(std::move(t));
    }
    lower = to;
    return part;
  };
  if (!region.part || region.first_part) {
    for (const TableRef& base : region.bases) Replace(base);
  }
  const uint64_t cut_at = CutBytes(region);
  std::unique_ptr<PieceBuilder> builder;
  uint64_t n = 0;
  std::string last_user_key;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    const Slice user_key = it.user_key();
    if (builder != nullptr && builder->EstimatedBytes() >= cut_at &&
        !IsSameKey(cmp_, user_key, last_user_key)) {
      s = FinishWholeTable(in_.output_level, region, std::move(builder), creation,
                           take(StartOfKey(cmp_, user_key)));
    }
    if (s.ok() && builder == nullptr) s = NewPiece(in_.output_level, &builder);
    if (s.ok()) s = Add(it, builder.get());
    if (s.ok()) s = Pause(++n);
    if (!s.ok()) return s;
    if (builder->EstimatedBytes() >= cut_at) {
      last_user_key.assign(user_key.data(), user_key.size());
    }
  }
  if (!it.status().ok()) return it.status();
  report_.AddMerged(it.stats());
  std::vector<RangeTombstone> rest = take(region.upper);
  if (builder == nullptr && !rest.empty()) s = NewPiece(in_.output_level, &builder);
  if (s.ok() && builder != nullptr) {
    s = FinishWholeTable(in_.output_level, region, std::move(builder), creation, rest);
  }
  return s;
}

// As a flush would write it: bases and deeper levels may hold anything.
Status RegionMerge::RunRest(const Region& region, InternalIterator* delta) {
  BoundedIterator records(cmp_, delta, region.upper ? &*region.upper : nullptr);
  RangeTombstoneSet covering(cmp_);
  Status s = delta_.AddCovering(&covering);
  if (!s.ok()) return s;
  CompactionIteratorOptions options = IteratorOptions(&covering);
  options.filter = nullptr;
  options.level = 0;
  options.may_exist_outside = [](const Slice&) { return true; };
  CompactionIterator it(&records, std::move(options));
  std::unique_ptr<PieceBuilder> builder;
  s = AddAll(&it, 0, &builder);
  if (!s.ok()) return s;
  std::vector<RangeTombstone> tombstones;
  for (RangeTombstone t : delta_.TombstonesIn(region.lower, region.upper)) {
    if (ClipTombstone(cmp_, region.lower, region.upper, &t) && !Trimmed(t)) {
      tombstones.push_back(std::move(t));
    }
  }
  if (builder == nullptr && !tombstones.empty()) s = NewPiece(0, &builder);
  if (!s.ok() || builder == nullptr) return s;
  return FinishWholeTable(0, region, std::move(builder), OldestCreation(Region()), tombstones);
}

}  // namespace compassdb
