// SPDX-License-Identifier: Apache-2.0
// Rehashes of a table-less family: interrupted, concurrent with reads and writes, and their use of the machine.
#include <atomic>
#include <condition_variable>
#include <cstdarg>
#include <mutex>
#include <set>
#include <thread>

#include "db/testing/tableless_test_util.h"
#include "util/random.h"

namespace compassdb {
namespace {

class TablelessRehashTest : public TablelessDbTest {
 protected:
  // Number of pages by file.
  std::map<std::string, uint64_t> PagesOfSections() {
    std::map<std::string, uint64_t> pages;
    for (const std::string& path : Sections()) {
      uint64_t bytes = 0;
      EXPECT_TRUE(fs_->GetFileSize(path, &bytes).ok());
      pages[path] = bytes / kPageBytes;
    }
    return pages;
  }
  Status AskForPages(uint64_t pages) {
    return db_->SetOptions({{"table_factory.tableless_pages", std::to_string(pages)}});
  }
  void AwaitRehashes() {
    for (int i = 0; i < 3000 && IntProperty("compassdb.tableless-rehashing") != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_EQ(IntProperty("compassdb.tableless-rehashing"), 0u);
  }
};

// Killed half-way: the sections that were done are as they were left, and only the others are rehashed.
TEST_F(TablelessRehashTest, ContinuesAfterACrash) {
  constexpr uint64_t kSections = 8;
  piece_.tableless_sections = kSections;
  for (const uint64_t done : {0, 1, 3, 7}) {
    SCOPED_TRACE(done);
    piece_.tableless_pages = kSections * 16;
    UsePieces();
    options_.disable_auto_compactions = false;
    OpenDb();
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 150)).ok());
    Settle();
    const std::map<std::string, uint64_t> before = PagesOfSections();
    CutBefore(FaultOp::kCreate, ".pages", static_cast<int>(done) + 1);
    ASSERT_TRUE(AskForPages(kSections * 40).ok());
    for (int i = 0; i < 1000 && !fs_->IsDown(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // As it is found, with nothing going on.
    options_.disable_auto_compactions = true;
    piece_.tableless_pages = kSections * 40;
    UsePieces();
    ASSERT_TRUE(Reopen());
    const std::map<std::string, uint64_t> half = PagesOfSections();
    ASSERT_EQ(half.size(), kSections);
    std::set<std::string> rehashed;
    for (const auto& [path, pages] : half) {
      EXPECT_EQ(pages, before.count(path) != 0 ? 16u : 40u) << path;
      if (pages == 40) rehashed.insert(path);
    }
    EXPECT_EQ(rehashed.size(), done);
    EXPECT_EQ(IntProperty("compassdb.tableless-pages"), done * 40 + (kSections - done) * 16);
    EXPECT_EQ(IntProperty("compassdb.tableless-rehashing"), kSections - done);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 150)) << i;
    // It continues with the others.
    ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
    AwaitRehashes();
    AwaitLivingSections();
    const std::map<std::string, uint64_t> all = PagesOfSections();
    ASSERT_EQ(all.size(), kSections);
    for (const auto& [path, pages] : all) EXPECT_EQ(pages, 40u) << path;
    for (const std::string& path : rehashed) EXPECT_EQ(all.count(path), 1u) << path;
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 150)) << i;
    EXPECT_EQ(Places().size() + Overflowing(), 2000u);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// Replaced sections are deleted with the last read of them, in any case.
TEST_F(TablelessRehashTest, SectionsThatAGetHeldGoWithIt) {
  piece_.tableless_sections = 2;
  piece_.tableless_pages = 32;
  UsePieces();
  options_.disable_auto_compactions = false;
  OpenDb();
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 150)).ok());
  Settle();
  size_t held = 0;
  DuringFirstRead(".pages", [&] {
    EXPECT_TRUE(AskForPages(80).ok());
    AwaitRehashes();
    EXPECT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
    held = Sections().size();
  });
  EXPECT_EQ(Get(Key(1)), Value(1, 150));
  fs_->SetHook(nullptr);
  EXPECT_EQ(held, 4u);
  AwaitLivingSections();
}

