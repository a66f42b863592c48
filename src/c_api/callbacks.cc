// SPDX-License-Identifier: Apache-2.0
#include "c_api/callbacks.h"

#include <cstdlib>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"

using compassdb::Create;
using rocksdb::Slice;

int rocksdb_comparator_t::Compare(const Slice& a, const Slice& b) const {
  return functions_.compare(state_.get(), a.data(), a.size(), b.data(), b.size());
}

int rocksdb_comparator_t::CompareTimestamp(const Slice& a, const Slice& b) const {
  if (functions_.compare_ts == nullptr) return 0;
  return functions_.compare_ts(state_.get(), a.data(), a.size(), b.data(), b.size());
}

int rocksdb_comparator_t::CompareWithoutTimestamp(const Slice& a, bool a_has_ts, const Slice& b,
                                                  bool b_has_ts) const {
  if (functions_.compare_without_ts == nullptr) return Compare(a, b);
  return functions_.compare_without_ts(state_.get(), a.data(), a.size(), a_has_ts ? 1 : 0, b.data(), b.size(),
                                       b_has_ts ? 1 : 0);
}

bool rocksdb_compactionfilter_t::Filter(int level, const Slice& key, const Slice& existing_value,
                                        std::string* new_value, bool* value_changed) const {
  char* changed_value = nullptr;
  size_t changed_size = 0;
  unsigned char changed = 0;
  const unsigned char drop = filter_(state_.get(), level, key.data(), key.size(), existing_value.data(),
                                     existing_value.size(), &changed_value, &changed_size, &changed);
  if (changed != 0) {
    if (changed_size == 0) {
      new_value->clear();
    } else {
      new_value->assign(changed_value, changed_size);
    }
    *value_changed = true;
  }
  return drop != 0;
}

std::unique_ptr<rocksdb::CompactionFilter> rocksdb_compactionfilterfactory_t::CreateCompactionFilter(
    const rocksdb::CompactionFilter::Context& context) {
  rocksdb_compactionfiltercontext_t handle{context};
  return std::unique_ptr<rocksdb::CompactionFilter>(create_(state_.get(), &handle));
}

namespace {

struct OperandLists {
  template <class Operands>
  explicit OperandLists(const Operands& operands) {
    for (const Slice& operand : operands) {
      data.push_back(operand.data());
      sizes.push_back(operand.size());
    }
  }

  int count() const { return static_cast<int>(data.size()); }

  std::vector<const char*> data;
  std::vector<size_t> sizes;
};

}  // namespace

bool rocksdb_mergeoperator_t::Take(char* value, size_t size, unsigned char success, std::string* result) const {
  if (success != 0 && size > 0) {
    result->assign(value, size);
  } else {
    result->clear();
  }
  if (functions_.delete_value == nullptr) {
    std::free(value);
  } else if (value != nullptr) {
    functions_.delete_value(state_.get(), value, size);
  }
  return success != 0;
}

bool rocksdb_mergeoperator_t::FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const {
  const OperandLists operands(in.operand_list);
  const char* const existing = in.existing_value == nullptr ? nullptr : in.existing_value->data();
  const size_t existing_size = in.existing_value == nullptr ? 0 : in.existing_value->size();
  unsigned char success = 0;
  size_t size = 0;
  char* const value =
      functions_.full_merge(state_.get(), in.key.data(), in.key.size(), existing, existing_size,
                            operands.data.data(), operands.sizes.data(), operands.count(), &success, &size);
  return Take(value, size, success, &out->new_value);
}

bool rocksdb_mergeoperator_t::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                                std::string* new_value, rocksdb::Logger* /*logger*/) const {
  const OperandLists operands(operand_list);
  unsigned char success = 0;
  size_t size = 0;
  char* const value =
      functions_.partial_merge(state_.get(), key.data(), key.size(), operands.data.data(), operands.sizes.data(),
                               operands.count(), &success, &size);
  return Take(value, size, success, new_value);
}

extern "C" {

rocksdb_comparator_t* rocksdb_comparator_create(void* state, void (*destructor)(void*),
                                                int (*compare)(void*, const char* a, size_t alen, const char* b,
                                                               size_t blen),
                                                const char* (*name)(void*)) {
  return compassdb::OrNull([&] {
    return new rocksdb_comparator_t(state, destructor, name, {.compare = compare}, 0);
  });
}

rocksdb_comparator_t* rocksdb_comparator_with_ts_create(
    void* state, void (*destructor)(void*),
    int (*compare)(void*, const char* a, size_t alen, const char* b, size_t blen),
    int (*compare_ts)(void*, const char* a_ts, size_t a_tslen, const char* b_ts, size_t b_tslen),
    int (*compare_without_ts)(void*, const char* a, size_t alen, unsigned char a_has_ts, const char* b, size_t blen,
                              unsigned char b_has_ts),
    const char* (*name)(void*), size_t timestamp_size) {
  return compassdb::OrNull([&] {
    return new rocksdb_comparator_t(state, destructor, name, {compare, compare_ts, compare_without_ts},
                                    timestamp_size);
  });
}

void rocksdb_comparator_destroy(rocksdb_comparator_t* cmp) { delete cmp; }

rocksdb_compactionfilter_t* rocksdb_compactionfilter_create(
    void* state, void (*destructor)(void*),
    unsigned char (*filter)(void*, int level, const char* key, size_t key_length, const char* existing_value,
                            size_t value_length, char** new_value, size_t* new_value_length,
                            unsigned char* value_changed),
    const char* (*name)(void*)) {
  return compassdb::OrNull([&] { return new rocksdb_compactionfilter_t(state, destructor, name, filter); });
}

void rocksdb_compactionfilter_set_ignore_snapshots(rocksdb_compactionfilter_t* filter, unsigned char whether) {
  filter->ignore_snapshots = whether != 0;
}

void rocksdb_compactionfilter_destroy(rocksdb_compactionfilter_t* filter) { delete filter; }

unsigned char rocksdb_compactionfiltercontext_is_full_compaction(rocksdb_compactionfiltercontext_t* context) {
  return context->rep.is_full_compaction ? 1 : 0;
}

unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(rocksdb_compactionfiltercontext_t* context) {
  return context->rep.is_manual_compaction ? 1 : 0;
}

rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(
    void* state, void (*destructor)(void*),
    rocksdb_compactionfilter_t* (*create_compaction_filter)(void*, rocksdb_compactionfiltercontext_t* context),
    const char* (*name)(void*)) {
  return compassdb::OrNull([&] {
    return new rocksdb_compactionfilterfactory_t(state, destructor, name, create_compaction_filter);
  });
}

void rocksdb_compactionfilterfactory_destroy(rocksdb_compactionfilterfactory_t* factory) { delete factory; }

rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(
    void* state, void (*destructor)(void*),
    char* (*full_merge)(void*, const char* key, size_t key_length, const char* existing_value,
                        size_t existing_value_length, const char* const* operands_list,
                        const size_t* operands_list_length, int num_operands, unsigned char* success,
                        size_t* new_value_length),
    char* (*partial_merge)(void*, const char* key, size_t key_length, const char* const* operands_list,
                           const size_t* operands_list_length, int num_operands, unsigned char* success,
                           size_t* new_value_length),
    void (*delete_value)(void*, const char* value, size_t value_length), const char* (*name)(void*)) {
  return compassdb::OrNull([&] {
    return new rocksdb_mergeoperator_t(state, destructor, name, {full_merge, partial_merge, delete_value});
  });
}

void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t* merge_operator) { delete merge_operator; }

}  // extern "C"
