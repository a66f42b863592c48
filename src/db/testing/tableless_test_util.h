// SPDX-License-Identifier: Apache-2.0
// A database whose family is table-less, and a look into its files.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "compassdb/table.h"
#include "db/testing/db_test_util.h"
#include "rocksdb/merge_operator.h"
#include "tableless/page/page_format.h"

namespace compassdb {

// Appends, except "bad".
class PickyOperator : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    if (value == "bad") return false;
    *result = (existing != nullptr ? existing->ToString() + "," : "") + value.ToString();
    return true;
  }
  const char* Name() const override { return "PickyOperator"; }
};

class TablelessDbTest : public DbTest {
 protected:
  static constexpr uint64_t kPageBytes = 4096;

  TablelessDbTest() {
    piece_.store = StoreKind::kTableless;
    piece_.tableless_sections = 4;
    options_.merge_operator = std::make_shared<AppendOperator>();
    UsePieces();
  }
  void UsePieces() { options_.table_factory.reset(NewPieceTableFactory(piece_)); }
  static std::string Value(int i, size_t size) {
    std::string value = std::to_string(i) + ":";
    while (value.size() < size) value += static_cast<char>('a' + (i + value.size()) % 26);
    return value;
  }
  void Settle() {
    Compact();
    for (int i = 0; i < 500; ++i) {
      if (IntProperty("compassdb.tableless-rehashing") + IntProperty("compassdb.tableless-pending-pages") == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    FAIL() << "it does not settle";
  }
  std::vector<std::string> Sections() {
    std::vector<std::string> paths;
    for (const std::string& name : FilesOf(FileType::kPageFile)) paths.push_back(JoinPath(name_, name));
    return paths;
  }
  struct Place {
    std::string section;
    uint64_t page;
  };
  // Until the files of rehashed sections are gone, which nothing but what was settled holds.
  void AwaitLivingSections() {
    const auto pages_of_files = [this] {
      uint64_t pages = 0;
      for (const std::string& path : Sections()) {
        uint64_t bytes = 0;
        if (fs_->GetFileSize(path, &bytes).ok()) pages += bytes / kPageBytes;
      }
      return pages;
    };
    const uint64_t living = IntProperty("compassdb.tableless-pages");
    for (int i = 0; i < 3000 && pages_of_files() != living; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(pages_of_files(), living);
  }
  // The place of each key in the files, by checked pages that end in zeros.
  std::map<std::string, Place> Places() {
    AwaitLivingSections();
    std::map<std::string, Place> places;
    for (const std::string& path : Sections()) {
      uint64_t number = 0;
      FileType type;
      EXPECT_TRUE(ParseFilePath(path, &number, &type));
      const std::string data = ReadFile(path);
      EXPECT_EQ(data.size() % kPageBytes, 0u);
      for (uint64_t page = 0; page < data.size() / kPageBytes; ++page) {
        const Slice image(data.data() + page * kPageBytes, kPageBytes);
        Slice records;
        const Status s = CheckPage(image, number, page, &records);
        EXPECT_TRUE(s.ok()) << path << " " << page << ": " << s.ToString();
        const size_t used = kPageHeaderBytes + records.size();
        EXPECT_EQ(image.ToString().substr(used), std::string(kPageBytes - used, '\0')) << path << " " << page;
        std::vector<PageRecord> list;
        EXPECT_TRUE(ListPageRecords(records, &list).ok());
        for (const PageRecord& record : list) {
          EXPECT_TRUE(places.emplace(record.user_key.ToString(), Place{path, page}).second) << record.user_key.ToString();
        }
      }
    }
    return places;
  }
  uint64_t Overflowing() { return IntProperty("compassdb.tableless-overflow-records"); }
  // The power fails before the n-th such call from now on, and unsynced data is lost.
  void CutBefore(FaultOp op, const std::string& part, int n) {
    left_.store(n);
    fs_->SetHook([this, op, part](FaultOp what, const std::string& path) {
      if (what != op || path.find(part) == std::string::npos || left_.fetch_sub(1) != 1) return;
      cut_at_ = path;
      fs_->PowerCut(7, CutMode::kDropUnsynced);
    });
  }
  // False if the power did not go.
  bool Reopen() {
    fs_->SetHook(nullptr);
    const bool cut = fs_->IsDown();
    CloseDb();
    fs_->Restart();
    OpenDb();
    return cut;
  }
  PieceTableOptions piece_;
  std::atomic<int> left_{0};
  std::string cut_at_;
};

}  // namespace compassdb
