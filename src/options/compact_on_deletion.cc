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

namespace ROCKSDB_NAMESPACE {
namespace {

class CompactOnDeletionCollector final : public TablePropertiesCollector {
 public:
  CompactOnDeletionCollector(size_t window, size_t trigger, double ratio, uint64_t min_file_size)
      : window_(window),
        trigger_(trigger),
        ratio_(ratio > 0 && ratio <= 1 ? ratio : 0),
        min_file_size_(min_file_size) {}

  Status AddUserKey(const Slice&, const Slice&, EntryType type, SequenceNumber,
                    uint64_t file_size) override {
    const bool deletion = type == kEntryDelete;
    if (window_.size() > 0 && !dense_) {
      const size_t at = entries_ % window_.size();
      in_window_ -= window_[at] ? 1 : 0;
      window_[at] = deletion;
      in_window_ += deletion ? 1 : 0;
      dense_ = deletion && in_window_ >= trigger_;
    }
    ++entries_;
    deletions_ += deletion ? 1 : 0;
    file_size_ = file_size;
    return Status::OK();
  }

  Status Finish(UserCollectedProperties*) override {
    if (ratio_ > 0 && entries_ > 0 &&
        static_cast<double>(deletions_) >= ratio_ * static_cast<double>(entries_)) {
      dense_ = true;
    }
    return Status::OK();
  }

  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return CompactOnDeletionCollectorFactory::kClassName(); }
  bool NeedCompact() const override { return dense_ && file_size_ >= min_file_size_; }

 private:
  std::vector<bool> window_;  // a ring: whether the entry was a deletion
  const size_t trigger_;
  const double ratio_;
  const uint64_t min_file_size_;
  uint64_t file_size_ = 0;
  size_t entries_ = 0;
  size_t deletions_ = 0;
  size_t in_window_ = 0;
  bool dense_ = false;
};

// The public class has the layout of RocksDB 7.8, without room for one more member.
class SizedFactory final : public CompactOnDeletionCollectorFactory {
 public:
  SizedFactory(size_t window, size_t trigger, double ratio, uint64_t min_file_size)
      : CompactOnDeletionCollectorFactory(window, trigger, ratio), min_file_size_(min_file_size) {}

  uint64_t min_file_size() const { return min_file_size_; }

  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new CompactOnDeletionCollector(GetWindowSize(), GetDeletionTrigger(), GetDeletionRatio(),
                                          min_file_size_);
  }

 private:
  const uint64_t min_file_size_;
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
  return new CompactOnDeletionCollector(sliding_window_size_, deletion_trigger_, deletion_ratio_, 0);
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
  uint64_t window = 0, trigger = 0, min_file_size = 0;
  double ratio = 0;
  for (const auto& [name, text] : options) {
    bool good = false;
    if (name == "window_size") {
      good = compassdb::ParseUnsigned(text, &window);
    } else if (name == "deletion_trigger") {
      good = compassdb::ParseUnsigned(text, &trigger);
    } else if (name == "deletion_ratio") {
      good = compassdb::ParseDouble(text, &ratio);
    } else if (name == "min_file_size") {
      good = compassdb::ParseUnsigned(text, &min_file_size);
    } else if (!config.ignore_unknown_options) {
      return Status::NotFound("Could not find option: ", name);
    }
    if (!good && !config.ignore_unknown_options) {
      return Status::InvalidArgument(id + "." + name, "'" + text + "' is no value of an option");
    }
  }
  *result = NewCompactOnDeletionCollectorFactory(window, trigger, ratio, min_file_size);
  return Status::OK();
}

std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio) {
  return std::make_shared<CompactOnDeletionCollectorFactory>(sliding_window_size,
                                                             deletion_trigger, deletion_ratio);
}

std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio, uint64_t min_file_size) {
  if (min_file_size == 0) {
    return NewCompactOnDeletionCollectorFactory(sliding_window_size, deletion_trigger, deletion_ratio);
  }
  return std::make_shared<SizedFactory>(sliding_window_size, deletion_trigger, deletion_ratio, min_file_size);
}

}  // namespace ROCKSDB_NAMESPACE

namespace compassdb {

std::string CollectorText(const rocksdb::TablePropertiesCollectorFactory& factory) {
  const auto* known = ForeignCast<const rocksdb::CompactOnDeletionCollectorFactory*>(&factory);
  std::string text = std::string("id=") + factory.Name() + ";";
  if (known == nullptr) return text;
  text += "deletion_ratio=" + FormatDouble(known->GetDeletionRatio()) + ";";
  const auto* sized = ForeignCast<const rocksdb::SizedFactory*>(&factory);
  text += "deletion_trigger=" + std::to_string(known->GetDeletionTrigger()) + ";";
  if (sized != nullptr) text += "min_file_size=" + std::to_string(sized->min_file_size()) + ";";
  return text + "window_size=" + std::to_string(known->GetWindowSize()) + ";";
}

}  // namespace compassdb
