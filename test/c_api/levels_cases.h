// SPDX-License-Identifier: Apache-2.0
// The functions whose parameters depend on COMPASSDB_ROCKSDB_LEVEL, as a program of that level calls them. The file that
// includes this defines the level and LEVEL_TEST, the name of the test.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>

#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class LEVEL_TEST : public Database {
 protected:
  // The newest OPTIONS file.
  std::string Options() {
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().filename().string().starts_with("OPTIONS-")) newest = std::max(newest, entry.path());
    }
    std::ifstream file(newest);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  static char* FirstByte(void*, const char* key, size_t, size_t* size) {
    *size = 1;
    return const_cast<char*>(key);
  }
  static unsigned char Always(void*, const char*, size_t size) { return size > 0 ? 1 : 0; }
  static const char* Name(void*) { return "first byte"; }
  static void CountEnd(void* ends) { ++*static_cast<int*>(ends); }

  void SetPrefix(int* ends) {
    rocksdb_options_set_prefix_extractor(options_, rocksdb_slicetransform_create(ends, CountEnd, FirstByte, Always,
#if COMPASSDB_ROCKSDB_LEVEL < 1100
                                                                                 Always,
#endif
                                                                                 Name));
  }
};

TEST_F(LEVEL_TEST, PrefixesOfAProgram) {
  int ends = 0;
  SetPrefix(&ends);
  Open();
  for (const char* key : {"a1", "a2", "b1"}) Put(key, "");
  rocksdb_readoptions_set_prefix_same_as_start(read_, 1);
  rocksdb_iterator_t* const iter = rocksdb_create_iterator(db_, read_);
  rocksdb_iter_seek(iter, "a", 1);
  EXPECT_EQ(Rest(iter), "a1= a2= ");
  Close();
  EXPECT_EQ(ends, 0);
  rocksdb_options_set_prefix_extractor(options_, rocksdb_slicetransform_create_noop());
  EXPECT_EQ(ends, 1);
}

#if COMPASSDB_ROCKSDB_LEVEL >= 1000
TEST_F(LEVEL_TEST, NumbersOfTickers) {
  const bool later = COMPASSDB_ROCKSDB_LEVEL >= 1100;
  rocksdb_options_enable_statistics(options_);
  Open();
  for (int i = 0; i < 7; ++i) Put("a", "1");
  const auto count = [this](uint32_t number) { return rocksdb_options_statistics_get_ticker_count(options_, number); };
  EXPECT_EQ(count(later ? 58 : 57), 7u);  // keys written
  EXPECT_EQ(count(later ? 93 : 87), 7u);  // writes with a log
  EXPECT_EQ(count(later ? 263 : 216), 0u);
  EXPECT_EQ(count(UINT32_MAX), 0u);
}
#endif

TEST_F(LEVEL_TEST, FileDeletions) {
  Open();
  Put("a", "1");
  rocksdb_disable_file_deletions(db_, Error());
#if COMPASSDB_ROCKSDB_LEVEL < 900
  rocksdb_enable_file_deletions(db_, 0, Error());
#else
  rocksdb_enable_file_deletions(db_, Error());
#endif
  uint64_t enabled = 0;
  EXPECT_EQ(rocksdb_property_int(db_, "rocksdb.is-file-deletions-enabled", &enabled), 0);
  EXPECT_EQ(enabled, 1u);
}

TEST_F(LEVEL_TEST, PlainTables) {
  int ends = 0;
  SetPrefix(&ends);
#if COMPASSDB_ROCKSDB_LEVEL < 809
  rocksdb_options_set_plain_table_factory(options_, 8, 11, 0.5, 13);
#else
  rocksdb_options_set_plain_table_factory(options_, 8, 11, 0.5, 13, 4096, 1, 1, 1);
#endif
  rocksdb_options_set_allow_mmap_reads(options_, 1);
  Open();
  const std::string text = Options();
  EXPECT_NE(text.find("user_key_len=8"), std::string::npos) << text;
  EXPECT_NE(text.find("bloom_bits_per_key=11"), std::string::npos) << text;
  EXPECT_NE(text.find("index_sparseness=13"), std::string::npos) << text;
  const bool all = COMPASSDB_ROCKSDB_LEVEL >= 809;
  EXPECT_NE(text.find(all ? "huge_page_tlb_size=4096" : "huge_page_tlb_size=0"), std::string::npos) << text;
  EXPECT_NE(text.find(all ? "encoding_type=kPrefix" : "encoding_type=kPlain"), std::string::npos) << text;
  EXPECT_NE(text.find(all ? "full_scan_mode=true" : "full_scan_mode=false"), std::string::npos) << text;
  EXPECT_NE(text.find(all ? "store_index_in_file=true" : "store_index_in_file=false"), std::string::npos) << text;
  Close();
}

}  // namespace
}  // namespace c_api