// Versions of keys that threads write and others read. Every fifth is a deletion. A reader knows which versions
// it may meet: none older than what was written before it read, none newer than what was begun afterwards.
class Versions {
 public:
  explicit Versions(int keys) : begun_(keys), written_(keys) {}
  static bool IsDeletion(int version) { return version % 5 == 0; }  // and the first: nothing was there
  int Begin(int key) { return begun_[key].fetch_add(1) + 1; }
  void End(int key, int version) { written_[key].store(version); }
  int Oldest(int key) const { return written_[key].load(); }
  // Empty if a read may return `value` (null: no value) after Oldest returned `oldest`; otherwise the fault.
  std::string Check(int key, const std::string* value, int oldest) const {
    const int newest = begun_[key].load();
    if (value != nullptr) {
      const int version = std::stoi(*value);
      if (version >= oldest && version <= newest && !IsDeletion(version)) return "";
      return "version " + value->substr(0, 10);
    }
    for (int version = oldest; version <= newest; ++version) {
      if (IsDeletion(version)) return "";
    }
    return "nothing";
  }

 private:
  std::vector<std::atomic<int>> begun_, written_;
};

TEST_F(TablelessRehashTest, ConcurrentWithReadsScansAndWrites) {
  constexpr int kKeys = 1500, kWriters = 2;
  piece_.tableless_pages = 64;
  piece_.tableless_rehash_threads = 2;
  piece_.tableless_rehash_batch = 4;
  UsePieces();
  options_.write_buffer_size = 128 << 10;
  options_.max_background_jobs = 4;
  OpenDb();
  Versions versions(kKeys);
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::string wrong;
  const auto report = [&](const std::string& what, int key) {
    if (what.empty()) return;
    const std::lock_guard<std::mutex> lock(mutex);
    if (wrong.empty()) wrong = what + " of " + std::to_string(key);
    stop.store(true);
  };
  std::atomic<uint64_t> reads{0}, scans{0}, writes{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      Random rnd(w + 1);
      while (!stop.load()) {
        const int key = w + kWriters * static_cast<int>(rnd.Uniform(kKeys / kWriters));
        const int version = versions.Begin(key);
        const Status s = Versions::IsDeletion(version) ? db_->Delete({}, Key(key))
                                                       : Put(Key(key), Value(version, 20 + rnd.Uniform(500)));
        if (!s.ok()) report("write: " + s.ToString(), key);
        versions.End(key, version);
        ++writes;
      }
    });
  }
  threads.emplace_back([&] {
    Random rnd(77);
    while (!stop.load()) {
      const int key = static_cast<int>(rnd.Uniform(kKeys));
      const int oldest = versions.Oldest(key);
      std::string value;
      const Status s = db_->Get({}, Key(key), &value);
      if (!s.ok() && !s.IsNotFound()) report("Get: " + s.ToString(), key);
      if (s.ok() || s.IsNotFound()) report(versions.Check(key, s.ok() ? &value : nullptr, oldest), key);
      ++reads;
    }
  });
  threads.emplace_back([&] {
    while (!stop.load()) {
      std::vector<int> oldest;
      for (int key = 0; key < kKeys; ++key) oldest.push_back(versions.Oldest(key));
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
      it->SeekToFirst();
      for (int key = 0; key < kKeys; ++key) {
        const bool found = it->Valid() && it->key() == Key(key);
        const std::string value = found ? it->value().ToString() : "";
        report(versions.Check(key, found ? &value : nullptr, oldest[key]), key);
        if (found) it->Next();
      }
      if (!it->status().ok() || it->Valid()) report("scan: " + it->status().ToString(), kKeys);
      ++scans;
    }
  });
  // On a busy machine the first rounds may be over before anybody else had a turn.
  const auto enough = [&] { return reads > 200 && scans > 3 && writes > 1000; };
  for (int round = 0; (round < 4 || (round < 400 && !enough())) && !stop.load(); ++round) {
    for (const uint64_t pages : {200, 20, 333, 64, 8, 1000, 100, 37, 256, 12, 500, 128}) {
      EXPECT_TRUE(AskForPages(pages).ok());
      AwaitRehashes();
    }
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, "");
  EXPECT_GT(reads.load(), 200u);
  EXPECT_GT(scans.load(), 3u);
  EXPECT_GT(writes.load(), 1000u);
  for (int round = 0; round < 3; ++round) {
    std::string all;
    for (int key = 0; key < kKeys; ++key) {
      std::string value;
      const Status s = db_->Get({}, Key(key), &value);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      EXPECT_EQ(versions.Check(key, s.ok() ? &value : nullptr, versions.Oldest(key)), "") << key;
      if (s.ok()) all += (all.empty() ? "" : ",") + Key(key) + "=" + value;
    }
    EXPECT_EQ(Scan(), all);
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (round == 0) Settle();
    if (round == 1) OpenDb();
  }
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// How many files are at work at once: each from its first `begin` to its close. A file waits for others until
// `wanted` are, which a machine without cores to spare would not show by itself.
class AtOnce {
 public:
  AtOnce(FaultOp begin, size_t wanted) : begin_(begin), wanted_(wanted) {}
  void operator()(FaultOp op, const std::string& path) {
    if (!EndsWith(path, ".pages")) return;
    std::unique_lock<std::mutex> lock(mutex_);
    if (op == FaultOp::kClose) at_work_.erase(path);
    if (op != begin_ || !seen_.insert(path).second) return;
    threads_.insert(std::this_thread::get_id());
    at_work_.insert(path);
    most_ = std::max(most_, at_work_.size());
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return seen_.size() >= wanted_; });
  }
  size_t most() const { return most_; }
  size_t threads() const { return threads_.size(); }
  size_t files() const { return seen_.size(); }

 private:
  const FaultOp begin_;
  const size_t wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> seen_, at_work_;
  std::set<std::thread::id> threads_;
  size_t most_ = 0;
};

