// SPDX-License-Identifier: Apache-2.0
#include "table/tph.h"

#include <algorithm>
#include <numeric>

#include "iter/merging_iterator.h"
#include "table/block_set.h"
#include "table/piece_reader.h"
#include "table/read_stats.h"

namespace compassdb {

namespace {

std::string Describe(const TphMeta& meta) { return "table " + std::to_string(meta.tph_id); }

Status EmptyDirectory(std::unique_ptr<Directory>* out) {
  std::string bytes;
  if (!BuildDirectory({}, 0, kBottomFingerprints, {}, &bytes)) {
    return Status::Aborted("empty directory");
  }
  return Directory::Open(std::move(bytes), out);
}

}  // namespace

Tph::Tph(const TableReaderOptions& options, const TphMeta& meta,
         std::vector<std::shared_ptr<Piece>> pieces)
    : options_(options),
      meta_(meta),
      pieces_(std::move(pieces)),
      comparator_(options.comparator) {}

Status Tph::Open(FileCache* files, const TableReaderOptions& options, const TphMeta& meta,
                 std::vector<std::shared_ptr<Piece>> pieces, std::shared_ptr<Tph>* out) {
  out->reset();
  if (pieces.size() != meta.pieces.size()) {
    return Status::InvalidArgument(Describe(meta), "opened with another number of pieces");
  }
  std::shared_ptr<Tph> tph(new Tph(options, meta, std::move(pieces)));
  Status s = meta.directory.length == 0
                 ? EmptyDirectory(&tph->directory_)
                 : ReadDirectory(files, meta.directory, meta.directory_file_id, &tph->directory_);
  if (!s.ok()) return s;
  if (meta.directory.length != 0) {
    if (tph->directory_->num_keys() != meta.num_keys) {
      return Status::Corruption(Describe(meta),
                                "the directory has " + std::to_string(tph->directory_->num_keys()) +
                                    " keys, the manifest says " + std::to_string(meta.num_keys));
    }
    if (tph->directory_->num_pieces() != tph->pieces_.size()) {
      return Status::Corruption(
          Describe(meta), "the directory is of " + std::to_string(tph->directory_->num_pieces()) +
                              " pieces, the manifest names " + std::to_string(tph->pieces_.size()));
    }
  }
  tph->use_directory_ = (meta.directory.length != 0 || meta.num_keys == 0) &&
                        KeyOrder(options.comparator).HashesStandForKeys();
  std::vector<RangeTombstone> tombstones;
  for (size_t i = 0; i < tph->pieces_.size(); ++i) {
    const Piece& piece = *tph->pieces_[i];
    if (piece.meta().num_records > 0) tph->search_order_.push_back(static_cast<uint32_t>(i));
    tombstones.insert(tombstones.end(), piece.range_tombstones().begin(),
                      piece.range_tombstones().end());
  }
  std::stable_sort(tph->search_order_.begin(), tph->search_order_.end(), [&](uint32_t a, uint32_t b) {
    return tph->pieces_[a]->meta().largest_seq > tph->pieces_[b]->meta().largest_seq;
  });
  tph->tombstones_ = RangeTombstoneList(tombstones, options.comparator);
  *out = std::move(tph);
  return s;
}

// The directory answers what a filter answers elsewhere, and is counted as one.
void Tph::CountProbe(const DirectoryHit& hit) const {
  const bool absent = hit.kind == DirectoryHit::kAbsent;
  Tick(options_.statistics,
       absent ? rocksdb::BLOOM_FILTER_USEFUL : rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  if (rocksdb::PerfContext* perf = PerfCounters()) {
    ++(absent ? perf->bloom_sst_miss_count : perf->bloom_sst_hit_count);
  }
}

Status Tph::Get(const BlockReadOptions& read, const Slice& user_key, const KeyHash& hash,
                uint64_t slot, GetContext* ctx) const {
  if (!tombstones_.empty()) {
    ctx->AddCoveringTombstone(tombstones_.MaxCoveringSequence(user_key, ctx->snapshot()));
  }
  if (!use_directory_) return SearchPieces(read, user_key, ctx);
  const DirectoryHit hit = directory_->LookupAt(slot, hash);
  CountProbe(hit);
  if (hit.kind == DirectoryHit::kAbsent) return Status::OK();
  if (hit.kind == DirectoryHit::kAmbiguous) return SearchPieces(read, user_key, ctx);

  const Piece::Cached cached = read.blocks == nullptr
                                   ? pieces_[hit.piece]->FindCached(user_key, hash, ctx)
                                   : Piece::Cached::kUndecided;  // BeginGet has asked
  switch (cached) {
    case Piece::Cached::kFed:
      Tick(options_.statistics, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
      return Status::OK();
    case Piece::Cached::kAbsent:
      return Status::OK();  // another key's slot, with the same fingerprint
    case Piece::Cached::kUndecided:
      break;
  }
  FoundRecord record;
  Status s = pieces_[hit.piece]->Find(read, user_key, ctx->snapshot(), &record);
  if (!s.ok()) return s;
  if (!record.key_present) return s;  // another key's slot, with the same fingerprint
  Tick(options_.statistics, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  // Rule 1. The slot names the newest record of the key, in whichever piece:
  // if that is the one found, nothing else can come before it. A record that a
  // tombstone covers is fed as well: ctx takes it for the deletion that it is.
  if (record.found && record.newest && record.type != kTypeMerge) {
    ctx->Add(record.sequence, record.type, record.value, &record.pin);
    return s;
  }
  record.pin.Reset();
  return SearchPieces(read, user_key, ctx);
}

Tph::Begun Tph::BeginGet(const Slice& user_key, const KeyHash& hash, uint64_t slot,
                         GetContext* ctx, BlockSet* blocks) const {
  if (!tombstones_.empty()) {
    ctx->AddCoveringTombstone(tombstones_.MaxCoveringSequence(user_key, ctx->snapshot()));
  }
  if (!use_directory_) return Begun::kGoOn;
  const DirectoryHit hit = directory_->LookupAt(slot, hash);
  if (hit.kind == DirectoryHit::kAmbiguous) return Begun::kGoOn;
  if (hit.kind == DirectoryHit::kAbsent) {
    CountProbe(hit);
    return Begun::kAbsent;
  }
  const Piece::Cached cached = pieces_[hit.piece]->FindCached(user_key, hash, ctx);
  if (cached == Piece::Cached::kUndecided) {
    const PieceReader& piece = pieces_[hit.piece]->reader();
    const uint32_t block = piece.SeekBlock(user_key);
    if (block < piece.num_blocks()) blocks->Want(&piece, block);
    return Begun::kGoOn;
  }
  CountProbe(hit);
  if (cached == Piece::Cached::kAbsent) return Begun::kAbsent;
  Tick(options_.statistics, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  return Begun::kFed;
}

// Feeds the visible versions of all pieces in decreasing order of sequence.
// A piece is looked into only when a record of it could be next: none has a
// sequence above its largest_seq.
Status Tph::SearchPieces(const BlockReadOptions& read, const Slice& user_key,
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
      const PieceReader& piece = pieces_[search_order_[next]]->reader();
      if (best == nullptr || best->record().sequence <= piece.meta().largest_seq) {
        ++next;
        if (piece.meta().smallest_seq > ctx->snapshot()) continue;
        VersionCursor cursor(&piece, read, user_key);
        Status s = cursor.Seek(ctx->snapshot());
        if (!s.ok()) return s;
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
        // The last one: the block goes along with the value.
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
  for (uint32_t i : search_order_) children.push_back(pieces_[i]->NewIterator(read));
  if (children.size() == 1) return std::move(children[0]);
  return NewMergingIterator(&comparator_, std::move(children));
}

uint64_t Tph::ApproximateOffset(const Slice& user_key) const {
  uint64_t bytes = 0;
  for (const auto& piece : pieces_) bytes += piece->ApproximateOffset(user_key);
  return bytes;
}

}  // namespace compassdb
