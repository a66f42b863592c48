// SPDX-License-Identifier: Apache-2.0
// Asks for the compaction of tables in which deletions are close together.
#include <algorithm>
#include <memory>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "rocksdb/utilities/table_properties_collectors.h"

using compassdb::MustSucceed;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

// Does not ask for it below a size of the file.
class LargeFilesCollector final : public rocksdb::TablePropertiesCollector {
 public:
  LargeFilesCollector(rocksdb::TablePropertiesCollector* collector, uint64_t min_file_size)
      : collector_(collector), min_file_size_(min_file_size) {}

  Status AddUserKey(const Slice& key, const Slice& value, rocksdb::EntryType type,
                    rocksdb::SequenceNumber sequence, uint64_t file_size) override {
    file_size_ = std::max(file_size_, file_size);
    return collector_->AddUserKey(key, value, type, sequence, file_size);
  }
  Status Finish(rocksdb::UserCollectedProperties* properties) override { return collector_->Finish(properties); }
  rocksdb::UserCollectedProperties GetReadableProperties() const override {
    return collector_->GetReadableProperties();
  }
  const char* Name() const override { return collector_->Name(); }
  bool NeedCompact() const override { return file_size_ >= min_file_size_ && collector_->NeedCompact(); }

 private:
  const std::unique_ptr<rocksdb::TablePropertiesCollector> collector_;
  const uint64_t min_file_size_;
  uint64_t file_size_ = 0;
};

class LargeFilesCollectorFactory final : public rocksdb::CompactOnDeletionCollectorFactory {
 public:
  LargeFilesCollectorFactory(size_t window_size, size_t trigger, double ratio, uint64_t min_file_size)
      : CompactOnDeletionCollectorFactory(window_size, trigger, ratio), min_file_size_(min_file_size) {}

  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override {
    std::unique_ptr<rocksdb::TablePropertiesCollector> collector(
        CompactOnDeletionCollectorFactory::CreateTablePropertiesCollector(context));
    auto* const result = new LargeFilesCollector(collector.get(), min_file_size_);
    collector.release();
    return result;
  }

 private:
  const uint64_t min_file_size_;
};

}  // namespace

extern "C" {

void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t* opt, size_t window_size,
                                                               size_t num_dels_trigger) {
  rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(opt, window_size, num_dels_trigger, 0);
}

void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(rocksdb_options_t* opt,
                                                                         size_t window_size,
                                                                         size_t num_dels_trigger,
                                                                         double deletion_ratio) {
  MustSucceed([&] {
    opt->rep.table_properties_collector_factories.push_back(
        rocksdb::NewCompactOnDeletionCollectorFactory(window_size, num_dels_trigger, deletion_ratio));
  });
}

void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(rocksdb_options_t* opt,
                                                                             size_t window_size,
                                                                             size_t num_dels_trigger,
                                                                             double deletion_ratio,
                                                                             uint64_t min_file_size) {
  MustSucceed([&] {
    opt->rep.table_properties_collector_factories.push_back(std::make_shared<LargeFilesCollectorFactory>(
        window_size, num_dels_trigger, deletion_ratio, min_file_size));
  });
}

}  // extern "C"
