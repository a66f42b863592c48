// SPDX-License-Identifier: Apache-2.0
// Errors say the truth about a directory or file, and their advice works.
#include "compassdb/encryption.h"
#include "compassdb/repair.h"
#include "db/testing/db_test_util.h"
#include "format/foreign_file.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace compassdb {
namespace {

class TruthfulMessagesTest : public DbTest {
 protected:
  void Write(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(fs_->CreateDir("/db").ok());
    ASSERT_TRUE(WriteFileAtomically(fs_.get(), "/db/" + name, bytes).ok());
  }
  void Fill() {
    OpenDb();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put("k" + std::to_string(i), "v").ok());
    Flush();
    ASSERT_TRUE(Put("in the log", "v").ok());
    CloseDb();
  }
  void Delete(std::initializer_list<FileType> types) {
    for (const FileType type : types) {
      for (const std::string& name : FilesOf(type)) ASSERT_TRUE(fs_->DeleteFile("/db/" + name).ok());
    }
  }
  // The result of every entry, by its name.
  std::map<std::string, Status> Entries(rocksdb::Env* env) {
    std::map<std::string, Status> all;
    rocksdb::Options options = options_;
    options.env = env;
    rocksdb::DB* db = nullptr;
    const auto opened = [&](const char* name, Status s) {
      all[name] = s;
      delete db;
      db = nullptr;
    };
    opened("Open", rocksdb::DB::Open(options, name_, &db));
    options.create_if_missing = false;
    opened("Open of one that exists", rocksdb::DB::Open(options, name_, &db));
    opened("OpenForReadOnly", rocksdb::DB::OpenForReadOnly(options, name_, &db));
    opened("OpenAsSecondary", rocksdb::DB::OpenAsSecondary(options, name_, "/secondary", &db));
    std::vector<std::string> names;
    all["ListColumnFamilies"] = rocksdb::DB::ListColumnFamilies(options, name_, &names);
    all["RepairDB"] = rocksdb::RepairDB(name_, options);
    return all;
  }
  std::vector<std::string> Children() {
    std::vector<std::string> names;
    fs_->GetChildren("/db", &names).PermitUncheckedError();
    std::sort(names.begin(), names.end());
    return names;
  }

  // A log or manifest of LevelDB or RocksDB with one record of `type`.
  static std::string ForeignLog(const std::string& record, char type = 1) {
    std::string framed(1, type);
    framed += record;
    const uint32_t crc = Crc32c(framed.data(), framed.size());
    std::string log;
    PutFixed32(&log, (crc >> 15 | crc << 17) + 0xa282ead8u);
    log.push_back(static_cast<char>(record.size()));
    log.push_back(static_cast<char>(record.size() >> 8));
    return log + framed;
  }
  static std::string ForeignTable(uint64_t magic) {
    std::string table(100, 'x');
    PutFixed64(&table, magic);
    return table;
  }
};

const char kForeignManifest[] = "\1\032leveldb.BytewiseComparator\2\0\3\2\4\0";

TEST_F(TruthfulMessagesTest, EncryptedWithoutAKey) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'k'), &provider).ok());
  const std::unique_ptr<rocksdb::Env> sealed(rocksdb::NewEncryptedEnv(env_.get(), provider));
  options_.env = sealed.get();
  Fill();
  const std::vector<std::string> before = Children();
  for (const bool current : {true, false}) {
    if (!current) Delete({FileType::kCurrent});
    std::map<std::string, Status> all = Entries(env_.get());
    rocksdb::Options plain = options_;
    plain.env = env_.get();
    if (current) all["DestroyDB"] = rocksdb::DestroyDB(name_, plain);
    rocksdb::DBOptions db_options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    all["LoadLatestOptions"] = rocksdb::LoadLatestOptions(name_, env_.get(), &db_options, &families);
    all["SstFileReader"] = rocksdb::SstFileReader(plain).Open("/db/" + FilesOf(FileType::kPieceFile).at(0));
    for (const auto& [entry, s] : all) {
      EXPECT_TRUE(s.IsInvalidArgument()) << entry << ": " << s.ToString();
      EXPECT_NE(s.ToString().find("is encrypted, and no key was given"), std::string::npos) << entry << ": " << s.ToString();
      EXPECT_NE(s.ToString().find("NewSealingProvider"), std::string::npos) << entry;
    }
    // The advice, and a wrong key.
    std::shared_ptr<rocksdb::EncryptionProvider> other;
    ASSERT_TRUE(NewSealingProvider(std::string(32, 'o'), &other).ok());
    const std::unique_ptr<rocksdb::Env> wrong(rocksdb::NewEncryptedEnv(env_.get(), other));
    for (const auto& [entry, s] : Entries(wrong.get())) {
      EXPECT_NE(s.ToString().find("key that was not added"), std::string::npos) << entry << ": " << s.ToString();
    }
    for (const std::string& name : before) {
      if (name != "CURRENT") {
        EXPECT_TRUE(fs_->FileExists("/db/" + name).ok()) << name;
      }
    }
  }
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
  OpenDb();
  EXPECT_EQ(Get("k7"), "v");
  EXPECT_EQ(Get("in the log"), "v");
  CloseDb();
}

