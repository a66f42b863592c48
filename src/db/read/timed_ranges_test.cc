// SPDX-License-Identifier: Apache-2.0
// Range deletions at a time, and the trimming of histories, against a model.
#include <algorithm>
#include <map>
#include <optional>

#include "api/comparator_u64ts.h"
#include "db/testing/db_test_util.h"
#include "db/testing/timed_test_util.h"
#include "format/internal_key.h"
#include "rocksdb/write_batch.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::ReadOptions;
using rocksdb::WriteOptions;

class TimedRangesTest : public DbTest {
 protected:
  struct Version {
    uint64_t time;
    uint64_t sequence;
    std::optional<std::string> value;  // none: a deletion
  };
  struct Range {
    std::string begin, end;
    uint64_t time;
    uint64_t sequence;
  };

  TimedRangesTest() { options_.comparator = BytewiseComparatorWithU64Ts(); }

  void Write(const std::string& key, uint64_t time, const std::optional<std::string>& value) {
    const Status s = value ? db_->Put(WriteOptions(), key, Time(time), *value)
                           : db_->Delete(WriteOptions(), key, Time(time));
    ASSERT_TRUE(s.ok()) << s.ToString();
    versions_[key].push_back({time, db_->GetLatestSequenceNumber(), value});
  }
  void DeleteRange(const std::string& begin, const std::string& end, uint64_t time) {
    Status s = db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), begin, end, Time(time));
    ASSERT_TRUE(s.ok()) << s.ToString();
    ranges_.push_back({begin, end, time, db_->GetLatestSequenceNumber()});
  }

  const Range* NewestRange(const std::string& key, uint64_t time, uint64_t snapshot) const {
    const Range* newest = nullptr;
    for (const Range& r : ranges_) {
      if (r.begin <= key && key < r.end && r.time <= time && r.sequence <= snapshot &&
          (newest == nullptr || r.sequence > newest->sequence)) {
        newest = &r;
      }
    }
    return newest;
  }
  // What a reader at the time sees of the key, deleted or not.
  const Version* Newest(const std::string& key, uint64_t time, uint64_t snapshot) const {
    const Version* newest = nullptr;
    const auto found = versions_.find(key);
    if (found == versions_.end()) return nullptr;
    for (const Version& v : found->second) {
      if (v.time <= time && v.sequence <= snapshot &&
          (newest == nullptr || v.time > newest->time ||
           (v.time == newest->time && v.sequence > newest->sequence))) {
        newest = &v;
      }
    }
    return newest;
  }
  bool Deleted(const std::string& key, const Version& v, uint64_t time, uint64_t snapshot) const {
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& r) {
      return r.begin <= key && key < r.end && r.time <= time && r.time >= v.time &&
             r.sequence > v.sequence && r.sequence <= snapshot;
    });
  }

  void Check(uint64_t time, const rocksdb::Snapshot* snapshot = nullptr, bool times = true) {
    SCOPED_TRACE("at " + std::to_string(time));
    const uint64_t sees = snapshot != nullptr ? snapshot->GetSequenceNumber() : UINT64_MAX;
    const At at(time, snapshot);
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [key, versions] : versions_) {
      std::string value, found_at;
      const Status s = db_->Get(at.read, db_->DefaultColumnFamily(), key, &value, &found_at);
      const Version* const v = Newest(key, time, sees);
      const Range* const range = NewestRange(key, time, sees);
      if (v != nullptr && v->value && !Deleted(key, *v, time, sees)) {
        ASSERT_TRUE(s.ok()) << key << " " << s.ToString();
        ASSERT_EQ(value, *v->value);
        ASSERT_EQ(found_at, Time(v->time));
        all.emplace_back(key, value);
        continue;
      }
      ASSERT_TRUE(s.IsNotFound()) << key << " " << s.ToString();
      if (!times) continue;
      if (range != nullptr && (v == nullptr || range->sequence > v->sequence)) {
        ASSERT_EQ(found_at, Time(range->time)) << key;
      } else {
        ASSERT_EQ(found_at, v == nullptr ? "" : Time(v->time)) << key;
      }
    }
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(at.read));
    it->SeekToFirst();
    for (const auto& [key, value] : all) {
      ASSERT_TRUE(it->Valid()) << key;
      ASSERT_EQ(it->key().ToString(), key);
      ASSERT_EQ(it->value().ToString(), value);
      it->Next();
    }
    ASSERT_FALSE(it->Valid()) << it->key().ToString();
    it->SeekToLast();
    for (auto entry = all.rbegin(); entry != all.rend(); ++entry, it->Prev()) {
      ASSERT_TRUE(it->Valid()) << entry->first;
      ASSERT_EQ(it->key().ToString(), entry->first);
      ASSERT_EQ(it->value().ToString(), entry->second);
    }
    ASSERT_FALSE(it->Valid());
    ASSERT_TRUE(it->status().ok());
  }

  // Each version exists unless a range up to `to` deleted it.
  void CheckHistory(uint64_t from, uint64_t to) {
    const At at(from, to);
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(at.read));
    it->SeekToFirst();
    for (auto& [key, versions] : versions_) {
      std::vector<Version> sorted = versions;
      std::stable_sort(sorted.begin(), sorted.end(), [](const Version& a, const Version& b) {
        return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
      });
      uint64_t last = UINT64_MAX;
      for (const Version& v : sorted) {
        if (v.time < from || v.time > to || v.time == last) continue;
        last = v.time;
        if (Deleted(key, v, to, UINT64_MAX)) continue;
        ASSERT_TRUE(it->Valid()) << key << "@" << v.time;
        const std::string shown = it->key().ToString();
        ASSERT_EQ(shown.substr(0, shown.size() - 8), key + Time(v.time));
        ASSERT_EQ(it->value().ToString(), v.value.value_or(""));
        it->Next();
      }
    }
    ASSERT_FALSE(it->Valid());
  }

  // A write of a random kind, at a time that is not before the last.
  void WriteSomething(Random* random, uint64_t now) {
    const auto key = [&] { return Key(static_cast<int>(random->Uniform(90))); };
    if (random->OneIn(12)) {
      std::string begin = key(), end = key();
      if (begin > end) std::swap(begin, end);
      DeleteRange(begin, end, now);
    } else if (random->OneIn(6)) {
      Write(key(), now, std::nullopt);
    } else {
      Write(key(), now, random->Bytes(random->Uniform(300)));
    }
  }

  std::map<std::string, std::vector<Version>> versions_;
  std::vector<Range> ranges_;
};

