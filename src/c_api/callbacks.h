// SPDX-License-Identifier: Apache-2.0
// Objects of C that the engine calls back. `state` is the caller's; `destructor` is called when nothing needs it.
// The engine calls the functions from any number of threads, so they must be thread safe.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "rocksdb/c.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/merge_operator.h"

namespace compassdb {

// The state of a callback object, its name, and its end.
class CallbackState {
 public:
  CallbackState(void* state, void (*destructor)(void*), const char* (*name)(void*))
      : state_(state), destructor_(destructor), name_(name) {}
  CallbackState(const CallbackState&) = delete;
  CallbackState& operator=(const CallbackState&) = delete;
  ~CallbackState() {
    if (destructor_ != nullptr) destructor_(state_);
  }

  void* get() const { return state_; }
  const char* name() const { return name_(state_); }

 private:
  void* const state_;
  void (*const destructor_)(void*);
  const char* (*const name_)(void*);
};

}  // namespace compassdb

struct rocksdb_comparator_t final : rocksdb::Comparator {
  using CompareFunction = int (*)(void*, const char* a, size_t alen, const char* b, size_t blen);
  using CompareWithoutFunction = int (*)(void*, const char* a, size_t alen, unsigned char a_has_ts, const char* b,
                                         size_t blen, unsigned char b_has_ts);
  struct Functions {
    CompareFunction compare;
    // Null without timestamps.
    CompareFunction compare_ts = nullptr;
    CompareWithoutFunction compare_without_ts = nullptr;
  };

  rocksdb_comparator_t(void* state, void (*destructor)(void*), const char* (*name)(void*), const Functions& functions,
                       size_t timestamp_size)
      : Comparator(timestamp_size), state_(state, destructor, name), functions_(functions) {}

  const char* Name() const override { return state_.name(); }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override;
  int CompareTimestamp(const rocksdb::Slice& a, const rocksdb::Slice& b) const override;
  int CompareWithoutTimestamp(const rocksdb::Slice& a, bool a_has_ts, const rocksdb::Slice& b,
                              bool b_has_ts) const override;
  // C has no functions for these: keys stay as they are.
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const compassdb::CallbackState state_;
  const Functions functions_;
};

struct rocksdb_compactionfilter_t final : rocksdb::CompactionFilter {
  using FilterFunction = unsigned char (*)(void*, int level, const char* key, size_t key_length,
                                           const char* existing_value, size_t value_length, char** new_value,
                                           size_t* new_value_length, unsigned char* value_changed);

  rocksdb_compactionfilter_t(void* state, void (*destructor)(void*), const char* (*name)(void*), FilterFunction filter)
      : state_(state, destructor, name), filter_(filter) {}

  const char* Name() const override { return state_.name(); }
  bool Filter(int level, const rocksdb::Slice& key, const rocksdb::Slice& existing_value, std::string* new_value,
              bool* value_changed) const override;
  bool IgnoreSnapshots() const override { return ignore_snapshots; }

  bool ignore_snapshots = true;

 private:
  const compassdb::CallbackState state_;
  const FilterFunction filter_;
};

struct rocksdb_compactionfiltercontext_t { rocksdb::CompactionFilter::Context rep; };

struct rocksdb_compactionfilterfactory_t final : rocksdb::CompactionFilterFactory {
  using CreateFunction = rocksdb_compactionfilter_t* (*)(void*, rocksdb_compactionfiltercontext_t* context);

  rocksdb_compactionfilterfactory_t(void* state, void (*destructor)(void*), const char* (*name)(void*),
                                    CreateFunction create)
      : state_(state, destructor, name), create_(create) {}

  const char* Name() const override { return state_.name(); }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;

 private:
  const compassdb::CallbackState state_;
  const CreateFunction create_;
};

struct rocksdb_mergeoperator_t final : rocksdb::MergeOperator {
  using FullMergeFunction = char* (*)(void*, const char* key, size_t key_length, const char* existing_value,
                                      size_t existing_value_length, const char* const* operands_list,
                                      const size_t* operands_list_length, int num_operands, unsigned char* success,
                                      size_t* new_value_length);
  using PartialMergeFunction = char* (*)(void*, const char* key, size_t key_length, const char* const* operands_list,
                                         const size_t* operands_list_length, int num_operands, unsigned char* success,
                                         size_t* new_value_length);
  using DeleteFunction = void (*)(void*, const char* value, size_t value_length);
  struct Functions {
    FullMergeFunction full_merge;
    PartialMergeFunction partial_merge;
    DeleteFunction delete_value;  // null: free()
  };

  rocksdb_mergeoperator_t(void* state, void (*destructor)(void*), const char* (*name)(void*),
                          const Functions& functions)
      : state_(state, destructor, name), functions_(functions) {}

  const char* Name() const override { return state_.name(); }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override;
  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands, std::string* new_value,
                         rocksdb::Logger* logger) const override;

 private:
  // Takes what a merge function returned.
  bool Take(char* value, size_t size, unsigned char success, std::string* result) const;

  const compassdb::CallbackState state_;
  const Functions functions_;
};
