// SPDX-License-Identifier: Apache-2.0
// Compaction filters of table-less families: what flushes and rehashes show them, and what becomes of it.
#include "db/testing/tableless_test_util.h"
#include "rocksdb/compaction_filter.h"

namespace compassdb {
namespace {

// Decides by how a value begins, once it is on. What it changes or keeps, it keeps from then on.
class SwitchedFilter final : public rocksdb::CompactionFilter {
 public:
  Decision FilterV2(int, const Slice&, ValueType, const Slice& existing, std::string* changed,
                    std::string* skip_until) const override {
    if (!on) return Decision::kKeep;
    std::string result;
    if (!Filtered(existing.ToString(), &result)) return Decision::kRemove;
    if (existing.starts_with("skip")) {
      *skip_until = "\xff";
      return Decision::kRemoveAndSkipUntil;
    }
    if (result == existing) return Decision::kKeep;
    *changed = std::move(result);
    return Decision::kChangeValue;
  }
  const char* Name() const override { return "SwitchedFilter"; }

  // False if it is dropped; for "skip" the result is empty.
  static bool Filtered(const std::string& value, std::string* result) {
    const std::string rest = value.substr(value.find(':') + 1, 12);
    *result = value;
    if (value.starts_with("gone")) return false;
    if (value.starts_with("skip")) result->clear();
    if (value.starts_with("grow")) *result = "grown:" + rest + std::string(2000, 'g');
    if (value.starts_with("huge")) *result = "vast:" + rest + std::string(9000, 'v');
    if (value.starts_with("shrink")) *result = "small:" + rest;
    return true;
  }
  std::atomic<bool> on{false};
};

struct Layout {
  bool key_store;
  bool atomic_pages;
};

class TablelessFilterTest : public TablelessDbTest, public ::testing::WithParamInterface<Layout> {
 protected:
  static constexpr int kKeys = 700;
  using Model = std::map<std::string, std::string>;

