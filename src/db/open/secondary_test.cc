// SPDX-License-Identifier: Apache-2.0
// Secondaries: they see what the primary had at one moment, for any concurrent
// changes of its files.
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "util/random.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ReadOptions;

class SecondaryTest : public DbTest {
 protected:
  ~SecondaryTest() override { second_.reset(); }
  Status TryFollow(const std::string& path = "/second") {
    second_.reset();
    rocksdb::Options options = options_;
    options.max_open_files = -1;
    rocksdb::DB* db = nullptr;
    Status s = rocksdb::DB::OpenAsSecondary(options, name_, path, &db);
    second_.reset(db);
    return s;
  }
  void Follow() {
    Status s = TryFollow();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void CatchUp() {
    Status s = second_->TryCatchUpWithPrimary();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  static std::string ScanOf(rocksdb::Iterator* it) {
    std::string out;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      out += (out.empty() ? "" : ",") + it->key().ToString() + "=" + it->value().ToString();
    }
    if (!it->status().ok()) out += "!" + it->status().ToString();
    return out;
  }
  std::string ScanSecond() {
    std::unique_ptr<rocksdb::Iterator> it(second_->NewIterator(ReadOptions()));
    return ScanOf(it.get());
  }
  std::string GetSecond(const std::string& key) {
    std::string value;
    Status s = second_->Get(ReadOptions(), key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NOT_FOUND" : s.ToString();
  }
  void Overwrite(int round, int keys) {
    const std::string value = std::to_string(round).append(500, 'v');
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(Put(Key(i), value).ok());
  }
  size_t LinkDirs() {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren("/second", &names).ok());
    size_t dirs = 0;
    for (const std::string& name : names) dirs += name.rfind("files-", 0) == 0;
    return dirs;
  }
  size_t Links() {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren("/second", &names).ok());
    size_t links = 0;
    for (const std::string& name : names) {
      std::vector<std::string> files;
      if (name.rfind("files-", 0) != 0 || !fs_->GetChildren(JoinPath("/second", name), &files).ok()) {
        continue;
      }
      for (const std::string& file : files) links += file.find(".ph") != std::string::npos;
    }
    return links;
  }

  std::unique_ptr<rocksdb::DB> second_;
};

