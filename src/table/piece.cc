// SPDX-License-Identifier: Apache-2.0
#include "table/piece.h"

#include "iter/merging_iterator.h"
#include "table/hashed_iterator.h"
#include "table/piece_reader.h"
#include "util/epoch.h"
#include "util/heap_bytes.h"

namespace compassdb {

namespace {

// Up to here copying costs less than a reference that other threads count, too.
constexpr size_t kCopiedValueBytes = 1024;

}  // namespace

Piece::Piece(TableContextRef context, const PieceMeta& meta, IndexMode mode)
    : context_(std::move(context)),
      meta_(meta),
      reader_(context_, mode, IndexCache::Kind::kIndex) {}
Piece::~Piece() = default;

Status Piece::Open(const BlockReadOptions& read, PieceRef* ref) const {
  return reader_.Get(
      read,
      [this](std::unique_ptr<const PieceReader>* loaded) {
        return PieceReader::Open(context_, meta_, loaded);
      },
      ref);
}

Status Piece::ReadRangeTombstones(std::vector<RangeTombstone>* tombstones) const {
  if (meta_.num_range_tombstones == 0) return Status::OK();
  PieceRef reader;
  Status s = Open({}, &reader);
  if (!s.ok()) return s;
  tombstones->insert(tombstones->end(), reader->tombstones().begin(), reader->tombstones().end());
  return s;
}

Status Piece::Find(const BlockReadOptions& read, const Slice& user_key, SequenceNumber snapshot,
                   FoundRecord* record) const {
  record->found = record->newest = record->key_present = false;
  record->pin.Reset();
  PieceRef reader;
  Status s = Open(read, &reader);
  if (!s.ok()) return s;
  VersionCursor cursor(std::move(reader), read, user_key);
  s = cursor.Seek(snapshot);
  if (!s.ok()) return s;
  record->key_present = cursor.key_present();
  if (!cursor.Valid()) return s;
  record->found = true;
  record->newest = cursor.newest();
  record->sequence = cursor.record().sequence;
  record->type = cursor.record().type;
  record->value = cursor.record().value;
  cursor.block()->MoveInto(&record->pin);
  return s;
}

Piece::Cached Piece::FindCached(const Slice& user_key, const KeyHash& hash,
                                GetContext* ctx) const {
  const PieceReader* const reader = resident();
  if (reader == nullptr) [[unlikely]] return Cached::kUndecided;
  const PieceReader& r = *reader;
  const uint32_t block = r.SeekBlock(user_key);
  const EpochGuard guard;
  LoadedBlock* const loaded = r.PeekBlock(block);
  if (loaded == nullptr) return Cached::kUndecided;
  Block::FindResult found;
  if (!loaded->block().Find(r.order(), user_key, &hash, ctx->snapshot(), &found)) {
    return Cached::kUndecided;
  }
  if (!found.key_present) return Cached::kAbsent;
  if (!found.found || !found.first || found.record.type == kTypeMerge) return Cached::kUndecided;
  if (found.record.value.size() <= kCopiedValueBytes) {
    ctx->Add(found.record.sequence, found.record.type, found.record.value, nullptr);
    return Cached::kFed;
  }
  BlockRef ref;
  if (!r.loader().Pin(loaded, &ref)) return Cached::kUndecided;
  rocksdb::Cleanable pin;
  ref.MoveInto(&pin);
  ctx->Add(found.record.sequence, found.record.type, found.record.value, &pin);
  return Cached::kFed;
}

InternalIteratorPtr Piece::NewIterator(const BlockReadOptions& read) const {
  PieceRef reader;
  Status s = Open(read, &reader);
  if (!s.ok()) return NewEmptyInternalIterator(s);
  if (reader->hashed()) return std::make_unique<HashedIterator>(std::move(reader), read);
  return std::make_unique<PieceIterator>(std::move(reader), read);
}

Status Piece::ReadHashes(PieceHashes* hashes) const {
  PieceRef reader;
  Status s = Open({}, &reader);
  if (!s.ok()) return s;
  std::string buffer;
  Slice bytes;
  s = reader->ReadSection(PieceSection::kHashes, &buffer, &bytes);
  if (!s.ok()) return s;
  return DecodeHashes(bytes, meta_.num_keys, reader->Description(), hashes);
}

uint64_t Piece::ApproximateOffset(const Slice& user_key) const {
  PieceRef reader;
  if (!Open({}, &reader).ok()) return meta_.data_bytes / 2;
  if (reader->hashed()) return reader->ApproximateHashedOffset(user_key);
  const SeparatorIndex& separators = reader->separators();
  if (separators.num_blocks() == 0) return 0;
  return separators.BlockOffset(separators.LowerBound(reader->order(), user_key));
}

size_t Piece::MemoryBytes() const {
  return HeapBytes(sizeof(*this) + kSharedControlBytes) + HeapBytes(meta_.smallest) +
         HeapBytes(meta_.largest);
}

void Piece::EraseFromCache() const {
  BlockReadOptions read;
  read.cache_only = true;
  PieceRef reader;
  // Otherwise the blocks, of a file that is gone, age out by themselves.
  if (!Open(read, &reader).ok()) return;
  const PieceReader& r = *reader;
  for (uint32_t i = 0; i < r.num_blocks(); ++i) {
    r.loader().Erase(meta_.file_id, meta_.extent.offset + r.BlockOffset(i));
  }
  for (uint64_t i = 0; r.hashed() && i < r.hashed_index().num_pages(); ++i) {
    r.loader().Erase(meta_.file_id, meta_.extent.offset + r.hashed_index().Page(i).offset);
  }
}

}  // namespace compassdb
