// SPDX-License-Identifier: Apache-2.0
#include "lsm/compaction/exec/compaction_job.h"

#include <algorithm>

#include "iter/compaction_iterator.h"
#include "iter/merging_iterator.h"
#include "table/key_order.h"

namespace compassdb {

namespace {

constexpr size_t kReadahead = 2 << 20;

BlockReadOptions CompactionReads() {
  BlockReadOptions read;
  read.fill_cache = false;
  read.readahead_bytes = kReadahead;
  return read;
}

GcConfig MakeGcConfig(const StoreOptions& o) {
  return {o.max_pieces, o.max_dead_percent, o.target_table_bytes};
}

bool HasMerges(const TphMeta& meta) {
  return std::any_of(meta.pieces.begin(), meta.pieces.end(),
                     [](const TphPiece& p) { return p.meta.num_merges > 0; });
}

// Clips t to [lower, upper); false if nothing is left.
bool Clip(const Comparator* cmp, const std::optional<std::string>& lower,
          const std::optional<std::string>& upper, RangeTombstone* t) {
  if (lower && cmp->Compare(t->start, *lower) < 0) t->start = *lower;
  if (upper && cmp->Compare(t->end, *upper) > 0) t->end = *upper;
  return cmp->Compare(t->start, t->end) < 0;
}

}  // namespace

CompactionJob::CompactionJob(const CompactionJobInput& input,
                             const std::vector<SequenceNumber>& snapshots,
                             const std::atomic<bool>* cancel)
    : in_(input),
      snapshots_(snapshots),
      cancel_(cancel),
      cmp_(input.options->comparator),
      icmp_(cmp_),
      gc_(MakeGcConfig(*input.options)),
      file_(input.context, /*flush=*/false) {}

Status CompactionJob::Run(VersionEdit* edit, JobReport* report) {
  edit_ = edit;
  report_ = report;
  const StoreOptions& o = *in_.options;
  filter_ = o.compaction_filter;
  if (o.compaction_filter_factory != nullptr && filter_ == nullptr) {
    rocksdb::CompactionFilter::Context context;
    context.is_full_compaction = in_.full;
    context.is_manual_compaction = in_.manual;
    context.column_family_id = o.column_family_id;
    context.reason = rocksdb::TableFileCreationReason::kCompaction;
    if (o.compaction_filter_factory->ShouldFilterTableFileCreation(context.reason)) {
      owned_filter_ = o.compaction_filter_factory->CreateCompactionFilter(context);
      filter_ = owned_filter_.get();
    }
  }
  for (const TableRef& t : in_.inputs) edit->deleted.push_back({in_.input_level, t->meta().tph_id});

  Status s;
  if (in_.rewrite) {
    delta_ = NewEmptyInternalIterator();
    for (const TableRef& t : in_.inputs) {
      s = RunWhole({t, std::nullopt, std::nullopt});
      if (!s.ok()) return s;
    }
    return file_.Finish();
  }
  std::vector<InternalIteratorPtr> children;
  for (const TableRef& t : in_.inputs) {
    children.push_back(t->tph().NewIterator(CompactionReads()));
    report->bytes_read += t->meta().TotalBytes();
  }
  delta_ = NewMergingIterator(&icmp_, std::move(children));
  s = CutRegions();
  if (s.ok()) {
    delta_->SeekToFirst();
    s = delta_->status();
  }
  for (size_t i = 0; s.ok() && i < regions_.size(); ++i) s = RunRegion(regions_[i]);
  if (!s.ok()) return s;
  return file_.Finish();
}

uint64_t CompactionJob::DeltaBytes(const std::optional<std::string>& lower,
                                   const std::optional<std::string>& upper) const {
  uint64_t sum = 0;
  for (const TableRef& t : in_.inputs) {
    const TphMeta& m = t->meta();
    const uint64_t total = m.TotalBytes();
    const auto offset = [&](const std::optional<std::string>& key, uint64_t open) -> uint64_t {
      if (!key) return open;
      if (cmp_->Compare(*key, m.smallest) <= 0) return 0;
      if (cmp_->Compare(*key, m.largest) > 0) return total;
      return t->tph().ApproximateOffset(*key);
    };
    const uint64_t a = offset(lower, 0), b = offset(upper, total);
    if (b <= a || total == 0) continue;
    // Dead records do not come down.
    sum += static_cast<uint64_t>(static_cast<double>(b - a) / static_cast<double>(total) *
                                 static_cast<double>(m.LiveDataBytes()));
  }
  return sum;
}

bool CompactionJob::FirstDeltaKeyAfter(const std::string& key, std::string* found, Status* s) {
  // The seek key with sequence 0 sorts behind every version of `key`.
  std::string target;
  AppendInternalKey(&target, key, 0, kTypeDeletion);
  delta_->Seek(target);
  while (delta_->Valid() && cmp_->Compare(ExtractUserKey(delta_->key()), key) == 0) delta_->Next();
  *s = delta_->status();
  if (!delta_->Valid()) return false;
  *found = ExtractUserKey(delta_->key()).ToString();
  return true;
}

// A base owns the keys from its smallest to the next base's; the first owns
// what comes before it, too. A gap with enough data becomes tables of its own,
// from its first key on, so that appending does not make the last table swell.
Status CompactionJob::CutRegions() {
  regions_.clear();
  if (in_.bases.empty()) {
    regions_.push_back({nullptr, std::nullopt, std::nullopt});
    return Status::OK();
  }
  const uint64_t enough = gc_.target_table_bytes / 4;
  std::optional<std::string> lower;
  if (DeltaBytes(std::nullopt, in_.bases[0]->meta().smallest) >= enough) {
    lower = in_.bases[0]->meta().smallest;
    regions_.push_back({nullptr, std::nullopt, lower});
  }
  for (size_t i = 0; i < in_.bases.size(); ++i) {
    std::optional<std::string> upper;
    if (i + 1 < in_.bases.size()) upper = in_.bases[i + 1]->meta().smallest;
    const std::string& largest = in_.bases[i]->meta().largest;
    std::string gap;
    Status s;
    if (DeltaBytes(largest, upper) >= enough && FirstDeltaKeyAfter(largest, &gap, &s) &&
        (!upper || cmp_->Compare(gap, *upper) < 0)) {
      regions_.push_back({in_.bases[i], lower, gap});
      regions_.push_back({nullptr, gap, upper});
    } else {
      regions_.push_back({in_.bases[i], lower, upper});
    }
    if (!s.ok()) return s;
    lower = upper;
  }
  return Status::OK();
}

uint64_t CompactionJob::OldestCreation(const TableRef& base) const {
  uint64_t oldest = UINT64_MAX;
  const auto look = [&](const TphMeta& m) {
    for (const TphPiece& p : m.pieces) oldest = std::min(oldest, p.meta.creation_time);
  };
  for (const TableRef& t : in_.inputs) look(t->meta());
  if (base != nullptr) look(base->meta());
  return oldest == UINT64_MAX ? 0 : oldest;
}

PieceBuildOptions CompactionJob::BuildOptions() const {
  const StoreOptions& o = *in_.options;
  PieceBuildOptions b;
  b.comparator = cmp_;
  b.hasher = in_.context->hasher;
  b.block_size = o.block_size;
  if (static_cast<size_t>(in_.output_level) < o.compression.size()) {
    b.compression = o.compression[in_.output_level];
  }
  b.compression_level = o.compression_level;
  return b;
}

Status CompactionJob::NewPiece(std::unique_ptr<PieceBuilder>* builder, uint64_t* id) {
  CompactionFileWriter* writer = nullptr;
  Status s = file_.Writer(&writer);
  if (!s.ok()) return s;
  *id = in_.context->new_number();
  *builder = std::make_unique<PieceBuilder>(BuildOptions(), writer, *id);
  return Status::OK();
}

std::vector<RangeTombstone> CompactionJob::RegionTombstones(const Region& region,
                                                            const BaseTable* base) const {
  std::vector<RangeTombstone> result;
  const auto add = [&](const Piece& piece) {
    for (RangeTombstone t : piece.range_tombstones()) {
      if (Clip(cmp_, region.lower, region.upper, &t) && TombstoneNeeded(t, base)) {
        result.push_back(std::move(t));
      }
    }
  };
  if (!in_.rewrite) {
    for (const TableRef& t : in_.inputs) {
      for (const auto& piece : t->tph().pieces()) add(*piece);
    }
  }
  if (region.base != nullptr) {
    const auto& pieces = region.base->tph().pieces();
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (base == nullptr || base->is_victim(i)) add(*pieces[i]);
    }
  }
  return result;
}