// A reader next to a primary lists its families first. The manifest may be replaced between CURRENT and its opening.
class ReplacedManifestTest : public SecondaryTest {
 protected:
  // Each of the next three manifests is deleted before it is opened.
  void ReplaceManifests() {
    options_.max_manifest_file_size = 1;  // every commit begins a new one
    OpenDb();
    fs_->SetHook([this](FaultOp op, const std::string& path) {
      if (op != FaultOp::kOpen || path.find("MANIFEST") == std::string::npos || times_ == 3) return;
      const int time = ++times_;
      ASSERT_TRUE(Put(Key(time), "v").ok());
      ASSERT_TRUE(db_->Flush({}).ok());
      while (fs_->FileExists(path).ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
  void StopReplacing() {
    fs_->SetHook(nullptr);
    EXPECT_EQ(times_, 3);
  }

 private:
  int times_ = 0;
};

TEST_F(ReplacedManifestTest, FamiliesAreListed) {
  ReplaceManifests();
  std::vector<std::string> names;
  const Status s = rocksdb::DB::ListColumnFamilies(options_, name_, &names);
  StopReplacing();
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(names, std::vector<std::string>{"default"});
}

TEST_F(ReplacedManifestTest, ReadersOpen) {
  ReplaceManifests();
  rocksdb::DB* reader = nullptr;
  const Status s = rocksdb::DB::OpenForReadOnly(options_, name_, &reader);
  StopReplacing();
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<rocksdb::DB> owned(reader);
  std::string value;
  EXPECT_TRUE(reader->Get({}, Key(3), &value).ok());
  EXPECT_EQ(value, "v");
}

// What the manifest named when it was read, the primary may have taken away.
TEST_F(ReplacedManifestTest, ReadersOpenWhenFilesWereDeletedSince) {
  options_.max_open_files = -1;
  OpenDb();
  for (const std::string kind : {".log", ".ph"}) {
    ASSERT_TRUE(Put("a", "1").ok());
    ASSERT_TRUE(db_->Flush({}).ok());
    ASSERT_TRUE(Put("a", "2").ok());
    ASSERT_TRUE(db_->Flush({}).ok());
    ASSERT_TRUE(Put("b", kind).ok());
    ASSERT_TRUE(db_->DisableFileDeletions().ok());
    bool done = false;
    fs_->SetHook([&](FaultOp op, const std::string& path) {
      if (done || (op != FaultOp::kOpen && op != FaultOp::kStat) || !path.ends_with(kind)) return;
      done = true;
      ASSERT_TRUE(db_->Flush({}).ok());
      Compact(/*force=*/true);
      ASSERT_TRUE(db_->EnableFileDeletions().ok());
      EXPECT_TRUE(fs_->FileExists(path).IsNotFound());
    });
    rocksdb::DB* reader = nullptr;
    const Status s = rocksdb::DB::OpenForReadOnly(options_, name_, &reader);
    fs_->SetHook(nullptr);
    EXPECT_TRUE(done);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<rocksdb::DB> owned(reader);
    std::string value;
    EXPECT_TRUE(reader->Get({}, "a", &value).ok());
    EXPECT_EQ(value, "2");
    EXPECT_TRUE(reader->Get({}, "b", &value).ok());
    EXPECT_EQ(value, kind);
  }
}

TEST_F(SecondaryTest, FollowsTheLog) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  Follow();
  EXPECT_EQ(ScanSecond(), "a=1");
  ASSERT_TRUE(Put("b", std::string(100000, 'x')).ok());
  ASSERT_TRUE(db_->Delete(rocksdb::WriteOptions(), "a").ok());
  EXPECT_EQ(ScanSecond(), "a=1");  // until it catches up
  CatchUp();
  EXPECT_EQ(ScanSecond(), Scan());
  EXPECT_EQ(second_->GetLatestSequenceNumber(), db_->GetLatestSequenceNumber());
  ASSERT_TRUE(db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), "a", "c").ok());
  ASSERT_TRUE(Put("c", "3").ok());
  CatchUp();
  EXPECT_EQ(ScanSecond(), "c=3");
  CatchUp();
  EXPECT_EQ(ScanSecond(), "c=3");
}

// As with manual_wal_flush: the manifest is ahead of the log, and what that brings later is of sequences that readers
// look at already.
TEST_F(SecondaryTest, WhatTheManifestKnewOfTakesOneMemTableAndIsShownAtOnce) {
  options_.write_buffer_size = 16 << 20;
  OpenDb();
  const std::string log = NewestLog();
  const std::string before = ReadFile(log);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(Put(Key(i), std::string(40000, 'v')).ok());
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "made", &handle).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  const std::string after = ReadFile(log);
  SetFile(log, before);
  Follow();
  EXPECT_EQ(second_->GetLatestSequenceNumber(), db_->GetLatestSequenceNumber());
  SetFile(log, after);
  int reads = 0, shown_early = 0;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    if (op != FaultOp::kRead || path.find(".log") == std::string::npos) return;
    ++reads;
    for (int i = 0; i < 40; ++i) shown_early += GetSecond(Key(i)) != "NOT_FOUND";
  });
  CatchUp();
  fs_->SetHook(nullptr);
  EXPECT_GT(reads, 10);
  EXPECT_EQ(shown_early, 0);
  EXPECT_TRUE(ScanSecond() == Scan());
  uint64_t memtables = 0;
  ASSERT_TRUE(second_->GetIntProperty("rocksdb.num-immutable-mem-table", &memtables));
  EXPECT_LE(memtables, 1u);
}

TEST_F(SecondaryTest, FollowsFlushesAndCompactions) {
  OpenDb();
  Follow();
  EXPECT_EQ(ScanSecond(), "");
  for (int round = 0; round < 4; ++round) {
    Overwrite(round, 300);
    if (round % 2 == 1) Compact();
    ASSERT_TRUE(Put("tail", std::to_string(round)).ok());
    CatchUp();
    ASSERT_EQ(ScanSecond(), Scan());
    ASSERT_EQ(GetSecond("tail"), std::to_string(round));
  }
}

