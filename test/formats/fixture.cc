// SPDX-License-Identifier: Apache-2.0
#include "formats/fixture.h"

#include "rocksdb/filter_policy.h"
#include "support/random.h"
#include "support/small_options.h"

namespace compassdb_test {

Opened::Opened(const std::string& layout, const std::string& path, bool create, rocksdb::Env* env) {
  rocksdb::Options options = SmallOptions(layout);
  if (env != nullptr) options.env = env;
  options.create_if_missing = options.create_missing_column_families = create;
  options.disable_auto_compactions = true;
  options.compression = create ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
  options.avoid_flush_during_shutdown = true;
  options.info_log_level = rocksdb::FATAL_LEVEL;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 400;
  table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  ApplyFullSizeLayout(layout, &options);
  auto* const pieces = options.table_factory->GetOptions<compassdb::PieceTableOptions>();
  if (pieces != nullptr) pieces->tableless_sections = 2;
  rocksdb::DB* raw = nullptr;
  status = rocksdb::DB::Open(options, path, {{"default", options}, {"two", options}}, &handles, &raw);
  db.reset(raw);
}

Opened::~Opened() {
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
}

Entries Opened::Scan(int family) const {
  Entries entries;
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), handles[family]));
  for (it->SeekToFirst(); it->Valid(); it->Next()) entries[it->key().ToString()] = it->value().ToString();
  if (!it->status().ok()) entries["error"] = it->status().ToString();
  return entries;
}

namespace {

constexpr int kLarge = 51;  // its value fits no page; from release 3 on

}  // namespace

int ReleaseOf(const std::filesystem::path& release) { return std::stoi(release.filename().string()); }

std::string Key(int i) { return "key" + std::to_string(1000 + i); }
std::string Value(int i, int version) {
  Random random(static_cast<uint64_t>(100 * i + version));
  return std::to_string(version) + ":" + random.Text(i == kLarge ? 5000 : i % 9 == 0 ? 230 : 12);
}

bool Contents(int release, const Opened* opened, Entries expected[2]) {
  bool ok = true;
  const auto put = [&](int family, int i, int version) {
    expected[family][Key(i)] = Value(i, version);
    if (opened != nullptr) ok &= opened->db->Put({}, opened->handles[family], Key(i), Value(i, version)).ok();
  };
  const auto flush = [&] {
    if (opened != nullptr) ok &= opened->db->Flush({}, opened->handles).ok();
  };
  for (int i = 0; i < 50; ++i) put(0, i, 1);
  for (int i = 0; i < 10; ++i) put(1, i, 1);
  if (release >= 3) put(0, kLarge, 1);
  flush();
  for (int family = 0; family < 2 && opened != nullptr; ++family) {
    ok &= opened->db->CompactRange({}, opened->handles[family], nullptr, nullptr).ok();
  }
  for (int i = 0; i < 50; i += 8) put(0, i, 2);
  expected[0].erase(expected[0].find(Key(20)), expected[0].find(Key(26)));
  expected[0].erase(Key(3));
  if (opened != nullptr) {
    ok &= opened->db->Delete({}, Key(3)).ok();
    ok &= opened->db->DeleteRange({}, opened->db->DefaultColumnFamily(), Key(20), Key(26)).ok();
  }
  flush();
  for (int i = 0; i < 50; i += 11) put(i % 2, i, 3);  // in the log alone
  return ok;
}

bool Same(const Opened& opened, const Entries expected[2], const std::string& when) {
  for (int family = 0; family < 2; ++family) {
    REQUIRE(opened.Scan(family) == expected[family], "family %d %s", family, when.c_str());
    for (int i = 0; i < 52; ++i) {
      std::string value;
      const rocksdb::Status s = opened.db->Get({}, opened.handles[family], Key(i), &value);
      const auto found = expected[family].find(Key(i));
      REQUIRE(found == expected[family].end() ? s.IsNotFound() : s.ok() && value == found->second, "Get of %s %s: %s", Key(i).c_str(),
              when.c_str(), s.ToString().c_str());
    }
  }
  return true;
}

}  // namespace compassdb_test
