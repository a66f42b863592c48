// SPDX-License-Identifier: Apache-2.0
// The built-in filter policies, by name and by function.
#include <climits>

#include "api/registered.h"
#include "filter/filter_bits.h"
#include "options/option_info.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

using rocksdb::FilterPolicy;

// What a policy builds.
enum class Kind : uint8_t { kNone, kBloom, kRibbon };

class BuiltinPolicy : public FilterPolicy {
 public:
  // A Ribbon filter is a Bloom filter before `bloom_before_level`, where flushes are level -1.
  BuiltinPolicy(const char* class_name, const char* nickname, std::string parameters, Kind kind,
                int millibits_per_key, int bloom_before_level = INT_MIN)
      : class_name_(class_name),
        nickname_(nickname),
        parameters_(std::move(parameters)),
        kind_(kind),
        millibits_per_key_(millibits_per_key),
        bloom_before_level_(bloom_before_level) {}
  const char* Name() const override { return class_name_; }
  const char* NickName() const override { return nickname_; }
  const char* CompatibilityName() const override { return kFilterFormatName; }
  std::string GetId() const override { return class_name_ + parameters_; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    if (kind_ == Kind::kNone || millibits_per_key_ == 0) return nullptr;
    const bool ribbon = kind_ == Kind::kRibbon && LevelOf(context) >= bloom_before_level_;
    return (ribbon ? NewRibbonBuilder(millibits_per_key_) : NewBloomBuilder(millibits_per_key_))
        .release();
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return NewFilterReader(contents).release();
  }

 private:
  // An unknown level, or a family without levels, counts as the last one.
  static int LevelOf(const rocksdb::FilterBuildingContext& context) {
    if (context.compaction_style == rocksdb::kCompactionStyleFIFO ||
        context.compaction_style == rocksdb::kCompactionStyleNone) {
      return INT_MAX;
    }
    if (context.reason == rocksdb::TableFileCreationReason::kFlush) return -1;
    return context.level_at_creation == -1 ? INT_MAX : context.level_at_creation;
  }

  const char* const class_name_;
  const char* const nickname_;
  const std::string parameters_;
  const Kind kind_;
  const int millibits_per_key_;
  const int bloom_before_level_;
};

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
  const int millibits = FilterMilliBits(bits_per_key);
  return new BuiltinPolicy("bloomfilter", "rocksdb.BloomFilter", FormatMilliBits(millibits) + ":false",
                           Kind::kBloom, millibits);
}

const FilterPolicy* NewRibbon(double bits_per_key, int bloom_before_level) {
  const int millibits = FilterMilliBits(bits_per_key);
  return new BuiltinPolicy("ribbonfilter", "rocksdb.RibbonFilter",
                           FormatMilliBits(millibits) + ":" + std::to_string(bloom_before_level),
                           Kind::kRibbon, millibits, bloom_before_level);
}

// Policies that RocksDB knows by name alone.
struct InternalPolicy {
  const char* name;
  Kind kind;
};
constexpr InternalPolicy kInternal[] = {
    {"rocksdb.internal.LegacyBloomFilter", Kind::kBloom},
    {"rocksdb.internal.FastLocalBloomFilter", Kind::kBloom},
    {"rocksdb.internal.Standard128RibbonFilter", Kind::kRibbon}};

// "name:bits", for Bloom filters "name:bits:true" or "...:false", for Ribbon filters
// "name:bits:level".
Status MakePolicy(const std::string& id, std::shared_ptr<const FilterPolicy>* made) {
  if (id == kFilterFormatName) {
    made->reset(new BuiltinPolicy(kFilterFormatName, "", "", Kind::kNone, 0));
    return Status::OK();
  }
  const std::vector<std::string> part = Split(id, ':');
  const std::string& name = part[0];
  double bits = 0;
  if (part.size() < 2 || part.size() > 3 || !IsNumber(part[1], true) ||
      !ParseDouble(part[1], &bits)) {
    return Status::OK();
  }
  if (name == "bloomfilter" || name == "rocksdb.BloomFilter") {
    if (part.size() == 2 || part[2] == "true" || part[2] == "false") made->reset(NewBloom(bits));
  } else if (name == "ribbonfilter" || name == "rocksdb.RibbonFilter") {
    if (part.size() == 3 && !IsNumber(part[2], false)) return Status::OK();
    int level = 0;
    if (part.size() == 3 && !ParseInt(part[2], &level)) {
      return BadOptionValue("filter_policy", id, "object");
    }
    made->reset(NewRibbon(bits, level));
  } else if (part.size() == 2) {
    const int millibits = FilterMilliBits(bits);
    for (const InternalPolicy& known : kInternal) {
      if (name != known.name) continue;
      made->reset(
          new BuiltinPolicy(known.name, "", FormatMilliBits(millibits), known.kind, millibits));
    }
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
  if (value.empty() || value == "nullptr") {
    result->reset();
    return Status::OK();
  }
  std::string id;
  compassdb::OptionMap options;
  compassdb::ParseObjectString(value, "", &id, &options);
  if (id.empty()) return compassdb::CannotReset();
  return compassdb::LoadObject<const FilterPolicy>(config, "FilterPolicy", value,
                                                   compassdb::MakePolicy, result);
}

}  // namespace ROCKSDB_NAMESPACE
