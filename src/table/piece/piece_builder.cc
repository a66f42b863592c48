// SPDX-License-Identifier: Apache-2.0
#include "table/piece/piece_builder.h"

#include "format/user_timestamp.h"
#include "table/block/block.h"
#include "table/block/block_io.h"
#include "table/directory/separator_builder.h"
#include "table/file/extent_writer.h"
#include "table/piece/hashed_writer.h"
#include "table/piece/piece_format.h"
#include "table/read_stats.h"
#include "table/stat_timer.h"
#include "util/compression.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

constexpr size_t kMaxPaddingRatio = 128;  // padding enlarges a block at most by this part

}  // namespace

struct PieceBuilder::Rep {
  Rep(const PieceBuildOptions& o, CompactionFileWriter* f)
      : options(o),
        order(o.comparator),
        extent(f),
        block(order.bytewise(), order.HashesIdentifyKeys()),
        separators(order) {
    if (options.data_order != DataOrder::kKey && order.HashesIdentifyKeys()) {
      held = std::make_unique<HashedWriter>(options.data_order, order, options.block_size,
                                            FullBytes());
    }
    list_hashes = options.hash_list || held != nullptr;
    if (options.collectors != nullptr && !options.collectors->empty()) {
      collectors = std::make_unique<PieceCollectors>(*options.collectors,
                                                     options.collector_context, options.log);
    }
    if (options.filter != nullptr) filter = TableFilterBuilder::New(*options.filter, options.filter_place);
  }

  // Key order: the record's block.
  // See PieceBuildOptions::block_size_deviation.
  size_t FullBytes() const {
    return options.block_size - options.block_size * options.block_size_deviation / 100;
  }
  bool BlockIsFull(const ParsedInternalKey& next, const Slice& value) const;
  Status Place(const ParsedInternalKey& key, uint8_t fingerprint, const Slice& value);
  // Too many records for slot or hash order: the piece continues in key order.
  Status GiveUpHolding();
  Status FinishHeld(HashedWriter::Finished* finished);
  Status Seal(BlockBuilder* builder, uint64_t* written);
  Status FlushBlock();
  Status WriteSection(PieceSection section, std::string bytes);
  void CoverSequence(SequenceNumber seq);

  const PieceBuildOptions options;
  const KeyOrder order;
  ExtentWriter extent;
  BlockBuilder block;
  SeparatorBuilder separators;
  // Slot or hash order, as long as the records are held.
  std::unique_ptr<HashedWriter> held;
  std::unique_ptr<PieceCollectors> collectors;  // null: none
  std::unique_ptr<TableFilterBuilder> filter;   // null: none
  std::string first_key;  // user key of the open block's first record
  std::string last_key;   // user key of the newest record added
  KeyHash last_hash;        // of that key
  bool list_hashes = true;
  size_t last_payload = 0;  // of the block before
  std::string scratch;

  PieceMeta meta;
  PieceFooter footer;
  PieceHashes hashes;
  std::vector<RangeTombstone> tombstones;
  bool any_sequence = false;
  SequenceNumber last_sequence = 0;
  Status status;
};

PieceBuilder::PieceBuilder(const PieceBuildOptions& options, CompactionFileWriter* file,
                           uint64_t piece_id)
    : rep_(std::make_unique<Rep>(options, file)) {
  rep_->meta.piece_id = piece_id;
  rep_->meta.file_id = file->file_id();
  rep_->meta.hash_seed = options.hasher.seed();
}

PieceBuilder::~PieceBuilder() = default;

bool PieceBuilder::empty() const { return rep_->meta.num_records == 0 && rep_->tombstones.empty(); }

uint64_t PieceBuilder::EstimatedBytes() const {
  if (rep_->held != nullptr) return rep_->held->bytes();
  return rep_->meta.data_bytes + (rep_->block.empty() ? 0 : rep_->block.EstimatedSize());
}

void PieceBuilder::Rep::CoverSequence(SequenceNumber seq) {
  if (!any_sequence) {
    meta.smallest_seq = meta.largest_seq = seq;
    any_sequence = true;
  }
  meta.smallest_seq = std::min(meta.smallest_seq, seq);
  meta.largest_seq = std::max(meta.largest_seq, seq);
}

