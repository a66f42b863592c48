// SPDX-License-Identifier: Apache-2.0
// What the compactions of a family with a time to live do: values that are too
// old go, the rest is shown to the application's filter and merge operator
// without the time behind it.
//
// Thread safety: as their base classes say; SetTtl at any time.
#pragma once

#include <atomic>
#include <memory>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/env.h"

namespace compassdb {

class TtlCompactionFilter final : public rocksdb::CompactionFilter {
 public:
  // `user` may be null, and outlives this unless it is `owned`.
  TtlCompactionFilter(int32_t ttl, rocksdb::Env* env,
                      const rocksdb::CompactionFilter* user,
                      std::unique_ptr<rocksdb::CompactionFilter> owned)
      : ttl_(ttl),
        env_(env),
        owned_(std::move(owned)),
        user_(owned_ != nullptr ? owned_.get() : user) {}

  // Merge operands do not expire: what they are merged into has a time of its own.
  Decision FilterV2(int level, const rocksdb::Slice& key, ValueType type,
                    const rocksdb::Slice& stored, std::string* new_value,
                    std::string* skip_until) const override;
  bool IgnoreSnapshots() const override { return user_ == nullptr || user_->IgnoreSnapshots(); }
  const char* Name() const override { return "TtlCompactionFilter"; }

 private:
  const int32_t ttl_;
  rocksdb::Env* const env_;
  const std::unique_ptr<rocksdb::CompactionFilter> owned_;
  const rocksdb::CompactionFilter* const user_;
};

class TtlCompactionFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  TtlCompactionFilterFactory(int32_t ttl, rocksdb::Env* env,
                             std::shared_ptr<rocksdb::CompactionFilterFactory> user)
      : ttl_(ttl), env_(env), user_(std::move(user)) {}

  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override;
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;
  void SetTtl(int32_t ttl) { ttl_.store(ttl, std::memory_order_relaxed); }
  const char* Name() const override { return "TtlCompactionFilterFactory"; }

 private:
  std::atomic<int32_t> ttl_;
  rocksdb::Env* const env_;
  const std::shared_ptr<rocksdb::CompactionFilterFactory> user_;
};

// The result of a merge has the time of the merge. As in RocksDB the application's ShouldMerge is not asked: it would
// have to be given all operands without their times again with each one that a read comes to.
class TtlMergeOperator final : public rocksdb::MergeOperator {
 public:
  TtlMergeOperator(std::shared_ptr<rocksdb::MergeOperator> user,
                   rocksdb::Env* env)
      : user_(std::move(user)), env_(env) {}

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override;
  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger* logger) const override;
  bool AllowSingleOperand() const override { return user_->AllowSingleOperand(); }
  const char* Name() const override { return "TtlMergeOperator"; }

 private:
  const std::shared_ptr<rocksdb::MergeOperator> user_;
  rocksdb::Env* const env_;
};

}  // namespace compassdb