// max_background_jobs does not matter: workers are threads of the task.
TEST_F(TablelessRehashTest, ThreadsRunSideBySide) {
  for (const uint32_t threads : {1, 4}) {
    SCOPED_TRACE(threads);
    piece_.tableless_pages = 4 * 16;
    piece_.tableless_rehash_threads = threads;
    UsePieces();
    OpenDb();
    ASSERT_EQ(db_->GetDBOptions().max_background_jobs, 2);
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
    Settle();
    AtOnce workers(FaultOp::kCreate, threads);
    fs_->SetHook(std::ref(workers));
    ASSERT_TRUE(AskForPages(4 * 24).ok());
    AwaitRehashes();
    fs_->SetHook(nullptr);
    EXPECT_EQ(workers.files(), 4u);
    EXPECT_EQ(workers.most(), threads);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 100)) << i;
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(TablelessRehashTest, FlushesAndAppliesHaveTheThreadsOfTheOption) {
  for (const uint32_t threads : {1, 4}) {
    SCOPED_TRACE(threads);
    piece_.tableless_pages = 4 * 16;
    piece_.tableless_write_threads = threads;
    UsePieces();
    options_.write_buffer_size = 4 << 20;
    options_.disable_auto_compactions = true;
    OpenDb();
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
    Settle();
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1, 100)).ok());
    AtOnce flush(FaultOp::kRead, threads);
    fs_->SetHook(std::ref(flush));
    Flush();
    fs_->SetHook(nullptr);
    EXPECT_EQ(flush.files(), 4u);
    EXPECT_EQ(flush.threads(), threads);
    ASSERT_GT(IntProperty("compassdb.tableless-pending-pages"), 0u);
    AtOnce apply(FaultOp::kWrite, threads);
    fs_->SetHook(std::ref(apply));
    Compact();
    fs_->SetHook(nullptr);
    EXPECT_EQ(apply.files(), 4u);
    EXPECT_EQ(apply.threads(), threads);
    EXPECT_EQ(apply.most(), threads);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(TablelessRehashTest, ReadsAsManyPagesAtATimeAsTheOptionSays) {
  constexpr uint64_t kPages = 128;
  piece_.tableless_sections = 1;
  for (const uint32_t batch : {1, 4, 64}) {
    SCOPED_TRACE(batch);
    piece_.tableless_pages = kPages;
    piece_.tableless_rehash_batch = batch;
    UsePieces();
    OpenDb();
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
    Settle();
    // Neighbours are one read, of up to 64 pages.
    std::atomic<uint64_t> reads{0};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op == FaultOp::kRead && EndsWith(path, ".pages")) ++reads;
    });
    ASSERT_TRUE(AskForPages(kPages * 2).ok());
    AwaitRehashes();
    fs_->SetHook(nullptr);
    EXPECT_EQ(reads.load(), kPages / batch);
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

