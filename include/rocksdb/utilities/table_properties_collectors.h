// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>

#include "rocksdb/table_properties.h"

namespace ROCKSDB_NAMESPACE {

// Collectors that want a table compacted if any N entries in a row hold at least D deletions, or if
// deletions are at least a given part of all entries. All methods are thread safe; changes count
// for tables that are begun afterwards.
class CompactOnDeletionCollectorFactory : public TablePropertiesCollectorFactory {
 public:
  // N, D, and the part; a part that is not in (0, 1] does not count.
  CompactOnDeletionCollectorFactory(size_t sliding_window_size, size_t deletion_trigger,
                                    double deletion_ratio);

  ~CompactOnDeletionCollectorFactory() {}

  TablePropertiesCollector* CreateTablePropertiesCollector(
      TablePropertiesCollectorFactory::Context context) override;

  // 0: only the part counts.
  void SetWindowSize(size_t sliding_window_size) {
    sliding_window_size_.store(sliding_window_size);
  }
  size_t GetWindowSize() const { return sliding_window_size_.load(); }

  void SetDeletionTrigger(size_t deletion_trigger) { deletion_trigger_.store(deletion_trigger); }
  size_t GetDeletionTrigger() const { return deletion_trigger_.load(); }

  void SetDeletionRatio(double deletion_ratio) { deletion_ratio_.store(deletion_ratio); }
  double GetDeletionRatio() const { return deletion_ratio_.load(); }

  static const char* kClassName() { return "CompactOnDeletionCollector"; }
  const char* Name() const override { return kClassName(); }

  std::string ToString() const override;

 private:
  std::atomic<size_t> sliding_window_size_;
  std::atomic<size_t> deletion_trigger_;
  std::atomic<double> deletion_ratio_;
};

extern std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio = 0);

// The same for tables that have at least this many bytes.
extern std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio, uint64_t min_file_size);

}  // namespace ROCKSDB_NAMESPACE
