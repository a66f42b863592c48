// SPDX-License-Identifier: Apache-2.0
#include "filter/filter_bits.h"

#include <algorithm>
#include <vector>

#include "filter/filter_format.h"
#include "filter/filter_hash.h"

namespace compassdb {

namespace {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;

enum class Kind : uint8_t { kBloom, kRibbon };

class HashCollector final : public FilterBitsBuilder {
 public:
  HashCollector(Kind kind, int millibits) : kind_(kind), millibits_(millibits) {}
  void AddKey(const Slice& key) override {
    const uint64_t hash = FilterHash(key);
    if (hashes_.empty() || hashes_.back() != hash) hashes_.push_back(hash);
  }
  std::string Finish() override {
    if (hashes_.empty()) return "";
    std::string bits;
    if (kind_ == Kind::kRibbon) bits = BuildRibbon(hashes_, millibits_);
    if (bits.empty()) bits = BuildBloom(hashes_, millibits_);
    return bits;
  }

 private:
  const Kind kind_;
  const int millibits_;
  std::vector<uint64_t> hashes_;
};

template <typename View>
class ViewReader final : public FilterBitsReader {
 public:
  explicit ViewReader(const View& view) : view_(view) {}
  bool MayMatch(const Slice& key) const override { return view_.MayMatch(FilterHash(key)); }

 private:
  const View view_;
};

class ConstantReader final : public FilterBitsReader {
 public:
  explicit ConstantReader(bool answer) : answer_(answer) {}
  bool MayMatch(const Slice& /*key*/) const override { return answer_; }

 private:
  const bool answer_;
};

}  // namespace

int FilterMilliBits(double bits_per_key) {
  if (bits_per_key < 0.5) return 0;
  if (bits_per_key < 1.0) return 1000;
  // NaN gives the most, too.
  return static_cast<int>((bits_per_key < 100.0 ? bits_per_key : 100.0) * 1000 + 0.500001);
}

std::unique_ptr<FilterBitsBuilder> NewBloomBuilder(int millibits_per_key) {
  return std::make_unique<HashCollector>(Kind::kBloom, millibits_per_key);
}

std::unique_ptr<FilterBitsBuilder> NewRibbonBuilder(int bloom_millibits_per_key) {
  return std::make_unique<HashCollector>(Kind::kRibbon, bloom_millibits_per_key);
}

std::unique_ptr<FilterBitsReader> NewFilterReader(const Slice& bits) {
  if (bits.empty()) return std::make_unique<ConstantReader>(false);
  if (BloomView bloom; BloomView::Open(bits, &bloom)) {
    return std::make_unique<ViewReader<BloomView>>(bloom);
  }
  if (RibbonView ribbon; RibbonView::Open(bits, &ribbon)) {
    return std::make_unique<ViewReader<RibbonView>>(ribbon);
  }
  return std::make_unique<ConstantReader>(true);
}

}  // namespace compassdb
