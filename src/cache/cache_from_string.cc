// SPDX-License-Identifier: Apache-2.0
// Caches from option strings: a size ("64M"), or "capacity=64M;num_shard_bits=4;...".
#include <functional>
#include <map>

#include "api/option_string.h"
#include "api/registered.h"
#include "rocksdb/cache.h"
#include "rocksdb/config_options.h"
#include "rocksdb/secondary_cache.h"

namespace ROCKSDB_NAMESPACE {

namespace {

using Setter = std::function<bool(const std::string& value)>;
using Setters = std::map<std::string, Setter>;

bool ParseSize(const std::string& text, size_t* size) {
  uint64_t value = 0;
  const bool good = compassdb::ParseUnsigned(text, &value);
  *size = value;
  return good;
}

Setters CommonSetters(LRUCacheOptions* o) {
  return {
      {"capacity", [o](const std::string& v) { return ParseSize(v, &o->capacity); }},
      {"num_shard_bits",
       [o](const std::string& v) { return compassdb::ParseInt(v, &o->num_shard_bits); }},
      {"strict_capacity_limit",
       [o](const std::string& v) { return compassdb::ParseBool(v, &o->strict_capacity_limit); }},
      {"high_pri_pool_ratio",
       [o](const std::string& v) { return compassdb::ParseDouble(v, &o->high_pri_pool_ratio); }},
      {"low_pri_pool_ratio",
       [o](const std::string& v) { return compassdb::ParseDouble(v, &o->low_pri_pool_ratio); }},
  };
}

// As in RocksDB, an unknown name is an error also where unknown options are ignored.
Status Apply(const ConfigOptions& config, const std::string& text, const Setters& setters) {
  compassdb::OptionMap options;
  Status s = compassdb::ParseOptionString(text, &options);
  if (!s.ok()) return s;
  for (const auto& [name, value] : options) {
    auto it = setters.find(name);
    if (it == setters.end()) {
      return Status::InvalidArgument("cache has no option of this name", name);
    }
    const std::string plain =
        config.input_strings_escaped ? compassdb::UnescapeOptionValue(value) : value;
    if (!it->second(plain)) {
      return Status::InvalidArgument("cache option " + name, "bad value " + value);
    }
  }
  return s;
}

bool ParseCompression(const std::string& text, CompressionType* type) {
  static const std::map<std::string, CompressionType> types = {
      {"kNoCompression", kNoCompression},       {"kSnappyCompression", kSnappyCompression},
      {"kZlibCompression", kZlibCompression},   {"kBZip2Compression", kBZip2Compression},
      {"kLZ4Compression", kLZ4Compression},     {"kLZ4HCCompression", kLZ4HCCompression},
      {"kZSTD", kZSTD},
  };
  auto it = types.find(text);
  if (it == types.end()) return false;
  *type = it->second;
  return true;
}

Status CompressedFromString(const ConfigOptions& config, const std::string& text,
                            std::shared_ptr<SecondaryCache>* result) {
  CompressedSecondaryCacheOptions options;
  Setters setters = CommonSetters(&options);
  setters.erase("low_pri_pool_ratio");  // RocksDB reads it of a block cache alone
  setters["compression_type"] = [&](const std::string& v) {
    return ParseCompression(v, &options.compression_type);
  };
  setters["compress_format_version"] = [&](const std::string& v) {
    uint64_t version = 0;
    const bool good = compassdb::ParseUnsigned(v, &version);
    options.compress_format_version = static_cast<uint32_t>(version);
    return good;
  };
  setters["enable_custom_split_merge"] = [&](const std::string& v) {
    return compassdb::ParseBool(v, &options.enable_custom_split_merge);
  };
  Status s = Apply(config, text, setters);
  if (!s.ok()) return s;
  auto cache = NewCompressedSecondaryCache(options);
  if (cache == nullptr) {
    return Status::InvalidArgument("secondary cache: options out of range", text);
  }
  *result = std::move(cache);
  return s;
}

}  // namespace

Status Cache::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                               std::shared_ptr<Cache>* result) {
  LRUCacheOptions options;
  if (value.find('=') != std::string::npos) {
    Status s = Apply(config_options, value, CommonSetters(&options));
    if (!s.ok()) return s;
  } else if (!ParseSize(value, &options.capacity)) {
    return Status::InvalidArgument("cache: not a size", value);
  }
  *result = NewLRUCache(options);  // null if they are out of range, as in RocksDB
  return Status::OK();
}

Status SecondaryCache::CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                        std::shared_ptr<SecondaryCache>* result) {
  constexpr std::string_view kCompressed = "compressed_secondary_cache://";
  if (id.starts_with(kCompressed)) {
    return CompressedFromString(config_options, id.substr(kCompressed.size()), result);
  }
  return compassdb::LoadObject<SecondaryCache>(config_options, "SecondaryCache", id,
                                               compassdb::kNoneBuiltIn, result);
}

}  // namespace ROCKSDB_NAMESPACE
