// SPDX-License-Identifier: Apache-2.0
// Comparators, merge operators, filters and prefix extractors written in C.
#include <cstring>

#include "c_api/c_api_test.h"

namespace c_api {
namespace {

// Counts what is still alive of it.
struct State {
  int alive = 1;
};
void End(void* state) { --static_cast<State*>(state)->alive; }
const char* Name(void*) { return "c_api_test"; }

int Backwards(void*, const char* a, size_t alen, const char* b, size_t blen) {
  return std::string(b, blen).compare(std::string(a, alen));
}

unsigned char Filter(void*, int, const char* key, size_t key_length, const char*, size_t, char** new_value,
                     size_t* new_value_length, unsigned char* value_changed) {
  static char changed[] = "changed";
  if (std::string(key, key_length) == "change") {
    *value_changed = 1;
    *new_value = changed;
    *new_value_length = std::strlen(changed);
  }
  return std::string(key, key_length) == "drop" ? 1 : 0;
}

rocksdb_compactionfilter_t* NewFilter(void* state, rocksdb_compactionfiltercontext_t* context) {
  EXPECT_EQ(rocksdb_compactionfiltercontext_is_full_compaction(context), 1);
  EXPECT_EQ(rocksdb_compactionfiltercontext_is_manual_compaction(context), 1);
  ++static_cast<State*>(state)->alive;
  return rocksdb_compactionfilter_create(state, End, Filter, Name);
}

char* Joined(const std::string& text, size_t* size, unsigned char* success) {
  *size = text.size();
  *success = 1;
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  std::memcpy(copy, text.data(), text.size());
  return copy;
}

char* FullMerge(void*, const char*, size_t, const char* existing, size_t existing_size, const char* const* operands,
                const size_t* sizes, int count, unsigned char* success, size_t* size) {
  std::string text = existing == nullptr ? "none" : std::string(existing, existing_size);
  for (int i = 0; i < count; ++i) text += "," + std::string(operands[i], sizes[i]);
  if (text.find("fail") != std::string::npos) {
    *success = 0;
    *size = 0;
    return nullptr;
  }
  return Joined(text, size, success);
}

char* PartialMerge(void*, const char*, size_t, const char* const*, const size_t*, int, unsigned char* success,
                   size_t* size) {
  *success = 0;
  *size = 0;
  return nullptr;
}

char* FirstByte(void*, const char* key, size_t, size_t* dst_length) {
  *dst_length = 1;
  return const_cast<char*>(key);
}
unsigned char HasByte(void*, const char*, size_t length) { return length >= 1 ? 1 : 0; }

class CallbackTest : public Database {
 protected:
  State state_;
};

TEST_F(CallbackTest, Comparator) {
  rocksdb_comparator_t* const comparator = rocksdb_comparator_create(&state_, End, Backwards, Name);
  rocksdb_options_set_comparator(options_, comparator);
  Open();
  Put("a", "1");
  Put("b", "2");
  Flush();
  Put("c", "3");
  rocksdb_iterator_t* const iter = rocksdb_create_iterator(db_, read_);
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "c=3 b=2 a=1 ");
  EXPECT_EQ(Get("b"), "2");
  Close();
  EXPECT_EQ(state_.alive, 1);
  rocksdb_comparator_destroy(comparator);
  EXPECT_EQ(state_.alive, 0);
}

TEST_F(CallbackTest, MergeOperator) {
  rocksdb_options_set_merge_operator(
      options_, rocksdb_mergeoperator_create(&state_, End, FullMerge, PartialMerge, nullptr, Name));
  Open();
  rocksdb_merge(db_, write_, "a", 1, "1", 1, Error());
  rocksdb_merge(db_, write_, "a", 1, "2", 1, Error());
  EXPECT_EQ(Get("a"), "none,1,2");
  Put("b", "base");
  Flush();
  rocksdb_merge(db_, write_, "b", 1, "3", 1, Error());
  EXPECT_EQ(Get("b"), "base,3");
  rocksdb_merge(db_, write_, "c", 1, "fail", 4, Error());
  Error error;
  size_t size = 0;
  EXPECT_EQ(rocksdb_get(db_, read_, "c", 1, &size, error), nullptr);
  EXPECT_NE(error.Take(), "");
  Close();
  EXPECT_EQ(state_.alive, 1);
  rocksdb_options_set_merge_operator(options_, nullptr);
  EXPECT_EQ(state_.alive, 0);
}

TEST_F(CallbackTest, CountersMergeByAddition) {
  rocksdb_options_set_uint64add_merge_operator(options_);
  Open();
  const uint64_t two = 2;
  for (int i = 0; i < 3; ++i) {
    rocksdb_merge(db_, write_, "n", 1, reinterpret_cast<const char*>(&two), sizeof(two), Error());
  }
  const std::string sum = Get("n");
  ASSERT_EQ(sum.size(), sizeof(uint64_t));
  uint64_t value = 0;
  std::memcpy(&value, sum.data(), sizeof(value));
  EXPECT_EQ(value, 6u);
}

TEST_F(CallbackTest, CompactionFilter) {
  rocksdb_compactionfilter_t* const filter = rocksdb_compactionfilter_create(&state_, End, Filter, Name);
  rocksdb_options_set_compaction_filter(options_, filter);
  Open();
  for (const char* key : {"drop", "change", "keep"}) Put(key, "old");
  rocksdb_compact_range(db_, nullptr, 0, nullptr, 0);
  EXPECT_EQ(Get("drop"), "(null)");
  EXPECT_EQ(Get("change"), "changed");
  EXPECT_EQ(Get("keep"), "old");
  Close();
  EXPECT_EQ(state_.alive, 1);
  rocksdb_compactionfilter_destroy(filter);
  EXPECT_EQ(state_.alive, 0);
}

TEST_F(CallbackTest, CompactionFilterFactory) {
  rocksdb_options_set_compaction_filter_factory(
      options_, rocksdb_compactionfilterfactory_create(&state_, End, NewFilter, Name));
  rocksdb_options_set_disable_auto_compactions(options_, 1);
  Open();
  for (const char* key : {"drop", "change", "keep"}) Put(key, "old");
  Flush();
  rocksdb_compact_range(db_, nullptr, 0, nullptr, 0);
  EXPECT_EQ(Get("drop"), "(null)");
  EXPECT_EQ(Get("change"), "changed");
  Close();
  EXPECT_EQ(state_.alive, 1);
  rocksdb_options_set_compaction_filter_factory(options_, nullptr);
  EXPECT_EQ(state_.alive, 0);
}

TEST_F(CallbackTest, PrefixExtractor) {
  rocksdb_options_set_prefix_extractor(
      options_, rocksdb_slicetransform_create(&state_, End, FirstByte, HasByte, HasByte, Name));
  Open();
  for (const char* key : {"a1", "a2", "b1"}) Put(key, "");
  rocksdb_readoptions_set_prefix_same_as_start(read_, 1);
  rocksdb_iterator_t* const iter = rocksdb_create_iterator(db_, read_);
  rocksdb_iter_seek(iter, "a", 1);
  EXPECT_EQ(Rest(iter), "a1= a2= ");
  Close();
  EXPECT_EQ(state_.alive, 1);
  rocksdb_options_set_prefix_extractor(options_, rocksdb_slicetransform_create_fixed_prefix(1));
  EXPECT_EQ(state_.alive, 0);
  rocksdb_options_set_prefix_extractor(options_, rocksdb_slicetransform_create_noop());
}

}  // namespace
}  // namespace c_api