// A range tombstone goes when all readers see it and nothing that it covers
// may be left: in this table, or deeper (rules 1, 4).
bool CompactionJob::TombstoneNeeded(const RangeTombstone& t, const BaseTable* base) const {
  if (!snapshots_.empty() && t.sequence > snapshots_.front()) return true;
  if (base != nullptr && base->StayingOverlaps(cmp_, t.start, t.end)) return true;
  const Slice start(t.start), end(t.end);
  return in_.version->OverlapsBelow(in_.output_level, &start, &end);
}

std::unique_ptr<RangeTombstoneSet> CompactionJob::Covering(const Region& region) const {
  auto set = std::make_unique<RangeTombstoneSet>(cmp_);
  const auto add = [&](const TableRef& t) {
    if (t->tph().range_tombstones().empty()) return;
    set->Add(std::shared_ptr<const RangeTombstoneList>(t, &t->tph().range_tombstones()));
  };
  if (!in_.rewrite) {
    for (const TableRef& t : in_.inputs) add(t);
  }
  if (region.base != nullptr) add(region.base);
  return set;
}

void CompactionJob::Replace(const TableRef& base) {
  if (base == nullptr || in_.rewrite) return;  // inputs are in the edit already
  edit_->deleted.push_back({in_.output_level, base->meta().tph_id});
}