TEST_F(TruthfulMessagesTest, PlainWithAKey) {
  Fill();
  const std::string current = FilesOf(FileType::kCurrent).at(0);
  std::string contents;
  ASSERT_TRUE(ReadFileToString(fs_.get(), "/db/" + current, &contents).ok());
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(NewSealingProvider(std::string(32, 'k'), &provider).ok());
  const std::unique_ptr<rocksdb::Env> sealed(rocksdb::NewEncryptedEnv(env_.get(), provider));
  std::map<std::string, Status> all = Entries(sealed.get());
  rocksdb::Options options = options_;
  options.env = sealed.get();
  all["DestroyDB"] = rocksdb::DestroyDB(name_, options);
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  all["LoadLatestOptions"] = rocksdb::LoadLatestOptions(name_, sealed.get(), &db_options, &families);
  all["SstFileReader"] = rocksdb::SstFileReader(options).Open("/db/" + FilesOf(FileType::kPieceFile).at(0));
  for (const auto& [entry, s] : all) {
    EXPECT_NE(s.ToString().find("is not encrypted, and was opened with a key"), std::string::npos) << entry << ": " << s.ToString();
  }
  Delete({FileType::kCurrent});
  for (const auto& [entry, s] : Entries(sealed.get())) {
    EXPECT_NE(s.ToString().find("is not encrypted, and was opened with a key"), std::string::npos) << entry << ": " << s.ToString();
  }
  Write(current, contents);
  OpenDb();
  EXPECT_EQ(Get("k7"), "v");
  EXPECT_EQ(Get("in the log"), "v");
}

TEST_F(TruthfulMessagesTest, UnderACipherThatLeavesNoMagicNumber) {
  const std::unique_ptr<rocksdb::Env> cipher(rocksdb::NewEncryptedEnv(
      env_.get(), rocksdb::EncryptionProvider::NewCTRProvider(rocksdb::BlockCipher::NewROT13Cipher(16))));
  options_.env = cipher.get();
  Fill();
  const std::vector<std::string> before = Children();
  for (const bool current : {true, false}) {
    std::string contents;
    ASSERT_TRUE(ReadFileToString(fs_.get(), "/db/CURRENT", &contents).ok());
    if (!current) Delete({FileType::kCurrent});
    for (const auto& [entry, s] : Entries(env_.get())) {
      EXPECT_FALSE(s.ok()) << entry;
      EXPECT_NE(s.ToString().find("encrypted by an EncryptionProvider"), std::string::npos) << entry << ": " << s.ToString();
    }
    if (!current) Write("CURRENT", contents);
    for (const std::string& name : before) EXPECT_TRUE(fs_->FileExists("/db/" + name).ok()) << name;
  }
  OpenDb();
  EXPECT_EQ(Get("in the log"), "v");
  CloseDb();
}

