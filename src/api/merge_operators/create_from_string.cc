// SPDX-License-Identifier: Apache-2.0
#include "api/merge_operators/built_in.h"
#include "api/registered.h"
#include "rocksdb/config_options.h"

namespace ROCKSDB_NAMESPACE {

Status MergeOperator::CreateFromString(const ConfigOptions& opts, const std::string& id,
                                       std::shared_ptr<MergeOperator>* result) {
  const auto built_in = [](std::string name, std::shared_ptr<MergeOperator>* found) {
    if (name == "put_v1") name = "put";  // an older spelling of the same operator
    for (auto make :
         {&compassdb::NewPutOperator, &compassdb::NewUInt64AddOperator, &compassdb::NewMaxOperator,
          &compassdb::NewBytesXorOperator, &compassdb::NewSortListOperator}) {
      auto made = make();
      if (made->IsInstanceOf(name)) *found = std::move(made);
    }
    for (auto make :
         {&compassdb::NewStringAppendOperator, &compassdb::NewStringAppendPairsOperator}) {
      auto made = make(",");
      if (made->IsInstanceOf(name)) *found = std::move(made);
    }
    return Status::OK();
  };
  return compassdb::LoadObject<MergeOperator>(opts, "MergeOperator", id, built_in, result);
}

}  // namespace ROCKSDB_NAMESPACE
