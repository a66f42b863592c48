// SPDX-License-Identifier: Apache-2.0
// RocksDB's own files for ingestion: test/rocksdb_files/write_tables.cc made them, of several versions. What RocksDB has
// after it has ingested one, a database here has too, and damage is never ingested as something else.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "db/jobs/external_table.h"
#include "db/testing/db_test_util.h"
#include "env/sim/memory_file_system.h"
#include "format/user_timestamp.h"
#include "rocksdb/convenience.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"

namespace compassdb {
namespace {

std::filesystem::path TestData() {
  return std::filesystem::path(__FILE__).parent_path().parent_path() / "rocksdb_files/testdata";
}

// Those of another version, if a directory is given.
std::filesystem::path Tables() {
  const char* const given = std::getenv("COMPASSDB_FOREIGN_TABLES");
  return given != nullptr ? std::filesystem::path(given) : TestData() / "external";
}

std::string Contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

struct ForeignFile {
  std::string name, bytes, scan;
  const Comparator* comparator = nullptr;
};

std::vector<ForeignFile> AllFiles() {
  std::vector<ForeignFile> all;
  for (const auto& entry : std::filesystem::directory_iterator(Tables())) {
    if (entry.path().extension() != ".sst") continue;
    ForeignFile file;
    file.name = entry.path().stem();
    file.bytes = Contents(entry.path());
    std::filesystem::path scan = entry.path();
    file.scan = Contents(scan.replace_extension(".scan"));
    const std::string name = file.scan.substr(2, file.scan.find('\n') - 2);
    EXPECT_TRUE(Comparator::CreateFromString(rocksdb::ConfigOptions(), name, &file.comparator).ok()) << name;
    all.push_back(std::move(file));
  }
  EXPECT_GE(all.size(), 5u);
  return all;
}

std::string Hex(const Slice& bytes) { return bytes.empty() ? "-" : bytes.ToString(true); }

class ForeignTablesTest : public DbTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "stringappend", &options_.merge_operator).ok());
  }
  void Write(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(WriteFileAtomically(fs_.get(), path, bytes).ok());
  }
  void Reopen(const Comparator* comparator) {
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    options_.comparator = comparator;
    OpenDb();
  }
  bool Timed() const { return options_.comparator->timestamp_size() != 0; }
  static std::string Name(int i) {
    char text[16];
    std::snprintf(text, sizeof(text), "key%04d", i);
    return text;
  }
  // As write_tables does.
  void Fill() {
    constexpr int kKeys = 120;
    for (int i = 0; i < kKeys; i += 3) {
      const std::string value = "old " + std::to_string(i) + std::string(static_cast<size_t>(i % 50), 'x');
      const std::string time = "\2" + std::string(7, '\0');
      ASSERT_TRUE((Timed() ? db_->Put({}, Name(kKeys + i), time, value) : db_->Put({}, Name(i), value)).ok());
    }
  }
  std::string Scan() {
    std::string text = std::string("C ") + options_.comparator->Name() + "\n";
    rocksdb::ReadOptions read;
    const std::string latest(8, '\xff');
    const Slice time(latest);
    if (Timed()) read.timestamp = &time;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
    for (it->SeekToFirst(); it->Valid(); it->Next()) text += "S " + Hex(it->key()) + " " + Hex(it->value()) + "\n";
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return text;
  }
  Status Open(const std::string& path, std::shared_ptr<const ExternalTable>* table) {
    return ExternalTable::Open({.fs = fs_.get(), .path = path, .comparator = options_.comparator}, table);
  }
  // All that an ingestion takes, or an error.
  Status Read(const std::string& path, std::string* text) {
    text->clear();
    std::shared_ptr<const ExternalTable> table;
    Status s = Open(path, &table);
    if (!s.ok()) return s;
    const InternalIteratorPtr records = table->NewIterator();
    for (records->SeekToFirst(); records->Valid(); records->Next()) {
      // Without the sequence, which RocksDB's ingestions write after the checksum: here the ingestion's replaces it.
      *text += Hex(ExtractUserKey(records->key())) + " " + std::to_string(ExtractType(records->key())) + " " + Hex(records->value()) + "\n";
    }
    std::vector<RangeTombstone> tombstones;
    s = table->ReadRangeTombstones(&tombstones);
    for (const RangeTombstone& t : tombstones) *text += Hex(t.StoredStart()) + " to " + Hex(t.StoredEnd()) + "\n";
    *text += Hex(table->info().table.smallest) + " " + Hex(table->info().table.largest);
    return records->status().ok() ? s : records->status();
  }
};

