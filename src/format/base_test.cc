// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "format/file_names.h"
#include "format/format_version.h"
#include "format/key_hash.h"
#include "format/number_limits.h"
#include "format/range_tombstone.h"
#include "util/random.h"

namespace compassdb {
namespace {

TEST(FileNames, BuildersAndParserAgree) {
  struct {
    std::string path;
    uint64_t number;
    FileType type;
  } cases[] = {
      {WalFileName("/db", 7), 7, FileType::kWal},
      {SyncedMarkFileName("/db"), 0, FileType::kSyncedMark},
      {PieceFileName("/db", 12345678), 12345678, FileType::kPieceFile},
      {PageFileName("/db", 7), 7, FileType::kPageFile},
      {ManifestFileName("/db", 3), 3, FileType::kManifest},
      {MirrorFileName("/db", 3), 3, FileType::kManifestMirror},
      {CurrentFileName("/db"), 0, FileType::kCurrent},
      {LockFileName("/db"), 0, FileType::kLock},
      {InfoLogFileName("/db"), 0, FileType::kInfoLog},
      {OldInfoLogFileName("/db", 1234), 1234, FileType::kInfoLog},
      {OptionsFileName("/db", 9), 9, FileType::kOptions},
      {TempOptionsFileName("/db", 9), 9, FileType::kTemp},
      {IdentityFileName("/db"), 0, FileType::kIdentity},
      {PlacesFileName("/db"), 0, FileType::kPlaces},
      {OwnerFileName("/db"), 0, FileType::kOwner},
      {TempFileName("/db", 5), 5, FileType::kTemp},
      {WalFileName("/db/", kMaxFileNumber), kMaxFileNumber, FileType::kWal},
      {OldInfoLogFileName("/db", UINT64_MAX), UINT64_MAX, FileType::kInfoLog},
  };
  for (const auto& c : cases) {
    ASSERT_EQ(c.path.rfind("/db/", 0), 0u) << c.path;
    uint64_t number = 99;
    FileType type;
    ASSERT_TRUE(ParseFileName(c.path.substr(4), &number, &type)) << c.path;
    EXPECT_EQ(number, c.number) << c.path;
    EXPECT_EQ(type, c.type) << c.path;
    for (const std::string& path : {c.path, c.path.substr(4)}) {
      type = FileType::kPageFile;
      ASSERT_TRUE(ParseFilePath(path, &number, &type)) << path;
      EXPECT_EQ(number, c.number) << path;
      EXPECT_EQ(type, c.type) << path;
    }
  }
  uint64_t number;
  FileType type;
  EXPECT_FALSE(ParseFilePath("/000007.log/", &number, &type));
  EXPECT_EQ(WalFileName("d", 7), "d/000007.log");
}

TEST(FileNames, NumbersBehindThem) {
  EXPECT_EQ(NumberBehind("000007.log"), 8u);
  EXPECT_EQ(NumberBehind("MANIFEST-000012"), 13u);
  EXPECT_EQ(NumberBehind("CURRENT"), 1u);
  EXPECT_EQ(NumberBehind("LOG.old.1234"), 0u);
  EXPECT_EQ(NumberBehind("7.sst"), 0u);
  EXPECT_EQ(NumberBehind("7.log"), 0u);
  EXPECT_EQ(NumberBehind(std::to_string(kMaxStrayNumber - 1) + ".ph"), kMaxStrayNumber);
  EXPECT_EQ(NumberBehind(std::to_string(kMaxStrayNumber) + ".ph"), 0u);
}

TEST(FileNames, InfoLogsOfSharedDirectories) {
  EXPECT_EQ(SharedInfoLogName("/data/my db"), "data_my_db_LOG");
  EXPECT_EQ(SharedInfoLogName("/a-b.c_d/1"), "a-b.c_d_1_LOG");
  const std::string deep = "/" + std::string(300, 'x');
  EXPECT_LT(SharedInfoLogName(deep).size(), 230u);
  EXPECT_NE(SharedInfoLogName(deep + "y"), SharedInfoLogName(deep + "z"));
  uint64_t micros = 0;
  EXPECT_TRUE(ParseInfoLogName("data_LOG.old.12", "data_LOG", &micros));
  EXPECT_EQ(micros, 12u);
  for (const char* name : {"LOG", "x_data_LOG", "data_LOG.old.1x", "data_LOG2"}) {
    EXPECT_FALSE(ParseInfoLogName(name, "data_LOG", &micros)) << name;
  }
}

TEST(FileNames, ForeignNamesAreRefused) {
  for (const char* name : {"", "foo", "foo-dx-100.log", ".log", "100", "100.", "100.lop", "100.log2",
                           "MANIFEST", "MANIFEST-", "MANIFEST-3x", "OPTIONS-x", "LOG.old.x",
                           "CURRENT2", "18446744073709551616.log", "18446744073709551614.ph", "17592186044416.log", "7.sst", "-1.ph", "7.log", "0000007.log", "MANIFEST-7"}) {
    uint64_t number;
    FileType type;
    EXPECT_FALSE(ParseFileName(name, &number, &type)) << name;
  }
  EXPECT_TRUE(IsRocksDBTableName("000012.sst"));
  EXPECT_TRUE(IsRocksDBTableName("000012.blob"));
  EXPECT_FALSE(IsRocksDBTableName("000012.ph"));
  EXPECT_FALSE(IsRocksDBTableName("x.sst"));
}

TEST(FormatVersion, RangeOfReadableVersions) {
  constexpr FileFormat format{"x", 1, 2, 4};
  EXPECT_FALSE(CanReadVersion(format, 1));
  EXPECT_TRUE(CanReadVersion(format, 2));
  EXPECT_TRUE(CanReadVersion(format, 4));
  EXPECT_FALSE(CanReadVersion(format, 5));
}

TEST(KeyHash, SeedAndKeyBothMatter) {
  const KeyHasher a(1), b(2);
  EXPECT_EQ(a("key"), a("key"));
  EXPECT_NE(a("key"), b("key"));
  std::set<uint64_t> h1, h2;
  for (int i = 0; i < 10000; ++i) {
    const KeyHash h = a(std::to_string(i));
    h1.insert(h.h1);
    h2.insert(h.h2);
  }
  EXPECT_EQ(h1.size(), 10000u);
  EXPECT_EQ(h2.size(), 10000u);
}

TEST(KeyHash, TestMaskForcesCollisionsOfH1Only) {
  const KeyHasher hasher(1);
  const KeyHash plain = hasher("key");
  TEST_SetKeyHashMask(0xf);
  const KeyHash masked = hasher("key");
  TEST_SetKeyHashMask(UINT64_MAX);
  EXPECT_EQ(masked.h1, plain.h1 & 0xf);
  EXPECT_EQ(masked.h2, plain.h2);
}

TEST(InternalKey, NewestVersionFirst) {
  const InternalKeyComparator cmp(rocksdb::BytewiseComparator());
  const auto key = [](const char* k, SequenceNumber seq, ValueType type) {
    std::string s;
    AppendInternalKey(&s, k, seq, type);
    return s;
  };
  EXPECT_LT(cmp.Compare(key("a", 1, kTypeValue), key("b", 9, kTypeValue)), 0);
  EXPECT_LT(cmp.Compare(key("a", 9, kTypeValue), key("a", 1, kTypeValue)), 0);
  EXPECT_LT(cmp.Compare(key("a", 5, kTypeMerge), key("a", 5, kTypeValue)), 0);
  // A seek key sorts before every record that the snapshot may see.
  EXPECT_LT(cmp.Compare(LookupKey("a", 5).internal_key(), key("a", 5, kTypeMerge)), 0);
  EXPECT_GT(cmp.Compare(LookupKey("a", 5).internal_key(), key("a", 6, kTypeDeletion)), 0);
  ParsedInternalKey parsed;
  EXPECT_FALSE(ParseInternalKey("short", &parsed));
  const std::string k = key("user", 77, kTypeMerge);
  ASSERT_TRUE(ParseInternalKey(k, &parsed));
  EXPECT_EQ(parsed.user_key, "user");
  EXPECT_EQ(parsed.sequence, 77u);
  EXPECT_EQ(parsed.type, kTypeMerge);
}

// Descending order, to show that only the comparator counts.
class Reverse : public Comparator {
 public:
  const char* Name() const override { return "test.Reverse"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

void CheckAgainstModel(const std::vector<RangeTombstone>& tombstones, const Comparator* cmp) {
  const RangeTombstoneList list(tombstones, cmp);
  for (char c = 'a'; c <= 'z'; ++c) {
    const std::string key(1, c);
    for (SequenceNumber snapshot = 0; snapshot <= 12; ++snapshot) {
      SequenceNumber expected = 0;
      for (const RangeTombstone& t : tombstones) {
        if (cmp->Compare(t.start, key) <= 0 && cmp->Compare(key, t.end) < 0 &&
            t.sequence <= snapshot) {
          expected = std::max(expected, t.sequence);
        }
      }
      Slice end;
      ASSERT_EQ(list.MaxCovering(key, snapshot, &end), expected) << key << " @" << snapshot;
      ASSERT_EQ(list.MaxCoveringSequence(key, snapshot), expected);
      if (expected != 0) {
        ASSERT_LT(cmp->Compare(key, end), 0);
      }
    }
    for (char d = 'a'; d <= 'z'; ++d) {
      const Slice begin(key);
      const std::string other(1, d);
      const Slice last(other);
      if (cmp->Compare(begin, last) > 0) continue;
      bool overlaps = false;
      for (const RangeTombstone& t : tombstones) {
        overlaps |= cmp->Compare(t.start, t.end) < 0 && cmp->Compare(t.start, last) <= 0 &&
                    cmp->Compare(begin, t.end) < 0;
      }
      ASSERT_EQ(list.Overlaps(&begin, &last), overlaps) << key << ".." << other;
    }
  }
  for (size_t i = 0; i < list.fragments().size(); ++i) {
    const auto& f = list.fragments()[i];
    ASSERT_LT(cmp->Compare(f.start, f.end), 0);
    ASSERT_FALSE(f.sequences.empty());
    ASSERT_TRUE(std::is_sorted(f.sequences.rbegin(), f.sequences.rend()));
    if (i > 0) {
      ASSERT_LE(cmp->Compare(list.fragments()[i - 1].end, f.start), 0);
    }
  }
}

// Fewer than `number`, of one letter each; some are empty.
std::vector<RangeTombstone> RandomTombstones(Random* random, size_t number, SequenceNumber newest) {
  std::vector<RangeTombstone> tombstones(random->Uniform(number));
  for (RangeTombstone& t : tombstones) {
    t.start = std::string(1, static_cast<char>('a' + random->Uniform(26)));
    t.end = std::string(1, static_cast<char>('a' + random->Uniform(26)));
    t.sequence = random->Between(1, newest);
  }
  return tombstones;
}

TEST(RangeTombstoneList, AgreesWithModelUnderAnyComparator) {
  const Reverse reverse;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<RangeTombstone> tombstones = RandomTombstones(&random, 9, 10);
    CheckAgainstModel(tombstones, rocksdb::BytewiseComparator());
    CheckAgainstModel(tombstones, &reverse);
  }
}

TEST(RangeTombstone, ClipKeepsWhatIsInside) {
  const Comparator* const cmp = rocksdb::BytewiseComparator();
  RangeTombstone t{"b", "f", 7};
  EXPECT_TRUE(ClipTombstone(cmp, {}, {}, &t));
  EXPECT_TRUE(ClipTombstone(cmp, "c", "e", &t));
  EXPECT_EQ(t.start, "c");
  EXPECT_EQ(t.end, "e");
  EXPECT_EQ(t.sequence, 7u);
  EXPECT_TRUE(ClipTombstone(cmp, "a", "z", &t));
  EXPECT_EQ(t.start + t.end, "ce");
  EXPECT_FALSE(ClipTombstone(cmp, "e", {}, &t));
}

TEST(FileNames, ParentOfPaths) {
  EXPECT_EQ(ParentOf("/a/b"), "/a");
  EXPECT_EQ(ParentOf("/a/b//"), "/a");
  EXPECT_EQ(ParentOf("/a"), "/");
  EXPECT_EQ(ParentOf("a/b"), "a");
  EXPECT_EQ(ParentOf("a"), ".");
}

TEST(RangeTombstone, JoinMakesOneOfCopiesAndParts) {
  std::vector<RangeTombstone> all = {{"d", "f", 7}, {"a", "c", 9}, {"a", "c", 7}, {"c", "d", 7},
                                     {"a", "c", 9}, {"m", "p", 7}, {"n", "o", 7}, {"f", "g", 8}};
  JoinTombstones(rocksdb::BytewiseComparator(), &all);
  ASSERT_EQ(all.size(), 4u);
  const auto expect = [&all](size_t i, const char* start, const char* end, SequenceNumber sequence) {
    EXPECT_EQ(all[i].start, start) << i;
    EXPECT_EQ(all[i].end, end) << i;
    EXPECT_EQ(all[i].sequence, sequence) << i;
  };
  expect(0, "a", "f", 7);
  expect(1, "m", "p", 7);
  expect(2, "f", "g", 8);
  expect(3, "a", "c", 9);
  JoinTombstones(rocksdb::BytewiseComparator(), &all);
  EXPECT_EQ(all.size(), 4u);
  all = {{"a", "c", 7, "0001"}, {"a", "c", 7, "0002"}, {"b", "d", 7, "0001"}};
  JoinTombstones(rocksdb::BytewiseComparator(), &all);
  EXPECT_EQ(all.size(), 2u);
  all.clear();
  JoinTombstones(rocksdb::BytewiseComparator(), &all);
  EXPECT_TRUE(all.empty());
}

TEST(RangeTombstone, WhatNewerOnesHideIsDroppedUnlessASnapshotNeedsIt) {
  const Comparator* const cmp = rocksdb::BytewiseComparator();
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<RangeTombstone> all = RandomTombstones(&random, 12, 20);
    std::vector<SequenceNumber> snapshots;
    for (SequenceNumber s = 1; s < 20; ++s) {
      if (random.OneIn(8)) snapshots.push_back(s);
    }
    std::vector<RangeTombstone> left = all;
    DropHiddenTombstones(cmp, snapshots, &left);
    EXPECT_LE(left.size(), 2 * all.size());
    const RangeTombstoneList before(all, cmp), after(left, cmp);
    std::vector<SequenceNumber> readers = snapshots;
    readers.push_back(kMaxSequenceNumber);
    for (char c = 'a'; c <= 'z'; ++c) {
      const std::string key(1, c);
      for (SequenceNumber s : readers) {
        EXPECT_EQ(after.MaxCoveringSequence(key, s), before.MaxCoveringSequence(key, s)) << key << " at " << s;
      }
      const auto covers = [&](const RangeTombstone& t) { return t.start <= key && key < t.end; };
      EXPECT_LE(static_cast<size_t>(std::count_if(left.begin(), left.end(), covers)), readers.size()) << key;
    }
  }
  // A log that is cut off again and again.
  std::vector<RangeTombstone> all;
  for (int i = 1; i < 1000; ++i) all.push_back({"", std::to_string(10000 + i), static_cast<SequenceNumber>(i)});
  DropHiddenTombstones(cmp, {}, &all);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].end, "10999");
  EXPECT_EQ(all[0].sequence, 999u);
}

TEST(RangeTombstoneList, EmptyAndInvertedRangesVanish) {
  const Comparator* cmp = rocksdb::BytewiseComparator();
  EXPECT_TRUE(RangeTombstoneList({}, cmp).empty());
  EXPECT_TRUE(RangeTombstoneList({{"b", "b", 1}, {"c", "a", 2}}, cmp).empty());
  EXPECT_FALSE(RangeTombstoneList().Overlaps(nullptr, nullptr));
  const RangeTombstoneList one({{"b", "d", 1}}, cmp);
  EXPECT_TRUE(one.Overlaps(nullptr, nullptr));
}

}  // namespace
}  // namespace compassdb
