// SPDX-License-Identifier: Apache-2.0
// RepairDB of damaged tables: records outside of the damage exist afterwards, and can be compacted.
#include <algorithm>
#include <map>

#include "compassdb/repair.h"
#include "compassdb/table.h"
#include "db/open/recovered_state.h"
#include "db/testing/db_test_util.h"
#include "format/file_names.h"
#include "format/format_version.h"
#include "manifest/manifest.h"
#include "table/piece/piece_format.h"
#include "util/coding.h"
#include "util/hash.h"
#include "util/random.h"

namespace compassdb {
namespace {

struct Layout {
  const char* name;
  DataOrder order = DataOrder::kKey;
  Partition partition = Partition::kKeyRange;
  PointIndex index = PointIndex::kPerfectHash;
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
};
std::string NameOf(const testing::TestParamInfo<Layout>& layout) { return layout.param.name; }

constexpr size_t kBlock = 1024;

class RepairTablesTest : public DbTest, public testing::WithParamInterface<Layout> {
 protected:
  void Use(const Layout& layout) {
    piece_.data_order = layout.order;
    piece_.partition = layout.partition;
    piece_.point_index = layout.index;
    rocksdb::BlockBasedTableOptions blocks;
    blocks.block_size = kBlock;
    options_.table_factory.reset(NewPieceTableFactory(piece_, blocks));
    options_.compression = layout.compression;
    options_.write_buffer_size = 4 << 20;
    options_.target_file_size_base = 4 << 20;
    options_.disable_auto_compactions = true;
  }
  static std::string Value(int i, size_t size) {
    std::string v = std::to_string(i) + "-";
    Random random(static_cast<uint64_t>(i) + 1);
    while (v.size() < size) v.push_back(static_cast<char>('a' + random.Uniform(6)));
    return v;
  }
  // Three runs, the older two of them merged, with deletions of keys and ranges.
  void Fill() {
    OpenDb();
    for (int i = 0; i < kKeys; ++i) Write(i, Value(i, 60));
    Flush();
    for (int i = 0; i < kKeys; i += 3) Write(i, Value(i + 1000000, 40));
    Erase("key000100", "key000110");
    Compact();
    for (int i = 0; i < kKeys; i += 7) Write(i, Value(i + 2000000, 50));
    Erase("key000200", "key000205");
    ASSERT_TRUE(db_->Delete({}, Key(300)).ok());
    model_.erase(Key(300));
    Flush();
    CloseDb();
  }
  void Write(int i, const std::string& value) {
    ASSERT_TRUE(Put(Key(i), value).ok());
    model_[Key(i)] = value;
    ever_[Key(i)].push_back(value);
  }
  void Erase(const std::string& from, const std::string& to) {
    ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), from, to).ok());
    model_.erase(model_.lower_bound(from), model_.lower_bound(to));
  }
  Status Repair() {
    CloseDb();
    return compassdb::RepairDB(name_, options_, {{"default", options_}}, nullptr, &report_);
  }
  // Opens the repaired database. No call fails, and at most `most_lost` keys have changed.
  void Check(size_t most_lost) {
    OpenDb();
    for (const bool compacted : {false, true}) {
      std::map<std::string, std::string> found;
      std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) found[it->key().ToString()] = it->value().ToString();
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
      size_t lost = 0;
      for (const auto& [key, value] : model_) {
        ASSERT_EQ(Get(key), found.count(key) != 0 ? found[key] : "NOT_FOUND");
        lost += found.count(key) == 0 || found[key] != value ? 1 : 0;
      }
      for (const auto& [key, value] : found) {
        const auto& ever = ever_[key];
        ASSERT_NE(std::find(ever.begin(), ever.end(), value), ever.end()) << key;
        lost += model_.count(key) == 0 ? 1 : 0;
      }
      EXPECT_LE(lost, most_lost);
      const Status s = db_->VerifyChecksum();
      ASSERT_TRUE(s.ok()) << s.ToString();
      if (!compacted) CompactAndCollect();
    }
    ASSERT_TRUE(Put("zzz", "more").ok());
    CloseDb();
  }
  void CompactAndCollect() {
    rocksdb::CompactRangeOptions compact;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    compact.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
    compact.blob_garbage_collection_age_cutoff = 1.0;
    const Status s = db_->CompactRange(compact, nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  std::string LargestTable() {
    std::string largest;
    uint64_t most = 0;
    for (const std::string& name : FilesOf(FileType::kPieceFile)) {
      uint64_t size = 0;
      EXPECT_TRUE(fs_->GetFileSize(JoinPath(name_, name), &size).ok());
      if (size > most) largest = JoinPath(name_, name);
      most = std::max(most, size);
    }
    return largest;
  }
  void Restore(const SavedFiles& files) {
    CloseDb();
    for (const std::string& dir : {name_, name_ + "/lost"}) {
      std::vector<std::string> names;
      fs_->GetChildren(dir, &names).PermitUncheckedError();
      for (const std::string& name : names) {
        if (files.count(name) == 0 || dir != name_) fs_->DeleteFile(JoinPath(dir, name)).PermitUncheckedError();
      }
    }
    for (const auto& [name, data] : files) SetFile(JoinPath(name_, name), data);
  }

  static constexpr int kKeys = 1500;
  PieceTableOptions piece_;
  RepairReport report_;
  std::map<std::string, std::string> model_;
  std::map<std::string, std::vector<std::string>> ever_;
};

TEST_P(RepairTablesTest, NothingIsWrong) {
  Use(GetParam());
  Fill();
  const SavedFiles before = SaveFiles();
  ASSERT_TRUE(Repair().ok());
  EXPECT_EQ(report_.rewritten_tables + report_.lost_tables + report_.lost_records, 0u);
  EXPECT_GT(report_.kept_tables, 1u);
  EXPECT_TRUE(report_.moved.empty());
  for (const auto& [name, data] : before) {
    if (name.find(".ph") != std::string::npos) {
      EXPECT_EQ(ReadFile(JoinPath(name_, name)), data) << name;
    }
  }
  Check(0);
}

// Where the job record of a compaction file begins (docs/formats/compaction_file.md). 0: it has none.
size_t JobRecordOf(const std::string& file) {
  constexpr size_t kTail = 32;
  if (file.size() < kTail || DecodeFixed64(file.data() + file.size() - 8) != kJobRecordFormat.magic) return 0;
  return DecodeFixed64(file.data() + file.size() - kTail);
}

// Wherever a byte of a table is damaged: of one in a block, the block's keys are gone; of any other, nothing.
TEST_P(RepairTablesTest, AByteAnywhere) {
  Use(GetParam());
  Fill();
  const SavedFiles files = SaveFiles();
  const std::string table = LargestTable();
  // Up to the job record, which is of no table.
  const size_t size = JobRecordOf(ReadFile(table));
  ASSERT_GT(size, 0u);
  size_t with_loss = 0;
  constexpr size_t kCases = 40;
  for (size_t i = 0; i <= kCases; ++i) {
    const size_t at = i == 0 ? 10 : i * (size - 1) / kCases;
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(size));
    Restore(files);
    FlipBit(table, at);
    const Status s = Repair();
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_GE(report_.rewritten_tables, 1u);
    EXPECT_EQ(report_.lost_tables, 0u);
    EXPECT_FALSE(report_.moved.empty());
    ASSERT_NO_FATAL_FAILURE(Check(report_.lost_records == 0 ? 0 : 3 * kBlock / 30));
    EXPECT_LT(report_.lost_bytes, 4 * kBlock);
    EXPECT_EQ(report_.lost_range_deletions, 0u);
    with_loss += report_.lost_records > 0 ? 1 : 0;
  }
  EXPECT_GT(with_loss, kCases / 4);
  EXPECT_LT(with_loss, kCases);
}