TEST_F(ForeignTablesTest, WhatRocksDbHasAfterItsIngestion) {
  for (const ForeignFile& file : AllFiles()) {
    Reopen(file.comparator);
    Fill();
    Write("/f.sst", file.bytes);
    rocksdb::IngestExternalFileOptions how;
    how.verify_checksums_before_ingest = true;
    const Status s = db_->IngestExternalFile({"/f.sst"}, how);
    ASSERT_TRUE(s.ok()) << file.name << ": " << s.ToString();
    EXPECT_EQ(Scan(), file.scan) << file.name;
    EXPECT_TRUE(fs_->FileExists("/f.sst").ok());
    OpenDb();
    EXPECT_EQ(Scan(), file.scan) << file.name;
    ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
    EXPECT_EQ(Scan(), file.scan) << file.name;
    EXPECT_TRUE(db_->VerifyChecksum().ok());
  }
}

TEST_F(ForeignTablesTest, ASnapshotDoesNotSeeIt) {
  for (const ForeignFile& file : AllFiles()) {
    if (file.comparator->timestamp_size() != 0) continue;
    Reopen(file.comparator);
    Fill();
    const std::string before = Scan();
    const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
    Write("/f.sst", file.bytes);
    rocksdb::IngestExternalFileOptions how;
    how.move_files = true;
    ASSERT_TRUE(db_->IngestExternalFile({"/f.sst"}, how).ok()) << file.name;
    EXPECT_TRUE(fs_->FileExists("/f.sst").IsNotFound());
    EXPECT_EQ(Scan(), file.scan) << file.name;
    rocksdb::ReadOptions read;
    read.snapshot = snapshot;
    std::string old;
    EXPECT_TRUE(db_->Get(read, Name(3), &old).ok());
    EXPECT_EQ(old.substr(0, 5), "old 3") << file.name;
    db_->ReleaseSnapshot(snapshot);
  }
}

TEST_F(ForeignTablesTest, TwoFilesTheSecondIsNewer) {
  OpenDb();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/own.sst").ok());
  ASSERT_TRUE(writer.Put(Name(2), "own").ok());
  ASSERT_TRUE(writer.Finish().ok());
  Write("/theirs.sst", Contents(TestData() / "external/7.8.3_puts.sst"));
  ASSERT_TRUE(db_->IngestExternalFile({"/theirs.sst", "/own.sst"}, {}).ok());
  EXPECT_EQ(Get(Name(2)), "own");
  EXPECT_EQ(Get(Name(4)).substr(0, 10), "ingested 4");
  ASSERT_TRUE(db_->IngestExternalFile({"/own.sst", "/theirs.sst"}, {}).ok());
  EXPECT_EQ(Get(Name(2)).substr(0, 10), "ingested 2");
}

TEST_F(ForeignTablesTest, SstFileReaderReadsIt) {
  Write("/f.sst", Contents(TestData() / "external/11.8.1_puts.sst"));
  rocksdb::SstFileReader reader(options_);
  const Status s = reader.Open("/f.sst");
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(reader.VerifyChecksum().ok());
  const auto props = reader.GetTableProperties();
  EXPECT_EQ(props->num_entries, 60u);
  EXPECT_EQ(props->comparator_name, "leveldb.BytewiseComparator");
  EXPECT_EQ(props->column_family_id, uint64_t{0x7fffffff});
  EXPECT_GT(props->raw_value_size, 0u);
  EXPECT_EQ(props->user_collected_properties.count("rocksdb.external_sst_file.version"), 1u);
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator({}));
  int n = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++n) EXPECT_EQ(it->key().ToString(), Name(2 * n));
  EXPECT_EQ(n, 60);
  for (it->SeekToLast(); it->Valid(); it->Prev()) EXPECT_EQ(it->key().ToString(), Name(2 * --n));
  EXPECT_EQ(n, 0);
  it->Seek(Name(31));
  EXPECT_EQ(it->key().ToString(), Name(32));
  it->SeekForPrev(Name(31));
  EXPECT_EQ(it->key().ToString(), Name(30));
  it->SeekForPrev("a");
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  // A table of a database, with versions.
  Write("/g.sst", Contents(TestData() / "11.8.1_format7_versions.sst"));
  ASSERT_TRUE(reader.Open("/g.sst").ok());
  const std::unique_ptr<rocksdb::Iterator> versions(reader.NewIterator({}));
  n = 0;
  for (versions->SeekToFirst(); versions->Valid(); versions->Next()) ++n;
  EXPECT_GT(n, 20);
  EXPECT_LT(static_cast<uint64_t>(n), reader.GetTableProperties()->num_entries);
}

TEST_F(ForeignTablesTest, EveryTruncationIsRefused) {
  for (const ForeignFile& file : AllFiles()) {
    Reopen(file.comparator);
    std::string text;
    for (size_t size = 0; size < file.bytes.size(); size += size + 60 < file.bytes.size() ? 29 : 1) {
      Write("/f.sst", file.bytes.substr(0, size));
      ASSERT_FALSE(Read("/f.sst", &text).ok()) << file.name << " of " << size;
    }
    Write("/f.sst", file.bytes.substr(0, file.bytes.size() / 2));
    const std::string before = Scan();
    EXPECT_FALSE(db_->IngestExternalFile({"/f.sst"}, {}).ok());
    EXPECT_EQ(Scan(), before);
  }
}

