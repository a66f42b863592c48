// SPDX-License-Identifier: Apache-2.0
// Holes (rule 9) are punched by jobs of their own, at a rate, or all at once where space is short.
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/listener.h"

namespace compassdb {
namespace {

class HolesTest : public DbTest {
 protected:
  HolesTest() {
    // Memtables merge straight into one level, whose tables lose pieces then.
    piece_.one_level = true;
    piece_.max_pieces = 2;
    piece_.punch_bytes_per_second = 1;
    piece_.max_dead_space_percent = 0;
    UsePieces();
    options_.write_buffer_size = 1 << 20;
    options_.compression = rocksdb::kNoCompression;
    options_.target_file_size_base = 256 << 10;
  }
  void UsePieces() { options_.table_factory.reset(NewPieceTableFactory(piece_)); }
  void Set(const std::string& option) { ASSERT_TRUE(db_->SetOptions({{"table_factory", "{" + option + "}"}}).ok()); }
  uint64_t Punches() { return fs_->Count(FaultOp::kPunch); }
  static std::string Value(int i) { return std::to_string(i) + std::string(1000, static_cast<char>('a' + i % 26)); }
  // Keys from `begin` to `end` again: old records are dead within files with other live parts.
  void Write(int begin, int end, int version) {
    for (int i = begin; i < end; ++i) ASSERT_TRUE(Put(Key(i), Value(i + version)).ok());
    ASSERT_TRUE(db_->Flush({}).ok());
    ASSERT_TRUE(db_->WaitForCompact({}).ok());
  }
  void MakeHoles() {
    Write(0, 8000, 0);
    for (int round = 1; round < 4; ++round) Write(1000 * round, 1000 * round + 900, round);
  }
  template <typename Condition>
  static bool Becomes(Condition condition) {
    for (int i = 0; i < 400 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return condition();
  }

  PieceTableOptions piece_;
};

// It holds files open, and where one has a hole by now it catches up, for many keys as for one.
TEST_F(HolesTest, ASecondaryWithoutLinksReadsNextToThem) {
  piece_.punch_bytes_per_second = 0;
  UsePieces();
  options_.max_open_files = -1;
  OpenDb();
  Write(0, 8000, 0);
  fs_->FailAll(FaultOp::kLink, "/second", Status::IOError("another file system"));
  std::vector<std::string> keys;
  for (int i = 1000; i < 4000; ++i) keys.push_back(Key(i));
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  for (const bool together : {true, false}) {
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::OpenAsSecondary(options_, name_, "/second", &opened).ok());
    const std::unique_ptr<rocksdb::DB> secondary(opened);
    const uint64_t before = Punches();
    for (int round = 1; round < 4; ++round) Write(1000 * round, 1000 * round + 900, together ? round : round + 1);
    ASSERT_TRUE(Becomes([&] { return Punches() > before; }));
    std::vector<std::string> values(keys.size());
    std::vector<Status> statuses(keys.size());
    if (together) {
      statuses = secondary->MultiGet(rocksdb::ReadOptions(), slices, &values);
    } else {
      for (size_t i = 0; i < keys.size(); ++i) {
        rocksdb::PinnableSlice operand;
        rocksdb::GetMergeOperandsOptions most;
        most.expected_max_number_of_operands = 1;
        int n = 0;
        statuses[i] = secondary->GetMergeOperands(rocksdb::ReadOptions(), secondary->DefaultColumnFamily(), slices[i],
                                                  &operand, &most, &n);
        values[i] = operand.ToString();
      }
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_TRUE(statuses[i].ok()) << keys[i] << ": " << statuses[i].ToString();
      EXPECT_EQ(values[i].size(), Value(static_cast<int>(i) + 1000).size());
    }
  }
}

TEST_F(HolesTest, WaitForTheRate) {
  OpenDb();
  MakeHoles();
  EXPECT_EQ(Punches(), 0u);  // a byte per second
  Set("punch_bytes_per_second=0");
  EXPECT_TRUE(Becomes([&] { return Punches() > 0; }));
  // One that is high enough.
  Set("punch_bytes_per_second=100000000");
  const uint64_t before = Punches();
  Write(5000, 5900, 4);
  Write(6000, 6900, 4);
  EXPECT_TRUE(Becomes([&] { return Punches() > before; }));
  for (int i = 0; i < 8000; i += 9) {
    const int thousand = i / 1000;
    const bool again = i % 1000 < 900;
    const int version = !again ? 0 : thousand >= 1 && thousand <= 3 ? thousand : thousand == 5 || thousand == 6 ? 4 : 0;
    ASSERT_EQ(Get(Key(i)), Value(i + version)) << i;
  }
  EXPECT_TRUE(db_->VerifyChecksum().ok());
}

TEST_F(HolesTest, DoNotWaitWhereTooMuchIsDead) {
  OpenDb();
  MakeHoles();
  EXPECT_EQ(Punches(), 0u);
  Set("max_dead_space_percent=1");
  EXPECT_TRUE(Becomes([&] { return Punches() > 0; }));
}

TEST_F(HolesTest, AreAsSmallAsTheFileSystemIsWorth) {
  piece_.target_table_bytes = 8 << 10;
  piece_.punch_bytes_per_second = 0;
  UsePieces();
  const auto renew_tables = [this] {
    OpenDb();
    Write(0, 200, 0);
    for (int round = 1; round < 4; ++round) Write(50 * round, 50 * round + 25, round);
  };
  renew_tables();
  EXPECT_EQ(Punches(), 0u);  // tables of 8 KiB are less than what others punch
  CloseDb();
  fs_->memory()->SetLeastHole(4096);
  renew_tables();
  EXPECT_TRUE(Becomes([&] { return Punches() > 0; }));
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(Get(Key(i)), Value(i + (i >= 50 && i % 50 < 25 ? i / 50 : 0))) << i;
  }
}

TEST_F(HolesTest, AreNotPunchedByFlushesAndWriters) {
  // Notes the threads that flush, and those that punch.
  class Threads : public rocksdb::EventListener {
   public:
    void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { Note(&flush); }
    void Note(std::set<std::thread::id>* ids) {
      const std::lock_guard<std::mutex> lock(mu);
      ids->insert(std::this_thread::get_id());
    }
    std::mutex mu;
    std::set<std::thread::id> flush, punch;
  };
  const auto threads = std::make_shared<Threads>();
  options_.listeners.push_back(threads);
  piece_.punch_bytes_per_second = 0;
  UsePieces();
  OpenDb();
  fs_->SetHook([&](FaultOp op, const std::string&) {
    if (op == FaultOp::kPunch) threads->Note(&threads->punch);
  });
  MakeHoles();
  EXPECT_TRUE(Becomes([&] { return Punches() > 0; }));
  fs_->SetHook(nullptr);
  const std::lock_guard<std::mutex> lock(threads->mu);
  EXPECT_FALSE(threads->flush.empty());
  EXPECT_FALSE(threads->punch.empty());
  EXPECT_EQ(threads->punch.count(std::this_thread::get_id()), 0u);
  for (const std::thread::id& id : threads->punch) EXPECT_EQ(threads->flush.count(id), 0u);
}

}  // namespace
}  // namespace compassdb
