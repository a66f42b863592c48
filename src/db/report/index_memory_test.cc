// SPDX-License-Identifier: Apache-2.0
// The index memory that the database reports against what the heap grows by.
#include <malloc.h>

#include <functional>
#include <thread>

#include "compassdb/index.h"
#include "db/testing/db_test_util.h"
#include "env/env_test_util.h"
#include "rocksdb/table.h"
#include "util/random.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COMPASSDB_OTHER_ALLOCATOR 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COMPASSDB_OTHER_ALLOCATOR 1
#endif
#endif

namespace compassdb {
namespace {

class IndexMemoryTest : public DbTest {
 protected:
  IndexMemoryTest() {
    // Not in memory: the heap is measured.
    options_.env = rocksdb::Env::Default();
    dir_ = NewTestPath();
    EXPECT_TRUE(options_.env->CreateDirIfMissing(dir_).ok());
    // Tables of a real size: memory of a table and its file without the index is no index memory.
    options_.write_buffer_size = 4 << 20;
    options_.target_file_size_base = 32 << 20;
    options_.max_bytes_for_level_base = 16 << 20;
    rocksdb::BlockBasedTableOptions table;
    table.no_block_cache = true;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  }
  // From now on the index is paged, in a cache that has room for all of it.
  void PageIndex() {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(32 << 20, 0);
    table.cache_index_and_filter_blocks = true;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  }

  ~IndexMemoryTest() override {
    db_.reset();
    EXPECT_TRUE(rocksdb::DestroyDB(dir_ + "/db", options_).ok());
    EXPECT_TRUE(rocksdb::DestroyDB(dir_ + "/empty", options_).ok());
    EXPECT_TRUE(options_.env->DeleteDir(dir_).ok());
  }

  void OpenHere() {
    rocksdb::DB* db = nullptr;
    const Status s = rocksdb::DB::Open(options_, dir_ + "/db", &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    db_.reset(db);
  }

  void Fill(size_t value_size, int records) {
    Random rnd(3);
    OpenHere();
    const std::string value(value_size, 'v');
    for (int i = 0; i < records; ++i) {
      char key[32];
      snprintf(key, sizeof(key), "%020llu", static_cast<unsigned long long>(
                                                rnd.Uniform(static_cast<uint64_t>(records)) *
                                                0x9E3779B97F4A7C15u));
      ASSERT_TRUE(Put(key, value).ok());
    }
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    db_.reset();
  }

  // Runs f on a thread of its own, whose end gives the chunks that its allocator cached back: the
  // heap counts those as in use, and they would be taken for, or hide, the index.
  static void OnAThread(const std::function<void()>& f) { std::thread(f).join(); }

  static size_t Heap() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  std::string dir_;

  // What the open database and its index add to the heap, less what an empty one does.
  size_t Growth() {
    options_.disable_auto_compactions = true;
    size_t base = 0;
    const auto empty = [&] {
      const size_t before = Heap();
      rocksdb::DB* db = nullptr;
      OnAThread([&] { EXPECT_TRUE(rocksdb::DB::Open(options_, dir_ + "/empty", &db).ok()); });
      base = Heap() - before;
      OnAThread([&] { delete db; });
    };
    empty();
    empty();
    const size_t before = Heap();
    OnAThread([&] {
      OpenHere();
      EXPECT_TRUE(LoadIndex(db_.get(), db_->DefaultColumnFamily()).ok());
    });
    return Heap() - before - base;
  }

  void Compare(size_t value_size, int records) {
#ifdef COMPASSDB_OTHER_ALLOCATOR
    GTEST_SKIP() << "not with a sanitizer's allocator";
#endif
    Fill(value_size, records);
    CompareOpen();
  }

  void CompareOpen() {
    const auto growth = static_cast<double>(Growth());
    const auto reported = static_cast<double>(IntProperty("compassdb.index-memory"));
    std::string text;
    ASSERT_TRUE(db_->GetProperty("compassdb.stats", &text));
    EXPECT_GT(reported, growth * 0.9) << growth << "\n" << text;
    EXPECT_LT(reported, growth * 1.1) << growth << "\n" << text;
    uint64_t parts = 0;
    for (const char* part : {"perfect-hash", "fingerprints", "pieces", "separators",
                             "block-offsets", "other"}) {
      parts += IntProperty(std::string("compassdb.index-memory-") + part);
    }
    EXPECT_EQ(parts, static_cast<uint64_t>(reported));
  }
};

TEST_F(IndexMemoryTest, SmallRecords) { Compare(40, 300000); }
TEST_F(IndexMemoryTest, LargeRecords) { Compare(1000, 120000); }

TEST_F(IndexMemoryTest, InTheBlockCache) {
#ifdef COMPASSDB_OTHER_ALLOCATOR
  GTEST_SKIP() << "not with a sanitizer's allocator";
#endif
  for (const bool limit : {false, true}) {
    Fill(200, 100000);
    if (limit) {
      options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory());
      options_.memory_limit = 48 << 20;
    } else {
      PageIndex();
    }
    CompareOpen();
    db_.reset();
  }
}

}  // namespace
}  // namespace compassdb
