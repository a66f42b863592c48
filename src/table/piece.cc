// SPDX-License-Identifier: Apache-2.0
#include "table/piece.h"

#include "table/piece_reader.h"
#include "util/epoch.h"

namespace compassdb {

namespace {

// Up to here copying costs less than a reference that other threads count, too.
constexpr size_t kCopiedValueBytes = 1024;

}  // namespace

struct Piece::Rep {
  std::unique_ptr<PieceReader> reader;
};

Piece::Piece(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Piece::~Piece() = default;

Status Piece::Open(FileCache* files, const TableReaderOptions& options, const PieceMeta& meta,
                   std::shared_ptr<Piece>* piece) {
  piece->reset();
  auto rep = std::make_unique<Rep>();
  Status s = PieceReader::Open(files, options, meta, &rep->reader);
  if (s.ok()) piece->reset(new Piece(std::move(rep)));
  return s;
}

const PieceReader& Piece::reader() const { return *rep_->reader; }
const PieceMeta& Piece::meta() const { return reader().meta(); }
const std::vector<RangeTombstone>& Piece::range_tombstones() const {
  return reader().tombstones();
}

Status Piece::Find(const BlockReadOptions& read, const Slice& user_key, SequenceNumber snapshot,
                   FoundRecord* record) const {
  record->found = record->newest = record->key_present = false;
  record->pin.Reset();
  VersionCursor cursor(&reader(), read, user_key);
  Status s = cursor.Seek(snapshot);
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
  const PieceReader& r = reader();
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
  return std::make_unique<PieceIterator>(&reader(), read);
}

Status Piece::ReadHashes(PieceHashes* hashes) const {
  std::string buffer;
  Slice bytes;
  Status s = reader().ReadSection(PieceSection::kHashes, &buffer, &bytes);
  if (!s.ok()) return s;
  return DecodeHashes(bytes, meta().num_keys, reader().Description(), hashes);
}

uint64_t Piece::ApproximateOffset(const Slice& user_key) const {
  const SeparatorIndex& separators = reader().separators();
  if (separators.num_blocks() == 0) return 0;
  return separators.BlockOffset(separators.LowerBound(reader().order(), user_key));
}

PieceMemory Piece::Memory() const { return reader().Memory(); }

void Piece::EraseFromCache() const {
  const PieceReader& r = reader();
  for (uint32_t i = 0; i < r.num_blocks(); ++i) {
    r.loader().Erase(r.meta().file_id, r.meta().extent.offset + r.separators().BlockOffset(i));
  }
}

}  // namespace compassdb
