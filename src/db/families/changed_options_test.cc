// SPDX-License-Identifier: Apache-2.0
// What SetOptions changes is used by the stores of an open database. The option tables say what may
// change, so a new option is tested, too.
#include "db/testing/family_test_util.h"
#include "lsm/lsm_store_impl.h"
#include "options/option_tables.h"
#include "options/projection.h"
#include "options/sanitize.h"
#include "tableless/tableless_store.h"
#include "tableless/tableless_store_impl.h"

namespace compassdb {
namespace {

using rocksdb::ColumnFamilyOptions;

// Values of options of all types.
constexpr const char* kValues[] = {
    "true", "false", "1", "2", "3", "12", "60", "4096", "65536", "1000000", "0.5", "2:3",
    "{level=3;}", "kZlibCompression", "kZlibCompression:kNoCompression", "kFlushOnly",
    "kOldestSmallestSeqFirst", "rocksdb.FixedPrefix.3", "slot", "cphash", "cost-benefit"};

class ChangedOptionsTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  ChangedOptionsTest() {
    PieceTableOptions piece;
    piece.store = GetParam();
    piece.leveled = true;  // for compaction_pri
    options_.table_factory.reset(NewPieceTableFactory(piece));
    if (GetParam() == StoreKind::kLsm) options_.enable_blob_files = true;
  }
  static StoreOptions Project(const ColumnFamilyOptions& options) {
    return ProjectStoreOptions(options, 0, "default");
  }

  // Each row of the table, as the option `prefix` and its name. Those of a table_factory have tables.
  template <class S>
  void ChangeEach(const OptionTable<S>& table, const std::string& prefix) {
    for (const OptionInfo<S>& option : table) {
      const bool factory = std::string_view(option.name).ends_with("table_factory");
      if (!option.is_mutable() || option.parse == nullptr || factory) continue;
      Change(prefix + option.name, option.support);
    }
  }
  void Change(const std::string& name, Support support) {
    SCOPED_TRACE(name);
    const StoreOptions before = Project(options_);
    bool taken = false;
    for (const char* value : kValues) {
      ColumnFamilyOptions options = options_;
      const Status s = ApplyMutableFamilyOptions("f", {}, {{name, value}}, &options);
      taken = taken || s.ok() || s.IsNotSupported();  // by this store
      if (!s.ok()) continue;
      const StoreOptions changed = Project(options);
      if (changed == before) continue;
      ExpectTaken(before, changed);
      ++changed_;
      return;
    }
    EXPECT_TRUE(taken || support != Support::kSupported) << "needs a value in kValues";
  }
  void ExpectTaken(const StoreOptions& before, const StoreOptions& changed) {
    if (GetParam() == StoreKind::kLsm) {
      LsmStore store(&db_.context, before);
      store.SetOptions(changed);
      EXPECT_TRUE(*store.current() == changed);
      return;
    }
    auto keys = std::make_unique<LsmStore>(&db_.context, KeyStoreOptions(before));
    const LsmStore* const key_store = keys.get();
    TablelessStore store(&db_.context, before, std::move(keys));
    store.SetOptions(changed);
    EXPECT_TRUE(*store.current_options() == changed);
    EXPECT_TRUE(*key_store->current() == KeyStoreOptions(changed));
  }

  FamilyHarness db_;
  ColumnFamilyOptions options_;
  int changed_ = 0;
};

TEST_P(ChangedOptionsTest, AreThoseOfTheStore) {
  ChangeEach(FamilyOptionTable(), "");
  ChangeEach(BlockTableOptionTable(), "table_factory.");
  ChangeEach(PieceTableOptionTable(), "table_factory.");
  EXPECT_GT(changed_, 20);
}

INSTANTIATE_TEST_SUITE_P(Stores, ChangedOptionsTest,
                         ::testing::Values(StoreKind::kLsm, StoreKind::kTableless));

}  // namespace
}  // namespace compassdb
