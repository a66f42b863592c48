// SPDX-License-Identifier: Apache-2.0
// Rehashes of a table-less family: cut short, and beside reads and writes.
#include <mutex>
#include <set>

#include "db/tableless_test_util.h"
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
TEST_F(TablelessRehashTest, GoesOnAfterACrash) {
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
    // It goes on with the others.
    ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
    AwaitRehashes();
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

// Versions of keys that threads write and others read. Every fifth is a deletion. A reader knows which versions
// it may meet: none older than what was written before it read, none newer than what was begun afterwards.
class Versions {
 public:
  explicit Versions(int keys) : begun_(keys), written_(keys) {}
  static bool IsDeletion(int version) { return version % 5 == 0; }  // and the first: nothing was there
  int Begin(int key) { return begun_[key].fetch_add(1) + 1; }
  void End(int key, int version) { written_[key].store(version); }
  int Oldest(int key) const { return written_[key].load(); }
  // What is wrong with `value` of a key that a read found, null: nothing, after Oldest said `oldest`.
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

TEST_F(TablelessRehashTest, BesideReadsScansAndWrites) {
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
  const auto tell = [&](const std::string& what, int key) {
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
        if (!s.ok()) tell("write: " + s.ToString(), key);
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
      if (!s.ok() && !s.IsNotFound()) tell("Get: " + s.ToString(), key);
      if (s.ok() || s.IsNotFound()) tell(versions.Check(key, s.ok() ? &value : nullptr, oldest), key);
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
        tell(versions.Check(key, found ? &value : nullptr, oldest[key]), key);
        if (found) it->Next();
      }
      if (!it->status().ok() || it->Valid()) tell("scan: " + it->status().ToString(), kKeys);
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

}  // namespace
}  // namespace compassdb