// A rehash on a slow disk. Journals are written in place at the same time, even with only one thread
// for compactions.
TEST_F(TablelessRehashTest, WritersDoNotStallBehindARehash) {
  piece_.tableless_pages = 4 * 32;
  UsePieces();
  options_.write_buffer_size = 4 << 20;
  OpenDb();
  ASSERT_EQ(db_->GetDBOptions().max_background_jobs, 2);
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Settle();
  std::mutex mutex;
  std::condition_variable changed;
  bool begun = false, go_on = false;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kCreate || !EndsWith(path, ".pages")) return;
    std::unique_lock<std::mutex> lock(mutex);
    begun = true;
    changed.notify_all();
    changed.wait(lock, [&] { return go_on; });
  });
  ASSERT_TRUE(AskForPages(4 * 48).ok());
  {
    std::unique_lock<std::mutex> lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return begun; }));
  }
  bool stuck = false;
  for (int round = 1; round <= 12 && !stuck; ++round) {
    for (int i = 0; i < 500; ++i) EXPECT_TRUE(Put(Key(i), Value(i + round, 100)).ok());
    EXPECT_TRUE(db_->Flush({}).ok());
    int waited = 0;
    while (IntProperty("compassdb.tableless-pending-pages") > 0 && ++waited < 3000) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    stuck = waited >= 3000;
  }
  EXPECT_FALSE(stuck) << IntProperty("compassdb.tableless-pending-pages") << " pages wait for the rehash";
  EXPECT_EQ(IntProperty("compassdb.tableless-rehashing"), 4u);
  EXPECT_EQ(IntProperty("rocksdb.is-write-stopped"), 0u);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    go_on = true;
    changed.notify_all();
  }
  AwaitRehashes();
  fs_->SetHook(nullptr);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 12, 100)) << i;
}

// There is always a journal to be written in place when the last one is.
TEST_F(TablelessRehashTest, ARehashIsNotStarved) {
  piece_.tableless_pages = 4 * 32;
  UsePieces();
  options_.write_buffer_size = 4 << 20;
  OpenDb();
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Settle();
  const std::vector<std::string> sections = Sections();
  const std::set<std::string> old(sections.begin(), sections.end());
  std::atomic<bool> rests{false}, busy{false};
  std::atomic<int> version{0};
  const auto write = [&] {
    const int next = version.load() + 1;
    for (int i = 0; i < 500; ++i) EXPECT_TRUE(Put(Key(i), Value(i + next, 100)).ok());
    EXPECT_TRUE(db_->Flush({}).ok());
    version.store(next);
  };
  // By the thread that has written pages in place, at the end of it.
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kSync || old.count(path) == 0 || rests.load() || busy.exchange(true)) return;
    write();
    busy.store(false);
  });
  write();
  ASSERT_TRUE(AskForPages(4 * 48).ok());
  AwaitRehashes();
  rests.store(true);
  for (int i = 0; i < 3000 && busy.load(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  fs_->SetHook(nullptr);
  EXPECT_EQ(IntProperty("compassdb.tableless-pages"), 4u * 48);
  Settle();
  for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i)), Value(i + version.load(), 100)) << i;
}

