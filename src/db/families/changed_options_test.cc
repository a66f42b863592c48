// SPDX-License-Identifier: Apache-2.0
// What SetOptions changes is used by the stores of an open database. The option tables say what may
// change, so a new option is tested, too: it changes StoreOptions, or one of the lists names it.
#include <set>

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

// These work, but not in a store.
const std::set<std::string> kOfNoStore = {
    // In memtables.
    "max_write_buffer_number", "arena_block_size",
    // In iterators.
    "max_sequential_skip_in_iterations",
    // In stalls.
    "level0_slowdown_writes_trigger", "level0_stop_writes_trigger",
    "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit",
    // In jobs: whether they are scheduled, read their files, and how fast holes are punched.
    "disable_auto_compactions", "paranoid_file_checks", "table_factory.punch_bytes_per_second"};
// Refused by the table-less store.
const std::set<std::string> kOfLsmStore = {"ttl", "periodic_compaction_seconds",
                                           "enable_blob_files"};
// Hints that change StoreOptions all the same.
const std::set<std::string> kHints = {"compaction_pri", "compression_opts"};

class ChangedOptionsTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  ChangedOptionsTest() {
    PieceTableOptions piece;
    piece.store = GetParam();
    piece.leveled = true;  // for compaction_pri
    options_.table_factory.reset(NewPieceTableFactory(piece));
    if (GetParam() == StoreKind::kLsm) options_.enable_blob_files = true;
    options_ = SanitizeFamilyOptions({}, options_);  // as SetOptions does
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
    for (const char* value : kValues) {
      ColumnFamilyOptions options = options_;
      if (!ApplyMutableFamilyOptions("f", {}, {{name, value}}, &options).ok()) continue;
      const StoreOptions changed = Project(options);
      if (changed == before) continue;
      ExpectTaken(before, changed);
      if (support == Support::kHint) hints_.insert(name);
      return;
    }
    if (support == Support::kSupported) unchanged_.insert(name);
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
  std::set<std::string> unchanged_;  // though they work
  std::set<std::string> hints_;      // that changed something
};

TEST_P(ChangedOptionsTest, AreThoseOfTheStore) {
  ChangeEach(FamilyOptionTable(), "");
  ChangeEach(BlockTableOptionTable(), "table_factory.");
  ChangeEach(PieceTableOptionTable(), "table_factory.");
  std::set<std::string> expected = kOfNoStore;
  if (GetParam() == StoreKind::kTableless) expected.insert(kOfLsmStore.begin(), kOfLsmStore.end());
  EXPECT_EQ(unchanged_, expected) << "a line in projection.cc or a value in kValues is missing";
  EXPECT_EQ(hints_, kHints);
}

INSTANTIATE_TEST_SUITE_P(Stores, ChangedOptionsTest,
                         ::testing::Values(StoreKind::kLsm, StoreKind::kTableless));

}  // namespace
}  // namespace compassdb
