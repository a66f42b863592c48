// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/compaction_filter.h"

#include "rocksdb/config_options.h"
#include "rocksdb/slice.h"
#include "util/option_string.h"
#include "util/registered.h"

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

Status Unknown(const ConfigOptions& config_options, const char* what, const std::string& name) {
  if (name.empty() || name == "nullptr" || config_options.ignore_unsupported_options) {
    return Status::OK();
  }
  return Status::NotSupported(what, name);
}

}  // namespace

Status CompactionFilter::CreateFromString(const ConfigOptions& config_options,
                                          const std::string& name,
                                          const CompactionFilter** result) {
  *result = nullptr;
  Status s;
  if (compassdb::FindRegistered<CompactionFilter>(config_options, name, result, &s)) return s;
  if (name != RemoveEmptyValueCompactionFilter::kClassName()) {
    return Unknown(config_options, "no compaction filter of this name", name);
  }
  *result = new RemoveEmptyValueCompactionFilter();
  return Status::OK();
}

Status CompactionFilterFactory::CreateFromString(const ConfigOptions& config_options,
                                                 const std::string& name,
                                                 std::shared_ptr<CompactionFilterFactory>* result) {
  result->reset();
  std::string id;
  compassdb::OptionMap options;
  Status s = compassdb::ParseObjectString(name, "", &id, &options);
  if (!s.ok()) return s;
  if (compassdb::NewRegistered<CompactionFilterFactory>(config_options, id, result, &s)) {
    return s.ok() ? Customizable::ConfigureNewObject(config_options, result->get(), options) : s;
  }
  return Unknown(config_options, "no compaction filter factory of this name", name);
}

}  // namespace ROCKSDB_NAMESPACE
