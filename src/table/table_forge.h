// SPDX-License-Identifier: Apache-2.0
// Changes parts of pieces for tests, and writes them with correct checksums.
#pragma once

#include "table/block/block_io.h"
#include "table/file/extent_writer.h"
#include "table/piece/order_page.h"
#include "table/piece/piece_format.h"
#include "table/piece/piece_reader.h"
#include "table/table_test_util.h"

namespace compassdb {

struct PieceParts {
  std::string blocks;  // as stored
  std::string pages;   // of the reverse index, as stored
  std::string sections[kPieceSections];  // without checksums
  PieceFooter footer;

  std::string& section(PieceSection kind) { return sections[static_cast<size_t>(kind)]; }
};

struct PageParts {
  std::vector<RecordPlace> places;
  std::vector<uint32_t> differences;
};

class ForgeTest : public TableTest {
 protected:
  static void ExpectCorruption(const Status& s, const std::string& message) {
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(message), std::string::npos) << s.ToString() << "\ninstead of " << message;
  }

  // Keys of numbers that are even, each with its number + 1 as sequence.
  static std::vector<TestRecord> NumberedRecords(uint64_t n) {
    std::vector<TestRecord> records;
    for (uint64_t i = 0; i < n; ++i) records.push_back({NumberedKey(i * 2), i + 1, kTypeValue, std::string(20, 'v')});
    return records;
  }
  void Build(const std::vector<TestRecord>& records, const std::vector<RangeTombstone>& tombstones = {}) {
    ASSERT_OK(BuildPiece(records, tombstones, &meta_, &hashes_));
  }

  PieceParts ReadParts(const PieceMeta& meta) {
    PieceParts parts;
    const std::string piece = ReadFile(meta.extent.file_number).substr(meta.extent.offset, meta.extent.length);
    EXPECT_OK(DecodeFooter(piece, meta.file_id, meta.extent.offset + piece.size(), piece.size(), "test", &parts.footer));
    const PieceFooter& footer = parts.footer;
    EXPECT_EQ(footer.ExtentLength(), piece.size());
    parts.blocks = piece.substr(0, footer.data_bytes);
    parts.pages = piece.substr(footer.data_bytes, footer.order_bytes);
    for (size_t i = 0; i < kPieceSections; ++i) {
      const auto kind = static_cast<PieceSection>(i);
      if (footer.SectionLength(kind) == 0) continue;
      parts.sections[i] = piece.substr(footer.SectionOffset(kind), footer.SectionLength(kind) - 4);
    }
    return parts;
  }

  // Rewrites the piece's file. The manifest agrees with the counts of the footer.
  void WriteParts(PieceParts parts, PieceMeta* meta) {
    std::string file = ReadFile(meta->extent.file_number).substr(0, meta->extent.offset) + parts.blocks + parts.pages;
    PieceFooter& footer = parts.footer;
    footer.data_bytes = parts.blocks.size();
    footer.order_bytes = parts.pages.size();
    for (size_t i = 0; i < kPieceSections; ++i) {
      const auto kind = static_cast<PieceSection>(i);
      std::string& bytes = parts.sections[i];
      if (kind != PieceSection::kFilter || !bytes.empty()) {
        bytes.append(4, '\0');
        FillInChecksum(meta->file_id, file.size(), SectionKind(kind), bytes.size() - 4, bytes.data());
      }
      footer.section_length[i] = bytes.size();
      file += bytes;
    }
    std::string end = EncodeFooter(footer);
    FillInChecksum(meta->file_id, file.size(), FooterKind(), end.size() - kFooterTail, end.data());
    file += end;
    WriteFile(meta->extent.file_number, file);
    meta->extent.length = file.size() - meta->extent.offset;
    meta->num_blocks = footer.num_blocks;
    meta->num_records = footer.num_records;
    meta->num_keys = footer.num_keys;
    meta->num_range_tombstones = footer.num_range_tombstones;
    meta->data_bytes = footer.data_bytes;
  }

  void WriteProperties(const PieceMeta& meta) {
    PieceParts parts = ReadParts(meta);
    parts.section(PieceSection::kProperties) = EncodeProperties(meta, build_.comparator->Name());
    WriteParts(std::move(parts), &meta_);
  }

  PieceRange BlockRange(const PieceMeta& meta, uint32_t block) const {
    const auto piece = OpenPiece(meta);
    return {piece->resident()->BlockOffset(block), piece->resident()->BlockLength(block)};
  }

