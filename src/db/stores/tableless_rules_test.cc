// SPDX-License-Identifier: Apache-2.0
// The rules that keep a table-less family right (docs/design/rules.md), each with tests
// named after it. Those that are missing here have theirs where the list says.
#include "db/testing/tableless_test_util.h"
#include "tableless/page/page_hash.h"

namespace compassdb {
namespace {

class TablelessRulesTest : public TablelessDbTest {};

// Records that were deleted and values that became shorter leave no bytes in a page.
TEST_F(TablelessRulesTest, Rule1PagesArePaddedWithZeros) {
  piece_.tableless_pages = 64;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 500)).ok());
  Settle();
  EXPECT_EQ(Places().size() + Overflowing(), 400u);
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE((i % 2 == 0 ? db_->Delete({}, Key(i)) : Put(Key(i), Value(i, 40))).ok());
  }
  Settle();
  EXPECT_EQ(Places().size(), 200u);
  ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "24"}}).ok());
  Settle();
  EXPECT_EQ(Places().size(), 200u);
}

// The keys of a page go to the pages that its share of the hash space is cut into, and to no others.
TEST_F(TablelessRulesTest, Rule2RehashKeepsTheOrder) {
  piece_.tableless_pages = 4 * 16;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 60)).ok());
  Settle();
  for (const uint64_t per_section : {23, 64, 9, 16}) {
    const std::map<std::string, Place> before = Places();
    ASSERT_EQ(before.size(), 1000u);
    const uint64_t old_pages = IntProperty("compassdb.tableless-pages") / 4;
    const std::string pages = std::to_string(4 * per_section);
    ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", pages}}).ok());
    Settle();
    const std::map<std::string, Place> after = Places();
    ASSERT_EQ(after.size(), 1000u);
    std::map<std::string, std::string> sections;
    const uint64_t from = PageDivisor(old_pages), to = PageDivisor(per_section);
    for (const auto& [key, old] : before) {
      const Place& now = after.at(key);
      EXPECT_EQ(sections.emplace(old.section, now.section).first->second, now.section);
      EXPECT_NE(old.section, now.section);
      EXPECT_GE(now.page, old.page * from / to) << key;
      EXPECT_LE(now.page, ((old.page + 1) * from - 1) / to) << key;
    }
    EXPECT_EQ(sections.size(), 4u);
  }
}

TEST_F(TablelessRulesTest, Rule3WhatDoesNotFitOverflowsAndARehashTakesItBackIn) {
  piece_.tableless_pages = 16;
  piece_.tableless_max_overflow_percent = 100;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 400)).ok());
  Settle();
  EXPECT_GT(Overflowing(), 200u);
  std::map<std::string, Place> places = Places();
  EXPECT_EQ(places.size() + Overflowing(), 400u);
  for (int i = 0; i < 400; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 400));
  // Records stay in their page when others are added.
  for (int i = 400; i < 500; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 400)).ok());
  Settle();
  for (const auto& [key, place] : Places()) {
    const auto old = places.find(key);
    if (old != places.end()) {
      EXPECT_EQ(old->second.page, place.page);
    }
    places.erase(key);
  }
  EXPECT_TRUE(places.empty());
  ASSERT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", "800"}}).ok());
  Settle();
  EXPECT_EQ(Overflowing(), 0u);
  EXPECT_EQ(Places().size(), 500u);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(Get(Key(i)), Value(i, 400));
}

