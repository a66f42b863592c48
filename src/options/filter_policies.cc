// SPDX-License-Identifier: Apache-2.0
// Filter policies as named option holders. A table's directory (a perfect hash
// with fingerprints) answers what a filter would, so a policy builds
// nothing: RocksDB's interface calls that "no filter for this table".
#include "rocksdb/filter_policy.h"

#include <algorithm>
#include <cmath>

#include "options/option_info.h"
#include "rocksdb/convenience.h"
#include "util/registered.h"

namespace compassdb {

namespace {

using rocksdb::FilterPolicy;

constexpr const char* kCompatibilityName = "rocksdb.BuiltinBloomFilter";

class DirectoryServedPolicy : public FilterPolicy {
 public:
  DirectoryServedPolicy(const char* class_name, const char* nickname, std::string parameters)
      : class_name_(class_name), nickname_(nickname), parameters_(std::move(parameters)) {}
  const char* Name() const override { return class_name_; }
  const char* NickName() const override { return nickname_; }
  const char* CompatibilityName() const override { return kCompatibilityName; }
  std::string GetId() const override { return class_name_ + parameters_; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice&) const override {
    return nullptr;
  }

 private:
  const char* const class_name_;
  const char* const nickname_;
  const std::string parameters_;
};

// Bits per key count in thousandths; less than half a bit is no filter, less than one is one.
int MilliBits(double bits_per_key) {
  if (!(bits_per_key >= 0.5)) return 0;
  if (bits_per_key < 1.0) return 1000;
  return static_cast<int>(std::min(bits_per_key, 100.0) * 1000 + 0.500001);
}

std::string FormatMilliBits(int milli_bits) {
  std::string text = ":" + std::to_string(milli_bits / 1000);
  const int fraction = milli_bits % 1000;
  if (fraction != 0) {
    char digits[8];
    snprintf(digits, sizeof(digits), ".%03d", fraction);
    text += digits;
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

const FilterPolicy* NewBloom(double bits_per_key) {
  return new DirectoryServedPolicy("bloomfilter", "rocksdb.BloomFilter",
                                   FormatMilliBits(MilliBits(bits_per_key)) + ":false");
}

const FilterPolicy* NewRibbon(double bits_per_key, int bloom_before_level) {
  return new DirectoryServedPolicy(
      "ribbonfilter", "rocksdb.RibbonFilter",
      FormatMilliBits(MilliBits(bits_per_key)) + ":" + std::to_string(bloom_before_level));
}

// Policies that only RocksDB's own tests make, by name with their bits.
const char* InternalName(const std::string& name) {
  for (const char* known :
       {"rocksdb.internal.LegacyBloomFilter", "rocksdb.internal.FastLocalBloomFilter",
        "rocksdb.internal.Standard128RibbonFilter", "rocksdb.BuiltinBloomFilter"}) {
    if (name == known) return known;
  }
  return nullptr;
}

Status MakePolicy(const std::string& id, std::shared_ptr<const FilterPolicy>* made) {
  std::vector<std::string> part;
  const Status s = SplitOptionList(id, &part);
  if (!s.ok()) return s;
  const std::string name = part.empty() ? "" : part[0];
  double bits = 0;
  if (part.size() > 1 && !ParseDouble(part[1], &bits)) {
    return BadOptionValue("filter_policy", id, "object");
  }
  if (name == "bloomfilter" || name == "rocksdb.BloomFilter") {
    if (part.size() < 2) return BadOptionValue("filter_policy", id, "object");
    made->reset(NewBloom(bits));
  } else if (name == "ribbonfilter" || name == "rocksdb.RibbonFilter") {
    int level = 0;
    if (part.size() < 2 || (part.size() > 2 && !ParseValue(part[2], &level))) {
      return BadOptionValue("filter_policy", id, "object");
    }
    made->reset(NewRibbon(bits, level));
  } else if (const char* known = InternalName(name)) {
    made->reset(new DirectoryServedPolicy(
        known, "", part.size() > 1 ? FormatMilliBits(MilliBits(bits)) : ""));
  } else {
    return Status::NotSupported("Could not load filter policy", id);
  }
  return Status::OK();
}

}  // namespace

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

FilterPolicy::~FilterPolicy() = default;

FilterBuildingContext::FilterBuildingContext(const BlockBasedTableOptions& options)
    : table_options(options) {}

const FilterPolicy* NewBloomFilterPolicy(double bits_per_key, bool) {
  return compassdb::NewBloom(bits_per_key);
}

const FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                          int bloom_before_level) {
  return compassdb::NewRibbon(bloom_equivalent_bits_per_key, bloom_before_level);
}

Status FilterPolicy::CreateFromString(const ConfigOptions& config, const std::string& value,
                                      std::shared_ptr<const FilterPolicy>* result) {
  std::string id;
  compassdb::OptionMap map;
  Status s = compassdb::ParseObjectString(value, "", &id, &map);
  if (!s.ok()) return s;
  if (id.empty()) {
    result->reset();
    return Status::OK();
  }
  if (compassdb::NewRegistered<const FilterPolicy>(config, id, result, &s)) return s;
  return compassdb::MakePolicy(id, result);
}

}  // namespace ROCKSDB_NAMESPACE
