// SPDX-License-Identifier: Apache-2.0
#include "api/merge_operators/built_in.h"
#include "api/option_string.h"
#include "api/registered.h"
#include "rocksdb/config_options.h"

namespace ROCKSDB_NAMESPACE {

Status MergeOperator::CreateFromString(const ConfigOptions& opts, const std::string& id,
                                       std::shared_ptr<MergeOperator>* result) {
  std::string name;
  compassdb::OptionMap options;
  const std::string present = *result != nullptr ? (*result)->GetId() : "";
  Status s = compassdb::ParseObjectString(id, present, &name, &options);
  if (!s.ok()) return s;
  if (compassdb::NewRegistered<MergeOperator>(opts, name, result, &s)) {
    return s.ok() ? Customizable::ConfigureNewObject(opts, result->get(), options) : s;
  }
  std::shared_ptr<MergeOperator> found;
  // An older spelling of the same operator.
  if (name == "put_v1") name = "put";
  for (auto make : {&compassdb::NewPutOperator, &compassdb::NewUInt64AddOperator,
                    &compassdb::NewMaxOperator, &compassdb::NewBytesXorOperator,
                    &compassdb::NewSortListOperator}) {
    auto made = make();
    if (made->IsInstanceOf(name)) found = std::move(made);
  }
  for (auto make : {&compassdb::NewStringAppendOperator, &compassdb::NewStringAppendPairsOperator}) {
    auto made = make(",");
    if (made->IsInstanceOf(name)) found = std::move(made);
  }
  if (found == nullptr && !name.empty()) {
    return compassdb::UnknownObject(opts, "MergeOperator", id);
  }
  *result = std::move(found);
  return Customizable::ConfigureNewObject(opts, result->get(), options);
}

}  // namespace ROCKSDB_NAMESPACE
