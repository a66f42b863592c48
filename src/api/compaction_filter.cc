// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/compaction_filter.h"

#include "api/option_string.h"
#include "api/registered.h"
#include "rocksdb/config_options.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

namespace {

// Drops entries whose value is empty.
class RemoveEmptyValueCompactionFilter : public CompactionFilter {
 public:
  static const char* kClassName() { return "RemoveEmptyValueCompactionFilter"; }
  const char* Name() const override { return kClassName(); }

  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& existing_value,
              std::string* /*new_value*/, bool* /*value_changed*/) const override {
    return existing_value.empty();
  }
};

}  // namespace

Status CompactionFilter::CreateFromString(const ConfigOptions& config_options,
                                          const std::string& name,
                                          const CompactionFilter** result) {
  Status s;
  if (compassdb::FindRegistered<CompactionFilter>(config_options, name, result, &s)) return s;
  if (name.empty() || name == "nullptr") {
    *result = nullptr;
    return Status::OK();
  }
  if (name != RemoveEmptyValueCompactionFilter::kClassName()) {
    return compassdb::UnknownObject(config_options, "CompactionFilter", name);
  }
  *result = new RemoveEmptyValueCompactionFilter();
  return Status::OK();
}

Status CompactionFilterFactory::CreateFromString(const ConfigOptions& config_options,
                                                 const std::string& name,
                                                 std::shared_ptr<CompactionFilterFactory>* result) {
  std::string id;
  compassdb::OptionMap options;
  Status s = compassdb::ParseObjectString(name, "", &id, &options);
  if (!s.ok()) return s;
  if (compassdb::NewRegistered<CompactionFilterFactory>(config_options, id, result, &s)) {
    return s.ok() ? Customizable::ConfigureNewObject(config_options, result->get(), options) : s;
  }
  if (!id.empty()) return compassdb::UnknownObject(config_options, "CompactionFilterFactory", name);
  result->reset();
  return Status::OK();
}

}  // namespace ROCKSDB_NAMESPACE
