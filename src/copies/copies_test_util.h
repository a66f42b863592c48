// SPDX-License-Identifier: Apache-2.0
// Whether a copy of a database, made while it was written, is of one moment.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "db/testing/db_test_util.h"
#include "rocksdb/write_batch.h"

namespace compassdb {

// Numbers batches while it lives. Each moves two keys on, so that half a batch shows.
class NumberedWriter {
 public:
  explicit NumberedWriter(rocksdb::DB* db)
      : thread_([this, db] {
          for (int i = 1; !stop_; ++i) {
            rocksdb::WriteBatch batch;
            const std::string number = std::to_string(i);
            EXPECT_TRUE(batch.Put("first", number).ok());
            EXPECT_TRUE(batch.Put(KeyOf(i), number + std::string(300, 'x')).ok());
            EXPECT_TRUE(batch.Put("second", number).ok());
            EXPECT_TRUE(db->Write(rocksdb::WriteOptions(), &batch).ok());
            written_ = i;
          }
        }) {}
  ~NumberedWriter() {
    stop_ = true;
    thread_.join();
  }
  int written() const { return written_; }
  // Waits until there are some more; their number.
  int WrittenSomeMore() const {
    const int before = written_;
    while (written_ < before + 300) std::this_thread::yield();
    return written_;
  }

  // The number of the last batch in the copy. The copy holds all up to it, and none after it.
  static int LastIn(rocksdb::DB* copy) {
    std::string first, second, value;
    EXPECT_TRUE(copy->Get(rocksdb::ReadOptions(), "first", &first).ok());
    EXPECT_TRUE(copy->Get(rocksdb::ReadOptions(), "second", &second).ok());
    EXPECT_EQ(first, second);
    const int last = atoi(first.c_str());
    for (int i = std::max(1, last - kKeys + 1); i <= last; ++i) {
      EXPECT_TRUE(copy->Get(rocksdb::ReadOptions(), KeyOf(i), &value).ok());
      EXPECT_EQ(atoi(value.c_str()), i);
    }
    EXPECT_TRUE(copy->VerifyChecksum().ok());
    return last;
  }

 private:
  static constexpr int kKeys = 700;
  static std::string KeyOf(int i) { return "key" + std::to_string(i % kKeys); }

  std::atomic<bool> stop_{false};
  std::atomic<int> written_{0};
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace compassdb
