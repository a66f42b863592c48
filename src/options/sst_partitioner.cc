// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/sst_partitioner.h"

#include <algorithm>

#include "api/registered.h"
#include "options/option_info.h"
#include "rocksdb/convenience.h"

namespace compassdb {
namespace {

struct FixedPrefixOptions {
  static const char* kName() { return "SstPartitionerFixedPrefixFactoryOptions"; }
  size_t length = 0;
};

const OptionTable<FixedPrefixOptions>& FixedPrefixTable() {
  static const auto* const table = new OptionTable<FixedPrefixOptions>{
      Scalar<FixedPrefixOptions>("length", &FixedPrefixOptions::length, kFixed, Support::kHint,
                                 "tables are split by their live data")};
  return *table;
}

// Like the class of the public header, with options that can be read and set.
class FixedPrefixFactory : public rocksdb::SstPartitionerFactory, public NamedOptions {
 public:
  explicit FixedPrefixFactory(size_t length) : options_{length} {}
  const char* Name() const override {
    return rocksdb::SstPartitionerFixedPrefixFactory::kClassName();
  }
  std::unique_ptr<rocksdb::SstPartitioner> CreatePartitioner(
      const rocksdb::SstPartitioner::Context&) const override {
    return std::make_unique<rocksdb::SstPartitionerFixedPrefix>(options_.length);
  }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == FixedPrefixOptions::kName() ? &options_ : Customizable::GetOptionsPtr(name);
  }
  Status ParseNamedOption(const ConfigOptions& config, const std::string& name,
                          const std::string& value) override {
    if (name == "id" && IsInstanceOf(value)) return Status::OK();
    return compassdb::ParseOption(config, FixedPrefixTable(), name, value, &options_);
  }
  void ListNamedOptions(const ConfigOptions& config, NamedValues* options) const override {
    *options = ListOptions(config, FixedPrefixTable(), options_);
  }

 private:
  FixedPrefixOptions options_;
};

}  // namespace
}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {

namespace {

bool SamePrefix(const Slice& a, const Slice& b, size_t length) {
  return Slice(a.data(), std::min(a.size(), length)) == Slice(b.data(), std::min(b.size(), length));
}

}  // namespace

PartitionerResult SstPartitionerFixedPrefix::ShouldPartition(const PartitionerRequest& request) {
  return SamePrefix(*request.prev_user_key, *request.current_user_key, len_) ? kNotRequired
                                                                             : kRequired;
}

bool SstPartitionerFixedPrefix::CanDoTrivialMove(const Slice& smallest_user_key,
                                                 const Slice& largest_user_key) {
  return SamePrefix(smallest_user_key, largest_user_key, len_);
}

SstPartitionerFixedPrefixFactory::SstPartitionerFixedPrefixFactory(size_t len) : len_(len) {}

std::unique_ptr<SstPartitioner> SstPartitionerFixedPrefixFactory::CreatePartitioner(
    const SstPartitioner::Context&) const {
  return std::make_unique<SstPartitionerFixedPrefix>(len_);
}

std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(size_t prefix_len) {
  return std::make_shared<compassdb::FixedPrefixFactory>(prefix_len);
}

Status SstPartitionerFactory::CreateFromString(const ConfigOptions& options,
                                               const std::string& value,
                                               std::shared_ptr<SstPartitionerFactory>* result) {
  const auto built_in = [](const std::string& id, std::shared_ptr<SstPartitionerFactory>* made) {
    if (id == SstPartitionerFixedPrefixFactory::kClassName()) {
      *made = NewSstPartitionerFixedPrefixFactory(0);
    }
    return Status::OK();
  };
  return compassdb::LoadObject<SstPartitionerFactory>(options, "SstPartitionerFactory", value,
                                                      built_in, result);
}

}  // namespace ROCKSDB_NAMESPACE
