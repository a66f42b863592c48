// SPDX-License-Identifier: Apache-2.0
// Whole databases of RocksDB that are checked in (test/rocksdb_files/make_testdata.py made them): what their own library reads
// of them is read, and damage is never read as something else.
#include "rocksdb_files/source_database.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "env/sim/memory_file_system.h"

namespace compassdb::rocksdb_files {
namespace {

std::filesystem::path Databases() { return std::filesystem::path(__FILE__).parent_path() / "testdata/databases"; }

std::string Contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void Put(FileSystem* fs, const std::string& path, const std::string& bytes) {
  std::unique_ptr<WritableFile> file;
  ASSERT_TRUE(fs->NewWritableFile(path, {}, &file).ok());
  ASSERT_TRUE(file->Append(bytes).ok());
  ASSERT_TRUE(file->Close().ok());
}

struct TestDatabase {
  std::string name, scan;
  std::map<std::string, std::string> files;
};

std::vector<TestDatabase> AllDatabases() {
  std::vector<TestDatabase> all;
  for (const auto& entry : std::filesystem::directory_iterator(Databases())) {
    if (!entry.is_directory()) continue;
    TestDatabase one;
    one.name = entry.path().filename();
    one.scan = Contents(entry.path().string() + ".scan");
    for (const auto& file : std::filesystem::directory_iterator(entry.path())) {
      one.files[file.path().filename()] = Contents(file.path());
    }
    all.push_back(one);
  }
  return all;
}

std::string HexText(const Slice& bytes) { return bytes.empty() ? "-" : bytes.ToString(true); }

// As write_databases writes it. *torn: the reader says that an end is missing.
Status ReadDatabase(FileSystem* fs, std::string* scan, bool* torn) {
  scan->clear();
  SourceOptions options;
  options.fs = fs;
  options.dir = "/db";
  options.comparator = [](const std::string& name) {
    return name == rocksdb::BytewiseComparator()->Name() ? rocksdb::BytewiseComparator() : nullptr;
  };
  std::unique_ptr<SourceDatabase> database;
  Status s = SourceDatabase::Open(options, &database);
  if (!s.ok()) return s;
  *torn = database->log_torn() || database->manifest_torn();
  for (const auto& [id, family] : database->manifest().families) {
    std::unique_ptr<SourceCursor> cursor;
    s = database->NewCursor(id, &cursor);
    if (!s.ok()) return s;
    *scan += "F " + HexText(family.name) + " " + HexText(family.comparator) + "\n";
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      *scan += "S " + HexText(cursor->key()) + " " + (cursor->value() == nullptr ? "?" : HexText(*cursor->value())) + "\n";
    }
    if (!cursor->status().ok()) return cursor->status();
    EXPECT_EQ(cursor->BytesRead(), cursor->BytesInAll());
  }
  return Status::OK();
}

void Load(FileSystem* fs, const TestDatabase& database) {
  ASSERT_TRUE(fs->CreateDir("/db").ok());
  for (const auto& [name, bytes] : database.files) Put(fs, "/db/" + name, bytes);
}

TEST(SourceDatabaseTest, ReadsWhatItsOwnLibraryReads) {
  ASSERT_GE(AllDatabases().size(), 7u);
  for (const TestDatabase& database : AllDatabases()) {
    MemoryFileSystem fs;
    Load(&fs, database);
    std::string scan;
    bool torn = true;
    const Status s = ReadDatabase(&fs, &scan, &torn);
    ASSERT_TRUE(s.ok()) << database.name << ": " << s.ToString();
    EXPECT_EQ(scan, database.scan) << database.name;
    EXPECT_FALSE(torn) << database.name;
  }
}

TEST(SourceDatabaseTest, NoFlippedBitChangesWhatIsRead) {
  for (const TestDatabase& database : AllDatabases()) {
    MemoryFileSystem fs;
    Load(&fs, database);
    for (const auto& [name, bytes] : database.files) {
      const size_t step = name.ends_with(".sst") ? 11 : 1;  // table_file_test.cc has more of these
      for (size_t i = 0; i < bytes.size(); i += step) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i * 5 + i / 8) % 8));
        Put(&fs, "/db/" + name, damaged);
        std::string scan;
        bool torn = false;
        if (ReadDatabase(&fs, &scan, &torn).ok() && !torn) {
          ASSERT_EQ(scan, database.scan) << database.name << " " << name << " at " << i;
        }
      }
      Put(&fs, "/db/" + name, bytes);
    }
  }
}

// A log that ends between two records is the log of a database that was written less.
TEST(SourceDatabaseTest, TruncationIsAnErrorOrIsReported) {
  for (const TestDatabase& database : AllDatabases()) {
    MemoryFileSystem fs;
    Load(&fs, database);
    for (const auto& [name, bytes] : database.files) {
      const bool framed = name.ends_with(".log") || name.starts_with("MANIFEST");
      size_t clean_ends = 0;
      for (size_t size = 0; size < bytes.size(); size += framed ? 1 : 17) {
        Put(&fs, "/db/" + name, bytes.substr(0, size));
        std::string scan;
        bool torn = false;
        if (!ReadDatabase(&fs, &scan, &torn).ok() || torn) continue;
        ++clean_ends;
        ASSERT_TRUE(framed || scan == database.scan) << database.name << " " << name << " of " << size;
      }
      // A blob file may have values that nothing refers to any more.
      if (!name.ends_with(".blob")) {
        EXPECT_LE(clean_ends, framed ? 30u : 1u) << database.name << " " << name;
      }
      Put(&fs, "/db/" + name, bytes);
    }
  }
}

TEST(SourceDatabaseTest, AMissingFileIsAnError) {
  for (const TestDatabase& database : AllDatabases()) {
    for (const auto& [missing, bytes] : database.files) {
      if (missing.ends_with(".log")) continue;
      MemoryFileSystem fs;
      Load(&fs, database);
      ASSERT_TRUE(fs.DeleteFile("/db/" + missing).ok());
      std::string scan;
      bool torn = false;
      const Status s = ReadDatabase(&fs, &scan, &torn);
      EXPECT_TRUE(!s.ok() || scan == database.scan) << database.name << " " << missing;
    }
  }
}

}  // namespace
}  // namespace compassdb::rocksdb_files
