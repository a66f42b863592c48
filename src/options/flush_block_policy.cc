// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/flush_block_policy.h"

#include "api/option_string.h"
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
  std::string value;
  Status s = compassdb::IdOfPlainObject(text, &value);
  if (!s.ok()) return s;
  if (compassdb::NewRegistered<FlushBlockPolicyFactory>(config, value, result, &s)) return s;
  if (value.empty() || value == FlushBlockBySizePolicyFactory::kClassName()) {
    *result = std::make_shared<FlushBlockBySizePolicyFactory>();
    return Status::OK();
  }
  return compassdb::UnknownObject(config, "FlushBlockPolicyFactory", value);
}

}  // namespace rocksdb
