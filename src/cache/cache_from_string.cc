// SPDX-License-Identifier: Apache-2.0
// Caches from option strings: a size ("64M"), or "capacity=64M;num_shard_bits=4;...".
#include "cache/cache_from_string.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include "api/option_string.h"
#include "api/registered.h"
#include "rocksdb/cache.h"
#include "rocksdb/config_options.h"
#include "rocksdb/secondary_cache.h"
#include "util/c_locale.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {

namespace {

constexpr char kCompressedScheme[] = "compressed_secondary_cache://";

// Digits and perhaps one of K, M, G, T in either case. As in RocksDB, what follows does not count.
bool ParseSize(const std::string& text, size_t* size) {
  compassdb::Slice input(text);
  while (!input.empty() && compassdb::IsAsciiSpace(input[0])) input.remove_prefix(1);
  const bool negative = input.starts_with("-");
  if (negative || input.starts_with("+")) input.remove_prefix(1);
  uint64_t value;
  if (!compassdb::ConsumeDecimal(&input, &value)) return false;
  if (negative) value = 0 - value;  // it wraps
  int shift = 0;
  if (!input.empty()) {
    switch (input[0]) {
      case 'k': case 'K': shift = 10; break;
      case 'm': case 'M': shift = 20; break;
      case 'g': case 'G': shift = 30; break;
      case 't': case 'T': shift = 40; break;
      default: break;
    }
  }
  *size = value << shift;
  return true;
}

bool ParseNumber(const std::string& text, double* value) {
  char* end = nullptr;
  *value = compassdb::CLocaleStrtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(*value);
}

bool ParseFlag(const std::string& text, bool* value) {
  *value = text == "true" || text == "1";
  return *value || text == "false" || text == "0";
}

using Setter = std::function<bool(const std::string& value)>;
using Setters = std::map<std::string, Setter>;

Setters CommonSetters(LRUCacheOptions* o) {
  return {
      {"capacity", [o](const std::string& v) { return ParseSize(v, &o->capacity); }},
      {"num_shard_bits",
       [o](const std::string& v) {
         double n;
         if (!ParseNumber(v, &n) || n < -1 || n > 19 || n != std::floor(n)) return false;
         o->num_shard_bits = static_cast<int>(n);
         return true;
       }},
      {"strict_capacity_limit",
       [o](const std::string& v) { return ParseFlag(v, &o->strict_capacity_limit); }},
      {"high_pri_pool_ratio",
       [o](const std::string& v) { return ParseNumber(v, &o->high_pri_pool_ratio); }},
      {"low_pri_pool_ratio",
       [o](const std::string& v) { return ParseNumber(v, &o->low_pri_pool_ratio); }},
      {"use_adaptive_mutex",
       [o](const std::string& v) { return ParseFlag(v, &o->use_adaptive_mutex); }},
  };
}

Status Apply(bool ignore_unknown, const std::string& text, const Setters& setters) {
  compassdb::OptionMap options;
  Status s = compassdb::ParseOptionString(text, &options);
  if (!s.ok()) return s;
  for (const auto& [name, value] : options) {
    auto it = setters.find(name);
    if (it == setters.end()) {
      if (ignore_unknown) continue;
      return Status::InvalidArgument("cache has no option of this name", name);
    }
    if (!it->second(value)) return Status::InvalidArgument("cache option " + name, "bad value " + value);
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

Status SecondaryFromString(bool ignore_unknown, const std::string& id,
                           std::shared_ptr<SecondaryCache>* result) {
  if (id.empty() || id == "nullptr") {
    result->reset();
    return Status::OK();
  }
  const std::string scheme = kCompressedScheme;
  if (id.compare(0, scheme.size(), scheme) != 0) {
    return Status::NotSupported("secondary cache of this name is not registered", id);
  }
  CompressedSecondaryCacheOptions options;
  Setters setters = CommonSetters(&options);
  setters["compression_type"] = [&](const std::string& v) {
    return ParseCompression(v, &options.compression_type);
  };
  setters["compress_format_version"] = [&](const std::string& v) {
    options.compress_format_version = v == "1" ? 1 : 2;
    return v == "1" || v == "2";
  };
  setters["enable_custom_split_merge"] = [&](const std::string& v) {
    return ParseFlag(v, &options.enable_custom_split_merge);
  };
  Status s = Apply(ignore_unknown, id.substr(scheme.size()), setters);
  if (!s.ok()) return s;
  auto cache = NewCompressedSecondaryCache(options);
  if (cache == nullptr) return Status::InvalidArgument("secondary cache: options out of range", id);
  *result = std::move(cache);
  return Status::OK();
}

Status FromString(bool ignore_unknown, const std::string& value, std::shared_ptr<Cache>* result) {
  LRUCacheOptions options;
  if (value.find('=') == std::string::npos) {
    if (!ParseSize(value, &options.capacity)) {
      return Status::InvalidArgument("cache: not a size", value);
    }
  } else {
    Setters setters = CommonSetters(&options);
    Status nested;
    setters["secondary_cache"] = [&](const std::string& v) {
      nested = SecondaryFromString(ignore_unknown, v, &options.secondary_cache);
      return nested.ok();
    };
    Status s = Apply(ignore_unknown, value, setters);
    if (!s.ok()) return nested.ok() ? s : nested;
  }
  auto cache = NewLRUCache(options);
  if (cache == nullptr) return Status::InvalidArgument("cache: options out of range", value);
  *result = std::move(cache);
  return Status::OK();
}

}  // namespace

Status Cache::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                               std::shared_ptr<Cache>* result) {
  return FromString(config_options.ignore_unknown_options, value, result);
}

Status SecondaryCache::CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                        std::shared_ptr<SecondaryCache>* result) {
  Status s;
  if (compassdb::NewRegistered<SecondaryCache>(config_options, id, result, &s)) return s;
  s = SecondaryFromString(config_options.ignore_unknown_options, id, result);
  return s.IsNotSupported() ? compassdb::UnknownObject(config_options, "SecondaryCache", id) : s;
}

}  // namespace ROCKSDB_NAMESPACE

namespace compassdb {

rocksdb::Status CacheFromString(const std::string& value, bool ignore_unknown,
                                std::shared_ptr<rocksdb::Cache>* result) {
  return rocksdb::FromString(ignore_unknown, value, result);
}

}  // namespace compassdb
