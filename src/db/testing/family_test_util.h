// SPDX-License-Identifier: Apache-2.0
// Tests only: column families without a database, over a file system in memory, and its background work.
#pragma once

#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "db/jobs/background_work.h"
#include "db/jobs/commit.h"
#include "db/open/db_config.h"
#include "db/open/make_store.h"
#include "env/sim/fault_injection_file_system.h"
#include "family/column_family.h"
#include "rocksdb/env.h"

namespace compassdb {

class CountedWork final : public BackgroundWork {
 public:
  void MaybeSchedule() override { ++asked; }
  void AwaitBackground(std::chrono::milliseconds) override {}
  int FlushesRunning() const override { return 2; }
  int CompactionsRunning() const override { return 3; }
  int asked = 0;
};

// The lines of a log, of WARN and above.
class Warnings final : public rocksdb::Logger {
 public:
  Warnings() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list args) override {
    char line[1000];
    vsnprintf(line, sizeof(line), format, args);
    lines.emplace_back(line);
  }
  std::vector<std::string> lines;
};

// The manifest of an empty database.
class EmptyManifest final : public ManifestSource {
 public:
  std::vector<VersionEdit> Snapshot() const override { return std::vector<VersionEdit>(1); }
  void Stamp(std::vector<VersionEdit>*) const override {}
};

class FamilyHarness {
 public:
  FamilyHarness() {
    EXPECT_TRUE(fs.CreateDir("/db").ok());
    context.fs = &fs;
    context.clock = SystemClock();
    context.files = &files;
    context.ledger = &ledger;
    context.hasher = KeyHasher(77);
    context.new_number = [this] { return next_number_++; };
    context.oldest_snapshot = [] { return kMaxSequenceNumber; };
    Add("default");
  }

  ColumnFamily* Add(const std::string& name, const rocksdb::ColumnFamilyOptions& options = {}) {
    const auto id = static_cast<uint32_t>(families.size());
    StoreOptions store;
    EXPECT_TRUE(ProjectFamilyOptions(id, name, options, &store).ok());
    store.paths.push_back({"/db", UINT64_MAX});
    std::shared_ptr<HistoryLow> history;
    if (options.comparator->timestamp_size() != 0) history = std::make_shared<HistoryLow>();
    store.history = history;
    auto family = std::make_shared<ColumnFamily>(id, name, options, MakeStore(&context, store),
                                                 std::move(history), &mu, nullptr);
    EXPECT_TRUE(family->store()->Open().ok());
    ReadStateGarbage garbage(&nothing_);
    MutexLock lock(&mu);
    family->InstallReadState(garbage.list());
    families.Add(family);
    return family.get();
  }
  ColumnFamily* family() const { return families.ById(0).get(); }

  void Put(const std::string& key, const std::string& value) { Write(family(), kTypeValue, key, value); }
  void Write(ColumnFamily* family, ValueType type, const std::string& key, const std::string& value = "") {
    MemTable* const mem = family->memtables().active().get();
    ASSERT_TRUE(mem->Add(last_sequence + 1, type, key, value, /*concurrent=*/false).ok());
    ++last_sequence;
  }
  // The memtable becomes a table.
  void Flush(ColumnFamily* family) {
    ReadStateGarbage garbage(&nothing_);
    FlushRequest request;
    {
      MutexLock lock(&mu);
      family->SealMemTable(/*log_number=*/0, last_sequence, garbage.list());
      request.memtables = family->memtables().PickFlush(/*all=*/true);
    }
    VersionEdit edit;
    JobReport report;
    std::unique_ptr<Store::Prepared> prepared;
    ASSERT_TRUE(family->store()->Flush(request, &edit, &report).ok());
    ASSERT_TRUE(family->store()->Prepare(edit, &prepared).ok());
    MutexLock lock(&mu);
    family->store()->Install(edit, std::move(prepared));
    family->memtables().FlushCommitted();
    family->InstallReadState(garbage.list());
  }

  Mutex mu;  // as the database has it
  FaultInjectionFileSystem fs;
  FileCache files{&fs, "/db", FileOptions(), 0};
  ExtentLedger ledger{&fs, &files, 0};
  StoreContext context;
  ColumnFamilySet families;
  std::atomic<SequenceNumber> last_sequence{0};

 private:
  std::atomic<uint64_t> next_number_{1};
  struct NoListener final : ReleaseListener {
    void StatesReleased() override {}
  } nothing_;
};

}  // namespace compassdb