Status CompactionJob::RunRegion(const Region& region) {
  BoundedIterator probe(cmp_, delta_.get(), region.upper ? &*region.upper : nullptr);
  if (!probe.status().ok()) return probe.status();
  if (!probe.Valid()) {
    bool any = false;
    for (const TableRef& t : in_.inputs) {
      for (const auto& piece : t->tph().pieces()) {
        for (RangeTombstone r : piece->range_tombstones()) {
          any = any || Clip(cmp_, region.lower, region.upper, &r);
        }
      }
    }
    if (!any) return Status::OK();  // the base stays as it is
  }
  if (region.base == nullptr) return RunWhole(region);
  const uint64_t delta_bytes = DeltaBytes(region.lower, region.upper);
  const GcChoice choice = ChooseVictimPieces(region.base->meta(), delta_bytes, gc_);
  // Keys of different bytes may be equal: hash lists cannot tell what is shadowed.
  if (!KeyOrder(cmp_).HashesStandForKeys()) return RunWhole(region);
  // Keys that share a 64-bit hash make the directory's answers inexact: BaseTable's invariant.
  if (choice.whole || region.base->tph().directory().has_ambiguous()) return RunWhole(region);
  // Operands of a key may be folded only with their neighbours in sequence,
  // and a piece that stays may hold those between two victims' operands, or,
  // where a snapshot keeps a victim's old record, between it and the delta's.
  const auto merges = [](const TableRef& t) { return HasMerges(t->meta()); };
  if (!choice.victims.empty() &&
      (merges(region.base) ||
       (!snapshots_.empty() && std::any_of(in_.inputs.begin(), in_.inputs.end(), merges)))) {
    return RunWhole(region);
  }
  return RunPartial(region, choice, OldestCreation(region.base));
}