TEST_F(TruthfulMessagesTest, TablesOfOthers) {
  OpenDb();
  const std::map<uint64_t, std::string> kinds{{0x8242229663bf9564, "plain table file of RocksDB"},
                                              {0x4f3418eb7a8f13b8, "plain table file of RocksDB"},
                                              {0x926789d0c5f17873, "cuckoo table file of RocksDB"},
                                              {0xb3aa9ff0b3aa9ff0, "table file of Pebble"}};
  for (const auto& [magic, kind] : kinds) {
    ASSERT_TRUE(WriteFileAtomically(fs_.get(), "/t.sst", ForeignTable(magic)).ok());
    rocksdb::ExportImportFilesMetaData metadata;
    metadata.db_comparator_name = options_.comparator->Name();
    rocksdb::LiveFileMetaData file;
    file.db_path = "";
    file.name = "t.sst";
    metadata.files.push_back(file);
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    for (const Status& s :
         {db_->IngestExternalFile({"/t.sst"}, {}), rocksdb::SstFileReader(options_).Open("/t.sst"),
          db_->CreateColumnFamilyWithImport(options_, "imported", {}, metadata, &handle)}) {
      EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
      EXPECT_NE(s.ToString().find(kind), std::string::npos) << s.ToString();
    }
  }
  // These are ingested (foreign_tables_test.cc), unless they are damaged.
  for (const uint64_t magic : {0x88e241b785f4cff7, 0xdb4775248b80fb57}) {
    ASSERT_TRUE(WriteFileAtomically(fs_.get(), "/t.sst", ForeignTable(magic)).ok());
    for (const Status& s : {db_->IngestExternalFile({"/t.sst"}, {}), rocksdb::SstFileReader(options_).Open("/t.sst")}) {
      EXPECT_FALSE(s.ok());
      EXPECT_NE(s.ToString().find("/t.sst"), std::string::npos) << s.ToString();
    }
  }
  ASSERT_TRUE(WriteFileAtomically(fs_.get(), "/t.sst", ForeignTable(1)).ok());
  EXPECT_TRUE(db_->IngestExternalFile({"/t.sst"}, {}).IsCorruption());
}

TEST_F(TruthfulMessagesTest, CurrentNamesAManifestThatIsMissing) {
  Write("CURRENT", "MANIFEST-000005\n");
  const std::vector<std::string> before = Children();
  for (const auto& [entry, s] : Entries(env_.get())) {
    EXPECT_TRUE(s.IsInvalidArgument()) << entry << ": " << s.ToString();
    EXPECT_NE(s.ToString().find("MANIFEST-000005, which is missing"), std::string::npos) << entry << ": " << s.ToString();
    EXPECT_EQ(s.ToString().find("RepairDB can"), std::string::npos) << entry;
  }
  EXPECT_EQ(Children(), before);
  // Ours that was cut off.
  ASSERT_TRUE(fs_->DeleteFile("/db/CURRENT").ok());
  Fill();
  Write("CURRENT", FilesOf(FileType::kManifest).at(0) + "\n");
  Delete({FileType::kManifestMirror});
  EXPECT_TRUE(TryOpen().IsCorruption());
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
  OpenDb();
  EXPECT_EQ(Get("k7"), "v");
}

TEST_F(TruthfulMessagesTest, YoungDirectoriesOfOthers) {
  const std::string manifest = ForeignLog(std::string(kForeignManifest, sizeof(kForeignManifest) - 1));
  const std::string log = ForeignLog(std::string("\1\0\0\0\0\0\0\0\1\0\0\0\1\1k\1v", 17));
  struct Young {
    std::map<std::string, std::string> files;
    std::string says;
  };
  const std::vector<Young> all{
      {{{"CURRENT", "MANIFEST-000002\n"}, {"MANIFEST-000002", manifest}, {"000003.log", log}}, "RocksDB or LevelDB database"},
      {{{"MANIFEST-000002", manifest}}, "RocksDB's or LevelDB's /db/MANIFEST-000002 exists"},
      {{{"000003.log", log}, {"LOCK", ""}}, "RocksDB's or LevelDB's /db/000003.log exists"},
      // Its compression comes first.
      {{{"000003.log", ForeignLog(std::string("\7\0\0\0", 4), 9) + log}}, "RocksDB's or LevelDB's /db/000003.log exists"},
      {{{"marker.manifest.000001.MANIFEST-000001", ""}, {"MANIFEST-000001", manifest}, {"000002.log", log}}, "Pebble's"},
  };
  for (const Young& young : all) {
    for (const auto& [name, bytes] : young.files) Write(name, bytes);
    const std::vector<std::string> before = Children();
    for (const auto& [entry, s] : Entries(env_.get())) {
      EXPECT_TRUE(s.IsInvalidArgument()) << entry << ": " << s.ToString();
      EXPECT_NE(s.ToString().find(young.says), std::string::npos) << entry << ": " << s.ToString();
      EXPECT_EQ(s.ToString().find("RepairDB can"), std::string::npos) << entry;
    }
    EXPECT_EQ(Children(), before);
    for (const std::string& name : before) ASSERT_TRUE(fs_->DeleteFile("/db/" + name).ok());
  }
  // A similar name does not matter.
  Write("MANIFEST-000009", "hello");
  EXPECT_TRUE(TryOpen().ok());
}

