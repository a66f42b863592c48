// SPDX-License-Identifier: Apache-2.0
#include <locale>
#include <sstream>
#include <vector>

#include "api/foreign_cast.h"
#include "api/option_string.h"
#include "api/registered.h"
#include "options/option_value.h"
#include "options/table_factories.h"
#include "rocksdb/utilities/table_properties_collectors.h"

namespace compassdb {

std::string CollectorText(const rocksdb::TablePropertiesCollectorFactory& factory) {
  const auto* known = ForeignCast<const rocksdb::CompactOnDeletionCollectorFactory*>(&factory);
  std::string text = std::string("id=") + factory.Name() + ";";
  if (known == nullptr) return text;
  text += "deletion_ratio=" + FormatDouble(known->GetDeletionRatio()) + ";";
  text += "deletion_trigger=" + std::to_string(known->GetDeletionTrigger()) + ";";
  return text + "window_size=" + std::to_string(known->GetWindowSize()) + ";";
}

}  // namespace compassdb

namespace ROCKSDB_NAMESPACE {
namespace {

class CompactOnDeletionCollector final : public TablePropertiesCollector {
 public:
  CompactOnDeletionCollector(size_t window, size_t trigger, double ratio)
      : window_(window), trigger_(trigger), ratio_(ratio > 0 && ratio <= 1 ? ratio : 0) {}

  Status AddUserKey(const Slice&, const Slice&, EntryType type, SequenceNumber,
                    uint64_t) override {
    const bool deletion = type == kEntryDelete;
    if (window_.size() > 0 && !compact_) {
      const size_t at = entries_ % window_.size();
      in_window_ -= window_[at] ? 1 : 0;
      window_[at] = deletion;
      in_window_ += deletion ? 1 : 0;
      compact_ = deletion && in_window_ >= trigger_;
    }
    ++entries_;
    deletions_ += deletion ? 1 : 0;
    return Status::OK();
  }

  Status Finish(UserCollectedProperties*) override {
    if (ratio_ > 0 && entries_ > 0 &&
        static_cast<double>(deletions_) >= ratio_ * static_cast<double>(entries_)) {
      compact_ = true;
    }
    return Status::OK();
  }

  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return CompactOnDeletionCollectorFactory::kClassName(); }
  bool NeedCompact() const override { return compact_; }

 private:
  std::vector<bool> window_;  // a ring: whether the entry was a deletion
  const size_t trigger_;
  const double ratio_;
  size_t entries_ = 0;
  size_t deletions_ = 0;
  size_t in_window_ = 0;
  bool compact_ = false;
};

}  // namespace

CompactOnDeletionCollectorFactory::CompactOnDeletionCollectorFactory(size_t sliding_window_size,
                                                                     size_t deletion_trigger,
                                                                     double deletion_ratio)
    : sliding_window_size_(sliding_window_size),
      deletion_trigger_(deletion_trigger),
      deletion_ratio_(deletion_ratio) {}

TablePropertiesCollector* CompactOnDeletionCollectorFactory::CreateTablePropertiesCollector(
    TablePropertiesCollectorFactory::Context) {
  return new CompactOnDeletionCollector(sliding_window_size_, deletion_trigger_, deletion_ratio_);
}

std::string CompactOnDeletionCollectorFactory::ToString() const {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << Name() << " (Sliding window size = " << GetWindowSize()
      << " Deletion trigger = " << GetDeletionTrigger()
      << " Deletion ratio = " << GetDeletionRatio() << ')';
  return out.str();
}

Status TablePropertiesCollectorFactory::CreateFromString(
    const ConfigOptions& config, const std::string& value,
    std::shared_ptr<TablePropertiesCollectorFactory>* result) {
  std::string id;
  compassdb::OptionMap options;
  compassdb::ParseObjectString(value, "", &id, &options);
  if (id.empty() && !options.empty()) return compassdb::CannotReset();
  if (id.empty()) {
    result->reset();
    return Status::OK();
  }
  Status s;
  if (compassdb::NewRegistered<TablePropertiesCollectorFactory>(config, id, result, &s)) return s;
  if (id != CompactOnDeletionCollectorFactory::kClassName()) {
    return compassdb::UnknownObject(config, "TablePropertiesCollectorFactory", value);
  }
  uint64_t window = 0, trigger = 0;
  double ratio = 0;
  for (const auto& [name, text] : options) {
    bool good = false;
    if (name == "window_size") {
      good = compassdb::ParseUnsigned(text, &window);
    } else if (name == "deletion_trigger") {
      good = compassdb::ParseUnsigned(text, &trigger);
    } else if (name == "deletion_ratio") {
      good = compassdb::ParseDouble(text, &ratio);
    } else if (!config.ignore_unknown_options) {
      return Status::NotFound("Could not find option: ", name);
    }
    if (!good && !config.ignore_unknown_options) {
      return Status::InvalidArgument(id + "." + name, "'" + text + "' is no value of an option");
    }
  }
  *result = NewCompactOnDeletionCollectorFactory(window, trigger, ratio);
  return Status::OK();
}

std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio) {
  return std::make_shared<CompactOnDeletionCollectorFactory>(sliding_window_size,
                                                             deletion_trigger, deletion_ratio);
}

}  // namespace ROCKSDB_NAMESPACE