TEST_F(ForeignTablesTest, NoFlippedBitChangesWhatIsRead) {
  for (const ForeignFile& file : AllFiles()) {
    options_.comparator = file.comparator;
    std::string expected, text, bytes = file.bytes;
    Write("/f.sst", bytes);
    ASSERT_TRUE(Read("/f.sst", &expected).ok()) << file.name;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const char bit = static_cast<char>(1 << (i * 3 + i / 8) % 8);
      bytes[i] = static_cast<char>(bytes[i] ^ bit);
      Write("/f.sst", bytes);
      const Status s = Read("/f.sst", &text);
      if (s.ok()) {
        ASSERT_EQ(text, expected) << file.name << " at " << i;
      } else {
        ASSERT_NE(s.ToString().find("/f.sst"), std::string::npos) << s.ToString();
      }
      bytes[i] = static_cast<char>(bytes[i] ^ bit);
    }
  }
}

TEST_F(ForeignTablesTest, RefusesByName) {
  OpenDb();
  const auto ingest = [&](const std::filesystem::path& path) {
    Write("/f.sst", Contents(path));
    return db_->IngestExternalFile({"/f.sst"}, {});
  };
  Status s = ingest(TestData() / "7.8.3_format5_zstd.sst");  // a table of a database
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("External file version not found"), std::string::npos) << s.ToString();
  s = ingest(TestData() / "external/7.8.3_reverse.sst");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("rocksdb.ReverseBytewiseComparator"), std::string::npos) << s.ToString();
  EXPECT_NE(s.ToString().find("/f.sst"), std::string::npos) << s.ToString();
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "other", &other).ok());
  Write("/f.sst", Contents(TestData() / "external/7.8.3_of_family.sst"));
  s = db_->IngestExternalFile(other, {"/f.sst"}, {});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("family id"), std::string::npos) << s.ToString();
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(other).ok());
  EXPECT_EQ(Scan(), "C leveldb.BytewiseComparator\n");
}

class ForeignImportTest : public ForeignTablesTest {
 protected:
  Status Import(const std::filesystem::path& path) {
    Write("/f.sst", Contents(path));
    rocksdb::ExportImportFilesMetaData metadata;
    metadata.db_comparator_name = options_.comparator->Name();
    rocksdb::LiveFileMetaData file;
    file.name = "f.sst";
    metadata.files.push_back(file);
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    Status s = db_->CreateColumnFamilyWithImport(options_, "imported", {}, metadata, &handle);
    if (!s.ok()) return s;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) found_[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok());
    EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    return s;
  }
  std::map<std::string, std::string> found_;
};

// Many versions of a key, with their sequences.
TEST_F(ForeignImportTest, ATableOfADatabase) {
  const std::filesystem::path path = TestData() / "11.8.1_format7_versions.sst";
  OpenDb();
  const Status s = Import(path);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::shared_ptr<const ExternalTable> table;
  ASSERT_TRUE(ExternalTable::Open({.fs = fs_.get(), .path = "/f.sst", .comparator = options_.comparator, .import = true}, &table).ok());
  std::map<std::string, std::string> newest;
  std::string last;
  const InternalIteratorPtr records = table->NewIterator();
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    const std::string key = ExtractUserKey(records->key()).ToString();
    if (key != last && ExtractType(records->key()) == kTypeValue) newest[key] = records->value().ToString();
    last = key;
  }
  EXPECT_GT(newest.size(), 20u);
  EXPECT_EQ(found_, newest);
  EXPECT_GE(db_->GetLatestSequenceNumber(), table->info().table.largest_seq);
}

// As of two levels: each has records that are older than one of the other, and a Get would not know which it finds first.
TEST_F(ForeignImportTest, NotTablesWhoseSequencesInterleave) {
  OpenDb();
  rocksdb::ExportImportFilesMetaData metadata;
  metadata.db_comparator_name = options_.comparator->Name();
  for (const std::string name : {"f.sst", "g.sst"}) {
    Write("/" + name, Contents(TestData() / "11.8.1_format7_versions.sst"));
    metadata.files.emplace_back().name = name;
  }
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  const Status s = db_->CreateColumnFamilyWithImport(options_, "imported", {}, metadata, &handle);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find("compact the family"), std::string::npos) << s.ToString();
  EXPECT_EQ(handle, nullptr);
}

TEST_F(ForeignImportTest, NotWithValuesInBlobFiles) {
  OpenDb();
  const Status s = Import(TestData() / "databases/7.8.3_blobs_zstd/000016.sst");
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find("blob files"), std::string::npos) << s.ToString();
}

}  // namespace
}  // namespace compassdb
