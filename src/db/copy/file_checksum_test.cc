// SPDX-License-Identifier: Apache-2.0
// Checksums of whole files (DBOptions::file_checksum_gen_factory).
#include <map>

#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/listener.h"
#include "rocksdb/metadata.h"
#include "util/mutex.h"

namespace compassdb {
namespace {

// Sums of bytes, under another name.
class Sum final : public rocksdb::FileChecksumGenerator {
 public:
  void Update(const char* data, size_t n) override {
    for (size_t i = 0; i < n; ++i) sum_ += static_cast<unsigned char>(data[i]);
  }
  void Finalize() override {}
  std::string GetChecksum() const override { return std::to_string(sum_); }
  const char* Name() const override { return "Sum"; }

 private:
  uint64_t sum_ = 0;
};

class SumFactory final : public rocksdb::FileChecksumGenFactory {
 public:
  const char* Name() const override { return "SumFactory"; }
  std::unique_ptr<rocksdb::FileChecksumGenerator> CreateFileChecksumGenerator(
      const rocksdb::FileChecksumGenContext& context) override {
    const std::string& wanted = context.requested_checksum_func_name;
    if (!wanted.empty() && wanted != "Sum") return nullptr;
    return std::make_unique<Sum>();
  }
};

// Called by several jobs at once.
class Files final : public rocksdb::EventListener {
 public:
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    MutexLock lock(&mu);
    if (info.status.ok()) created[info.file_path] = info.file_checksum_func_name + info.file_checksum;
  }
  void OnBlobFileCreationStarted(const rocksdb::BlobFileCreationBriefInfo& info) override {
    MutexLock lock(&mu);
    started[info.file_path] = info.job_id;
  }
  void OnBlobFileCreated(const rocksdb::BlobFileCreationInfo& info) override {
    MutexLock lock(&mu);
    created[info.file_path] = info.file_checksum_func_name + info.file_checksum;
    EXPECT_EQ(started[info.file_path], info.job_id) << info.file_path;
  }
  Mutex mu;
  std::map<std::string, std::string> created GUARDED_BY(mu);
  std::map<std::string, int> started GUARDED_BY(mu);
};

class FileChecksumTest : public DbTest {
 protected:
  FileChecksumTest() { options_.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory(); }

  void Write(int from, int count, char value, size_t bytes = 200) {
    for (int i = from; i < from + count; ++i) {
      ASSERT_TRUE(Put(Key(i), std::string(bytes, value)).ok());
    }
  }

  // By number: function and checksum.
  std::map<uint64_t, std::string> Listed() {
    std::unique_ptr<rocksdb::FileChecksumList> list(rocksdb::NewFileChecksumList());
    EXPECT_TRUE(db_->GetLiveFilesChecksumInfo(list.get()).ok());
    std::vector<uint64_t> numbers;
    std::vector<std::string> checksums, functions;
    EXPECT_TRUE(list->GetAllFileChecksums(&numbers, &checksums, &functions).ok());
    std::map<uint64_t, std::string> listed;
    for (size_t i = 0; i < numbers.size(); ++i) listed[numbers[i]] = functions[i] + checksums[i];
    return listed;
  }
  // What the file's bytes give.
  std::string Computed(uint64_t number) {
    const std::string data = ReadFile(PieceFileName(name_, number));
    const auto generator =
        options_.file_checksum_gen_factory->CreateFileChecksumGenerator({"", ""});
    generator->Update(data.data(), data.size());
    generator->Finalize();
    return generator->Name() + generator->GetChecksum();
  }
  // Until no job deletes files that a test reads by itself.
  void Settle() { ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok()); }
  void ExpectAllRight() {
    const Status s = db_->VerifyFileChecksums(rocksdb::ReadOptions());  // with concurrent work
    EXPECT_TRUE(s.ok()) << s.ToString();
    Settle();
    const auto listed = Listed();
    EXPECT_FALSE(listed.empty());
    for (const auto& [number, checksum] : listed) EXPECT_EQ(checksum, Computed(number)) << number;
  }
  void Damage(uint64_t number) {
    const std::string path = PieceFileName(name_, number);
    FlipBit(path, ReadFile(path).size() / 2);
  }
};