class Lines : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list args) override {
    char line[2000];
    vsnprintf(line, sizeof(line), format, args);
    const std::lock_guard<std::mutex> lock(mutex_);
    lines_.emplace_back(line);
  }
  std::string Find(const std::string& part) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& line : lines_) {
      if (line.find(part) != std::string::npos) return line;
    }
    return "";
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Pages that a concurrent writer changes are rebuilt while it writes, except the last ones, and are durable
// before flushes wait. A round's sync comes at its end.
TEST_F(TablelessRehashTest, FewPagesAreMadeAgainWhileFlushesWait) {
  constexpr int kKeys = 4000;
  const auto lines = std::make_shared<Lines>();
  options_.info_log = lines;
  piece_.tableless_sections = 1;
  piece_.tableless_pages = 1024;
  UsePieces();
  options_.write_buffer_size = 16 << 20;
  OpenDb();
  std::map<int, int> versions;
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Settle();
  std::string created;
  std::mutex mutex;
  // Keys that are written when the new file is synced: all pages, a quarter of them, a few.
  std::vector<int> steps{1, 20, 200};
  size_t step = 0;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (!EndsWith(path, ".pages")) return;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (op == FaultOp::kCreate && created.empty()) created = path;
      if (path != created) return;
      if (op != FaultOp::kSync || step == steps.size()) return;
      ++step;
    }
    for (int i = 0; i < kKeys; i += steps[step - 1]) {
      EXPECT_TRUE(Put(Key(i), Value(i + ++versions[i], 100)).ok());
    }
    EXPECT_TRUE(db_->Flush({}).ok());
  });
  ASSERT_TRUE(AskForPages(1500).ok());
  AwaitRehashes();
  fs_->SetHook(nullptr);
  EXPECT_EQ(step, steps.size());
  const std::string line = lines->Find("pages made again");
  int again = 0, held_up = 0;
  const size_t at = line.find("rehashed: ");
  ASSERT_NE(at, std::string::npos) << line;
  ASSERT_EQ(sscanf(line.c_str() + at, "rehashed: %d pages made again, %d of them", &again, &held_up), 2) << line;
  EXPECT_GT(again, 1500);
  EXPECT_LE(held_up, 64);
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + versions[i], 100)) << i;
  OpenDb();
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(Key(i)), Value(i + versions[i], 100)) << i;
}

// Values that fit no page go from one overflow run to the next, one by one: how many of them were read and not yet
// written is what a rehash holds in memory.
TEST_F(TablelessRehashTest, HoldsNoValuesOfTheOverflowStore) {
  constexpr int kLarge = 300;
  piece_.tableless_sections = 1;
  piece_.tableless_pages = 16;
  UsePieces();
  options_.write_buffer_size = 64 << 20;
  OpenDb();
  for (int i = 0; i < kLarge; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 20000)).ok());
  Settle();
  ASSERT_EQ(Overflowing(), static_cast<uint64_t>(kLarge));
  std::atomic<int> read{0}, written{0}, most{0};
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (!EndsWith(path, ".ph")) return;
    if (op == FaultOp::kRead) ++read;
    if (op == FaultOp::kWrite) ++written;
    most.store(std::max(most.load(), read.load() - written.load()));
  });
  ASSERT_TRUE(AskForPages(24).ok());
  AwaitRehashes();
  fs_->SetHook(nullptr);
  EXPECT_GE(read.load(), kLarge);
  EXPECT_LE(most.load(), 16);
  EXPECT_EQ(Overflowing(), static_cast<uint64_t>(kLarge));
  for (int i = 0; i < kLarge; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 20000)) << i;
  OpenDb();
  EXPECT_EQ(Overflowing(), static_cast<uint64_t>(kLarge));
  for (int i = 0; i < kLarge; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 20000)) << i;
}