Status PieceBuilder::Add(const Slice& internal_key, const Slice& value, bool stale) {
  Rep& r = *rep_;
  if (!r.status.ok()) return r.status;
  ParsedInternalKey key;
  if (!ParseInternalKey(internal_key, &key) || !IsPointType(key.type)) {
    return r.status = Status::InvalidArgument("piece: malformed internal key",
                                              EscapeKey(internal_key));
  }
  if (key.user_key.size() > UINT32_MAX - value.size() || value.size() > UINT32_MAX) {
    return r.status = Status::InvalidArgument("piece: record over 4 GiB", EscapeKey(key.user_key));
  }
  const bool first_record = r.meta.num_records == 0;
  const int c = first_record ? 1 : r.order.Compare(key.user_key, r.last_key);
  if (c < 0 || (c == 0 && key.sequence > r.last_sequence)) {
    return r.status = Status::InvalidArgument("piece: records out of order",
                                              EscapeKey(key.user_key));
  }
  if (c != 0) {
    r.last_hash = r.options.hasher(key.user_key);
    if (r.list_hashes) {
      r.hashes.h1.push_back(r.last_hash.h1);
      r.hashes.h2.push_back(r.last_hash.h2);
      r.hashes.flags.push_back(
          static_cast<uint8_t>((key.type == kTypeMerge ? PieceHashes::kMerge : 0) |
                               (stale ? PieceHashes::kStale : 0)));
    }
    ++r.meta.num_keys;
    if (r.filter != nullptr) {
      r.filter->Add(StripTimestamp(key.user_key, r.order.comparator()->timestamp_size()));
    }
    r.last_key.assign(key.user_key.data(), key.user_key.size());
    if (first_record) r.meta.smallest = r.last_key;
  }
  r.last_sequence = key.sequence;
  r.CoverSequence(key.sequence);
  ++r.meta.num_records;
  r.meta.raw_bytes += key.user_key.size() + value.size();
  if (r.collectors != nullptr) {
    r.collectors->Add(key.user_key, value, key.type, key.sequence, EstimatedBytes());
  }
  if (key.type == kTypeMerge) ++r.meta.num_merges;
  if (key.type == kTypeDeletion || key.type == kTypeSingleDeletion) ++r.meta.num_deletions;
  if (r.held != nullptr) {
    r.held->Add(key, value, c != 0);
    if (r.held->bytes() > r.options.max_held_bytes) r.status = r.GiveUpHolding();
  } else {
    r.status = r.Place(key, BlockFingerprint(r.last_hash), value);
  }
  return r.status;
}

bool PieceBuilder::Rep::BlockIsFull(const ParsedInternalKey& next, const Slice& value) const {
  const size_t size = block.EstimatedSize();
  if (size >= options.block_size) return true;
  return size > FullBytes() &&
         block.EstimatedSizeWith(next.user_key, next.sequence, value) > options.block_size;
}

Status PieceBuilder::Rep::Place(const ParsedInternalKey& key, uint8_t fingerprint,
                                const Slice& value) {
  if (!block.empty() && BlockIsFull(key, value)) {
    Status s = FlushBlock();
    if (!s.ok()) return s;
  }
  if (block.empty()) first_key.assign(key.user_key.data(), key.user_key.size());
  block.Add(key.user_key, fingerprint, key.sequence, key.type, value);
  return Status::OK();
}

Status PieceBuilder::Rep::GiveUpHolding() {
  const std::unique_ptr<HashedWriter> writer = std::move(held);
  return writer->Drain(
      [this](const ParsedInternalKey& key, size_t number, const Slice& value) {
        return Place(key, BlockFingerprint({hashes.h1[number], hashes.h2[number]}), value);
      });
}

Status PieceBuilder::Rep::FinishHeld(HashedWriter::Finished* finished) {
  HashedWriter::Output out;
  out.block = [this](BlockBuilder* builder, uint64_t* written) { return Seal(builder, written); };
  out.page = [this](std::string payload, uint64_t* written) {
    footer.max_block_payload = std::max<uint64_t>(footer.max_block_payload, payload.size());
    PackBlock(rocksdb::kNoCompression, 0, &payload);
    *written = payload.size();
    footer.order_bytes += payload.size();
    return extent.Append(&payload, payload.size() - 4, /*kind=*/0);
  };
  footer.data_order = static_cast<uint64_t>(options.data_order);
  perfect_hash::BuildOptions function = options.function;
  function.seed = options.hasher.seed();
  Status s = held->Finish(function, out, &hashes, finished);
  meta.num_blocks = finished->num_blocks;
  return s;
}

void PieceBuilder::AddRangeTombstone(const RangeTombstone& tombstone) {
  rep_->CoverSequence(tombstone.sequence);
  if (rep_->collectors != nullptr) {
    rep_->collectors->Add(tombstone.StoredStart(), tombstone.StoredEnd(), kTypeRangeDeletion,
                          tombstone.sequence, EstimatedBytes());
  }
  rep_->tombstones.push_back(tombstone);
}

Status PieceBuilder::Rep::FlushBlock() {
  const std::string last = block.LastUserKey().ToString();
  uint64_t written = 0;
  Status s = Seal(&block, &written);
  if (s.ok()) separators.Add(first_key, last, written);
  return s;
}