// Pages are not touched before their images are durable in a journal that the manifest names.
TEST_F(TablelessRulesTest, Rule5PagesAreWrittenBehindADurableJournal) {
  piece_.tableless_pages = 64;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
  Settle();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(Put(Key(i), Value(i + 1, 100)).ok());
  CutBefore(FaultOp::kWrite, ".pages", 1);
  db_->Flush({}).PermitUncheckedError();
  for (int i = 0; i < 500 && !fs_->IsDown(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(fs_->IsDown());
  // Every page is torn, in place.
  fs_->SetHook(nullptr);
  CloseDb();
  fs_->Restart();
  int torn = 0;
  for (const std::string& path : Sections()) {
    std::string data = ReadFile(path);
    for (size_t page = 0; page < data.size() / kPageBytes; ++page) {
      if (data[page * kPageBytes + 4] == static_cast<char>(kPageHeaderBytes)) continue;  // empty: not rewritten
      data[page * kPageBytes + 30] ^= 1;
      ++torn;
    }
    SetFile(path, data);
  }
  EXPECT_GT(torn, 50);
  OpenDb();
  for (int i = 0; i < 400; ++i) ASSERT_EQ(Get(Key(i)), Value(i + 1, 100));
  Settle();
  EXPECT_EQ(Places().size(), 400u);
}

// Flips a bit of every page, in place. True if all had records.
bool DamageAllPages(FileSystem* fs, const std::vector<std::string>& sections, uint64_t page_bytes) {
  bool all = true;
  for (const std::string& path : sections) {
    std::string data;
    std::unique_ptr<PageFile> file;
    EXPECT_TRUE(ReadFileToString(fs, path, &data).ok());
    EXPECT_TRUE(fs->NewPageFile(path, FileOptions(), /*create=*/false, &file).ok());
    for (uint64_t at = 0; at < data.size(); at += page_bytes) {
      all = all && data[at + kPageHeaderBytes] != '\0';
      data[at + kPageHeaderBytes + 3] ^= 1;
      EXPECT_TRUE(file->Write(at, Slice(data.data() + at, page_bytes)).ok());
    }
    EXPECT_TRUE(file->Sync().ok());
    EXPECT_TRUE(file->Close().ok());
  }
  return all;
}

// Without any crash: as long as the journal is pending, it counts, and then it repairs the pages.
TEST_F(TablelessRulesTest, Rule5APendingJournalRepairsDamagedPages) {
  piece_.tableless_pages = 64;
  UsePieces();
  OpenDb();
  const auto check = [this](int add, const std::string& when) {
    SCOPED_TRACE(when);
    std::string all;
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(Get(Key(i)), Value(i + add, 60)) << i;
      all += (i == 0 ? "" : ",") + Key(i) + "=" + Value(i + add, 60);
    }
    EXPECT_EQ(Scan(), all);
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
  };
  const auto write = [this](int add) {
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(Put(Key(i), Value(i + add, 60)).ok());
    Flush();
  };
  write(0);
  Settle();
  for (const bool reopened : {false, true}) {
    ASSERT_TRUE(db_->DisableFileDeletions().ok());  // nor is anything written in place
    write(1);
    ASSERT_GE(IntProperty("compassdb.tableless-pending-pages"), 60u);
    ASSERT_TRUE(DamageAllPages(fs_.get(), Sections(), kPageBytes));
    check(1, "at once");
    write(2);
    check(2, "written again");
    if (reopened) {
      OpenDb();
      check(2, "reopened");
    } else {
      ASSERT_TRUE(db_->EnableFileDeletions(/*force=*/true).ok());
    }
    Settle();
    EXPECT_EQ(Places().size(), 2000u);
    check(2, "in place");
    OpenDb();
    check(2, "reopened afterwards");
  }
}

TEST_F(TablelessRulesTest, Rule11ADamagedPageWithoutAJournalIsNamed) {
  piece_.tableless_pages = 64;
  UsePieces();
  OpenDb();
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 60)).ok());
  Settle();
  const std::map<std::string, Place> places = Places();
  ASSERT_EQ(places.size(), 2000u);
  OpenDb();  // nothing is in memory
  ASSERT_TRUE(DamageAllPages(fs_.get(), Sections(), kPageBytes));
  for (const auto& [key, place] : places) {
    std::string value;
    const Status s = db_->Get({}, key, &value);
    ASSERT_TRUE(s.IsCorruption()) << s.ToString();
    const std::string name = place.section + ": page " + std::to_string(place.page) + " at offset ";
    EXPECT_NE(s.ToString().find(name), std::string::npos) << s.ToString() << " for " << name;
  }
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
  EXPECT_TRUE(db_->VerifyChecksum().IsCorruption());
}

