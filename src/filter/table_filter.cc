// SPDX-License-Identifier: Apache-2.0
#include "filter/table_filter.h"

#include "util/coding.h"
#include "util/heap_bytes.h"

namespace compassdb {

namespace {

using rocksdb::Slice;

constexpr unsigned kWholeKeys = 1;
constexpr unsigned kPrefixes = 2;

}  // namespace

std::unique_ptr<TableFilterBuilder> TableFilterBuilder::New(const FilterOptions& options,
                                                            const FilterPlace& place) {
  if (!options.new_bits || (!options.whole_keys && options.prefix_extractor == nullptr)) return nullptr;
  if (options.not_at_bottom && place.bottommost && place.level > 0) return nullptr;
  auto bits = options.new_bits(place);
  if (bits == nullptr) return nullptr;
  return std::unique_ptr<TableFilterBuilder>(new TableFilterBuilder(options, std::move(bits)));
}

void TableFilterBuilder::Add(const Slice& key) {
  const bool in_domain = extractor_ != nullptr && extractor_->InDomain(key);
  if (whole_keys_ && (!any_ || key != Slice(last_key_))) {
    bits_->AddKey(key);
    last_key_.assign(key.data(), key.size());
    any_ = true;
  }
  if (!in_domain) return;
  const Slice prefix = extractor_->Transform(key);
  if (any_prefix_ && prefix == Slice(last_prefix_)) return;
  bits_->AddKey(prefix);
  last_prefix_.assign(prefix.data(), prefix.size());
  any_prefix_ = true;
}

std::string TableFilterBuilder::Finish() {
  const std::string bits = bits_->Finish();
  // If all keys are outside the extractor's domain, the filter is empty: it rejects all prefixes.
  std::string section;
  section.push_back(static_cast<char>((whole_keys_ ? kWholeKeys : 0) |
                                      (extractor_ != nullptr ? kPrefixes : 0)));
  PutLengthPrefixedSlice(&section, extractor_ != nullptr ? extractor_->AsString() : "");
  section += bits;
  return section;
}

bool TableFilter::Parse(const Slice& section, std::unique_ptr<const TableFilter>* filter) {
  if (section.empty()) return false;
  const auto flags = static_cast<unsigned char>(section[0]);
  Slice rest(section.data() + 1, section.size() - 1), name;
  if ((flags & ~(kWholeKeys | kPrefixes)) != 0 || !GetLengthPrefixedSlice(&rest, &name)) return false;
  std::unique_ptr<TableFilter> parsed(new TableFilter);
  parsed->whole_keys_ = (flags & kWholeKeys) != 0;
  parsed->prefixes_ = (flags & kPrefixes) != 0;
  parsed->extractor_name_ = name.ToString();
  parsed->bits_ = rest.ToString();
  parsed->reader_ = NewFilterReader(parsed->bits_);
  *filter = std::move(parsed);
  return true;
}

FilterAnswer TableFilter::AskKey(const Slice& key, const rocksdb::SliceTransform* extractor) const {
  bool may = true;
  if (whole_keys_) {
    may = reader_->MayMatch(key);
  } else if (HasPrefixesOf(extractor) && extractor->InDomain(key)) {
    may = reader_->MayMatch(extractor->Transform(key));
  } else {
    return FilterAnswer::kNotAsked;
  }
  return may ? FilterAnswer::kPerhaps : FilterAnswer::kAbsent;
}

bool TableFilter::HasPrefixesOf(const rocksdb::SliceTransform* extractor) const {
  if (!prefixes_ || extractor == nullptr) return false;
  if (known_.load(std::memory_order_relaxed) == extractor) return true;
  if (extractor->AsString() != extractor_name_) return false;
  known_.store(extractor, std::memory_order_relaxed);
  return true;
}

size_t TableFilter::MemoryBytes() const {
  return HeapBytes(bits_) + HeapBytes(extractor_name_) + HeapBytes(sizeof(void*) * 4);
}

}  // namespace compassdb
