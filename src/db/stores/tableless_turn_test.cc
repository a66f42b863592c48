// SPDX-License-Identifier: Apache-2.0
// The turn to change sections of a table-less store, by itself: a failed job passes it on.
#include <gtest/gtest.h>

#include <future>

#include "db/jobs/run_task.h"
#include "db/open/make_store.h"
#include "env/sim/memory_file_system.h"
#include "store/pages.h"
#include "tableless/tableless_store_impl.h"

namespace compassdb {
namespace {

class TablelessTurnTest : public ::testing::Test {
 protected:
  TablelessTurnTest() {
    EXPECT_TRUE(fs_.CreateDir("/db").ok());
    context_.fs = &fs_;
    context_.clock = SystemClock();
    context_.files = &files_;
    context_.ledger = &ledger_;
    context_.hasher = KeyHasher(7);
    context_.new_number = [this] {
      if (numbers_left_ == 0) throw std::bad_alloc();
      --numbers_left_;
      return next_number_++;
    };
    context_.delete_later = [](const std::string&) {};
    StoreOptions options;
    options.comparator = rocksdb::BytewiseComparator();
    options.compression.assign(static_cast<size_t>(options.num_levels), rocksdb::kNoCompression);
    options.pages.enabled = true;
    options.pages.sections = 1;
    store_ = MakeStore(&context_, options);
    EXPECT_TRUE(store_->Open().ok());
  }
  // A value that is in no page.
  Status Flush() {
    MemTableOptions memory;
    memory.comparator = rocksdb::BytewiseComparator();
    FlushRequest request;
    request.memtables.push_back(std::make_shared<MemTable>(memory, 0));
    VersionEdit edit;
    JobReport report;
    std::unique_ptr<Store::Prepared> prepared;
    Status s = request.memtables.front()->Add(++sequence_, kTypeValue, "key", std::string(5000, 'v'), false);
    if (s.ok()) s = store_->Flush(request, &edit, &report);
    if (s.ok()) s = store_->Prepare(edit, &prepared);
    if (s.ok()) store_->Install(edit, std::move(prepared));
    return s;
  }

  MemoryFileSystem fs_;
  FileCache files_{&fs_, "/db", FileOptions(), 0};
  ExtentLedger ledger_{&fs_, &files_, 0};
  StoreContext context_;
  uint64_t next_number_ = 1;
  uint64_t numbers_left_ = UINT64_MAX;
  SequenceNumber sequence_ = 0;
  std::unique_ptr<Store> store_;
};

TEST_F(TablelessTurnTest, ARewritingWithoutMemoryGivesItOn) {
  while (!store_->pages()->NeedsLongWork()) ASSERT_TRUE(Flush().ok());
  const std::unique_ptr<CompactionTask> task = store_->pages()->PickLongWork();
  ASSERT_EQ(task->Describe(), "the overflow store is rewritten");
  numbers_left_ = 1;  // it takes two with the turn
  VersionEdit edit;
  JobReport report;
  EXPECT_TRUE(RunTask(task.get(), {}, nullptr, &edit, &report).IsMemoryLimit());
  store_->Release(task.get());
  numbers_left_ = UINT64_MAX;
  auto flushed = std::async(std::launch::async, [this] { return Flush(); });
  if (flushed.wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
    ADD_FAILURE() << "a flush waits for the turn";
    static_cast<TablelessStore*>(store_.get())->EndTurn();
  }
  EXPECT_TRUE(flushed.get().ok());
}

}  // namespace
}  // namespace compassdb