// The version of a piece is under no checksum: a damaged one looks like that of a later release.
TEST_P(RepairTablesTest, AVersionIsDamaged) {
  Use(GetParam());
  Fill();
  const std::string table = LargestTable();
  const size_t magic = ReadFile(table).find("CmpsPie1");
  ASSERT_NE(magic, std::string::npos);
  FlipBit(table, magic - 4);
  OpenDb();
  EXPECT_TRUE(db_->VerifyChecksum().IsCorruption());
  const Status s = Repair();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(report_.lost_records, 0u);
  Check(0);
}

TEST_P(RepairTablesTest, EveryDamagedTableIsNamed) {
  Use(GetParam());
  Fill();
  const std::vector<std::string> tables = FilesOf(FileType::kPieceFile);
  ASSERT_GE(tables.size(), 2u);
  for (const std::string& name : tables) FlipBit(JoinPath(name_, name), 500);
  OpenDb();
  const Status s = db_->VerifyChecksum();
  EXPECT_TRUE(s.IsCorruption());
  for (const std::string& name : tables) {
    EXPECT_NE(s.ToString().find(name), std::string::npos) << s.ToString();
  }
}

// Nor is it a later release's if the rest of the footer is other bytes, too.
TEST_P(RepairTablesTest, AVersionAndTheRestOfTheFooterAreDamaged) {
  Use(GetParam());
  Fill();
  const SavedFiles files = SaveFiles();
  const std::string table = LargestTable();
  const size_t magic = ReadFile(table).find("CmpsPie1");
  for (const char version : {7, 70}) {
    Restore(files);
    std::string data = ReadFile(table);
    for (size_t i = magic - 136; i < magic; ++i) data[i] = static_cast<char>(i * 13);
    data.replace(magic - 4, 4, std::string{version, 0, 0, 0});
    SetFile(table, data);
    OpenDb();
    EXPECT_TRUE(db_->VerifyChecksum().IsCorruption());
    const Status s = Repair();
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(report_.lost_records, 0u);
    Check(0);
  }
}

