// SPDX-License-Identifier: Apache-2.0
#include "table/piece/piece_reader.h"

#include "format/user_timestamp.h"
#include "table/read_stats.h"
#include "util/heap_bytes.h"

namespace compassdb {

namespace {

// Open reads this from the end of the extent before it knows any length.
constexpr uint64_t kTailBytes = 32 << 10;

Status ReadExactly(const CompactionFile& file, uint64_t offset, size_t n, std::string* buffer,
                   const std::string& what) {
  buffer->resize(n);
  Slice result;
  Status s = file.file()->Read(offset, n, &result, buffer->data());
  if (!s.ok()) return s;
  if (result.size() != n) {
    return Status::Corruption(what, "the file ends at " + std::to_string(offset + result.size()));
  }
  if (result.data() != buffer->data()) memmove(buffer->data(), result.data(), n);
  return s;
}

}  // namespace

Status PieceReader::Open(const TableContext& context, const PieceMeta& meta,
                         std::unique_ptr<const PieceReader>* out) {
  std::unique_ptr<PieceReader> reader(new PieceReader(context, meta));
  Status s = reader->OpenParts();
  if (s.ok()) *out = std::move(reader);
  return s;
}

std::string PieceReader::Path() const {
  return context_.files->PathOf(meta_.extent.file_number);
}

std::string PieceReader::Description() const {
  return Path() + ": piece " + std::to_string(meta_.piece_id) + " at offset " +
         std::to_string(meta_.extent.offset);
}

Status PieceReader::OpenParts() {
  std::shared_ptr<CompactionFile> file;
  const Extent& extent = meta_.extent;
  Status s = context_.files->GetExtent(extent, meta_.file_id, &file);
  if (!s.ok()) return s;
  const std::string what = Description();
  if (extent.length < PieceFooter::kLeastBytes) {
    return Status::Corruption(what, "extent of " + std::to_string(extent.length) + " bytes is too short for a footer");
  }
  const uint64_t end = extent.offset + extent.length;
  std::string buffer;
  uint64_t start = end - std::min(kTailBytes, extent.length);
  s = ReadExactly(*file, start, end - start, &buffer, what);
  if (!s.ok()) return s;
  PieceFooter footer;
  s = DecodeFooter(buffer, meta_.file_id, end, extent.length, what, &footer);
  if (!s.ok()) return s;
  if (footer.piece_id != meta_.piece_id || footer.num_blocks != meta_.num_blocks ||
      footer.num_records != meta_.num_records || footer.num_keys != meta_.num_keys ||
      footer.data_bytes != meta_.data_bytes || footer.hash_seed != meta_.hash_seed ||
      footer.num_range_tombstones != meta_.num_range_tombstones) {
    return Status::Corruption(what, "the footer and the manifest disagree");
  }
  max_block_payload_ = footer.max_block_payload;
  hashes_ = {footer.SectionOffset(PieceSection::kHashes),
             footer.SectionLength(PieceSection::kHashes)};
  without_hashes_ = footer.without_hashes();
  const uint64_t wanted = extent.offset + footer.SectionOffset(PieceSection::kHashedIndex);
  if (wanted < start) {
    start = wanted;
    s = ReadExactly(*file, start, end - start, &buffer, what);
    if (!s.ok()) return s;
  }
  const auto section = [&](PieceSection kind, Slice* bytes) {
    const uint64_t place = extent.offset + footer.SectionOffset(kind);
    return OpenSection(kind, meta_.file_id, place,
                       Slice(buffer.data() + (place - start), footer.SectionLength(kind)), what,
                       bytes);
  };
  Slice bytes;
  s = section(PieceSection::kProperties, &bytes);
  if (s.ok()) s = CheckProperties(bytes);
  // The units between separators: blocks, or groups of keys.
  uint64_t units = footer.num_blocks, total = footer.data_bytes;
  if (s.ok()) s = section(PieceSection::kHashedIndex, &bytes);
  if (s.ok() && footer.data_order != static_cast<uint64_t>(DataOrder::kKey)) {
    units = (footer.num_keys + OrderPage::kGroup - 1) / OrderPage::kGroup;
    total = footer.num_keys;
    hashed_ = std::make_unique<HashedIndex>();
    s = HashedIndex::Parse(bytes, footer, what, hashed_.get());
  } else if (s.ok() && (!bytes.empty() || footer.order_bytes != 0)) {
    s = Status::Corruption(what, "a piece in key order with a reverse index");
  }
  if (s.ok()) s = section(PieceSection::kSeparators, &bytes);
  if (s.ok()) {
    s = SeparatorIndex::Parse(bytes, order(), units, total, what, &separators_);
  }
  if (s.ok()) s = section(PieceSection::kTombstones, &bytes);
  if (s.ok() && footer.num_range_tombstones == 0 && bytes.empty()) {
    // Most have none.
  } else if (s.ok()) {
    auto tombstones = std::make_unique<std::vector<RangeTombstone>>();
    s = DecodeTombstones(bytes, footer.num_range_tombstones, order().comparator()->timestamp_size(),
                         what, tombstones.get());
    tombstones->shrink_to_fit();
    tombstones_ = std::move(tombstones);
  }
  if (s.ok() && footer.has_filter() && context_.options.filters) {
    s = section(PieceSection::kFilter, &bytes);
    if (s.ok() && !TableFilter::Parse(bytes, &filter_)) {
      s = Status::Corruption(what, "the filter is malformed");
    }
  }
  if (s.ok() && context_.files->MayHold()) file_ = std::move(file);
  return s;
}

Status PieceReader::CheckProperties(const Slice& bytes) const {
  PieceMeta properties;
  std::string comparator_name;
  const std::string what = Description();
  Status s = DecodeProperties(bytes, what, &properties, &comparator_name);
  if (!s.ok()) return s;
  if (comparator_name != order().comparator()->Name()) {
    return Status::InvalidArgument(what, "was written with comparator " + comparator_name +
                                             ", opened with " + order().comparator()->Name());
  }
  if (properties.smallest != meta_.smallest || properties.largest != meta_.largest) {
    return Status::Corruption(what, "the properties and the manifest disagree about key bounds");
  }
  return s;
}

Status PieceReader::File(std::shared_ptr<CompactionFile>* holder,
                         const CompactionFile** file) const {
  if (file_ != nullptr) {
    *file = file_.get();
    return Status::OK();
  }
  Status s = context_.files->GetExtent(meta_.extent, meta_.file_id, holder);
  *file = holder->get();
  return s;
}

BlockPlace PieceReader::PlaceOf(const PieceRange& range, const CompactionFile* file) const {
  BlockPlace place;
  place.file = file;
  place.offset = meta_.extent.offset + range.offset;
  place.length = range.length;
  place.max_payload = max_block_payload_;
  return place;
}

BlockPlace PieceReader::PlaceOf(uint32_t block, const CompactionFile* file) const {
  return PlaceOf(PieceRange{BlockOffset(block), BlockLength(block)}, file);
}

Status PieceReader::GetStored(const BlockReadOptions& read, const PieceRange& range, BlockRef* ref,
                              bool* cached) const {
  const uint64_t offset = meta_.extent.offset + range.offset;
  if (Status s; read.blocks != nullptr && read.blocks->Get(meta_.file_id, offset, ref, &s)) {
    if (cached != nullptr) *cached = s.ok();
    return s;
  }
  const bool hit = loader().FromCache(meta_.file_id, offset, ref);
  if (cached != nullptr) *cached = hit;
  if (hit) return Status::OK();
  if (read.cache_only) {
    return Status::Incomplete("data block is not in the block cache, and no file may be read");
  }
  std::shared_ptr<CompactionFile> holder;
  const CompactionFile* file = nullptr;
  Status s = File(&holder, &file);
  if (!s.ok()) return s;
  return loader().FromFile(PlaceOf(range, file), read, ref);
}

Status PieceReader::DamagedBlock(uint32_t block, const char* why) const {
  return Status::Corruption(
      Path(), "data block " + std::to_string(block) + " at offset " +
                 std::to_string(meta_.extent.offset + BlockOffset(block)) + ": " + why);
}

Status PieceReader::Damaged(const PieceRange& range, const char* why) const {
  return Status::Corruption(
      Path(), "offset " + std::to_string(meta_.extent.offset + range.offset) + ": " + why);
}

uint32_t PieceReader::SeekBlock(const Slice& user_key) const {
  if (hashed()) return hashed_->Locate(KeyHasher(meta_.hash_seed)(user_key).h1);
  if (num_blocks() == 0 || order().Compare(user_key, meta_.smallest) < 0) return num_blocks();
  return separators_.LowerBound(order(), user_key);
}

uint64_t PieceReader::ApproximateHashedOffset(const Slice& user_key) const {
  if (separators_.num_blocks() == 0) return 0;
  const double group = static_cast<double>(separators_.LowerBound(order(), user_key));
  return static_cast<uint64_t>(static_cast<double>(meta_.data_bytes) * group /
                               static_cast<double>(separators_.num_blocks()));
}

Status PieceReader::ReadSection(PieceSection section, std::string* buffer, Slice* bytes) const {
  std::shared_ptr<CompactionFile> holder;
  const CompactionFile* file = nullptr;
  Status s = File(&holder, &file);
  if (!s.ok()) return s;
  PieceRange range = hashes_;
  if (section != PieceSection::kHashes) {
    // The footer was checked when the piece was opened.
    const uint64_t end = meta_.extent.offset + meta_.extent.length;
    const size_t tail = std::min<uint64_t>(PieceFooter::kMostBytes, meta_.extent.length);
    s = ReadExactly(*file, end - tail, tail, buffer, Description());
    PieceFooter footer;
    if (s.ok()) {
      s = DecodeFooter(*buffer, meta_.file_id, end, meta_.extent.length, Description(), &footer);
    }
    if (!s.ok()) return s;
    range = {footer.SectionOffset(section), footer.SectionLength(section)};
  }
  if (range.length == 0) {  // no filter
    *bytes = Slice();
    return s;
  }
  const uint64_t place = meta_.extent.offset + range.offset;
  s = ReadExactly(*file, place, range.length, buffer, Description());
  if (!s.ok()) return s;
  return OpenSection(section, meta_.file_id, place, *buffer, Description(), bytes);
}

Status PieceReader::ReadEverySection(std::string* buffer, Slice* bytes) const {
  Status s;
  for (PieceSection section : {PieceSection::kHashedIndex, PieceSection::kSeparators,
                               PieceSection::kTombstones, PieceSection::kProperties,
                               PieceSection::kFilter, PieceSection::kHashes}) {
    s = ReadSection(section, buffer, bytes);
    if (!s.ok()) break;
  }
  return s;
}

bool PieceReader::FilterHolds(const Slice& user_key) const {
  if (filter_ == nullptr) return true;
  const Slice key = StripTimestamp(user_key, order().comparator()->timestamp_size());
  return filter_->AskKey(key, nullptr) != FilterAnswer::kAbsent;
}

IndexMemory PieceReader::Memory() const {
  IndexMemory memory;
  memory.other = HeapBytes(sizeof(*this));
  if (tombstones_ != nullptr) {
    memory.other += HeapBytes(sizeof(*tombstones_)) + HeapBytes(*tombstones_);
    for (const RangeTombstone& t : *tombstones_) {
      memory.other += HeapBytes(t.start) + HeapBytes(t.end) + HeapBytes(t.timestamp);
    }
  }
  if (filter_ != nullptr) memory.filters = HeapBytes(sizeof(*filter_)) + filter_->MemoryBytes();
  memory.separators = separators_.MemoryBytes();
  if (hashed()) {
    memory.block_offsets = hashed_->OffsetBytes();
    memory.separators += hashed_->LocatorBytes();
    memory.other += HeapBytes(sizeof(HashedIndex));
  } else {
    memory.block_offsets = separators_.OffsetBytes();
    memory.separators -= memory.block_offsets;
  }
  return memory;
}

IndexMemory MemoryOf(const PieceReader& reader) { return reader.Memory(); }

// --- VersionCursor ---

Status VersionCursor::Seek(SequenceNumber snapshot) {
  valid_ = newest_ = key_present_ = false;
  block_ = piece_->SeekBlock(user_key_);
  if (block_ >= piece_->num_blocks()) return Status::OK();
  Status s = piece_->GetBlock(read_, block_, &ref_);
  if (!s.ok()) return s;
  Block::FindResult found;
  if (!ref_.block().Find(piece_->order(), user_key_, nullptr, snapshot, &found)) {
    return piece_->DamagedBlock(block_, "malformed record");
  }
  key_present_ = found.key_present;
  if (found.found) {
    valid_ = true;
    newest_ = found.first;
    index_ = found.index;
    record_ = found.record;
    return s;
  }
  if (!found.key_present || !found.reaches_end) return s;
  // Every version in this block is too new; the older ones may follow.
  index_ = ref_.block().count() - 1;
  do {
    s = Next();
  } while (s.ok() && valid_ && record_.sequence > snapshot);
  return s;
}

Status VersionCursor::LoadNextBlock(bool* more) {
  *more = false;
  const uint32_t next = block_ + 1;
  if (piece_->hashed() || next >= piece_->num_blocks() ||
      !piece_->separators().KeyContinues(block_)) {
    return Status::OK();
  }
  Status s = piece_->GetBlock(read_, next, &ref_);
  if (s.ok()) {
    block_ = next;
    *more = true;
  }
  return s;
}

Status VersionCursor::Next() {
  newest_ = false;
  valid_ = false;
  ++index_;
  if (index_ >= ref_.block().count()) {
    bool more;
    Status s = LoadNextBlock(&more);
    if (!s.ok() || !more) return s;
    index_ = 0;
  }
  bool ok;
  valid_ = ref_.block().HasKey(piece_->order(), index_, user_key_, &record_, &ok);
  return ok ? Status::OK() : piece_->DamagedBlock(block_, "malformed record");
}

}  // namespace compassdb
