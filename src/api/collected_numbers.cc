// SPDX-License-Identifier: Apache-2.0
// Numbers that older tables keep among the collected properties.
#include "rocksdb/table_properties.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace {

uint64_t NumberOf(const UserCollectedProperties& props, const std::string& name, bool* present) {
  const auto found = props.find(name);
  *present = found != props.end();
  uint64_t number = 0;
  if (!*present) return 0;
  Slice encoded(found->second);
  return compassdb::GetVarint64(&encoded, &number) ? number : 0;
}

}  // namespace

uint64_t GetDeletedKeys(const UserCollectedProperties& props) {
  bool present = false;
  return NumberOf(props, TablePropertiesNames::kDeletedKeys, &present);
}

uint64_t GetMergeOperands(const UserCollectedProperties& props, bool* property_present) {
  return NumberOf(props, TablePropertiesNames::kMergeOperands, property_present);
}

}  // namespace ROCKSDB_NAMESPACE