// One piece of a later release makes the table one of that release.
TEST_P(RepairTablesTest, APieceOfALaterReleaseIsRefused) {
  Use(GetParam());
  Fill();
  OpenDb();
  for (int i = 0; i < 10; ++i) Write(i * 50, "newest");
  Flush();
  Compact();
  CloseDb();
  const SavedFiles files = SaveFiles();
  int forged = 0;
  for (const std::string& name : FilesOf(FileType::kPieceFile)) {
    std::string data = files.at(name);
    const size_t magic = data.find("CmpsPie1");
    if (magic == std::string::npos) continue;
    Restore(files);
    // A footer of 15 fields in bytes that were something else, under its checksum.
    constexpr size_t kFields = 15 * 8;
    const size_t place = magic - 8 - kFields;
    for (size_t i = place; i < magic - 8; ++i) data[i] = static_cast<char>(i * 13);
    const uint64_t context = SectionContext(static_cast<PieceSection>(100), DecodeFixed64(data.data() + 24), place);
    std::string tail;
    PutFixed32(&tail, Checksum32(Slice(data.data() + place, kFields), context));
    PutFixed32(&tail, 7);
    data.replace(magic - 8, 8, tail);
    SetFile(JoinPath(name_, name), data);
    const SavedFiles before = SaveFiles();
    const Status s = Repair();
    EXPECT_TRUE(s.IsNotSupported()) << name << " " << s.ToString();
    EXPECT_EQ(SaveFiles(), before);
    ++forged;
  }
  EXPECT_GT(forged, 0);
}

