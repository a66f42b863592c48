// SPDX-License-Identifier: Apache-2.0
#include "table/piece/piece_format.h"

#include "format/format_version.h"
#include "util/coding.h"
#include "util/hash.h"

namespace compassdb {

namespace {

constexpr size_t kHashBytes = 12;  // of an entry of the hash list, without its flags
constexpr uint32_t kWithoutFilter = 4;  // versions
constexpr uint32_t kWithFilter = 5;
constexpr uint32_t kWithoutHashes = 6;  // with a filter, or without
static_assert(kWithoutHashes == kPieceFormat.current);

uint64_t FooterContext(uint64_t file_id, uint64_t place) {
  return MixContext(MixContext(file_id, place), FooterKind());
}

// Visits the footer's numbers in the order in which they are stored.
template <typename Footer, typename Visit>
void ForEachField(Footer& footer, bool with_filter, Visit visit) {
  for (size_t i = 0; i < kPieceSections - (with_filter ? 0 : 1); ++i) visit(footer.section_length[i]);
  visit(footer.piece_id);
  visit(footer.hash_seed);
  visit(footer.num_blocks);
  visit(footer.num_records);
  visit(footer.num_keys);
  visit(footer.num_range_tombstones);
  visit(footer.data_bytes);
  visit(footer.max_block_payload);
  visit(footer.data_order);
  visit(footer.order_bytes);
}

}  // namespace

uint64_t SectionKind(PieceSection section) { return kPieceFormat.magic + static_cast<uint64_t>(section); }
uint64_t FooterKind() { return kPieceFormat.magic + 100; }

std::string EncodeFooter(const PieceFooter& footer) {
  std::string out;
  const uint32_t version = footer.without_hashes() ? kWithoutHashes
                           : footer.has_filter()   ? kWithFilter
                                                   : kWithoutFilter;
  ForEachField(footer, version != kWithoutFilter, [&](uint64_t v) { PutFixed64(&out, v); });
  PutFixed32(&out, 0);
  PutFixed32(&out, version);
  PutFixed64(&out, kPieceFormat.magic);
  return out;
}

namespace {

// Whether the checksum is right for some number of fields before it, as in a footer of any version, of this release or
// a later one.
bool IsSomeFooter(const Slice& bytes, uint64_t file_id, uint64_t end) {
  if (bytes.size() < kFooterTail) return false;
  const char* const tail = bytes.data() + bytes.size() - kFooterTail;
  const size_t most = std::min(bytes.size(), kMostFooterBytes) - kFooterTail;
  for (size_t fields = 8; fields <= most; fields += 8) {
    const uint64_t context = FooterContext(file_id, end - kFooterTail - fields);
    if (DecodeFixed32(tail) == Checksum32(Slice(tail - fields, fields), context)) return true;
  }
  return false;
}

// For a known version, or none at all.
Status DecodeFooterOf(uint32_t version, const Slice& bytes, uint64_t file_id, uint64_t end, uint64_t extent_length,
                      const std::string& what, PieceFooter* footer) {
  const char* tail = bytes.data() + bytes.size() - kFooterTail;
  const bool with_length = version >= kWithFilter;  // of the filter
  const size_t footer_bytes = with_length ? PieceFooter::kMostBytes : PieceFooter::kLeastBytes;
  if (bytes.size() < footer_bytes) return Status::Corruption(what, "footer is cut off");
  const size_t field_bytes = footer_bytes - kFooterTail;
  const char* p = tail - field_bytes;
  if (!CanReadVersion(kPieceFormat, version) ||
      !ChecksumHolds(DecodeFixed32(tail), Checksum32(Slice(p, field_bytes),
                                                     FooterContext(file_id, end - footer_bytes)))) {
    return Status::Corruption(what, "footer fails its checksum");
  }
  *footer = PieceFooter();
  ForEachField(*footer, with_length, [&](uint64_t& v) {
    v = DecodeFixed64(p);
    p += 8;
  });
  // Lengths are summed one by one, so that no sum can wrap around.
  uint64_t left = extent_length - footer_bytes;
  bool fits = extent_length >= footer_bytes && footer->data_bytes <= left;
  if (fits) left -= footer->data_bytes;
  fits = fits && footer->order_bytes <= left;
  if (fits) left -= footer->order_bytes;
  for (size_t i = 0; i < kPieceSections; ++i) {
    const uint64_t length = footer->section_length[i];
    if (i == static_cast<size_t>(PieceSection::kFilter) && length == 0 && version != kWithFilter) {
      continue;
    }
    fits = fits && length >= 4 && length <= left;
    if (fits) left -= length;
  }
  if (!fits || left != 0) {
    return Status::Corruption(what, "footer: the sections do not fill the extent");
  }
  if (footer->without_hashes() != (version == kWithoutHashes)) {
    return Status::Corruption(what, "footer: the version is wrong about the hash list");
  }
  if (footer->data_order > static_cast<uint64_t>(DataOrder::kHash)) {
    return Status::Corruption(what, "footer: unknown order of records");
  }
  return Status::OK();
}

// Whether a later release wrote it: the checksum is right for an unknown version. No checksum covers the version, so
// otherwise the difference is a flipped bit.
bool IsNewerFooter(const Slice& bytes, uint64_t file_id, uint64_t end, uint64_t extent_length) {
  if (!IsSomeFooter(bytes, file_id, end)) return false;
  PieceFooter footer;
  for (uint32_t version = kPieceFormat.oldest; version <= kPieceFormat.current; ++version) {
    if (DecodeFooterOf(version, bytes, file_id, end, extent_length, "", &footer).ok()) return false;
  }
  return true;
}

}  // namespace

Status DecodeFooter(const Slice& bytes, uint64_t file_id, uint64_t end, uint64_t extent_length,
                    const std::string& what, PieceFooter* footer) {
  if (bytes.size() < PieceFooter::kLeastBytes) return Status::Corruption(what, "footer is cut off");
  const char* tail = bytes.data() + bytes.size() - kFooterTail;
  if (DecodeFixed64(tail + 8) != kPieceFormat.magic) {
    return Status::Corruption(what, "footer has a bad magic number");
  }
  const uint32_t version = DecodeFixed32(tail + 4);
  if (version > kPieceFormat.current && (ChecksumsIgnored() || IsNewerFooter(bytes, file_id, end, extent_length))) {
    return Status::NotSupported(what, "piece has format version " + std::to_string(version) +
                                          ", this release reads up to " +
                                          std::to_string(kPieceFormat.current));
  }
  return DecodeFooterOf(version, bytes, file_id, end, extent_length, what, footer);
}

const char* SectionName(PieceSection section) {
  switch (section) {
    case PieceSection::kHashes:
      return "hash list";
    case PieceSection::kHashedIndex:
      return "hashed index";
    case PieceSection::kSeparators:
      return "separators";
    case PieceSection::kTombstones:
      return "range tombstones";
    case PieceSection::kProperties:
      return "properties";
    case PieceSection::kFilter:
      return "filter";
  }
  return "section";
}

uint64_t SectionContext(PieceSection section, uint64_t file_id, uint64_t place) {
  return MixContext(MixContext(file_id, place), SectionKind(section));
}

Status OpenSection(PieceSection section, uint64_t file_id, uint64_t place, Slice stored,
                   const std::string& what, Slice* bytes) {
  const auto damaged = [&](const char* why) {
    return Status::Corruption(what, std::string(SectionName(section)) + " at offset " +
                                        std::to_string(place) + ": " + why);
  };
  if (stored.size() < 4) return damaged("cut off");
  *bytes = Slice(stored.data(), stored.size() - 4);
  if (!ChecksumHolds(DecodeFixed32(bytes->data() + bytes->size()),
                     Checksum32(*bytes, SectionContext(section, file_id, place)))) {
    return damaged("checksum mismatch");
  }
  return Status::OK();
}

// --- hash list ---

std::string EncodeHashes(const PieceHashes& hashes) {
  const size_t n = hashes.h1.size();
  std::string out;
  out.reserve(n * kHashBytes + n / 4 + 8);
  out.append(reinterpret_cast<const char*>(hashes.h1.data()), n * 8);
  for (const uint64_t h2 : hashes.h2) PutFixed32(&out, StoredH2(h2));
  for (size_t i = 0; i < n; i += 4) {
    unsigned byte = 0;
    for (size_t j = i; j < std::min(n, i + 4); ++j) byte |= unsigned{hashes.flags[j]} << (j - i) * 2;
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

Status DecodeHashes(const Slice& bytes, uint64_t num_keys, const std::string& what,
                    PieceHashes* hashes) {
  *hashes = PieceHashes();
  const auto damaged = [&] { return Status::Corruption(what, "hash list is malformed"); };
  if (num_keys > bytes.size() / kHashBytes) return damaged();
  const size_t n = num_keys;
  hashes->h1.resize(n);
  hashes->h2.resize(n);
  if (n > 0) {
    memcpy(hashes->h1.data(), bytes.data(), n * 8);
    for (size_t i = 0; i < n; ++i) {
      hashes->h2[i] = uint64_t{DecodeFixed32(bytes.data() + n * 8 + i * 4)} << 32;
    }
  }
  const char* p = bytes.data() + n * kHashBytes;
  const char* const limit = bytes.data() + bytes.size();
  if (static_cast<size_t>(limit - p) != (n + 3) / 4) return damaged();
  hashes->flags.resize(n);
  for (size_t i = 0; i < n; ++i) {
    hashes->flags[i] = static_cast<uint8_t>(p[i / 4]) >> (i % 4 * 2) & 3;
  }
  return Status::OK();
}

// --- range tombstones ---

std::string EncodeTombstones(const std::vector<RangeTombstone>& tombstones) {
  std::string out;
  for (const RangeTombstone& t : tombstones) {
    PutLengthPrefixedSlice(&out, t.StoredStart());
    PutLengthPrefixedSlice(&out, t.StoredEnd());
    PutVarint64(&out, t.sequence);
  }
  return out;
}

Status DecodeTombstones(const Slice& bytes, uint64_t count, size_t timestamp_size,
                        const std::string& what, std::vector<RangeTombstone>* tombstones) {
  tombstones->clear();
  Slice input = bytes;
  while (!input.empty()) {
    Slice start, end;
    SequenceNumber sequence = 0;
    if (!GetLengthPrefixedSlice(&input, &start) || !GetLengthPrefixedSlice(&input, &end) ||
        !GetVarint64(&input, &sequence) || sequence > kMaxSequenceNumber ||
        start.size() < timestamp_size || end.size() < timestamp_size) {
      return Status::Corruption(what, "range tombstones are malformed");
    }
    tombstones->push_back(FromStoredBounds(start, end, sequence, timestamp_size));
  }
  if (tombstones->size() != count) {
    return Status::Corruption(what, "range tombstones: the footer counts " +
                                        std::to_string(count) + ", found " +
                                        std::to_string(tombstones->size()));
  }
  return Status::OK();
}

// --- properties ---

namespace {

enum PropertyTag : uint32_t {
  kComparator = 1,
  kNumDeletions = 2,
  kNumMerges = 3,
  kRawBytes = 4,
  kSmallestSeq = 5,
  kLargestSeq = 6,
  kSmallest = 7,
  kLargest = 8,
  kCreationTime = 9,
  kCollectors = 10,
  kCollectedName = 11,
  kCollectedValue = 12,
};

void PutProperty(std::string* out, PropertyTag tag, const Slice& value) {
  PutVarint32(out, tag);
  PutLengthPrefixedSlice(out, value);
}

void PutNumber(std::string* out, PropertyTag tag, uint64_t value) {
  std::string number;
  PutVarint64(&number, value);
  PutProperty(out, tag, number);
}

}  // namespace

std::string EncodeProperties(const PieceMeta& meta, const std::string& comparator_name) {
  std::string out;
  PutProperty(&out, kComparator, comparator_name);
  PutNumber(&out, kNumDeletions, meta.num_deletions);
  PutNumber(&out, kNumMerges, meta.num_merges);
  PutNumber(&out, kRawBytes, meta.raw_bytes);
  PutNumber(&out, kSmallestSeq, meta.smallest_seq);
  PutNumber(&out, kLargestSeq, meta.largest_seq);
  PutProperty(&out, kSmallest, meta.smallest);
  PutProperty(&out, kLargest, meta.largest);
  PutNumber(&out, kCreationTime, meta.creation_time);
  if (meta.collected != nullptr) {
    PutProperty(&out, kCollectors, meta.collected->collectors);
    for (const auto& [name, value] : meta.collected->properties) {
      PutProperty(&out, kCollectedName, name);
      PutProperty(&out, kCollectedValue, value);
    }
  }
  return out;
}

Status DecodeProperties(const Slice& bytes, const std::string& what, PieceMeta* meta,
                        std::string* comparator_name) {
  Slice input = bytes;
  std::shared_ptr<CollectedProperties> collected;
  std::string collected_name;
  while (!input.empty()) {
    uint32_t tag;
    Slice value;
    if (!GetVarint32(&input, &tag) || !GetLengthPrefixedSlice(&input, &value)) {
      return Status::Corruption(what, "properties are malformed");
    }
    uint64_t* number = nullptr;
    switch (tag) {
      case kComparator:
        *comparator_name = value.ToString();
        break;
      case kSmallest:
        meta->smallest = value.ToString();
        break;
      case kLargest:
        meta->largest = value.ToString();
        break;
      case kNumDeletions:
        number = &meta->num_deletions;
        break;
      case kNumMerges:
        number = &meta->num_merges;
        break;
      case kRawBytes:
        number = &meta->raw_bytes;
        break;
      case kSmallestSeq:
        number = &meta->smallest_seq;
        break;
      case kLargestSeq:
        number = &meta->largest_seq;
        break;
      case kCreationTime:
        number = &meta->creation_time;
        break;
      case kCollectors:
        collected = std::make_shared<CollectedProperties>();
        collected->collectors = value.ToString();
        break;
      case kCollectedName:
        collected_name = value.ToString();
        break;
      case kCollectedValue:
        if (collected != nullptr) collected->properties[collected_name] = value.ToString();
        break;
      default:
        break;
    }
    if (number != nullptr && !GetVarint64(&value, number)) {
      return Status::Corruption(what, "properties: a number is malformed");
    }
  }
  meta->collected = std::move(collected);
  return Status::OK();
}

}  // namespace compassdb