// A state pinned by an iterator, and one that is not caught up for long.
TEST_F(SecondaryTest, OldStatesStayWholeWhenThePrimaryDeletesAndPunches) {
  OpenDb();
  Overwrite(0, 400);
  Compact();
  const std::string before = Scan();
  Follow();
  std::unique_ptr<rocksdb::Iterator> pinned(second_->NewIterator(ReadOptions()));
  for (int round = 1; round < 6; ++round) {
    Overwrite(round, 400);
    Compact();
  }
  EXPECT_EQ(ScanSecond(), before);
  CatchUp();
  EXPECT_EQ(ScanSecond(), Scan());
  EXPECT_EQ(ScanOf(pinned.get()), before);
  pinned.reset();
  Overwrite(7, 400);
  Compact();
  CatchUp();
  EXPECT_EQ(ScanSecond(), Scan());
  std::vector<std::string> live;
  uint64_t manifest_bytes = 0;
  ASSERT_TRUE(db_->GetLiveFiles(live, &manifest_bytes, /*flush_memtable=*/false).ok());
  const auto table = [](const std::string& name) { return name.find(".ph") != std::string::npos; };
  EXPECT_EQ(Links(), static_cast<size_t>(std::count_if(live.begin(), live.end(), table)));
}

TEST_F(SecondaryTest, WithoutLinksAHoleIsNeverAWrongAnswer) {
  OpenDb();
  Overwrite(0, 400);
  Compact();
  fs_->FailAll(FaultOp::kLink, "/second", Status::IOError("another file system"));
  Follow();
  const std::string before = Scan();
  EXPECT_EQ(ScanSecond(), before);
  uint64_t holes = fs_->Count(FaultOp::kPunch);
  for (int round = 1; round < 6; ++round) {
    for (int i = 0; i < 400; i += 2) {
      ASSERT_TRUE(Put(Key(i), std::to_string(round) + std::string(500, 'v')).ok());
    }
    Compact();
    std::unique_ptr<rocksdb::Iterator> it(second_->NewIterator(ReadOptions()));
    const std::string seen = ScanOf(it.get());
    if (it->status().ok()) {
      EXPECT_EQ(seen, before);
    } else {
      EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
    }
  }
  // Point reads catch up by themselves when they meet a hole.
  for (int i = 0; i < 400; ++i) {
    const std::string value = GetSecond(Key(i));
    EXPECT_TRUE(value == Get(Key(i)) || value == "0" + std::string(500, 'v')) << value;
  }
  CatchUp();
  EXPECT_EQ(ScanSecond(), Scan());
  EXPECT_GE(fs_->Count(FaultOp::kPunch), holes);
}

// Calls back where it is asked for its name, as an opening does between taking the files and reading them.
class AskedForItsName : public rocksdb::Comparator {
 public:
  const char* Name() const override {
    if (asked) asked();
    return base_->Name();
  }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override { return base_->Compare(a, b); }
  void FindShortestSeparator(std::string* start, const rocksdb::Slice& limit) const override {
    base_->FindShortestSeparator(start, limit);
  }
  void FindShortSuccessor(std::string* key) const override { base_->FindShortSuccessor(key); }
  std::function<void()> asked;

 private:
  const rocksdb::Comparator* const base_ = rocksdb::BytewiseComparator();
};

