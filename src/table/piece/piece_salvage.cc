// SPDX-License-Identifier: Apache-2.0
#include "table/piece/piece_salvage.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "env/missing.h"
#include "format/format_version.h"
#include "table/piece/piece_format.h"
#include "table/piece/piece_reader.h"
#include "util/checksum_stream.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

namespace {

constexpr uint64_t kFirstWindow = 16 << 10;

bool IsCompressionType(char byte) {
  const auto type = static_cast<uint8_t>(byte);
  return type <= rocksdb::kZSTD || type == rocksdb::kZSTDNotFinalCompression;
}

class PieceSalvager {
 public:
  PieceSalvager(const TableContext& context, const PieceMeta& meta, SalvagedPiece* out)
      : context_(context), meta_(meta), out_(out) {}

  Status Run() {
    bool found = false;
    Status s = OpenInSpiteOfDamage(context_.files, meta_.extent.file_number, meta_.file_id, &found);
    if (s.ok() && found) s = context_.files->Get(meta_.extent.file_number, &file_);
    if (!s.ok()) return s;
    out_->tombstones_lost = meta_.num_range_tombstones > 0;
    if (!found) return s;
    std::unique_ptr<const PieceReader> reader;
    s = PieceReader::Open(context_, meta_, &reader);
    if (s.ok()) return ReadByIndex(*reader);
    if (!IsDamage(s) && !s.IsNotSupported()) return s;
    s = FindBlocks();
    return s.ok() && out_->tombstones_lost ? FindTombstones() : s;
  }

 private:
  Status ReadByIndex(const PieceReader& reader) {
    if (reader.tombstones() != nullptr) out_->tombstones = *reader.tombstones();
    out_->tombstones_lost = false;
    for (uint32_t b = 0; b < reader.num_blocks(); ++b) {
      if (reader.BlockLength(b) == 0) continue;
      bool good = false;
      if (Status s = TakeBlock(reader.PlaceOf(b, file_.get()), &good); !s.ok()) return s;
    }
    return Status::OK();
  }

  Status TakeBlock(const BlockPlace& place, bool* good) {
    *good = false;
    BlockReadOptions read;
    read.fill_cache = false;
    BlockRef ref;
    Status s = context_.loader.FromFile(place, read, &ref);
    if (!s.ok()) return IsDamage(s) ? Status::OK() : s;
    const size_t before = out_->records.size();
    BlockIter iter(ref.block(), context_.order);
    for (iter.SeekToFirst(); iter.Valid(); iter.Next()) {
      if (iter.record().sequence < meta_.smallest_seq || iter.record().sequence > meta_.largest_seq) break;
      out_->records.emplace_back(iter.key().ToString(), iter.value().ToString());
    }
    *good = !iter.Valid() && iter.status().ok();
    if (*good) {
      out_->read_bytes += place.length;
    } else {
      out_->records.resize(before);
    }
    return Status::OK();
  }

  // Bytes of the file, fewer at its end; none if the file system itself says that they are damaged (encryption).
  Status Read(uint64_t offset, uint64_t n) {
    buffer_.resize(n);
    Slice bytes;
    Status s = file_->file()->Read(offset, n, &bytes, buffer_.data());
    if (!s.ok()) {
      buffer_.clear();
      return IsDamage(s) ? Status::OK() : s;
    }
    if (bytes.data() != buffer_.data()) memmove(buffer_.data(), bytes.data(), bytes.size());
    buffer_.resize(bytes.size());
    return s;
  }

  // The first place behind `at` where four bytes are the checksum of the bytes before them, and `accept`
  // agrees. *length: with these; 0: there is none before `end`.
  template <typename Likely, typename Accept>
  Status FindEnd(uint64_t context, uint64_t at, uint64_t end, Likely likely, Accept accept, uint64_t* length) {
    *length = 0;
    for (uint64_t window = kFirstWindow;; window *= 4) {
      const uint64_t n = std::min(window, end - at);
      if (Status s = Read(at, n); !s.ok()) return s;
      ChecksumStream checksum(context);
      size_t fed = 0;
      for (size_t covered = 0; covered + 4 <= buffer_.size(); ++covered) {
        if (!likely(covered)) continue;
        checksum.Update(Slice(buffer_.data() + fed, covered - fed));
        fed = covered;
        if (checksum.Value() != DecodeFixed32(buffer_.data() + covered)) continue;
        bool accepted = false;
        if (Status s = accept(covered + 4, &accepted); !s.ok()) return s;
        if (!accepted) continue;
        *length = covered + 4;
        return Status::OK();
      }
      if (n == end - at || buffer_.size() < n) return Status::OK();
    }
  }

  // Largest payload that a block of this piece can have.
  uint64_t MaxPayload() const { return meta_.raw_bytes + meta_.num_records * 64 + 1024; }