// What was in the overflow run of a page that is made again: overwritten, deleted, small enough for the page, and new.
TEST_F(TablelessRehashTest, OverflowThatChangesDuringARehash) {
  constexpr int kKeys = 200;
  piece_.tableless_sections = 1;
  piece_.tableless_pages = 16;
  UsePieces();
  options_.write_buffer_size = 64 << 20;
  OpenDb();
  std::map<int, std::string> expected;
  for (int i = 0; i < kKeys; ++i) expected[i] = Value(i, i % 4 == 3 ? 200 : 5000);
  for (const auto& [key, value] : expected) ASSERT_TRUE(Put(Key(key), value).ok());
  Settle();
  std::atomic<bool> done{false};
  std::mutex mutex;
  std::string created;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (op == FaultOp::kCreate && EndsWith(path, ".pages")) created = path;
      if (op != FaultOp::kSync || path != created || done.exchange(true)) return;
    }
    for (int i = 0; i < kKeys; ++i) {
      if (i % 8 == 0) expected[i] = Value(i + 1, 6000);
      if (i % 8 == 1) expected.erase(i);
      if (i % 8 == 2) expected[i] = Value(i + 1, 50);
      if (i % 8 == 3) expected[i] = Value(i + 1, 7000);
      if (i % 8 > 3) continue;
      const bool deleted = expected.count(i) == 0;
      EXPECT_TRUE((deleted ? db_->Delete({}, Key(i)) : Put(Key(i), expected[i])).ok());
    }
    EXPECT_TRUE(db_->Flush({}).ok());
  });
  ASSERT_TRUE(AskForPages(24).ok());
  AwaitRehashes();
  fs_->SetHook(nullptr);
  EXPECT_TRUE(done.load());
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    for (int i = 0; i < kKeys; ++i) {
      const auto it = expected.find(i);
      ASSERT_EQ(Get(Key(i)), it == expected.end() ? "NOT_FOUND" : it->second) << i;
    }
    EXPECT_EQ(Places().size() + Overflowing(), expected.size());
    EXPECT_EQ(IntProperty("rocksdb.estimate-num-keys"), expected.size());
    piece_.tableless_pages = 24;
    UsePieces();
    if (round == 0) Settle();
    if (round == 1) OpenDb();
  }
}

// How many requests come together, of pages.
class Batches : public FaultInjectionFileSystem {
 public:
  std::atomic<size_t> writes{0}, reads{0};  // most in one call
  Status NewPageFile(const std::string& path, const FileOptions& options, bool create,
                     std::unique_ptr<PageFile>* file) override {
    Status s = FaultInjectionFileSystem::NewPageFile(path, options, create, file);
    if (s.ok()) *file = std::make_unique<Writes>(this, std::move(*file));
    return s;
  }
  Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<RandomAccessFile>* file) override {
    Status s = FaultInjectionFileSystem::NewRandomAccessFile(path, options, file);
    if (s.ok() && EndsWith(path, ".pages")) *file = std::make_unique<Reads>(this, std::move(*file));
    return s;
  }

 private:
  static void Raise(std::atomic<size_t>* most, size_t n) {
    size_t old = most->load();
    while (old < n && !most->compare_exchange_weak(old, n)) {
    }
  }
  struct Reads : RandomAccessFile {
    Reads(Batches* b, std::unique_ptr<RandomAccessFile> f) : batches(b), file(std::move(f)) {}
    Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
      return file->Read(offset, n, result, scratch);
    }
    void AddReads(ReadRequest* requests, size_t n, ReadBatch* batch) const override {
      Raise(&batches->reads, n);
      file->AddReads(requests, n, batch);
    }
    Batches* const batches;
    const std::unique_ptr<RandomAccessFile> file;
  };
  struct Writes : PageFile {
    Writes(Batches* b, std::unique_ptr<PageFile> f) : batches(b), file(std::move(f)) {}
    Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
      return file->Read(offset, n, result, scratch);
    }
    Status Write(uint64_t offset, const Slice& data) override { return file->Write(offset, data); }
    void MultiWrite(WriteRequest* requests, size_t n) override {
      Raise(&batches->writes, n);
      file->MultiWrite(requests, n);
    }
    Status Sync() override { return file->Sync(); }
    Status Truncate(uint64_t size) override { return file->Truncate(size); }
    Status Close() override { return file->Close(); }
    Batches* const batches;
    const std::unique_ptr<PageFile> file;
  };
};

