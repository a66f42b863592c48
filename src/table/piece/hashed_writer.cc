// SPDX-License-Identifier: Apache-2.0
#include "table/piece/hashed_writer.h"

#include <algorithm>
#include <bit>

#include "table/directory/separator_builder.h"

namespace compassdb {

namespace {

constexpr size_t kBlockOverhead = 16;
// Keys longer than this are searched without differences.
constexpr size_t kMaxComparedKey = 1 << 20;

SequenceNumber SequenceOf(uint64_t trailer) { return trailer >> 8; }
ValueType TypeOf(uint64_t trailer) { return static_cast<ValueType>(trailer & 0xff); }

}  // namespace

void HashedWriter::Add(const ParsedInternalKey& key, const Slice& value, bool new_key) {
  char* p = arena_.Allocate(key.user_key.size() + value.size());
  if (!key.user_key.empty()) memcpy(p, key.user_key.data(), key.user_key.size());
  if (!value.empty()) memcpy(p + key.user_key.size(), value.data(), value.size());
  if (new_key) first_.push_back(static_cast<uint32_t>(records_.size()));
  records_.push_back({p, static_cast<uint32_t>(key.user_key.size()),
                      static_cast<uint32_t>(value.size()), PackTrailer(key.sequence, key.type)});
  bytes_ += key.user_key.size() + value.size();
}

Status HashedWriter::Drain(
    const std::function<Status(const ParsedInternalKey&, size_t, const Slice&)>& take) const {
  size_t key = 0;
  for (size_t i = 0; i < records_.size(); ++i) {
    const Record& r = records_[i];
    if (i >= EndOf(static_cast<uint32_t>(key))) ++key;
    ParsedInternalKey parsed;
    parsed.user_key = KeyOf(r);
    parsed.sequence = SequenceOf(r.trailer);
    parsed.type = TypeOf(r.trailer);
    Status s = take(parsed, key, ValueOf(r));
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// By how much each key enlarges a block's payload, without the shared prefix.
std::vector<uint32_t> HashedWriter::BytesPerKey() const {
  const size_t prefix =
      records_.empty() || !key_order_.bytewise()
          ? 0
          : CommonPrefixLength(KeyOf(records_.front()), KeyOf(records_.back()));
  uint64_t low = UINT64_MAX, high = 0;
  for (const Record& r : records_) {
    low = std::min(low, SequenceOf(r.trailer));
    high = std::max(high, SequenceOf(r.trailer));
  }
  const size_t tag = static_cast<size_t>(VarintLength((high - low) << 5 | 31));
  std::vector<uint32_t> bytes(first_.size());
  for (uint32_t k = 0; k < first_.size(); ++k) {
    uint64_t sum = 0;
    for (uint32_t i = first_[k]; i < EndOf(k); ++i) {
      const Record& r = records_[i];
      const size_t suffix = r.key_length - prefix;
      sum += 3 + tag + suffix + r.value_length +
             static_cast<size_t>(VarintLength(suffix) + VarintLength(r.value_length));
    }
    bytes[k] = static_cast<uint32_t>(std::min<uint64_t>(sum, UINT32_MAX));
  }
  return bytes;
}

Status HashedWriter::WriteBlocks(const HashedLayout& layout, const PieceHashes& hashes,
                                 const Output& out, std::vector<RecordPlace>* places,
                                 std::vector<uint64_t>* offsets) {
  places->resize(first_.size());
  offsets->assign(1, 0);
  BlockBuilder builder(key_order_.bytewise(), key_order_.HashesIdentifyKeys());
  std::vector<uint32_t> keys;
  uint32_t begin = 0;
  for (uint32_t b = 0; b < layout.block_end.size(); ++b) {
    const uint32_t end = layout.block_end[b];
    keys.assign(layout.keys.begin() + begin, layout.keys.begin() + end);
    std::sort(keys.begin(), keys.end());
    begin = end;
    for (uint32_t k : keys) {
      (*places)[k] = {b, builder.count()};
      for (uint32_t i = first_[k]; i < EndOf(k); ++i) {
        const Record& r = records_[i];
        builder.Add(KeyOf(r), BlockFingerprint({hashes.h1[k], hashes.h2[k]}),
                    SequenceOf(r.trailer), TypeOf(r.trailer), ValueOf(r));
      }
    }
    uint64_t written = 0;
    if (!keys.empty()) {
      Status s = out.block(&builder, &written);
      if (!s.ok()) return s;
    }
    offsets->push_back(offsets->back() + written);
  }
  return Status::OK();
}

std::vector<uint32_t> HashedWriter::Differences() const {
  if (!key_order_.bytewise()) return {};
  std::vector<uint32_t> differences(first_.size(), 0);
  for (uint32_t first : first_) {
    if (records_[first].key_length > kMaxComparedKey) return {};
  }
  for (size_t k = 1; k < first_.size(); ++k) {
    differences[k] = static_cast<uint32_t>(
        FirstDifference(KeyOf(records_[first_[k - 1]]), KeyOf(records_[first_[k]])));
  }
  return differences;
}

Status HashedWriter::WritePages(const std::vector<RecordPlace>& places,
                                const std::vector<uint32_t>& differences,
                                const OrderWidths& widths, const Output& out,
                                uint64_t* page_length) const {
  std::string payload;
  for (size_t begin = 0; begin < places.size(); begin += OrderPage::kKeys) {
    const size_t n = std::min<size_t>(OrderPage::kKeys, places.size() - begin);
    std::span<const uint32_t> page_differences;
    if (!differences.empty()) page_differences = {differences.data() + begin, n};
    OrderPage::Encode({places.data() + begin, n}, page_differences, widths, &payload);
    uint64_t written = 0;
    Status s = out.page(std::move(payload), &written);
    if (!s.ok()) return s;
    if (begin == 0) *page_length = written;
  }
  return Status::OK();
}

bool HashedWriter::Separators(std::string* out) const {
  SeparatorBuilder builder(key_order_);
  for (size_t k = 0; k < first_.size(); k += OrderPage::kGroup) {
    const size_t end = std::min<size_t>(first_.size(), k + OrderPage::kGroup);
    builder.Add(KeyOf(records_[first_[k]]), KeyOf(records_[first_[end - 1]]), end - k);
  }
  return builder.Finish(out);
}

Status HashedWriter::Finish(const perfect_hash::BuildOptions& function, const Output& out,
                            PieceHashes* hashes, Finished* finished) {
  HashedLayout layout;
  const auto without_overhead = [](size_t bytes) {
    return bytes > 2 * kBlockOverhead ? bytes - kBlockOverhead : 1;
  };
  if (!PlanHashedLayout(order_, hashes->h1, BytesPerKey(), without_overhead(block_payload_),
                        without_overhead(full_), function, &layout)) {
    return Status::NotSupported("piece", "too many keys or blocks for slot or hash order");
  }
  std::vector<RecordPlace> places;
  std::vector<uint64_t> offsets;
  Status s = WriteBlocks(layout, *hashes, out, &places, &offsets);
  if (!s.ok()) return s;

  OrderWidths widths;
  uint32_t largest_index = 0;
  for (const RecordPlace& p : places) largest_index = std::max(largest_index, p.index);
  widths.block = WidthFor(layout.block_end.size());
  widths.index = WidthFor(uint64_t{largest_index} + 1);
  const std::vector<uint32_t> differences = Differences();
  if (!differences.empty()) {
    const uint64_t largest = *std::max_element(differences.begin(), differences.end());
    widths.difference = std::max(1u, WidthFor(largest + 1));
  }
  if (widths.place() > OrderWidths::kMax) {
    return Status::NotSupported("piece", "too many records in a block for slot or hash order");
  }
  uint64_t page_length = 0;
  s = WritePages(places, differences, widths, out, &page_length);
  if (!s.ok()) return s;
  if (!HashedIndex::Encode(offsets, widths, page_length, layout.locator, &finished->index)) {
    return Status::InvalidArgument("piece", "more data than slot or hash order can hold");
  }
  if (!Separators(&finished->separators)) {
    return Status::InvalidArgument("piece", "separators over 4 GiB");
  }
  finished->num_blocks = layout.block_end.size();

  PieceHashes ordered;
  ordered.h1.reserve(layout.keys.size());
  ordered.h2.reserve(layout.keys.size());
  ordered.flags.reserve(layout.keys.size());
  for (uint32_t k : layout.keys) {
    ordered.h1.push_back(hashes->h1[k]);
    ordered.h2.push_back(hashes->h2[k]);
    ordered.flags.push_back(hashes->flags[k]);
  }
  *hashes = std::move(ordered);
  return s;
}

}  // namespace compassdb