TEST_F(SecondaryTest, WithoutLinksFilesMayGoWhileItOpens) {
  AskedForItsName comparator;
  options_.comparator = &comparator;
  OpenDb();
  Overwrite(0, 400);
  Compact();
  fs_->FailAll(FaultOp::kLink, "/second", Status::IOError("another file system"));
  const std::thread::id me = std::this_thread::get_id();
  std::string taken, gone;
  fs_->SetHook([&](FaultOp op, const std::string& path) {
    const bool table = path.rfind(name_ + "/", 0) == 0 && path.find(".ph") != std::string::npos;
    if (std::this_thread::get_id() == me && op == FaultOp::kOpen && table) taken = path;
  });
  comparator.asked = [&] {
    if (std::this_thread::get_id() != me || taken.empty() || !gone.empty()) return;
    gone = taken;
    Overwrite(1, 400);
    Compact(/*force=*/true);
    for (int i = 0; i < 2000 && fs_->FileExists(gone).ok(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(fs_->FileExists(gone).ok()) << gone;
  };
  Follow();
  fs_->SetHook(nullptr);
  comparator.asked = nullptr;
  EXPECT_FALSE(gone.empty());
  EXPECT_EQ(ScanSecond(), Scan());
  second_.reset();
  CloseDb();
}

TEST_F(SecondaryTest, ThePrimaryMayComeAndGo) {
  OpenDb();
  Overwrite(0, 200);
  Follow();
  for (int life = 1; life < 5; ++life) {
    options_.avoid_flush_during_recovery = life % 2 == 0;
    OpenDb();
    CatchUp();
    EXPECT_EQ(ScanSecond(), Scan()) << life;
    Overwrite(life, 150);
    CatchUp();
    EXPECT_EQ(ScanSecond(), Scan()) << life;
  }
  CloseDb();
  CatchUp();
  EXPECT_EQ(GetSecond(Key(0)).substr(0, 1), "4");
}

TEST_F(SecondaryTest, RandomWork) {
  options_.create_missing_column_families = true;
  families_ = {"default", "other"};
  options_.avoid_flush_during_recovery = true;
  OpenDb();
  std::vector<ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  std::vector<ColumnFamilyDescriptor> families{{"default", options_}, {"other", options_}};
  ASSERT_TRUE(
      rocksdb::DB::OpenAsSecondary(options_, name_, "/second", families, &handles, &db).ok());
  second_.reset(db);
  Random random(301);
  const auto scan = [](rocksdb::DB* of, ColumnFamilyHandle* family) {
    std::unique_ptr<rocksdb::Iterator> it(of->NewIterator(ReadOptions(), family));
    return ScanOf(it.get());
  };
  for (int step = 0; step < 600; ++step) {
    const int family = static_cast<int>(random.Uniform(2));
    rocksdb::WriteBatch batch;
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(batch.Put(handles_[family], Key(static_cast<int>(random.Uniform(200))),
                            std::string(random.Uniform(600), static_cast<char>('a' + step % 26))).ok());
      ASSERT_TRUE(batch.Delete(handles_[1 - family], Key(static_cast<int>(random.Uniform(200)))).ok());
    }
    ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
    const uint64_t what = random.Uniform(40);
    if (what == 0) {
      ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[family]).ok());
    }
    if (what == 1) {
      ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), handles_[family], nullptr,
                                    nullptr).ok());
    }
    if (what == 2) OpenDb();
    if (what < 15) {
      CatchUp();
      ASSERT_EQ(second_->GetLatestSequenceNumber(), db_->GetLatestSequenceNumber());
      for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(scan(second_.get(), handles[i]), scan(db_.get(), handles_[i])) << step;
      }
    }
  }
  for (ColumnFamilyHandle* handle : handles) delete handle;
}

TEST_F(SecondaryTest, PreparedAndUnknownFamiliesDoNotDisturb) {
  families_ = {"default"};
  OpenDb();
  Follow();
  ColumnFamilyHandle* added = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "added", &added).ok());
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), added, "k", "v").ok());
  ASSERT_TRUE(Put("a", "1").ok());
  CatchUp();
  EXPECT_EQ(ScanSecond(), "a=1");
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), added).ok());
  CatchUp();
  EXPECT_EQ(ScanSecond(), "a=1");
  EXPECT_EQ(Links(), 0u);  // nothing of what it does not read
  ASSERT_TRUE(db_->DropColumnFamily(added).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(added).ok());
  CatchUp();
  EXPECT_EQ(ScanSecond(), "a=1");
}

TEST_F(SecondaryTest, ADroppedFamilyStaysReadable) {
  options_.create_missing_column_families = true;
  families_ = {"default", "other"};
  OpenDb();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), handles_[1], "k", "v").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions(), handles_[1]).ok());
  std::vector<ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenAsSecondary(options_, name_, "/second",
                                           {{"default", options_}, {"other", options_}}, &handles,
                                           &db).ok());
  second_.reset(db);
  ASSERT_TRUE(db_->DropColumnFamily(handles_[1]).ok());
  Compact();
  CatchUp();
  std::string value;
  EXPECT_TRUE(second_->Get(ReadOptions(), handles[1], "k", &value).ok());
  EXPECT_EQ(value, "v");
  for (ColumnFamilyHandle* handle : handles) delete handle;
}