Status CompactionJob::RunPartial(const Region& region, const GcChoice& choice,
                                 uint64_t oldest_creation) {
  BaseTable base(region.base, /*whole=*/false, choice.victims, &snapshots_);
  Status s = base.Load();
  if (!s.ok()) return s;
  std::vector<InternalIteratorPtr> victims;
  for (size_t v : choice.victims) {
    victims.push_back(region.base->tph().pieces()[v]->NewIterator(CompactionReads()));
    report_->bytes_read += region.base->meta().pieces[v].meta.extent.length;
  }
  report_->bytes_read += base.bytes_read();
  BoundedIterator bounded(cmp_, delta_.get(), region.upper ? &*region.upper : nullptr);
  JobInput input(&icmp_, in_.context->hasher, &bounded, std::move(victims), &base);
  std::unique_ptr<RangeTombstoneSet> covering = Covering(region);

  CompactionIteratorOptions options;
  options.comparator = cmp_;
  options.snapshots = snapshots_;
  options.tombstones = covering.get();
  options.merge.op = in_.options->merge_operator.get();
  options.merge.statistics = in_.context->statistics;
  options.filter = filter_;
  options.level = in_.output_level;
  options.may_exist_outside = [&](const Slice& user_key) {
    const KeyHash hash = in_.context->hasher(user_key);
    return base.StayingMayHold(hash) ||
           in_.version->MayHoldBelow(in_.output_level, user_key, hash);
  };
  options.is_stale = [&](const Slice& user_key) { return input.IsStale(user_key); };
  CompactionIterator it(&input, std::move(options));

  std::unique_ptr<PieceBuilder> builder;
  uint64_t id = 0;
  uint64_t n = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    if (builder == nullptr) s = NewPiece(&builder, &id);
    if (s.ok()) s = builder->Add(it.key(), it.value(), it.stale());
    if (!s.ok()) return s;
    if ((++n & 0x3ff) == 0) {
      file_.Throttle();
      if (Cancelled()) return Status::ShutdownInProgress("compaction cancelled");
    }
  }
  if (!it.status().ok()) return it.status();
  report_->records_in += it.stats().records_in;
  report_->records_out += it.stats().records_out;

  const std::vector<RangeTombstone> tombstones = RegionTombstones(region, &base);
  for (const RangeTombstone& t : tombstones) {
    if (builder == nullptr) s = NewPiece(&builder, &id);
    if (!s.ok()) return s;
    builder->AddRangeTombstone(t);
  }
  PieceMeta head;
  PieceHashes head_hashes;
  if (builder != nullptr) {
    s = builder->Finish(&head, &head_hashes);
    if (!s.ok()) return s;
    head.creation_time = oldest_creation;
  }
  TphMeta meta = region.base->meta();
  std::vector<DirectoryEntry> entries;
  base.Assemble(builder != nullptr ? &head : nullptr, &head_hashes, &meta, &entries);
  Replace(region.base);
  if (meta.pieces.empty()) return Status::OK();
  if (builder != nullptr) ExtendBounds(cmp_, head, tombstones, /*first=*/false, &meta);
  meta.tph_id = in_.context->new_number();
  s = WriteTableDirectory(entries, in_.context->hasher.seed(), &file_, &meta);
  if (!s.ok()) return s;
  report_->outputs.push_back(meta);
  edit_->added.push_back({in_.output_level, std::move(meta)});
  return Status::OK();
}

Status CompactionJob::FinishWholeTable(std::unique_ptr<PieceBuilder> builder,
                                       uint64_t creation_time,
                                       const std::vector<RangeTombstone>& tombstones) {
  for (const RangeTombstone& t : tombstones) builder->AddRangeTombstone(t);
  PieceMeta piece;
  PieceHashes hashes;
  Status s = builder->Finish(&piece, &hashes);
  if (!s.ok()) return s;
  piece.creation_time = creation_time;
  TphMeta meta;
  meta.tph_id = in_.context->new_number();
  ExtendBounds(cmp_, piece, tombstones, /*first=*/true, &meta);
  meta.pieces.push_back({piece, piece.num_keys});
  s = WriteOnePieceDirectory(hashes, in_.context->hasher.seed(), &file_, &meta);
  if (!s.ok()) return s;
  report_->outputs.push_back(meta);
  edit_->added.push_back({in_.output_level, std::move(meta)});
  return Status::OK();
}