// Of pages that are no neighbours: a flush reads them side by side, and so they are written in place.
TEST_F(TablelessRehashTest, PagesAreReadAndWrittenSideBySide) {
  const auto batches = std::make_shared<Batches>();
  UseDisk(batches);
  piece_.tableless_sections = 1;
  piece_.tableless_pages = 2000;
  UsePieces();
  options_.disable_auto_compactions = true;
  OpenDb();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Settle();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1, 100)).ok());
  batches->reads = batches->writes = 0;
  Flush();
  EXPECT_GT(batches->reads.load(), 20u);
  EXPECT_EQ(batches->writes.load(), 0u);
  Compact();
  EXPECT_GT(batches->writes.load(), 20u);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 1, 100)) << i;
  CloseDb();
}

// If a family is dropped before a job's edit, the job's files are deleted with the family.
TEST_F(TablelessRehashTest, NewSectionsOfADroppedFamilyGoWithIt) {
  options_.write_buffer_size = 1 << 20;
  piece_.tableless_pages = 100;
  UsePieces();
  OpenDb();
  for (const bool rehash : {false, true}) {
    SCOPED_TRACE(rehash);
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamily(options_, "dropped", &handle).ok());
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(db_->Put({}, handle, Key(i), Value(i, 100)).ok());
    if (rehash) {
      ASSERT_TRUE(db_->Flush({}, handle).ok());
    }
    const std::map<std::string, uint64_t> before = PagesOfSections();
    std::atomic<int> syncs{0};
    std::atomic<bool> dropped{false};
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (op != FaultOp::kSync || path.find(".pages") == std::string::npos || before.count(path) != 0) return;
      if (syncs.fetch_add(1) != 0) return;
      const Status s = db_->DropColumnFamily(handle);
      EXPECT_TRUE(s.ok()) << s.ToString();
      dropped = true;
    });
    if (rehash) {
      ASSERT_TRUE(db_->SetOptions(handle, {{"table_factory.tableless_pages", "400"}}).ok());
    } else {
      const Status s = db_->Flush({}, handle);
      EXPECT_TRUE(s.IsColumnFamilyDropped()) << s.ToString();
    }
    for (int i = 0; i < 1000 && !dropped; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(dropped);
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    for (int i = 0; i < 300 && !Sections().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(Sections().size(), 0u);
    CloseDb();
    fs_->SetHook(nullptr);
    OpenDb();
  }
}

TEST_F(TablelessRehashTest, NewSectionsThatCannotBeOpenedGo) {
  options_.max_bgerror_resume_count = 0;
  piece_.tableless_pages = 100;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Settle();
  const std::vector<std::string> before = Sections();
  // Of those that there are, all are open.
  fs_->FailNth(FaultOp::kOpen, 1, ".pages", Status::IOError("injected"));
  ASSERT_TRUE(AskForPages(400).ok());
  for (int i = 0; i < 1000 && fs_->faults_injected() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_EQ(fs_->faults_injected(), 1u);
  for (int i = 0; i < 300 && Sections() != before; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(Sections(), before);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 100)) << i;
}

}  // namespace
}  // namespace compassdb