TEST_F(TimedRangesTest, AgreeWithAModelThroughEverything) {
  options_.level0_file_num_compaction_trigger = 2;
  OpenDb();
  Random random(17);
  uint64_t now = 1;
  for (int round = 0; round < 6; ++round) {
    const uint64_t then = now;
    const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
    for (int i = 0; i < 500; ++i) {
      now += 1 + random.Uniform(2);
      WriteSomething(&random, now);
    }
    const auto check = [&] {
      for (uint64_t time : {now / 3, now / 2, now, now + 10}) Check(time);
      Check(then, snapshot);
      Check(now, snapshot);
      CheckHistory(now / 4, now / 2);
      CheckHistory(0, now);
    };
    check();
    if (round % 2 == 0) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    }
    if (round % 3 == 2) {
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    }
    check();
    db_->ReleaseSnapshot(snapshot);
    OpenDb();
    for (uint64_t time : {now / 2, now}) Check(time);
  }
}

TEST_F(TimedRangesTest, WhatIsReadStaysAboveTheLow) {
  OpenDb();
  Random random(23);
  uint64_t now = 1;
  for (int round = 0; round < 6; ++round) {
    const rocksdb::Snapshot* snapshot = round % 2 == 0 ? db_->GetSnapshot() : nullptr;
    const uint64_t then = now;
    for (int i = 0; i < 800; ++i) WriteSomething(&random, ++now);
    const uint64_t low = then > 200 && snapshot != nullptr ? then - 100 : now - 200;
    const std::string bytes = Time(low);
    const Slice slice(bytes);
    rocksdb::CompactRangeOptions compact;
    compact.full_history_ts_low = &slice;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    Status s = db_->CompactRange(compact, nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (uint64_t time : {low, low + 100, now}) Check(time, nullptr, /*times=*/false);
    if (snapshot != nullptr && then >= low) Check(then, snapshot, /*times=*/false);
    if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
    OpenDb();
    for (uint64_t time : {low, now}) Check(time, nullptr, /*times=*/false);
  }
}

TEST_F(TimedRangesTest, BelowTheLowNothingOfThemIsLeft) {
  OpenDb();
  for (int i = 0; i < 2000; ++i) Write(Key(i), 5, std::string(100, 'v'));
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  DeleteRange(Key(0), Key(5000), 10);
  const auto compact_from = [&](uint64_t low) {
    const std::string bytes = Time(low);
    const Slice slice(bytes);
    rocksdb::CompactRangeOptions compact;
    compact.full_history_ts_low = &slice;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db_->CompactRange(compact, nullptr, nullptr).ok());
  };
  compact_from(10);  // a reader at 10 sees the deletion, one at 9 would not
  Check(10);
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  EXPECT_FALSE(files.empty());
  compact_from(11);
  Check(11, nullptr, /*times=*/false);
  files.clear();
  db_->GetLiveFilesMetaData(&files);
  EXPECT_TRUE(files.empty());
}

