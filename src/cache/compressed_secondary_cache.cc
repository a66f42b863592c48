// SPDX-License-Identifier: Apache-2.0
// The secondary cache of the library: compressed blocks in memory that the
// block cache has dropped.
//
// An entry is one string: a byte with the compression type, then the payload.
// The payload of every codec has its size, as compress_format_version = 2
// requires. With version 1 RocksDB stores the size elsewhere, which makes no
// visible difference. enable_custom_split_merge cuts
// values to fit jemalloc's bins; entries here are single allocations, so there
// is nothing to cut.
//
// Thread safety: every method may be called concurrently.
#include "cache/sharded_cache.h"
#include "rocksdb/secondary_cache.h"
#include "util/compression.h"

namespace compassdb {

namespace {

void DeleteString(const Slice& /*key*/, void* value) { delete static_cast<std::string*>(value); }

class ReadyResult final : public rocksdb::SecondaryCacheResultHandle {
 public:
  ReadyResult(void* value, size_t size) : value_(value), size_(size) {}
  bool IsReady() override { return true; }
  void Wait() override {}
  void* Value() override { return value_; }
  size_t Size() override { return size_; }

 private:
  void* const value_;
  const size_t size_;
};

class CompressedSecondaryCache final : public rocksdb::SecondaryCache {
 public:
  CompressedSecondaryCache(std::shared_ptr<rocksdb::Cache> cache, CompressionType type)
      : cache_(std::move(cache)), type_(type) {}

  const char* Name() const override { return "CompressedSecondaryCache"; }

  Status Insert(const Slice& key, void* value,
                const rocksdb::Cache::CacheItemHelper* helper) override {
    if (helper == nullptr || helper->size_cb == nullptr || helper->saveto_cb == nullptr) {
      return Status::InvalidArgument("secondary cache: values without size and save functions");
    }
    std::string data(helper->size_cb(value), '\0');
    Status s = helper->saveto_cb(value, 0, data.size(), data.data());
    if (!s.ok()) return s;
    CompressionType type = type_;
    std::string payload;
    if (type == rocksdb::kNoCompression ||
        !Compress(type, kDefaultCompressionLevel, data, &payload)) {
      type = rocksdb::kNoCompression;
      payload.swap(data);
    }
    auto entry = std::make_unique<std::string>(1, static_cast<char>(type));
    entry->append(payload);
    const size_t charge = sizeof(std::string) + entry->capacity();
    return cache_->Insert(key, entry.release(), charge, &DeleteString);
  }

  std::unique_ptr<rocksdb::SecondaryCacheResultHandle> Lookup(
      const Slice& key, const rocksdb::Cache::CreateCallback& create, bool /*wait*/,
      bool advise_erase, bool& is_in_sec_cache) override {
    is_in_sec_cache = false;
    rocksdb::Cache::Handle* handle = cache_->Lookup(key);
    if (handle == nullptr) return nullptr;
    const std::string& entry = *static_cast<std::string*>(cache_->Value(handle));
    const auto type = static_cast<CompressionType>(static_cast<uint8_t>(entry[0]));
    Slice data(entry.data() + 1, entry.size() - 1);
    std::string plain;
    Status s;
    if (type != rocksdb::kNoCompression) {
      s = Decompress(type, data, SIZE_MAX, &plain);
      data = plain;
    }
    void* value = nullptr;
    size_t charge = 0;
    if (s.ok()) s = create(data.data(), data.size(), &value, &charge);
    const bool erase = advise_erase || !s.ok();
    is_in_sec_cache = !erase;
    cache_->Release(handle, erase);
    if (erase) cache_->Erase(key);
    if (!s.ok()) return nullptr;
    return std::make_unique<ReadyResult>(value, charge);
  }

  bool SupportForceErase() const override { return true; }
  void Erase(const Slice& key) override { cache_->Erase(key); }
  void WaitAll(std::vector<rocksdb::SecondaryCacheResultHandle*> /*handles*/) override {}
  Status SetCapacity(size_t capacity) override {
    cache_->SetCapacity(capacity);
    return Status::OK();
  }
  Status GetCapacity(size_t& capacity) override {
    capacity = cache_->GetCapacity();
    return Status::OK();
  }
  std::string GetPrintableOptions() const override {
    return cache_->GetPrintableOptions() +
           "    compression_type : " + CompressionTypeName(type_) + "\n";
  }

 private:
  const std::shared_ptr<rocksdb::Cache> cache_;
  const CompressionType type_;
};

}  // namespace

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    const CompressedSecondaryCacheOptions& options) {
  if (!compassdb::CompressionTypeSupported(options.compression_type)) return nullptr;
  LRUCacheOptions inner = options;
  inner.secondary_cache = nullptr;
  auto cache = NewLRUCache(inner);
  if (cache == nullptr) return nullptr;
  return std::make_shared<compassdb::CompressedSecondaryCache>(std::move(cache),
                                                               options.compression_type);
}

std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    size_t capacity, int num_shard_bits, bool strict_capacity_limit, double high_pri_pool_ratio,
    double low_pri_pool_ratio, std::shared_ptr<MemoryAllocator> memory_allocator,
    bool use_adaptive_mutex, CacheMetadataChargePolicy metadata_charge_policy,
    CompressionType compression_type, uint32_t compress_format_version,
    bool enable_custom_split_merge) {
  return NewCompressedSecondaryCache(CompressedSecondaryCacheOptions(
      capacity, num_shard_bits, strict_capacity_limit, high_pri_pool_ratio, low_pri_pool_ratio,
      std::move(memory_allocator), use_adaptive_mutex, metadata_charge_policy, compression_type,
      compress_format_version, enable_custom_split_merge));
}

}  // namespace ROCKSDB_NAMESPACE