// No deeper table shares keys with what the region takes in.
bool CompactionJob::IsBottom(const Region& region) const {
  std::optional<Slice> low, high;
  const auto extend = [&](const TphMeta& m) {
    if (!low || cmp_->Compare(m.smallest, *low) < 0) low = m.smallest;
    if (!high || cmp_->Compare(m.largest, *high) > 0) high = m.largest;
  };
  if (region.base != nullptr) extend(region.base->meta());
  if (!in_.rewrite) {
    for (const TableRef& t : in_.inputs) extend(t->meta());
  }
  if (region.lower && (!low || cmp_->Compare(*region.lower, *low) > 0)) low = *region.lower;
  if (region.upper && (!high || cmp_->Compare(*region.upper, *high) < 0)) high = *region.upper;
  return !in_.version->OverlapsBelow(in_.output_level, low ? &*low : nullptr,
                                     high ? &*high : nullptr);
}

// Everything in the region is rewritten, into tables of the target size.
Status CompactionJob::RunWhole(const Region& region) {
  std::vector<InternalIteratorPtr> victims;
  uint64_t creation = OldestCreation(region.base);
  if (region.base != nullptr) {
    for (const auto& piece : region.base->tph().pieces()) {
      victims.push_back(piece->NewIterator(CompactionReads()));
    }
    report_->bytes_read += region.base->meta().TotalBytes();
    if (in_.rewrite) creation = in_.context->clock->NowMicros() / 1000000;
  }
  BoundedIterator bounded(cmp_, delta_.get(), region.upper ? &*region.upper : nullptr);
  JobInput input(&icmp_, in_.context->hasher, &bounded, std::move(victims), nullptr);
  std::unique_ptr<RangeTombstoneSet> covering = Covering(region);
  const bool bottom = IsBottom(region);
  CompactionIteratorOptions options;
  options.comparator = cmp_;
  options.snapshots = snapshots_;
  options.tombstones = covering.get();
  options.merge.op = in_.options->merge_operator.get();
  options.merge.statistics = in_.context->statistics;
  options.filter = filter_;
  options.level = in_.output_level;
  options.bottommost = bottom;
  options.allow_zero_sequence = bottom;
  if (!bottom) {
    options.may_exist_outside = [&](const Slice& user_key) {
      return in_.version->MayHoldBelow(in_.output_level, user_key, in_.context->hasher(user_key));
    };
  }
  CompactionIterator it(&input, std::move(options));

  const std::vector<RangeTombstone> tombstones = RegionTombstones(region, nullptr);
  // Tombstones of the table now open: from `lower` up to where it is cut.
  std::optional<std::string> lower = region.lower;
  const auto take = [&](const std::optional<std::string>& to) {
    std::vector<RangeTombstone> part;
    for (RangeTombstone t : tombstones) {
      if (Clip(cmp_, lower, to, &t)) part.push_back(std::move(t));
    }
    lower = to;
    return part;
  };
  Replace(region.base);
  Status s;
  std::unique_ptr<PieceBuilder> builder;
  uint64_t id = 0, n = 0;
  std::string last_user_key;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    const Slice user_key = it.user_key();
    if (builder != nullptr && builder->EstimatedBytes() >= gc_.target_table_bytes &&
        cmp_->Compare(user_key, last_user_key) != 0) {
      s = FinishWholeTable(std::move(builder), creation, take(user_key.ToString()));
    }
    if (s.ok() && builder == nullptr) s = NewPiece(&builder, &id);
    if (s.ok()) s = builder->Add(it.key(), it.value());
    if (!s.ok()) return s;
    if (builder->EstimatedBytes() >= gc_.target_table_bytes) {
      last_user_key.assign(user_key.data(), user_key.size());
    }
    if ((++n & 0x3ff) == 0) {
      file_.Throttle();
      if (Cancelled()) return Status::ShutdownInProgress("compaction cancelled");
    }
  }
  if (!it.status().ok()) return it.status();
  report_->records_in += it.stats().records_in;
  report_->records_out += it.stats().records_out;
  std::vector<RangeTombstone> rest = take(region.upper);
  if (builder == nullptr && !rest.empty()) s = NewPiece(&builder, &id);
  if (s.ok() && builder != nullptr) s = FinishWholeTable(std::move(builder), creation, rest);
  return s;
}

}  // namespace compassdb