// A file that is cut off: the records before the cut exist.
TEST_P(RepairTablesTest, ATableIsCutShort) {
  Use(GetParam());
  Fill();
  const SavedFiles files = SaveFiles();
  const std::string table = LargestTable();
  const std::string data = ReadFile(table);
  size_t lost_before = 0;
  for (const size_t tenths : {9, 5, 2}) {
    Restore(files);
    SetFile(table, Slice(data.data(), data.size() * tenths / 10));
    const Status s = Repair();
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_GE(report_.lost_records, lost_before);
    lost_before = report_.lost_records;
    EXPECT_LT(report_.lost_records, model_.size());
    ASSERT_NO_FATAL_FAILURE(Check(2 * report_.lost_records + 30));
  }
  EXPECT_GT(lost_before, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, RepairTablesTest,
    testing::Values(Layout{"key"}, Layout{.name = "compressed", .compression = rocksdb::kLZ4Compression},
                    Layout{.name = "slot", .order = DataOrder::kSlot}, Layout{.name = "hash", .order = DataOrder::kHash},
                    Layout{.name = "hash_range", .partition = Partition::kHashRange},
                    Layout{.name = "filter", .index = PointIndex::kFilter}),
    NameOf);

class RepairErrorsTest : public RepairTablesTest {};

// A temporary error is no reason to lose anything.
TEST_P(RepairErrorsTest, AnErrorThatIsNotDamageChangesNothing) {
  Use(GetParam());
  Fill();
  const std::string table = LargestTable();
  const std::string log = NewestLog();
  const std::string manifest = JoinPath(name_, FilesOf(FileType::kManifest).at(0));
  const SavedFiles files = SaveFiles();
  for (const FaultOp op : {FaultOp::kOpen, FaultOp::kRead}) {
    for (const std::string& path : {table, log, manifest, CurrentFileName(name_)}) {
      fs_->FailAll(op, path, Status::IOError("While reading: " + path, "Input/output error"));
      const Status s = Repair();
      fs_->ClearFaults();
      EXPECT_TRUE(s.IsIOError()) << path << ": " << s.ToString();
      EXPECT_NE(s.ToString().find(path), std::string::npos) << s.ToString();
      EXPECT_EQ(SaveFiles(), files) << path;
      EXPECT_TRUE(report_.moved.empty());
    }
  }
  options_.wal_dir = "/elsewhere";
  EXPECT_TRUE(Repair().IsPathNotFound());
  options_.wal_dir.clear();
  EXPECT_EQ(SaveFiles(), files);
  // Nor do new files stay that were written before the error came.
  FlipBit(table, 200);
  const SavedFiles damaged = SaveFiles();
  fs_->FailAll(FaultOp::kSync, ".ph", Status::NoSpace("no space"));
  EXPECT_FALSE(Repair().ok());
  fs_->ClearFaults();
  EXPECT_EQ(SaveFiles(), damaged);
  ASSERT_TRUE(Repair().ok());
  Check(100);
}

INSTANTIATE_TEST_SUITE_P(Layouts, RepairErrorsTest, testing::Values(Layout{"key"}), NameOf);

// Values that are kept apart.
class RepairValuesTest : public RepairTablesTest {
 protected:
  RepairValuesTest() {
    options_.enable_blob_files = true;
    options_.min_blob_size = 30;
    Use(Layout{"values"});
  }
  // Files of the value store: those that hold its magic and no table's.
  std::vector<std::string> ValueFiles() {
    std::vector<std::string> files;
    for (const std::string& name : FilesOf(FileType::kPieceFile)) {
      if (ReadFile(JoinPath(name_, name)).find("cmprunv1") != std::string::npos) files.push_back(JoinPath(name_, name));
    }
    return files;
  }
};

TEST_F(RepairValuesTest, AFileOfValuesIsGone) {
  Fill();
  const SavedFiles files = SaveFiles();
  const std::vector<std::string> values = ValueFiles();
  ASSERT_GE(values.size(), 2u);
  uint64_t lost = 0;
  for (const std::string& file : values) {
    SCOPED_TRACE(file);
    Restore(files);
    ASSERT_TRUE(fs_->DeleteFile(file).ok());
    const Status s = Repair();
    ASSERT_TRUE(s.ok()) << s.ToString();
    lost += report_.lost_values;  // a file may hold nothing but notices
    EXPECT_EQ(report_.lost_records, 0u);
    ASSERT_NO_FATAL_FAILURE(Check(report_.lost_values));
  }
  EXPECT_GT(lost, 1000u);
}

TEST_F(RepairValuesTest, AByteOfAFileOfValues) {
  Fill();
  const SavedFiles files = SaveFiles();
  for (const std::string& file : ValueFiles()) {
    const size_t size = files.at(file.substr(name_.size() + 1)).size();
    for (size_t at = 10; at < size; at += size / 9) {
      SCOPED_TRACE(file + " byte " + std::to_string(at));
      Restore(files);
      FlipBit(file, at);
      const Status s = Repair();
      ASSERT_TRUE(s.ok()) << s.ToString();
      EXPECT_LE(report_.lost_values, 1u);
      ASSERT_NO_FATAL_FAILURE(Check(1));
    }
  }
}

// As repairs left it that took the values away, and not what named them.
TEST_F(RepairValuesTest, ReferencesToNothing) {
  Fill();
  uint64_t number = 0;
  RecoveredState state;
  ASSERT_TRUE(Manifest::ReadCurrent(fs_.get(), name_, &number).ok());
  ASSERT_TRUE(Manifest::Replay(fs_.get(), name_, number, [&](const EditRecord& edits) {
                return state.ApplyAll(edits);
              }).ok());
  ASSERT_GE(state.families[0].values.size(), 2u);
  state.families[0].values.erase(std::prev(state.families[0].values.end()));
  std::vector<VersionEdit> edits(1);
  edits[0].db_id = state.db_id;
  edits[0].hash_seed = state.hash_seed;
  edits[0].next_number = state.next_number + 100;
  edits[0].last_sequence = state.last_sequence;
  edits[0].min_log_number = state.min_log_number;
  edits[0].add_column_family = "default";
  edits[0].comparator = state.families[0].comparator;
  edits[0].log_number = state.families[0].log_number;
  edits.push_back(state.families[0].AllTables(0));
  std::unique_ptr<Manifest> manifest;
  ASSERT_TRUE(Manifest::Create(fs_.get(), name_, state.next_number + 99, edits, &manifest).ok());
  ASSERT_TRUE(manifest->Close().ok());
  OpenDb();
  const Status verified = db_->VerifyChecksum();
  EXPECT_TRUE(verified.IsCorruption()) << verified.ToString();
  EXPECT_NE(Scan().find('!'), std::string::npos);
  ASSERT_TRUE(Repair().ok());
  EXPECT_GT(report_.lost_values, 0u);
  Check(report_.lost_values);
}

// A lost block loses references, and older ones become visible, whose values may be deleted.
TEST_F(RepairValuesTest, ADamagedTable) {
  Fill();
  OpenDb();
  for (int i = 0; i < kKeys; ++i) Write(i, Value(i + 3000000, 45));
  Flush();
  CloseDb();
  const SavedFiles files = SaveFiles();
  for (const std::string& name : FilesOf(FileType::kPieceFile)) {
    const std::string path = JoinPath(name_, name);
    const size_t size = files.at(name).size();
    if (size == 0) continue;  // a spare file
    for (const size_t at : {size_t{20}, size / 5, size / 2}) {
      SCOPED_TRACE(path + " byte " + std::to_string(at));
      Restore(files);
      FlipBit(path, at);
      const Status s = Repair();
      ASSERT_TRUE(s.ok()) << s.ToString();
      ASSERT_NO_FATAL_FAILURE(Check(report_.lost_records + report_.lost_values));
    }
  }
}

}  // namespace
}  // namespace compassdb