TEST_F(SecondaryTest, WritesAndSnapshotsAreRefused) {
  OpenDb();
  ASSERT_TRUE(Put("a", "1").ok());
  Follow();
  EXPECT_TRUE(second_->Put(rocksdb::WriteOptions(), "b", "2").IsNotSupported());
  EXPECT_TRUE(second_->Flush(rocksdb::FlushOptions()).IsNotSupported());
  EXPECT_TRUE(second_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).IsNotSupported());
  EXPECT_TRUE(second_->DropColumnFamily(second_->DefaultColumnFamily()).IsNotSupported());
  EXPECT_TRUE(second_->SyncWAL().IsNotSupported());
  EXPECT_TRUE(db_->TryCatchUpWithPrimary().IsNotSupported());
  ReadOptions options;
  options.snapshot = second_->GetSnapshot();
  std::string value;
  EXPECT_TRUE(second_->Get(options, "a", &value).IsNotSupported());
  second_->ReleaseSnapshot(options.snapshot);
}

TEST_F(SecondaryTest, OpenErrors) {
  EXPECT_FALSE(TryFollow().ok());  // no primary
  OpenDb();
  EXPECT_TRUE(TryFollow("").IsInvalidArgument());
}

// A log of a closed database that is gone, empty or cut: as it is for an opening.
TEST_F(SecondaryTest, LogsThatLostWhatWasSyncedAreNoticed) {
  for (int damage = 0; damage < 4; ++damage) {
    SCOPED_TRACE(damage);
    OpenDb();
    ASSERT_TRUE(Put("a", "1").ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(Put(Key(i), "x", /*sync=*/true).ok());
    const std::string log = NewestLog();
    CloseDb();  // which writes to the manifest
    Follow();
    second_.reset();
    uint64_t bytes = 0;
    ASSERT_TRUE(fs_->GetFileSize(log, &bytes).ok());
    Status s;
    if (damage == 0) {
      s = fs_->DeleteFile(log);
    } else {
      s = fs_->TruncateFile(log, damage == 1 ? 0 : damage == 2 ? bytes / 2 : bytes - 1);
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    s = TryFollow();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(log), std::string::npos) << s.ToString();
    second_.reset();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(SecondaryTest, LinksGoWithTheSecondaryOrWithTheNextOne) {
  OpenDb();
  Overwrite(0, 100);
  Compact();
  Follow();
  EXPECT_EQ(LinkDirs(), 1u);
  EXPECT_GT(Links(), 0u);
  rocksdb::DB* other = nullptr;  // of the same path: they do not disturb each other
  ASSERT_TRUE(rocksdb::DB::OpenAsSecondary(options_, name_, "/second", &other).ok());
  EXPECT_EQ(LinkDirs(), 2u);
  EXPECT_EQ(ScanSecond(), Scan());
  delete other;
  EXPECT_EQ(LinkDirs(), 1u);
  // What a crash left: no process has its lock.
  ASSERT_TRUE(fs_->CreateDir("/second/files-dead").ok());
  ASSERT_TRUE(fs_->LinkFile(CurrentFileName(name_), "/second/files-dead/000001.ph").ok());
  Follow();
  EXPECT_TRUE(fs_->FileExists("/second/files-dead/000001.ph").IsNotFound());
  EXPECT_EQ(LinkDirs(), 1u);
  second_.reset();
  EXPECT_EQ(LinkDirs(), 0u);
}

TEST_F(SecondaryTest, ReadersConcurrentWithCatchingUpSeeWholeBatches) {
  OpenDb();
  Follow();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 4000; ++i) {
      rocksdb::WriteBatch batch;
      const std::string value = std::to_string(i) + std::string(200, 'v');
      for (const char* key : {"a", "m", "z"}) ASSERT_TRUE(batch.Put(key, value).ok());
      ASSERT_TRUE(batch.Put(Key(i % 300), value).ok());
      ASSERT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
    }
    done = true;
  });
  std::thread follower([&] {
    while (!done) {
      Status s = second_->TryCatchUpWithPrimary();
      ASSERT_TRUE(s.ok() || s.IsTryAgain()) << s.ToString();
    }
  });
  while (!done) {
    std::unique_ptr<rocksdb::Iterator> it(second_->NewIterator(ReadOptions()));
    std::string values[3];
    int i = 0;
    for (const char* key : {"a", "m", "z"}) {
      it->Seek(key);
      if (it->Valid()) values[i] = it->value().ToString();
      ++i;
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(values[0], values[1]);
    ASSERT_EQ(values[0], values[2]);
  }
  writer.join();
  follower.join();
  CatchUp();
  EXPECT_EQ(ScanSecond(), Scan());
}

}  // namespace
}  // namespace compassdb