Status PieceBuilder::Rep::Seal(BlockBuilder* builder, uint64_t* written) {
  if (meta.num_blocks + 1 >= UINT32_MAX) {
    return Status::InvalidArgument(extent.file()->path(), "piece: more than 2^32 - 2 data blocks");
  }
  builder->Finish(&scratch);
  // Blocks of nearly one length get one length, so that their offsets are on a line.
  if (options.compression == rocksdb::kNoCompression && scratch.size() < last_payload &&
      last_payload - scratch.size() <= last_payload / kMaxPaddingRatio) {
    scratch.resize(last_payload, '\0');
  }
  last_payload = scratch.size();
  footer.max_block_payload = std::max<uint64_t>(footer.max_block_payload, scratch.size());
  if (collectors != nullptr) collectors->AddBlock(scratch.size());
  const uint64_t bytes = scratch.size();
  const auto type = [&] {
    const StatNanos nanos(options.compression != rocksdb::kNoCompression ? options.statistics : nullptr,
                          rocksdb::COMPRESSION_TIMES_NANOS);
    return PackBlock(options.compression, options.compression_level, &scratch);
  }();
  if (type != rocksdb::kNoCompression && options.statistics != nullptr) {
    options.statistics->recordInHistogram(rocksdb::BYTES_COMPRESSED, bytes);
  }
  if (options.compression != rocksdb::kNoCompression) {
    Tick(options.statistics, type == rocksdb::kNoCompression ? rocksdb::NUMBER_BLOCK_NOT_COMPRESSED
                                                             : rocksdb::NUMBER_BLOCK_COMPRESSED);
  }
  Status s = extent.Append(&scratch, scratch.size() - 4, /*kind=*/0);
  if (!s.ok()) return s;
  ++meta.num_blocks;
  meta.data_bytes += scratch.size();
  *written = scratch.size();
  return s;
}

Status PieceBuilder::Rep::WriteSection(PieceSection section, std::string bytes) {
  const size_t covered = bytes.size();
  bytes.resize(covered + 4);
  footer.section_length[static_cast<size_t>(section)] = bytes.size();
  return extent.Append(&bytes, covered, SectionKind(section));
}

Status PieceBuilder::Finish(PieceMeta* meta, PieceHashes* hashes) {
  Rep& r = *rep_;
  HashedWriter::Finished sections;
  if (r.status.ok() && r.held != nullptr) {
    r.status = r.FinishHeld(&sections);
  } else if (r.status.ok() && !r.block.empty()) {
    r.status = r.FlushBlock();
  }
  if (!r.status.ok()) return r.status;
  r.meta.largest = r.last_key;
  if (r.held == nullptr && !r.separators.Finish(&sections.separators)) {
    return r.status = Status::InvalidArgument(r.extent.file()->path(), "piece: separators over 4 GiB");
  }
  r.meta.num_range_tombstones = r.tombstones.size();
  r.footer.piece_id = r.meta.piece_id;
  r.footer.hash_seed = r.meta.hash_seed;
  r.footer.num_blocks = r.meta.num_blocks;
  r.footer.num_records = r.meta.num_records;
  r.footer.num_keys = r.meta.num_keys;
  r.footer.num_range_tombstones = r.meta.num_range_tombstones;
  r.footer.data_bytes = r.meta.data_bytes;
  if (meta != nullptr) r.meta.creation_time = meta->creation_time;

  Status s = r.WriteSection(PieceSection::kHashes, EncodeHashes(r.hashes));
  if (s.ok()) s = r.WriteSection(PieceSection::kHashedIndex, std::move(sections.index));
  if (s.ok()) s = r.WriteSection(PieceSection::kSeparators, std::move(sections.separators));
  if (s.ok()) s = r.WriteSection(PieceSection::kTombstones, EncodeTombstones(r.tombstones));
  if (r.collectors != nullptr) {
    auto collected = std::make_shared<CollectedProperties>();
    r.meta.wants_compaction = r.collectors->Finish(collected.get());
    r.meta.collected = std::move(collected);
  }
  if (s.ok()) {
    s = r.WriteSection(PieceSection::kProperties,
                       EncodeProperties(r.meta, r.order.comparator()->Name()));
  }
  if (s.ok() && r.filter != nullptr && r.meta.num_keys > 0) {
    s = r.WriteSection(PieceSection::kFilter, r.filter->Finish());
  }
  if (s.ok()) {
    std::string footer = EncodeFooter(r.footer);
    s = r.extent.Append(&footer, footer.size() - kFooterTail, FooterKind());
  }
  if (s.ok()) s = r.extent.Finish(&r.meta.extent);
  r.status = s.ok() ? Status::InvalidArgument("piece is finished") : s;
  if (!s.ok()) return s;
  if (meta != nullptr) *meta = std::move(r.meta);
  if (hashes != nullptr) *hashes = std::move(r.hashes);
  return s;
}

}  // namespace compassdb