// The log is deleted when it is no longer needed: at that moment everything else is durable.
TEST_F(TablelessRulesTest, Rule6TheLogOutlivesWhatIsNotDurable) {
  piece_.tableless_pages = 16;
  UsePieces();
  const rocksdb::WriteOptions unsynced;
  int cuts = 0;
  for (int n = 1; n <= 6; ++n) {
    OpenDb();
    CutBefore(FaultOp::kDelete, ".log", n);
    int written = 0;
    for (int round = 0; round < 8; ++round) {  // pages, overflow and key store
      for (int i = 0; i < 60; ++i) {
        if (!db_->Put(unsynced, Key(round * 60 + i), Value(n * 1000 + i, 500)).ok()) break;
      }
      if (!db_->Flush({}).ok()) break;
      written = (round + 1) * 60;
      if (fs_->IsDown()) break;
    }
    for (int i = 0; i < 100 && !fs_->IsDown(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    fs_->SetHook(nullptr);
    if (!fs_->IsDown()) break;
    ++cuts;
    CloseDb();
    fs_->Restart();
    ASSERT_TRUE(fs_->DeleteFile(cut_at_).ok());  // as if it had got that far
    OpenDb();
    std::string all;
    for (int i = 0; i < written; ++i) ASSERT_EQ(Get(Key(i)), Value(n * 1000 + i % 60, 500)) << n << " " << i;
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
  EXPECT_GE(cuts, 3);
}

// Operands meet the same base again: a log that was flushed is replayed, a journal written in place twice.
TEST_F(TablelessRulesTest, Rule7ReplayingTwiceIsHarmless) {
  piece_.tableless_pages = 32;
  UsePieces();
  int cuts = 0;
  for (const char* part : {"MANIFEST", ".pages", ".ph"}) {
    for (int n = 1; n <= 12; ++n) {
      OpenDb();
      std::map<std::string, std::string> model;
      const auto merge = [&](int i, int operand) {
        rocksdb::WriteOptions write;
        write.sync = true;
        const std::string text = std::to_string(operand);
        if (!db_->Merge(write, Key(i), text).ok()) return false;
        std::string& value = model[Key(i)];
        value += (value.empty() ? "" : ",") + text;
        return true;
      };
      for (int i = 0; i < 60; ++i) ASSERT_TRUE(merge(i, i));
      Flush();
      CutBefore(FaultOp::kSync, part, n);
      for (int round = 0; round < 5 && !fs_->IsDown(); ++round) {
        for (int i = 0; i < 60; ++i) {
          if (!merge(i, round * 100 + i)) break;
        }
        if (!fs_->IsDown()) db_->Flush({}).PermitUncheckedError();
      }
      cuts += Reopen() ? 1 : 0;
      for (int twice = 0; twice < 2; ++twice) {
        for (const auto& [key, value] : model) {
          // The write that the cut met was not acknowledged: it may be there.
          const std::string found = Get(key);
          ASSERT_TRUE(found == value || (found.starts_with(value + ",") &&
                                         found.find(',', value.size() + 1) == std::string::npos))
              << part << " " << n << " " << key << ": " << found << " for " << value;
        }
        Flush();
        OpenDb();
      }
      CloseDb();
      ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
    }
  }
  EXPECT_GT(cuts, 15);
}

// After a power cut at any time, iterators and Gets agree.
TEST_F(TablelessRulesTest, Rule9KeysAreKeptInStep) {
  piece_.tableless_pages = 32;
  UsePieces();
  int cuts = 0;
  for (int n = 1; n <= 24; ++n) {
    OpenDb();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Key(i), Value(i, 100)).ok());
    Flush();
    CutBefore(FaultOp::kSync, "/db/", n);
    for (int round = 0; round < 4 && !fs_->IsDown(); ++round) {
      for (int i = round; i < 300; i += 4) {
        const Status s = i % 3 == 0 ? db_->Delete({}, Key(i)) : Put(Key(i + 300), Value(i, 300));
        if (!s.ok()) break;
      }
      db_->Flush({}).PermitUncheckedError();
    }
    cuts += Reopen() ? 1 : 0;
    std::string all;
    for (int i = 0; i < 600; ++i) {
      const std::string value = Get(Key(i));
      if (value != "NOT_FOUND") all += (all.empty() ? "" : ",") + Key(i) + "=" + value;
    }
    EXPECT_EQ(Scan(), all) << n;
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
    CloseDb();
    ASSERT_TRUE(rocksdb::DestroyDB(name_, options_).ok());
  }
  EXPECT_GT(cuts, 10);
}

}  // namespace
}  // namespace compassdb