  TablelessFilterTest() {
    piece_.tableless_sections = 2;
    piece_.tableless_pages = 32;
    piece_.tableless_key_store = GetParam().key_store;
    piece_.tableless_atomic_page_writes = GetParam().atomic_pages;
    UsePieces();
    options_.compaction_filter = &filter_;
  }
  // Small ones, and ones that are in no page.
  static std::string Kind(int i, int round) {
    const char* const kinds[] = {"keep", "gone", "skip", "grow", "keep large", "gone large", "huge", "shrink", "skip large"};
    std::string value = kinds[(i + round) % 9];
    const bool large = value.find("large") != std::string::npos || value == "huge" || value == "shrink";
    value += ":" + std::to_string(i) + "." + std::to_string(round) + ".";
    value.resize(large ? 4500 : 60, '.');
    return value;
  }
  void PutRound(int round, int step = 1) {
    for (int i = 0; i < kKeys; i += step) {
      const std::string value = Kind(i, round);
      ASSERT_TRUE(Put(Key(i), value).ok());
      model_[Key(i)] = value;
    }
  }
  static Model FilteredModel(const Model& model) {
    Model filtered;
    for (const auto& [key, value] : model) {
      std::string result;
      if (SwitchedFilter::Filtered(value, &result) && !result.empty()) filtered[key] = result;
    }
    return filtered;
  }
  void ExpectModel(const Model& model) {
    for (int i = 0; i < kKeys; ++i) {
      const auto found = model.find(Key(i));
      ASSERT_EQ(Get(Key(i)), found == model.end() ? "NOT_FOUND" : found->second) << i;
    }
    if (GetParam().key_store) {
      std::string all;
      for (const auto& [key, value] : model) all += (all.empty() ? "" : ",") + key + "=" + value;
      ASSERT_EQ(Scan(), all);
    }
    ExpectWhole();
  }
  void ExpectWhole() {
    const Status s = db_->VerifyChecksum();
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  // Each key as it was or as it is filtered; says how many are filtered that a filter makes others of.
  int CountFiltered(const rocksdb::ReadOptions& read = rocksdb::ReadOptions()) {
    int count = 0;
    for (const auto& [key, value] : model_) {
      std::string found, expected;
      const Status s = db_->Get(read, key, &found);
      const bool stays = SwitchedFilter::Filtered(value, &expected) && !expected.empty();
      EXPECT_TRUE(s.ok() || s.IsNotFound()) << key << ": " << s.ToString();
      if (s.ok() && found == value) continue;
      EXPECT_TRUE(stays ? s.ok() && found == expected : s.IsNotFound()) << key << " " << value << " " << found;
      ++count;
    }
    return count;
  }

  SwitchedFilter filter_;
  Model model_;
};

// A flush shows the filter the pages that it rewrites, and CompactRange all there is.
TEST_P(TablelessFilterTest, FlushesAndCompactions) {
  OpenDb();
  PutRound(0);
  Flush();
  ExpectModel(model_);
  filter_.on = true;
  for (int i = 0; i < 300; ++i) {
    const std::string key = "new" + Key(i);
    ASSERT_TRUE(Put(key, "keep:" + key).ok());
    ASSERT_TRUE(db_->Delete({}, key).ok());  // so that pages are all that it changes
  }
  Flush();
  const int by_flush = CountFiltered();
  EXPECT_GT(by_flush, 0);
  EXPECT_LT(by_flush, kKeys);
  ExpectWhole();
  OpenDb();
  EXPECT_EQ(CountFiltered(), by_flush);
  Compact();
  ExpectModel(FilteredModel(model_));
  OpenDb();
  ExpectModel(FilteredModel(model_));
}

// Like RocksDB's, filters ignore snapshots; overwritten versions are kept for snapshots as always.
TEST_P(TablelessFilterTest, WithASnapshot) {
  OpenDb();
  PutRound(0);
  Flush();
  rocksdb::ReadOptions read;
  read.snapshot = db_->GetSnapshot();
  const Model before = model_;
  for (int i = 0; i < kKeys; i += 3) ASSERT_TRUE(Put(Key(i), "keep:overwritten").ok());
  Flush();
  filter_.on = true;
  Compact();
  for (int i = 0; i < kKeys; ++i) {
    std::string value, filtered;
    const Status s = db_->Get(read, Key(i), &value);
    const bool stays = SwitchedFilter::Filtered(before.at(Key(i)), &filtered) && !filtered.empty();
    if (i % 3 == 0) {
      EXPECT_TRUE(s.ok() && value == before.at(Key(i))) << i << " " << s.ToString();
    } else {
      EXPECT_TRUE(stays ? s.ok() && value == filtered : s.IsNotFound()) << i << " " << s.ToString() << value;
    }
    model_[Key(i)] = i % 3 == 0 ? "keep:overwritten" : before.at(Key(i));
  }
  ExpectModel(FilteredModel(model_));
  db_->ReleaseSnapshot(read.snapshot);
  Compact();
  ExpectModel(FilteredModel(model_));
}

// Operands that cannot be merged stay next to newer records, as snapshots see them, until a flush folds them.
TEST_P(TablelessFilterTest, LeavesWhatCannotBeMerged) {
  options_.merge_operator = std::make_shared<PickyOperator>();
  OpenDb();
  ASSERT_TRUE(Put("a", "base").ok());
  Flush();
  const rocksdb::Snapshot* const before = db_->GetSnapshot();
  ASSERT_TRUE(db_->Merge({}, "a", "bad").ok());
  Flush();
  ASSERT_TRUE(Put("a", "gone").ok());
  ASSERT_TRUE(db_->Merge({}, "a", "bad").ok());
  Flush();
  for (const bool on : {false, true}) {
    filter_.on = on;
    Compact();
    EXPECT_EQ(Get("a", before), "base");
    EXPECT_NE(Get("a").find("Merge operator failed"), std::string::npos) << Get("a");
  }
  db_->ReleaseSnapshot(before);
  ASSERT_TRUE(Put("a", "gone").ok());
  Flush();
  Compact();
  EXPECT_EQ(Get("a"), "NOT_FOUND");
}

// Writers and flushes continue while rehashes use the filter, and the number of pages changes.
TEST_P(TablelessFilterTest, RehashesConcurrentWithFlushes) {
  piece_.tableless_rehash_batch = 1;
  UsePieces();
  OpenDb();
  PutRound(0);
  Flush();
  filter_.on = true;
  for (int turn = 0; turn < 4; ++turn) {
    SCOPED_TRACE(turn);
    const rocksdb::Snapshot* const snapshot = turn % 2 == 0 ? db_->GetSnapshot() : nullptr;
    std::atomic<bool> done{false};
    std::thread compactor([&] {
      EXPECT_TRUE(db_->SetOptions({{"table_factory.tableless_pages", turn % 2 == 0 ? "200" : "32"}}).ok());
      while (!done) EXPECT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
    });
    for (int round = 1; round <= 6; ++round) {
      PutRound(turn * 6 + round, /*step=*/1 + round % 3);
      for (int i = round; i < kKeys; i += 50) {
        EXPECT_TRUE(db_->Delete({}, Key(i)).ok());
        model_.erase(Key(i));
      }
      Flush();
      CountFiltered();
    }
    done = true;
    compactor.join();
    if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
    Settle();
    ExpectModel(FilteredModel(model_));
    if (turn == 2) OpenDb();
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, TablelessFilterTest,
                         ::testing::Values(Layout{true, false}, Layout{false, false}, Layout{true, true}),
                         [](const ::testing::TestParamInfo<Layout>& info) {
                           return std::string(info.param.key_store ? "KeyStore" : "NoKeyStore") +
                                  (info.param.atomic_pages ? "Atomic" : "");
                         });

}  // namespace
}  // namespace compassdb
