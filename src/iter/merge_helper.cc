// SPDX-License-Identifier: Apache-2.0
#include "iter/merge_helper.h"

#include <chrono>
#include <utility>

#include "util/perf_timer.h"

namespace compassdb {

namespace {

// Adds the time of a scope to MERGE_OPERATION_TOTAL_TIME where timers are on.
class MergeTimer {
 public:
  explicit MergeTimer(rocksdb::Statistics* statistics)
      : statistics_(statistics != nullptr &&
                            statistics->get_stats_level() > rocksdb::kExceptTimers
                        ? statistics
                        : nullptr) {
    if (statistics_ != nullptr) start_ = std::chrono::steady_clock::now();
  }
  ~MergeTimer() {
    if (statistics_ == nullptr) return;
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    statistics_->recordTick(
        rocksdb::MERGE_OPERATION_TOTAL_TIME,
        static_cast<uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count()));
  }

 private:
  rocksdb::Statistics* const statistics_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

Status MissingMergeOperator() {
  return Status::InvalidArgument("merge_operator is not properly initialized.");
}

Status SeparatedValueIsGone(const Slice& user_key) {
  return Status::Corruption("the separated value is gone of key", user_key.ToString(/*hex=*/true));
}

Status MergeOntoEntity() {
  return Status::NotSupported("Merge currently not supported for wide-column entities");
}

Status FullMerge(const MergeEnv& env, const Slice& key, const Slice* base,
                 const std::vector<Slice>& operands, std::string* result) {
  if (env.op == nullptr) return MissingMergeOperator();
  std::string merged;
  Slice existing(nullptr, 0);
  rocksdb::MergeOperator::MergeOperationInput in(key, base, operands, env.logger);
  rocksdb::MergeOperator::MergeOperationOutput out(merged, existing);
  bool ok;
  {
    MergeTimer timer(env.statistics);
    const PerfTimer perf(&rocksdb::PerfContext::merge_operator_time_nanos);
    ok = env.op->FullMergeV2(in, &out);
  }
  if (!ok) {
    if (env.statistics != nullptr) env.statistics->recordTick(rocksdb::NUMBER_MERGE_FAILURES, 1);
    // The text of RocksDB 7 follows that of later ones: clients look for either.
    return Status(Status::kCorruption, Status::kMergeOperatorFailed, Status::kNoError,
                  "Could not perform merge.");
  }
  // The operator may name one of its inputs as the result instead of copying it.
  if (existing.data() != nullptr) merged.assign(existing.data(), existing.size());
  *result = std::move(merged);
  return Status::OK();
}

Status FullMergeNewestFirst(const MergeEnv& env, const Slice& key, const Slice* base,
                            const std::vector<std::string>& operands, std::string* result) {
  std::vector<Slice> oldest_first(operands.rbegin(), operands.rend());
  return FullMerge(env, key, base, oldest_first, result);
}

bool PartialMerge(const MergeEnv& env, const Slice& key, const std::deque<Slice>& operands,
                  std::string* result) {
  if (env.op == nullptr || operands.empty()) return false;
  if (operands.size() == 1 && !env.op->AllowSingleOperand()) return false;
  result->clear();
  MergeTimer timer(env.statistics);
  const PerfTimer perf(&rocksdb::PerfContext::merge_operator_time_nanos);
  return env.op->PartialMergeMulti(key, operands, result, env.logger);
}

}  // namespace compassdb