  Status FindBlocks() {
    const uint64_t begin = meta_.extent.offset;
    const uint64_t end = std::min(begin + meta_.data_bytes, file_->size());
    for (uint64_t at = begin; at < end;) {
      uint64_t length = 0;
      const auto likely = [&](size_t covered) {
        return covered > 1 && IsCompressionType(buffer_[covered - 1]);
      };
      const auto take = [&](uint64_t n, bool* good) {
        return TakeBlock({file_.get(), at, n, MaxPayload()}, good);
      };
      Status s = FindEnd(MixContext(meta_.file_id, at), at, end, likely, take, &length);
      if (!s.ok()) return s;
      if (length == 0) break;
      at += length;
    }
    return Status::OK();
  }

  // Where the section of the range tombstones is, by the footer or behind the other sections; *length 0: nowhere.
  Status LocateTombstones(uint64_t* place, uint64_t* length) {
    *length = 0;
    const uint64_t begin = meta_.extent.offset, end = begin + meta_.extent.length;
    if (end <= file_->size() && meta_.extent.length >= PieceFooter::kLeastBytes) {
      const uint64_t tail = std::min<uint64_t>(PieceFooter::kMostBytes, meta_.extent.length);
      if (Status s = Read(end - tail, tail); !s.ok()) return s;
      PieceFooter footer;
      if (DecodeFooter(buffer_, meta_.file_id, end, meta_.extent.length, "footer", &footer).ok()) {
        *place = begin + footer.SectionOffset(PieceSection::kTombstones);
        *length = footer.SectionLength(PieceSection::kTombstones);
        return Status::OK();
      }
    }
    uint64_t at = begin + meta_.data_bytes;
    for (PieceSection section : {PieceSection::kHashes, PieceSection::kHashedIndex, PieceSection::kSeparators,
                                 PieceSection::kTombstones}) {
      if (at >= std::min(end, file_->size())) return Status::OK();
      uint64_t n = 0;
      Status s = FindEnd(
          SectionContext(section, meta_.file_id, at), at, std::min(end, file_->size()),
          [](size_t) { return true; },
          [](uint64_t, bool* accepted) {
            *accepted = true;
            return Status::OK();
          },
          &n);
      if (!s.ok() || n == 0) return s;
      *place = at;
      if (section == PieceSection::kTombstones) *length = n;
      at += n;
    }
    return Status::OK();
  }

  Status FindTombstones() {
    uint64_t place = 0, length = 0;
    Status s = LocateTombstones(&place, &length);
    if (!s.ok() || length == 0) return s;
    if (s = Read(place, length); !s.ok()) return s;
    Slice bytes;
    s = buffer_.size() == length
            ? OpenSection(PieceSection::kTombstones, meta_.file_id, place, buffer_, "tombstones", &bytes)
            : Status::Corruption("cut off");
    if (s.ok()) {
      s = DecodeTombstones(bytes, meta_.num_range_tombstones, context_.options.comparator->timestamp_size(),
                           "tombstones", &out_->tombstones);
    }
    out_->tombstones_lost = !s.ok();
    return Status::OK();
  }

  const TableContext& context_;
  const PieceMeta& meta_;
  SalvagedPiece* const out_;
  std::shared_ptr<CompactionFile> file_;
  std::string buffer_;
};

}  // namespace

bool IsDamage(const Status& s) { return s.IsCorruption() || IsMissing(s); }

Status OpenInSpiteOfDamage(FileCache* files, uint64_t number, uint64_t file_id, bool* found) {
  std::shared_ptr<CompactionFile> file;
  Status s = files->Get(number, &file);
  if (s.IsCorruption()) {
    s = CompactionFile::OpenUnchecked(files->fs(), files->PathOf(number), number, file_id, files->options(), &file);
    if (s.ok()) files->Insert(std::move(file));
  }
  *found = s.ok();
  return IsDamage(s) ? Status::OK() : s;
}

Status IsOfNewerVersion(const TableContext& context, const PieceMeta& meta, bool* newer) {
  *newer = false;
  std::shared_ptr<CompactionFile> file;
  Status s = context.files->Get(meta.extent.file_number, &file);
  if (!s.ok()) return s;
  const uint64_t end = meta.extent.offset + meta.extent.length;
  const uint64_t tail = std::min<uint64_t>(kMostFooterBytes, meta.extent.length);
  std::string room(tail, 0);
  Slice bytes;
  s = file->file()->Read(end - tail, tail, &bytes, room.data());
  if (!s.ok() || bytes.size() != tail || tail < PieceFooter::kLeastBytes) return s;
  PieceFooter footer;
  *newer = !ChecksumsIgnored() &&
           DecodeFooter(bytes, meta.file_id, end, meta.extent.length, "footer", &footer).IsNotSupported();
  return s;
}

Status SalvagePiece(const TableContext& context, const PieceMeta& meta, SalvagedPiece* out) {
  return PieceSalvager(context, meta, out).Run();
}

}  // namespace compassdb
