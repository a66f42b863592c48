// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/compaction_filter.h"

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
  const auto built_in = [](const std::string& id, const CompactionFilter** made) {
    if (id == RemoveEmptyValueCompactionFilter::kClassName()) {
      *made = new RemoveEmptyValueCompactionFilter();
    }
    return Status::OK();
  };
  return compassdb::LoadObject<CompactionFilter>(config_options, "CompactionFilter", name, built_in,
                                                 result);
}

Status CompactionFilterFactory::CreateFromString(const ConfigOptions& config_options,
                                                 const std::string& name,
                                                 std::shared_ptr<CompactionFilterFactory>* result) {
  return compassdb::LoadObject<CompactionFilterFactory>(config_options, "CompactionFilterFactory",
                                                        name, compassdb::kNoneBuiltIn, result);
}

}  // namespace ROCKSDB_NAMESPACE
