// SPDX-License-Identifier: Apache-2.0
// Asks for the compaction of tables in which deletions lie close together.
#include <memory>
#include <string>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "rocksdb/table_properties.h"

namespace {

using rocksdb::Slice;
using rocksdb::Status;

// Whether `trigger` of any `window` records in a row are deletions.
class DeletionCounter final : public rocksdb::TablePropertiesCollector {
 public:
  DeletionCounter(size_t window, size_t trigger) : deleted_(window), trigger_(trigger) {}

  const char* Name() const override { return "CompactOnDeletionCollector"; }
  Status AddUserKey(const Slice&, const Slice&, rocksdb::EntryType type, rocksdb::SequenceNumber,
                    uint64_t) override {
    if (deleted_.empty()) return Status::OK();
    const bool deletion = type == rocksdb::kEntryDelete || type == rocksdb::kEntrySingleDelete;
    count_ += deletion ? 1 : 0;
    count_ -= deleted_[next_] ? 1 : 0;
    deleted_[next_] = deletion;
    next_ = (next_ + 1) % deleted_.size();
    reached_ = reached_ || (trigger_ > 0 && count_ >= trigger_);
    return Status::OK();
  }
  Status Finish(rocksdb::UserCollectedProperties*) override { return Status::OK(); }
  rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }
  bool NeedCompact() const override { return reached_; }

 private:
  std::vector<bool> deleted_;  // the last records, in a circle
  const size_t trigger_;
  size_t next_ = 0;
  size_t count_ = 0;
  bool reached_ = false;
};

class DeletionCounterFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  DeletionCounterFactory(size_t window, size_t trigger) : window_(window), trigger_(trigger) {}

  const char* Name() const override { return "CompactOnDeletionCollector"; }
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new DeletionCounter(window_, trigger_);
  }

 private:
  const size_t window_;
  const size_t trigger_;
};

}  // namespace

extern "C" void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t* opt,
                                                                          size_t window_size,
                                                                          size_t num_dels_trigger) {
  compassdb::MustSucceed([&] {
    opt->rep.table_properties_collector_factories.push_back(
        std::make_shared<DeletionCounterFactory>(window_size, num_dels_trigger));
  });
}