TEST_F(FileChecksumTest, AreThoseOfTheBytesAfterAnyDeath) {
  const auto files = std::make_shared<Files>();
  options_.listeners.push_back(files);
  OpenDb();
  for (int round = 0; round < 12; ++round) {
    Write(round * 150, 600, static_cast<char>('a' + round));
    Flush();
    ExpectAllRight();
  }
  ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  ExpectAllRight();
  EXPECT_EQ(fs_->Count(FaultOp::kPunch), 0u);
  std::vector<rocksdb::LiveFileMetaData> metadata;
  db_->GetLiveFilesMetaData(&metadata);
  ASSERT_FALSE(metadata.empty());
  for (const auto& file : metadata) {
    EXPECT_EQ(file.file_checksum_func_name + file.file_checksum, Computed(file.file_number));
  }
  std::vector<rocksdb::LiveFileStorageInfo> storage;
  rocksdb::LiveFilesStorageInfoOptions with;
  with.include_checksum_info = true;
  ASSERT_TRUE(db_->GetLiveFilesStorageInfo(with, &storage).ok());
  for (const auto& file : storage) {
    const bool table = file.file_type == rocksdb::kTableFile;
    EXPECT_EQ(file.file_checksum_func_name + file.file_checksum,
              table ? Computed(file.file_number) : "Unknown");
  }
  for (const auto& [number, checksum] : Listed()) {
    MutexLock lock(&files->mu);
    EXPECT_EQ(files->created[PieceFileName(name_, number)], checksum);
  }
  // They outlive the factory's absence, and so does the promise not to punch.
  const auto factory = options_.file_checksum_gen_factory;
  const auto before = Listed();
  options_.file_checksum_gen_factory = nullptr;
  OpenDb();
  EXPECT_EQ(Listed(), before);
  EXPECT_TRUE(db_->VerifyFileChecksums(rocksdb::ReadOptions()).IsInvalidArgument());
  Write(5000, 100, 'z');
  Flush();
  const auto after = Listed();
  ASSERT_GT(after.size(), before.size());
  EXPECT_EQ(after.rbegin()->second, "Unknown");
  options_.file_checksum_gen_factory = factory;
  OpenDb();
  EXPECT_EQ(Listed(), after);
  EXPECT_TRUE(db_->VerifyFileChecksums(rocksdb::ReadOptions()).ok());
}

TEST_F(FileChecksumTest, DamageIsFound) {
  OpenDb();
  Write(0, 300, 'a');
  Flush();
  const uint64_t number = Listed().begin()->first;
  CloseDb();
  Damage(number);
  OpenDb();
  const Status s = db_->VerifyFileChecksums(rocksdb::ReadOptions());
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find(PieceFileName(name_, number)), std::string::npos) << s.ToString();
}

TEST_F(FileChecksumTest, AnotherFunctionCannotVerify) {
  OpenDb();
  Write(0, 300, 'a');
  Flush();
  options_.file_checksum_gen_factory = std::make_shared<SumFactory>();
  OpenDb();
  EXPECT_TRUE(db_->VerifyFileChecksums(rocksdb::ReadOptions()).IsInvalidArgument());
  Write(1000, 300, 'b');
  Flush();
  const auto listed = Listed();
  EXPECT_EQ(listed.begin()->second.rfind("FileChecksumCrc32c", 0), 0u);
  EXPECT_EQ(listed.rbegin()->second, Computed(listed.rbegin()->first));
}

// Right or unknown, never wrong.
TEST_F(FileChecksumTest, AfterPowerCuts) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    OpenDb();
    Write(static_cast<int>(seed) * 100, 700, static_cast<char>('a' + seed));
    Crash(seed % 2 == 0 ? CutMode::kDropUnsynced : CutMode::kRandom, seed);
    OpenDb();
    ExpectAllRight();
    CloseDb();
  }
}

