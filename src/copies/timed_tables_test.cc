// SPDX-License-Identifier: Apache-2.0
// Table files with user-defined timestamps: writing, reading, ingestion, export and import.
#include "api/comparator_u64ts.h"
#include "db/testing/db_test_util.h"
#include "db/testing/timed_test_util.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/checkpoint.h"
#include "util/coding.h"

namespace compassdb {
namespace {

using rocksdb::ReadOptions;
using rocksdb::SstFileWriter;
using rocksdb::WriteOptions;

class TimedTablesTest : public DbTest {
 protected:
  struct Entry {
    std::string key;
    uint64_t time;
    std::string value;  // empty: a deletion
  };
  struct Range {
    std::string begin, end;
    uint64_t time;
  };

  TimedTablesTest() { options_.comparator = BytewiseComparatorWithU64Ts(); }
  void SetUp() override { OpenDb(); }

  std::string WriteFile(const std::string& path, const std::vector<Entry>& entries,
                        const std::vector<Range>& ranges = {}) {
    SstFileWriter writer(rocksdb::EnvOptions(), options_);
    EXPECT_TRUE(writer.Open(path).ok());
    for (const Entry& e : entries) {
      EXPECT_TRUE((e.value.empty() ? writer.Delete(e.key, Time(e.time))
                                   : writer.Put(e.key, Time(e.time), e.value))
                      .ok());
    }
    for (const Range& r : ranges) EXPECT_TRUE(writer.DeleteRange(r.begin, r.end, Time(r.time)).ok());
    EXPECT_TRUE(writer.Finish().ok());
    return path;
  }
  Status Ingest(const std::vector<std::string>& paths) { return db_->IngestExternalFile(paths, {}); }

  // "k@t=v,..." of what a reader at the time sees, by iterator and by Get.
  std::string SeenAt(uint64_t time) {
    const At at(time);
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(at.read));
    std::string seen;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      seen += (seen.empty() ? "" : ",") + it->key().ToString() + "@" +
              std::to_string(DecodeFixed64(it->timestamp().data())) + "=" + it->value().ToString();
      std::string value, timestamp;
      EXPECT_TRUE(db_->Get(at.read, db_->DefaultColumnFamily(), it->key(), &value, &timestamp).ok());
      EXPECT_EQ(value, it->value().ToString());
      EXPECT_EQ(timestamp, it->timestamp().ToString());
    }
    EXPECT_TRUE(it->status().ok());
    return seen;
  }
};

TEST_F(TimedTablesTest, WriterChecksItsInput) {
  SstFileWriter writer(rocksdb::EnvOptions(), options_);
  EXPECT_TRUE(writer.Put("a", Time(1), "v").IsInvalidArgument());
  ASSERT_TRUE(writer.Open("/f.sst").ok());
  EXPECT_TRUE(writer.Put("a", "v").IsInvalidArgument());
  EXPECT_TRUE(writer.Merge("a", "v").IsInvalidArgument());
  EXPECT_TRUE(writer.Delete("a").IsInvalidArgument());
  EXPECT_TRUE(writer.DeleteRange("a", "b").IsInvalidArgument());
  EXPECT_TRUE(writer.Put("a", "four", "v").IsInvalidArgument());
  EXPECT_TRUE(writer.Delete("a", "four").IsInvalidArgument());
  EXPECT_TRUE(writer.DeleteRange("a", "b", "four").IsInvalidArgument());
  ASSERT_TRUE(writer.Put("a", Time(5), "5").ok());
  ASSERT_TRUE(writer.Put("a", Time(4), "4").ok());
  EXPECT_TRUE(writer.Put("a", Time(6), "6").IsInvalidArgument());
  EXPECT_TRUE(writer.Put("a", Time(4), "4").IsInvalidArgument());
  ASSERT_TRUE(writer.Delete("b", Time(7)).ok());
  ASSERT_TRUE(writer.DeleteRange("c", "e", Time(8)).ok());
  EXPECT_TRUE(writer.DeleteRange("e", "c", Time(9)).IsInvalidArgument());
  ASSERT_TRUE(writer.DeleteRange("f", "f", Time(9)).ok());  // not counted
  rocksdb::ExternalSstFileInfo info;
  ASSERT_TRUE(writer.Finish(&info).ok());
  EXPECT_EQ(info.smallest_key, "a" + Time(5));
  EXPECT_EQ(info.largest_key, "b" + Time(7));
  EXPECT_EQ(info.smallest_range_del_key, "c" + Time(8));
  EXPECT_EQ(info.largest_range_del_key, "e" + Time(8));
  EXPECT_EQ(info.num_entries, 3u);
  EXPECT_EQ(info.num_range_del_entries, 1u);
}

