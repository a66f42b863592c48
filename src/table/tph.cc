// SPDX-License-Identifier: Apache-2.0
#include "table/tph.h"

#include <algorithm>
#include <numeric>

#include "iter/merging_iterator.h"
#include "table/piece/block_set.h"
#include "table/piece/piece_reader.h"
#include "table/piece/prefix_filtered_iterator.h"
#include "table/read_stats.h"
#include "util/heap_bytes.h"

namespace compassdb {

namespace {

std::string Describe(const TphMeta& meta) { return "table " + std::to_string(meta.tph_id); }

Status EmptyDirectory(std::unique_ptr<Directory>* out) {
  std::string bytes;
  BuildDirectory({}, 0, kBottomFingerprints, {}, &bytes);  // no keys fit any format
  return Directory::Open(std::move(bytes), out);
}

}  // namespace

Tph::Tph(const TableContextRef& context, const TphMeta& meta,
         std::vector<std::shared_ptr<Piece>> pieces, IndexMode mode)
    : context_(context),
      meta_(meta),
      pieces_(std::move(pieces)),
      comparator_(context->options.comparator),
      ask_filters_(context->options.filters),
      directory_(context, mode, IndexCache::Kind::kFilter),
      paged_(mode == IndexMode::kPaged && meta.directory.length != 0
                 ? std::make_unique<PagedDirectory>(context, meta_)
                 : nullptr),
      tombstones_(context, IndexMode::kResident, IndexCache::Kind::kIndex) {}

Status Tph::Open(const TableContextRef& context, const TphMeta& meta,
                 std::vector<std::shared_ptr<Piece>> pieces, IndexMode mode,
                 std::shared_ptr<Tph>* out) {
  out->reset();
  if (pieces.size() != meta.pieces.size()) {
    return Status::InvalidArgument(Describe(meta), "opened with another number of pieces");
  }
  std::shared_ptr<Tph> tph(new Tph(context, meta, std::move(pieces), mode));
  tph->use_directory_ = (meta.directory.length != 0 || meta.num_keys == 0) &&
                        context->order.HashesIdentifyKeys();
  for (size_t i = 0; i < tph->pieces_.size(); ++i) {
    const PieceMeta& piece = tph->pieces_[i]->meta();
    if (piece.num_records > 0) tph->search_order_.push_back(static_cast<uint32_t>(i));
    if (piece.num_range_tombstones > 0) tph->has_range_tombstones_ = true;
  }
  std::stable_sort(tph->search_order_.begin(), tph->search_order_.end(), [&](uint32_t a, uint32_t b) {
    return tph->pieces_[a]->meta().largest_seq > tph->pieces_[b]->meta().largest_seq;
  });
  if (!tph->use_directory_ && tph->search_order_.size() == 1 &&
      context->order.HashesIdentifyKeys()) {
    tph->sole_piece_ = tph->search_order_.front();
  }
  *out = std::move(tph);
  return Status::OK();
}

Status Tph::Load() const {
  DirectoryRef directory;
  Status s;
  if (meta_.directory.length != 0) {
    s = paged_ != nullptr ? paged_->Load({}) : OpenDirectory({}, &directory);
  }
  PieceRef piece;
  for (size_t i = 0; s.ok() && i < pieces_.size(); ++i) s = pieces_[i]->Open({}, &piece);
  if (!s.ok() || !has_range_tombstones_) return s;
  PartRef<RangeTombstoneList> tombstones;
  return RangeTombstones({}, &tombstones);
}

Status Tph::ReadDirectory(std::unique_ptr<const Directory>* out) const {
  std::unique_ptr<Directory> directory;
  if (meta_.directory.length == 0) {
    Status s = EmptyDirectory(&directory);
    *out = std::move(directory);
    return s;
  }
  Status s = compassdb::ReadDirectory(context_->files, meta_.directory, meta_.directory_file_id,
                                      &directory);
  if (!s.ok()) return s;
  s = CheckDirectory(meta_, directory->num_keys(), directory->num_pieces());
  if (s.ok()) *out = std::move(directory);
  return s;
}

Status Tph::OpenDirectory(const BlockReadOptions& read, DirectoryRef* ref) const {
  if (paged_ != nullptr) {
    std::unique_ptr<const Directory> whole;
    Status s = ReadDirectory(&whole);
    if (s.ok()) {
      *ref = DirectoryRef(std::make_unique<CountedPart<Directory>>(context_, std::move(whole), 0));
    }
    return s;
  }
  return directory_.Get(
      read, [this](std::unique_ptr<const Directory>* loaded) { return ReadDirectory(loaded); },
      ref);
}

Status Tph::Lookup(const BlockReadOptions& read, const KeyHash& hash, DirectoryHit* hit) const {
  if (paged_ != nullptr) return paged_->Lookup(read, hash, hit);
  DirectoryRef directory;
  Status s = OpenDirectory(read, &directory);
  if (s.ok()) *hit = directory->Lookup(hash);
  return s;
}

bool Tph::MayHold(const Slice& user_key, const KeyHash& hash) const {
  if (use_directory_) {
    DirectoryHit hit;
    return !Lookup({}, hash, &hit).ok() || hit.kind != DirectoryHit::kAbsent;
  }
  return std::any_of(search_order_.begin(), search_order_.end(), [&](uint32_t i) {
    return pieces_[i]->AskFilter({}, user_key) != FilterAnswer::kAbsent;
  });
}

Status Tph::RangeTombstones(const BlockReadOptions& read,
                            PartRef<RangeTombstoneList>* ref) const {
  return tombstones_.Get(
      read,
      [this](std::unique_ptr<const RangeTombstoneList>* loaded) {
        std::vector<RangeTombstone> all;
        Status s;
        for (size_t i = 0; s.ok() && i < pieces_.size(); ++i) {
          s = pieces_[i]->ReadRangeTombstones(&all);
        }
        if (s.ok()) *loaded = std::make_unique<RangeTombstoneList>(all, comparator_.user_comparator());
        return s;
      },
      ref);
}

Status Tph::AddCoveringTombstone(const BlockReadOptions& read, const Slice& user_key,
                                 GetContext* ctx) const {
  PartRef<RangeTombstoneList> tombstones;
  Status s = RangeTombstones(read, &tombstones);
  if (s.ok()) {
    ctx->AddCoveringTombstone(tombstones->MaxCoveringSequence(user_key, ctx->snapshot()));
  }
  return s;
}

// Without a filter the directory takes its place, and is counted as one.
void Tph::CountProbe(const DirectoryHit& hit) const {
  CountFilter(hit.kind == DirectoryHit::kAbsent ? FilterAnswer::kAbsent : FilterAnswer::kPerhaps);
}

// A key is in the piece that its slot names, or in none, so one filter decides for the whole table, before the
// fingerprint does. With a paged directory the filter is checked after the fingerprint: it is in the piece's
// index, which would have to be loaded for absent keys.
FilterAnswer Tph::AskFilter(const BlockReadOptions& read, const Slice& user_key,
                            const DirectoryHit& hit, const DirectoryProbe& probe) const {
  uint32_t piece = hit.piece;
  if (hit.kind != DirectoryHit::kPiece) {
    if (probe.directory == nullptr || probe.directory->num_keys() == 0) return FilterAnswer::kNotAsked;
    piece = probe.directory->PieceAt(probe.slot);
  }
  return pieces_[piece]->AskFilter(read, user_key);
}

void Tph::CountFilter(FilterAnswer answer) const {
  const bool absent = answer == FilterAnswer::kAbsent;
  Tick(context_->options.statistics,
       absent ? rocksdb::BLOOM_FILTER_USEFUL : rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  if (rocksdb::PerfContext* perf = PerfCounters()) {
    ++(absent ? perf->bloom_sst_miss_count : perf->bloom_sst_hit_count);
  }
}

Status Tph::Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                const DirectoryProbe& probe, GetContext* ctx) const {
  if (has_range_tombstones_) {
    if (Status s = AddCoveringTombstone(read, user_key, ctx); !s.ok()) return s;
  }
  DirectoryHit hit;
  if (!use_directory_) {
    if (!sole_piece_) return SearchPieces(read, user_key, nullptr, ctx);
    hit = {DirectoryHit::kPiece, *sole_piece_};
  } else if (probe.directory != nullptr) [[likely]] {
    hit = probe.directory->LookupAt(probe.slot, hash);
  } else if (Status s = Lookup(read, hash, &hit); !s.ok()) {
    // Scans do not load directories. Pieces that they leave in memory are searched without one.
    return s.IsIncomplete() && read.cache_only ? SearchPieces(read, user_key, nullptr, ctx) : s;
  }
  if (hit.kind == DirectoryHit::kAmbiguous) {
    CountProbe(hit);
    return SearchPieces(read, user_key, nullptr, ctx);
  }
  FilterAnswer filter = FilterAnswer::kNotAsked;
  if (ask_filters_) filter = AskFilter(read, user_key, hit, probe);
  if (filter == FilterAnswer::kNotAsked) {
    CountProbe(hit);
  } else {
    CountFilter(filter);
  }
  if (hit.kind == DirectoryHit::kAbsent || filter == FilterAnswer::kAbsent) return Status::OK();

  const Piece& piece = *pieces_[hit.piece];
  const Piece* const passed = filter == FilterAnswer::kPerhaps ? &piece : nullptr;
  Piece::Found found = Piece::Found::kUndecided;
  if (read.blocks == nullptr) {  // or else BeginGet has asked
    Status s = piece.FindNewest(read, user_key, hash, ctx, &found);
    if (!s.ok()) return s;
  }
  switch (found) {
    case Piece::Found::kFed:
      Tick(context_->options.statistics, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
      return Status::OK();
    case Piece::Found::kAbsent:
      return Status::OK();  // another key's slot, with the same fingerprint
    case Piece::Found::kNotAlone:
      Tick(context_->options.statistics, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
      return SearchPieces(read, user_key, passed, ctx);
    case Piece::Found::kUndecided:
      break;
  }
  // Of the key's records only those of other pieces can be visible.
  if (piece.meta().smallest_seq > ctx->snapshot()) return SearchPieces(read, user_key, nullptr, ctx);
  FoundRecord record;
  Status s = piece.Find(read, user_key, ctx->snapshot(), &record);
  if (!s.ok()) return s;
  if (!record.key_present) return s;  // another key's slot, with the same fingerprint
  Tick(context_->options.statistics, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  // The slot names the newest record of the key over all pieces (docs/design/rules.md, tables,
  // rule 2): if this is that record, nothing else can come before it. A record that a tombstone
  // covers is fed, too: ctx handles it as a deletion.
  if (record.found && record.newest && record.type != kTypeMerge) {
    ctx->Add(record.sequence, record.type, record.value, &record.pin);
    return s;
  }
  record.pin.Reset();
  return SearchPieces(read, user_key, passed, ctx);
}

Tph::Begun Tph::BeginGet(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                         const DirectoryProbe& probe, GetContext* ctx, BlockSet* blocks) const {
  if (!use_directory_ && !sole_piece_) return Begun::kGoOn;
  if (has_range_tombstones_ && !AddCoveringTombstone(read, user_key, ctx).ok()) {
    return Begun::kGoOn;  // Get gets the error, too
  }
  DirectoryHit hit;
  if (sole_piece_) {
    hit = {DirectoryHit::kPiece, *sole_piece_};
  } else if (probe.directory != nullptr) [[likely]] {
    hit = probe.directory->LookupAt(probe.slot, hash);
  } else if (!Lookup(read, hash, &hit).ok()) {
    return Begun::kGoOn;
  }
  if (hit.kind == DirectoryHit::kAmbiguous) return Begun::kGoOn;
  FilterAnswer filter = FilterAnswer::kNotAsked;
  if (ask_filters_) filter = AskFilter(read, user_key, hit, probe);
  if (filter == FilterAnswer::kNotAsked) {
    filter = hit.kind == DirectoryHit::kAbsent ? FilterAnswer::kAbsent : FilterAnswer::kPerhaps;
  }
  if (hit.kind == DirectoryHit::kAbsent || filter == FilterAnswer::kAbsent) {
    CountFilter(filter);
    return Begun::kAbsent;
  }
  const Piece::Found cached = pieces_[hit.piece]->FindCached(user_key, hash, ctx);
  if (cached == Piece::Found::kUndecided) {
    if (pieces_[hit.piece]->meta().smallest_seq > ctx->snapshot()) return Begun::kGoOn;
    PieceRef piece;
    if (!pieces_[hit.piece]->Open(read, &piece).ok()) return Begun::kGoOn;
    const uint32_t block = piece->SeekBlock(user_key);
    if (block < piece->num_blocks()) blocks->Want(std::move(piece), block);
    return Begun::kGoOn;
  }
  CountFilter(filter);
  if (cached == Piece::Found::kAbsent) return Begun::kAbsent;
  Tick(context_->options.statistics, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  return Begun::kFed;
}

// Feeds the visible versions of all pieces in decreasing order of sequence.
// A piece is searched only when a record of it could be next: none has a
// sequence above its largest_seq.
Status Tph::SearchPieces(const BlockReadOptions& read, const Slice& user_key, const Piece* passed,
                         GetContext* ctx) const {
  std::vector<VersionCursor> cursors;
  size_t next = 0;
  SequenceNumber last_fed = kMaxSequenceNumber + 1;
  for (;;) {
    VersionCursor* best = nullptr;
    for (VersionCursor& c : cursors) {
      if (c.Valid() && (best == nullptr || c.record().sequence > best->record().sequence)) best = &c;
    }
    if (next < search_order_.size()) {
      const Piece& piece = *pieces_[search_order_[next]];
      if (best == nullptr || best->record().sequence <= piece.meta().largest_seq) {
        ++next;
        if (piece.meta().smallest_seq > ctx->snapshot()) continue;
        PieceRef reader;
        Status s = piece.Open(read, &reader);
        if (!s.ok()) return s;
        FilterAnswer filter = FilterAnswer::kNotAsked;
        if (ask_filters_ && &piece != passed) filter = piece.AskFilter(read, user_key);
        if (filter != FilterAnswer::kNotAsked) CountFilter(filter);
        if (filter == FilterAnswer::kAbsent) continue;
        VersionCursor cursor(std::move(reader), read, user_key);
        s = cursor.Seek(ctx->snapshot());
        if (!s.ok()) return s;
        if (filter != FilterAnswer::kNotAsked && cursor.key_present()) {
          Tick(context_->options.statistics, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
        }
        if (cursor.Valid()) cursors.push_back(std::move(cursor));
        continue;
      }
    }
    if (best == nullptr) return Status::OK();
    const Block::Record record = best->record();
    if (record.sequence < last_fed) {  // a copy of the same record is fed once
      last_fed = record.sequence;
      if (record.type == kTypeMerge) {
        if (!ctx->Add(record.sequence, record.type, record.value, nullptr)) return Status::OK();
      } else {
        // The last one: the block is pinned with the value.
        rocksdb::Cleanable pin;
        best->block()->MoveInto(&pin);
        ctx->Add(record.sequence, record.type, record.value, &pin);
        return Status::OK();
      }
    }
    Status s = best->Next();
    if (!s.ok()) return s;
  }
}

InternalIteratorPtr Tph::NewIterator(const BlockReadOptions& read) const {
  std::vector<InternalIteratorPtr> children;
  BlockReadOptions of_piece = read;
  const auto bytes = static_cast<float>(std::max<uint64_t>(meta_.DataBytes(), 1));
  for (uint32_t i : search_order_) {
    of_piece.walk_share = static_cast<float>(pieces_[i]->meta().data_bytes) / bytes;
    children.push_back(read.prefix_seek == nullptr
                           ? pieces_[i]->NewIterator(of_piece)
                           : NewPrefixFilteredIterator(*pieces_[i], of_piece));
  }
  if (children.size() == 1) return std::move(children[0]);
  return NewMergingIterator(&comparator_, std::move(children));
}

size_t Tph::MemoryBytes() const {
  return HeapBytes(sizeof(*this)) + HeapBytes(kSharedControlBytes + sizeof(void*)) +
         HeapBytes(pieces_) + HeapBytes(search_order_) + HeapBytes(meta_.pieces) +
         HeapBytes(meta_.smallest) + HeapBytes(meta_.largest) +
         (paged_ != nullptr ? HeapBytes(sizeof(*paged_)) : 0);
}

IndexMemory MemoryOf(const RangeTombstoneList& tombstones) {
  IndexMemory memory;
  memory.other = HeapBytes(sizeof(tombstones)) + tombstones.MemoryBytes();
  return memory;
}

uint64_t Tph::ApproximateOffset(const Slice& user_key) const {
  uint64_t bytes = 0;
  for (const auto& piece : pieces_) bytes += piece->ApproximateOffset(user_key);
  return bytes;
}

}  // namespace compassdb