TEST_F(TimedRangesTest, Refusals) {
  OpenDb();
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), family, "a", "b").IsInvalidArgument());
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), family, "a", "b", "four").IsInvalidArgument());
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), family, "b", "a", Time(5)).IsInvalidArgument());
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), family, "b", "b", Time(5)).ok());
  Write("b", 3, "v");
  Check(7);
  rocksdb::WriteBatch late(0, 0, 0, 8);
  ASSERT_TRUE(late.DeleteRange("a", "c").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &late).IsInvalidArgument());
  ASSERT_TRUE(late.UpdateTimestamps(Time(8), [](uint32_t) { return size_t{8}; }).ok());
  ASSERT_TRUE(db_->Write(WriteOptions(), &late).ok());
  ranges_.push_back({"a", "c", 8, db_->GetLatestSequenceNumber()});
  Check(7);
  Check(8);
  rocksdb::WriteBatch without;
  ASSERT_TRUE(without.DeleteRange("a", "c").ok());
  EXPECT_TRUE(db_->Write(WriteOptions(), &without).IsInvalidArgument());
}

class TrimHistoryTest : public TimedRangesTest {
 protected:
  Status Trim(uint64_t time) {
    CloseDb();
    rocksdb::DB* db = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    Status s = rocksdb::DB::OpenAndTrimHistory(
        options_, name_, {{rocksdb::kDefaultColumnFamilyName, options_}}, &handles, &db, Time(time));
    db_.reset(db);
    for (rocksdb::ColumnFamilyHandle* handle : handles) db_->DestroyColumnFamilyHandle(handle);
    for (auto& [key, versions] : versions_) {
      std::erase_if(versions, [&](const Version& v) { return v.time > time; });
    }
    std::erase_if(ranges_, [&](const Range& r) { return r.time > time; });
    return s;
  }
};

TEST_F(TrimHistoryTest, NewerRecordsAreDropped) {
  OpenDb();
  Random random(31);
  uint64_t now = 1;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 700; ++i) WriteSomething(&random, ++now);
    if (round == 2) {
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    }
    now -= 300;
    const Status s = Trim(now);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (uint64_t time : {now / 2, now, now + 1000}) Check(time);
    CheckHistory(0, now + 1000);
    OpenDb();
    Check(now + 1000);
  }
}

TEST_F(TrimHistoryTest, Refusals) {
  OpenDb();
  Write("k", 5, "v");
  CloseDb();
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, options_}};
  EXPECT_TRUE(rocksdb::DB::OpenAndTrimHistory(options_, name_, families, &handles, &db, "four")
                  .IsInvalidArgument());
  rocksdb::DBOptions unflushed = options_;
  unflushed.avoid_flush_during_recovery = true;
  EXPECT_TRUE(rocksdb::DB::OpenAndTrimHistory(unflushed, name_, families, &handles, &db, Time(3))
                  .IsInvalidArgument());
  EXPECT_EQ(db, nullptr);
  OpenDb();
  Check(5);
}

TEST_F(TrimHistoryTest, FamiliesWithoutTimestampsStay) {
  options_.comparator = rocksdb::BytewiseComparator();
  OpenDb();
  ASSERT_TRUE(Put("k", "v").ok());
  ASSERT_TRUE(Trim(1).ok());
  EXPECT_EQ(Get("k"), "v");
}

}  // namespace
}  // namespace compassdb