TEST_F(TimedTablesTest, ReaderReadsAtATime) {
  WriteFile("/f.sst", {{"a", 5, "5"}, {"a", 3, "3"}, {"b", 7, ""}, {"b", 2, "2"}});
  rocksdb::SstFileReader reader(options_);
  ASSERT_TRUE(reader.Open("/f.sst").ok());
  std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(ReadOptions()));
  EXPECT_TRUE(it->status().IsInvalidArgument());
  const At early(4), all(0, 9);
  it.reset(reader.NewIterator(early.read));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString() + it->value().ToString(), "a3");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString() + it->value().ToString(), "b2");
  it->Next();
  EXPECT_FALSE(it->Valid());
  it.reset(reader.NewIterator(all.read));
  int versions = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++versions;
  EXPECT_EQ(versions, 4);
}

TEST_F(TimedTablesTest, IngestedVersionsStandAmongTheOthers) {
  ASSERT_TRUE(db_->Put(WriteOptions(), "a", Time(10), "10").ok());
  ASSERT_TRUE(Ingest({WriteFile("/1", {{"a", 20, "20"}, {"a", 15, "15"}, {"b", 15, "15"}})}).ok());
  EXPECT_EQ(SeenAt(12), "a@10=10");
  EXPECT_EQ(SeenAt(17), "a@15=15,b@15=15");
  EXPECT_EQ(SeenAt(30), "a@20=20,b@15=15");
  ASSERT_TRUE(db_->Put(WriteOptions(), "b", Time(25), "25").ok());
  ASSERT_TRUE(Ingest({WriteFile("/2", {{"c", 26, "26"}}, {{"a", "b", 28}})}).ok());
  EXPECT_EQ(SeenAt(27), "a@20=20,b@25=25,c@26=26");
  EXPECT_EQ(SeenAt(28), "b@25=25,c@26=26");
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(SeenAt(12), "a@10=10");
  EXPECT_EQ(SeenAt(27), "a@20=20,b@25=25,c@26=26");
  EXPECT_EQ(SeenAt(28), "b@25=25,c@26=26");
  OpenDb();
  EXPECT_EQ(SeenAt(27), "a@20=20,b@25=25,c@26=26");
}

TEST_F(TimedTablesTest, FilesOfOneCallMayShareKeys) {
  ASSERT_TRUE(Ingest({WriteFile("/1", {{"a", 5, "5"}, {"b", 5, "5"}}),
                      WriteFile("/2", {{"b", 7, "7"}, {"c", 2, "2"}})})
                  .ok());
  EXPECT_EQ(SeenAt(6), "a@5=5,b@5=5,c@2=2");
  EXPECT_EQ(SeenAt(7), "a@5=5,b@7=7,c@2=2");
}

// All versions of a key stay in one table, however small tables are.
TEST_F(TimedTablesTest, KeysWithManyVersionsAreNotCut) {
  options_.target_file_size_base = 8 << 10;
  OpenDb();
  std::vector<Entry> entries;
  for (int k = 0; k < 20; ++k) {
    for (uint64_t t = 300; t > 0; --t) entries.push_back({Key(k), t, std::string(100, 'v')});
  }
  ASSERT_TRUE(Ingest({WriteFile("/1", entries, {{Key(3), Key(17), 400}})}).ok());
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  EXPECT_GT(files.size(), 1u);
  std::string value;
  const At at(150);
  for (int k = 0; k < 20; ++k) {
    std::string timestamp;
    ASSERT_TRUE(db_->Get(at.read, db_->DefaultColumnFamily(), Key(k), &value, &timestamp).ok());
    EXPECT_EQ(timestamp, Time(150));
  }
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  for (int k = 0; k < 20; ++k) {
    ASSERT_TRUE(db_->Get(at.read, Key(k), &value).ok());
  }
}

TEST_F(TimedTablesTest, ExportedFamiliesKeepTheirTimes) {
  ASSERT_TRUE(db_->Put(WriteOptions(), "a", Time(10), "10").ok());
  ASSERT_TRUE(db_->Put(WriteOptions(), "b", Time(10), "10").ok());
  ASSERT_TRUE(
      db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "b", "z", Time(20)).ok());
  ASSERT_TRUE(db_->Put(WriteOptions(), "a", Time(30), "30").ok());
  rocksdb::Checkpoint* checkpoint = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &checkpoint).ok());
  rocksdb::ExportImportFilesMetaData* metadata = nullptr;
  Status s = checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), "/export", &metadata);
  delete checkpoint;
  ASSERT_TRUE(s.ok()) << s.ToString();
  rocksdb::ColumnFamilyHandle* copy = nullptr;
  s = db_->CreateColumnFamilyWithImport(options_, "copy", {}, *metadata, &copy);
  delete metadata;
  ASSERT_TRUE(s.ok()) << s.ToString();
  const auto get = [&](const char* key, uint64_t time) {
    const At at(time);
    std::string value;
    return db_->Get(at.read, copy, key, &value).ok() ? value : "none";
  };
  EXPECT_EQ(get("a", 25), "10");
  EXPECT_EQ(get("a", 30), "30");
  EXPECT_EQ(get("b", 19), "10");
  EXPECT_EQ(get("b", 20), "none");
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(copy).ok());
}

}  // namespace
}  // namespace compassdb
