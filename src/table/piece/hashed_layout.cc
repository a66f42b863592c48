// SPDX-License-Identifier: Apache-2.0
#include "table/piece/hashed_layout.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "util/coding.h"
#include "util/heap_bytes.h"

namespace compassdb {

namespace {

constexpr uint32_t kBucketsPerKeyLog = 1;

// The numbers of the keys by ascending h1. Hashes are uniform: a scatter by their upper bits leaves
// small groups.
std::vector<uint32_t> OrderByHash(std::span<const uint64_t> h1) {
  const size_t n = h1.size();
  const int bits = std::max(1, static_cast<int>(std::bit_width(n / 4 + 1)));
  const int shift = 64 - bits;
  std::vector<uint32_t> start((size_t{1} << bits) + 1, 0);
  for (uint64_t h : h1) start[(h >> shift) + 1]++;
  for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  struct Entry {
    uint64_t h1;
    uint32_t key;
  };
  std::vector<Entry> entries(n);
  std::vector<uint32_t> next(start.begin(), start.end() - 1);
  for (uint32_t i = 0; i < n; ++i) entries[next[h1[i] >> shift]++] = {h1[i], i};
  for (size_t g = 0; g + 1 < start.size(); ++g) {
    if (start[g + 1] - start[g] < 2) continue;
    std::sort(entries.begin() + start[g], entries.begin() + start[g + 1],
              [](const Entry& a, const Entry& b) {
                return a.h1 != b.h1 ? a.h1 < b.h1 : a.key < b.key;
              });
  }
  std::vector<uint32_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = entries[i].key;
  return order;
}

bool PlanByHash(std::span<const uint64_t> h1, std::span<const uint32_t> bytes,
                size_t block_payload, size_t full, HashedLayout* layout) {
  layout->keys = OrderByHash(h1);
  const uint32_t prefix_bits =
      static_cast<uint32_t>(std::bit_width(h1.size())) + kBucketsPerKeyLog;
  const uint32_t shift = 64 - prefix_bits;
  std::vector<uint64_t> first_bucket;
  uint64_t in_block = 0;
  const std::vector<uint32_t>& keys = layout->keys;
  for (uint32_t i = 0; i < keys.size();) {
    const uint64_t bucket = h1[keys[i]] >> shift;
    uint64_t in_bucket = 0;
    uint32_t end = i;
    while (end < keys.size() && h1[keys[end]] >> shift == bucket) in_bucket += bytes[keys[end++]];
    if (first_bucket.empty()) {
      first_bucket.push_back(0);
    } else if (in_block >= full && in_block + in_bucket > block_payload) {
      layout->block_end.push_back(i);
      first_bucket.push_back(bucket);
      in_block = 0;
    }
    in_block += in_bucket;
    i = end;
  }
  layout->block_end.push_back(static_cast<uint32_t>(keys.size()));
  layout->locator.push_back(static_cast<char>(prefix_bits));
  EncodeEliasFano(first_bucket, &layout->locator);
  return true;
}

bool PlanBySlot(std::span<const uint64_t> h1, std::span<const uint32_t> bytes,
                size_t block_payload, const perfect_hash::BuildOptions& options,
               HashedLayout* layout) {
  std::string serialized;
  if (!perfect_hash::Build(h1, options, &serialized).ok) return false;
  perfect_hash::Function function;
  if (!perfect_hash::Function::Open(
          {reinterpret_cast<const uint8_t*>(serialized.data()), serialized.size()}, &function)) {
    return false;
  }
  const uint64_t total = std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
  const uint64_t average = std::max<uint64_t>(1, (total + bytes.size() - 1) / bytes.size());
  const uint64_t slots_per_block =
      std::clamp<uint64_t>(block_payload / average, 1, UINT32_MAX);
  const uint64_t blocks = (function.slots() + slots_per_block - 1) / slots_per_block;
  if (blocks >= UINT32_MAX || function.slots() > UINT32_MAX) return false;

  std::vector<uint64_t> slots(h1.size());
  function.Batch(h1.data(), slots.data(), h1.size());
  std::vector<uint32_t> next(function.slots() + 1, 0);
  for (uint64_t slot : slots) next[slot + 1]++;
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  for (uint64_t b = 1; b <= blocks; ++b) {
    layout->block_end.push_back(next[std::min(b * slots_per_block, function.slots())]);
  }
  layout->keys.resize(h1.size());
  for (uint32_t i = 0; i < slots.size(); ++i) layout->keys[next[slots[i]]++] = i;
  PutVarint32(&layout->locator, static_cast<uint32_t>(slots_per_block));
  PutLengthPrefixedSlice(&layout->locator, serialized);
  return true;
}

}  // namespace

bool PlanHashedLayout(DataOrder order, std::span<const uint64_t> h1,
                      std::span<const uint32_t> bytes, size_t block_payload, size_t full,
                      const perfect_hash::BuildOptions& function, HashedLayout* layout) {
  *layout = HashedLayout();
  if (h1.empty()) return true;
  if (h1.size() >= UINT32_MAX) return false;
  return order == DataOrder::kSlot ? PlanBySlot(h1, bytes, block_payload, function, layout)
                                   : PlanByHash(h1, bytes, block_payload, full, layout);
}

bool BlockLocator::Parse(DataOrder order, rocksdb::Slice bytes, uint64_t num_blocks,
                         BlockLocator* out) {
  *out = BlockLocator();
  out->order_ = order;
  if (num_blocks == 0) return bytes.empty();
  if (order == DataOrder::kHash) {
    if (bytes.empty()) return false;
    const uint32_t prefix_bits = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    if (prefix_bits < 1 || prefix_bits > 63) return false;
    out->shift_ = 64 - prefix_bits;
    return EliasFano::Parse(&bytes, num_blocks, &out->first_bucket_) && bytes.empty() &&
           out->first_bucket_.size() == num_blocks && out->first_bucket_[0] == 0;
  }
  if (order != DataOrder::kSlot) return false;
  rocksdb::Slice function;
  if (!GetVarint32(&bytes, &out->slots_per_block_) || out->slots_per_block_ == 0 ||
      !GetLengthPrefixedSlice(&bytes, &function) || !bytes.empty()) {
    return false;
  }
  out->function_bytes_.assign(function.data(), function.data() + function.size());
  return perfect_hash::Function::Open(out->function_bytes_, &out->function_) &&
         out->function_.slots() > 0 &&
         (out->function_.slots() - 1) / out->slots_per_block_ + 1 == num_blocks;
}

size_t BlockLocator::MemoryBytes() const {
  return first_bucket_.MemoryBytes() + HeapBytes(function_bytes_);
}

}  // namespace compassdb