  // Replaces a block, which is not compressed. Padding fills what the new one does not.
  void WritePayload(const PieceMeta& meta, const PieceRange& range, std::string payload) {
    ASSERT_LE(payload.size() + kBlockTrailerBytes, range.length);
    payload.resize(range.length - kBlockTrailerBytes, '\0');
    PackBlock(rocksdb::kNoCompression, 0, &payload);
    FillInChecksum(meta.file_id, meta.extent.offset + range.offset, 0, payload.size() - 4, payload.data());
    std::string file = ReadFile(meta.extent.file_number);
    file.replace(meta.extent.offset + range.offset, range.length, payload);
    WriteFile(meta.extent.file_number, file);
  }
  std::string ReadPayload(const PieceMeta& meta, const PieceRange& range) {
    return ReadFile(meta.extent.file_number)
        .substr(meta.extent.offset + range.offset, range.length - kBlockTrailerBytes);
  }

  std::vector<TestRecord> BlockRecords(const PieceMeta& meta, uint32_t b) {
    const std::string payload = ReadPayload(meta, BlockRange(meta, b));
    Block block;
    EXPECT_TRUE(Block::Parse(payload, &block));
    const KeyOrder order(build_.comparator);
    BlockIter iter(block, order);
    std::vector<TestRecord> records;
    for (iter.SeekToFirst(); iter.Valid(); iter.Next()) {
      records.push_back({iter.user_key().ToString(), iter.record().sequence, iter.record().type, iter.value().ToString()});
    }
    EXPECT_OK(iter.status());
    return records;
  }
  // In the order given.
  void WriteBlock(const PieceMeta& meta, uint32_t b, const std::vector<TestRecord>& records) {
    const KeyOrder order(build_.comparator);
    BlockBuilder builder(order.bytewise(), order.HashesIdentifyKeys());
    for (const TestRecord& r : records) {
      builder.Add(r.key, BlockFingerprint(build_.hasher(r.key)), r.seq, r.type, r.value);
    }
    std::string payload;
    builder.Finish(&payload);
    WritePayload(meta, BlockRange(meta, b), std::move(payload));
  }
  // Record i of the payload is then outside of it.
  static void DamageRecord(std::string* payload, uint32_t i) {
    const char* const limit = payload->data() + payload->size();
    uint32_t count = 0, prefix = 0;
    uint64_t sequence = 0;
    const char* p = GetVarint32Ptr(payload->data(), limit, &count);
    const auto flags = static_cast<uint8_t>(*p++);
    ASSERT_EQ(flags & kBlockWideOffsets, 0);
    p = GetVarint32Ptr(p, limit, &prefix);
    p = GetVarint64Ptr(p + prefix, limit, &sequence);
    const size_t offsets = static_cast<size_t>(p - payload->data()) + ((flags & kBlockFingerprints) != 0 ? count : 0);
    (*payload)[offsets + 2 * i] = (*payload)[offsets + 2 * i + 1] = '\xff';
  }
  void DamageRecordOfBlock(const PieceMeta& meta, uint32_t b, uint32_t i) {
    const PieceRange range = BlockRange(meta, b);
    std::string payload = ReadPayload(meta, range);
    DamageRecord(&payload, i);
    WritePayload(meta, range, std::move(payload));
  }

  // A page of the reverse index, read and written back with changes.
  void EditPage(const PieceMeta& meta, uint64_t number, const std::function<void(PageParts*)>& edit) {
    const auto piece = OpenPiece(meta);
    const HashedIndex& index = piece->resident()->hashed_index();
    const PieceRange range = index.Page(number);
    const std::string payload = ReadPayload(meta, range);
    Block block;
    OrderPage page;
    ASSERT_TRUE(Block::Parse(payload, &block));
    ASSERT_TRUE(OrderPage::Parse(block, index.KeysOfPage(number), index.widths(), &page));
    PageParts parts;
    for (uint32_t i = 0; i < page.count(); ++i) {
      parts.places.push_back(page.place(i));
      if (page.has_differences()) parts.differences.push_back(static_cast<uint32_t>(page.difference(i)));
    }
    edit(&parts);
    std::string edited;
    OrderPage::Encode(parts.places, parts.differences, index.widths(), &edited);
    WritePayload(meta, range, std::move(edited));
  }

  // Pieces built from now on have one, which is asked.
  void UseFilter(int millibits_per_key) {
    filter_.new_bits = [=](const FilterPlace&) { return NewBloomBuilder(millibits_per_key); };
    build_.filter = &filter_;
    options_.filters = true;
  }

  FilterOptions filter_;
  PieceMeta meta_;
  PieceHashes hashes_;
};

}  // namespace compassdb