// Each state without CURRENT: where RepairDB is advised it works, and where it is not it fails and changes nothing.
TEST_F(TruthfulMessagesTest, AdviceToRepairCanBeFollowed) {
  using T = FileType;
  for (const auto& gone : std::vector<std::vector<T>>{{T::kCurrent},
                                                      {T::kCurrent, T::kManifest},
                                                      {T::kCurrent, T::kManifestMirror},
                                                      {T::kCurrent, T::kManifest, T::kManifestMirror},
                                                      {T::kCurrent, T::kManifest, T::kManifestMirror, T::kPieceFile}}) {
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    Fill();
    for (const T type : gone) Delete({type});
    Status s = TryOpen();
    ASSERT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find("RepairDB can "), std::string::npos) << s.ToString();
    s = rocksdb::RepairDB(name_, options_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    OpenDb();
    EXPECT_EQ(Get("in the log"), "v");
    const bool tables = gone.back() != T::kPieceFile;  // else it may have been deleted
    EXPECT_EQ(Get("k7"), tables ? "v" : "NOT_FOUND");
    CloseDb();
  }
  // Logs alone, if they have everything.
  ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  OpenDb();
  ASSERT_TRUE(Put("in the log", "v").ok());
  CloseDb();
  for (const T type : {T::kCurrent, T::kManifest, T::kManifestMirror}) Delete({type});
  Status s = TryOpen();
  EXPECT_NE(s.ToString().find("RepairDB can bring the default column family back"), std::string::npos) << s.ToString();
  s = rocksdb::RepairDB(name_, options_);
  ASSERT_TRUE(s.ok()) << s.ToString();
  OpenDb();
  EXPECT_EQ(Get("in the log"), "v");
}

class CacheOnlyTest : public TruthfulMessagesTest {
 protected:
  static std::string Key(int i) { return "key" + std::to_string(10000 + i); }
  void CheckAllInMemory(const std::string& value) {
    rocksdb::ReadOptions memory;
    memory.read_tier = rocksdb::kBlockCacheTier;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(memory));
    int n = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++n;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(n, 500);
    std::vector<std::string> keys;
    for (int i = 0; i < 1000; ++i) keys.push_back(Key(i));
    std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<rocksdb::PinnableSlice> values(slices.size());
    std::vector<Status> statuses(slices.size());
    db_->MultiGet(memory, db_->DefaultColumnFamily(), slices.size(), slices.data(), values.data(), statuses.data());
    for (int i = 0; i < 1000; ++i) {
      std::string got;
      bool found = false;
      const Status s = db_->Get(memory, Key(i), &got);
      const bool may = db_->KeyMayExist(memory, Key(i), &got, &found);
      EXPECT_EQ(may, i % 2 == 0) << i;
      if (i % 2 == 0) {
        EXPECT_TRUE(s.ok() && got == value && found) << s.ToString();
        EXPECT_TRUE(statuses[i].ok() && values[i] == value) << statuses[i].ToString();
      } else {
        EXPECT_TRUE(s.IsNotFound()) << s.ToString();
        EXPECT_TRUE(statuses[i].IsNotFound()) << statuses[i].ToString();
      }
    }
  }
};

// Even keys exist; the test reads odd ones, too. A scan has brought all blocks into memory, and nothing else.
TEST_F(CacheOnlyTest, AScanIsEnough) {
  for (const bool filter : {false, true}) {
    for (const bool paged : {false, true}) {
      for (const bool compacted : {false, true}) {
        rocksdb::BlockBasedTableOptions table;
        if (filter) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
        table.cache_index_and_filter_blocks = paged;
        table.block_cache = rocksdb::NewLRUCache(8 << 20);
        options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
        options_.disable_auto_compactions = true;
        ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
        OpenDb();
        const std::string value(100, 'v');
        for (int round = 0; round < 3; ++round) {
          for (int i = 0; i < 1000; i += 2) ASSERT_TRUE(Put(Key(i), round < 2 && i % 3 == 0 ? "old" : value).ok());
          Flush();
        }
        if (compacted) Compact();
        OpenDb();
        Scan();
        CheckAllInMemory(value);
        CloseDb();
      }
    }
  }
}

}  // namespace
}  // namespace compassdb