TEST_F(FileChecksumTest, SurviveARepairAndAreSeenBySecondaries) {
  OpenDb();
  for (int round = 0; round < 4; ++round) {
    Write(round * 100, 500, static_cast<char>('a' + round));
    Flush();
  }
  Settle();
  const auto before = Listed();
  {
    rocksdb::Options options = options_;
    options.max_open_files = -1;
    rocksdb::DB* opened = nullptr;
    Status s = rocksdb::DB::OpenAsSecondary(options, name_, "/secondary", &opened);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<rocksdb::DB> secondary(opened);
    std::vector<rocksdb::LiveFileMetaData> files;
    secondary->GetLiveFilesMetaData(&files);
    ASSERT_FALSE(files.empty());
    for (const auto& file : files) {
      EXPECT_EQ(file.file_checksum_func_name + file.file_checksum, before.at(file.file_number));
    }
    Write(1000, 500, 'x');
    Flush();
    Settle();
    ASSERT_TRUE(secondary->TryCatchUpWithPrimary().ok());
    const auto now = Listed();
    secondary->GetLiveFilesMetaData(&files);
    for (const auto& file : files) {
      EXPECT_EQ(file.file_checksum_func_name + file.file_checksum, now.at(file.file_number));
    }
    s = secondary->VerifyFileChecksums(rocksdb::ReadOptions());
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  const auto after = Listed();
  CloseDb();
  ASSERT_TRUE(rocksdb::RepairDB(name_, options_).ok());
  OpenDb();
  const auto repaired = Listed();
  for (const auto& [number, checksum] : after) EXPECT_EQ(repaired.at(number), checksum);
  ExpectAllRight();
}

TEST_F(FileChecksumTest, OfTheValueStore) {
  const auto files = std::make_shared<Files>();
  options_.listeners.push_back(files);
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  options_.enable_blob_garbage_collection = true;
  OpenDb();
  for (int round = 0; round < 20; ++round) {
    Write(round % 3 * 100, 300, static_cast<char>('a' + round), 4000);
    Flush();
  }
  const rocksdb::WaitForCompactOptions wait;
  ASSERT_TRUE(db_->WaitForCompact(wait).ok());
  ExpectAllRight();
  EXPECT_EQ(fs_->Count(FaultOp::kPunch), 0u);
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  ASSERT_FALSE(metadata.blob_files.empty());
  for (const auto& file : metadata.blob_files) {
    EXPECT_EQ(file.checksum_method + file.checksum_value, Computed(file.blob_file_number));
    MutexLock lock(&files->mu);
    EXPECT_EQ(files->started.count(file.blob_file_path + "/" + file.blob_file_name), 1u);
  }
  for (int i = 0; i < 500; ++i) EXPECT_EQ(Get(Key(i)).size(), 4000u) << i;
}

// Dead bytes are given back although no hole is punched.
TEST_F(FileChecksumTest, DeadSpaceIsBounded) {
  for (const bool values : {false, true}) {
    options_.enable_blob_files = options_.enable_blob_garbage_collection = values;
    options_.min_blob_size = 100;
    options_.write_buffer_size = 1 << 20;
    OpenDb();
    for (int round = 0; round < 30; ++round) {
      for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(Put(Key((i * 37 + round * 211) % 2500), std::string(2000, 'a')).ok());
      }
      Flush();
    }
    ASSERT_TRUE(db_->WaitForCompact(rocksdb::WaitForCompactOptions()).ok());
    uint64_t on_disk = 0;  // with all that is dead
    for (const auto& [number, checksum] : Listed()) {
      uint64_t size = 0;
      ASSERT_TRUE(fs_->GetFileSize(PieceFileName(name_, number), &size).ok());
      on_disk += size;
    }
    // 5 MB of data, the overhead of pieces and groups, and dead bytes in files. Else it would be
    // 9.3 MB of values, and 13.9 MB of tables, whose garbage depends on when compactions run.
    EXPECT_LT(on_disk, uint64_t{2500} * 2000 * (values ? 17 : 22) / 10) << values;
    EXPECT_EQ(fs_->Count(FaultOp::kPunch), 0u);
    ExpectAllRight();
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
}

TEST_F(FileChecksumTest, NotOfPagesThatAreWrittenInPlace) {
  PieceTableOptions table;
  table.store = StoreKind::kTableless;
  options_.table_factory.reset(NewPieceTableFactory(table));
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find("file_checksum_gen_factory"), std::string::npos) << s.ToString();
}

}  // namespace
}  // namespace compassdb
