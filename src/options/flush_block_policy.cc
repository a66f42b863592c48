// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/flush_block_policy.h"

#include "api/registered.h"
#include "rocksdb/table.h"

namespace rocksdb {

FlushBlockBySizePolicyFactory::FlushBlockBySizePolicyFactory() = default;

// The engine cuts blocks by its own rules, and does not call policies.
FlushBlockPolicy* FlushBlockBySizePolicyFactory::NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                                                     const BlockBuilder&) const {
  return nullptr;
}
FlushBlockPolicy* FlushBlockBySizePolicyFactory::NewFlushBlockPolicy(const uint64_t, const int,
                                                                     const BlockBuilder&) {
  return nullptr;
}

Status FlushBlockPolicyFactory::CreateFromString(const ConfigOptions& config,
                                                 const std::string& text,
                                                 std::shared_ptr<FlushBlockPolicyFactory>* result) {
  const auto built_in = [](const std::string& id, std::shared_ptr<FlushBlockPolicyFactory>* made) {
    if (id == FlushBlockBySizePolicyFactory::kClassName()) {
      *made = std::make_shared<FlushBlockBySizePolicyFactory>();
    }
    return Status::OK();
  };
  std::string id;
  compassdb::OptionMap options;
  compassdb::ParseObjectString(text, "", &id, &options);
  return compassdb::LoadObject<FlushBlockPolicyFactory>(
      config, "FlushBlockPolicyFactory",
      id.empty() ? FlushBlockBySizePolicyFactory::kClassName() : text, built_in, result);
}

}  // namespace rocksdb
