// SPDX-License-Identifier: Apache-2.0
//
// Databases that earlier builds wrote, one per layout, are in test/formats/<number>/. This build must
// open them and read exact data, go on with them, and refuse what says it is of a newer format.
//
//   formats_test --fixtures=test/formats
//   formats_test --make=test/formats/2     writes them anew, for the next release with a new format

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/write_batch.h"
#include "support/flags.h"
#include "support/random.h"
#include "support/small_options.h"
#include "support/temp_dir.h"
#include "util/hash.h"

namespace compassdb_test {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;
using Entries = std::map<std::string, std::string>;

#define REQUIRE(condition, ...)                         \
  do {                                                  \
    if (!(condition)) {                                 \
      fprintf(stderr, "FAILED: " __VA_ARGS__);          \
      fprintf(stderr, " (%s)\n", #condition);           \
      return false;                                     \
    }                                                   \
  } while (0)

class Opened {
 public:
  Opened(const std::string& layout, const std::string& path, bool create) {
    rocksdb::Options options = SmallOptions(layout);
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
  ~Opened() {
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  Entries Scan(int family) const {
    Entries entries;
    std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions(), handles[family]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) entries[it->key().ToString()] = it->value().ToString();
    if (!it->status().ok()) entries["error"] = it->status().ToString();
    return entries;
  }

  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  Status status;
};

std::string Key(int i) { return "key" + std::to_string(1000 + i); }
std::string Value(int i, int version) {
  Random random(static_cast<uint64_t>(100 * i + version));
  return std::to_string(version) + ":" + random.Text(i % 9 == 0 ? 230 : 12);
}

// What every fixture holds; written into `opened` if that is not null.
bool Contents(const Opened* opened, Entries expected[2]) {
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

bool Make(const std::string& dir) {
  for (const std::string& layout : Layouts()) {
    const fs::path path = fs::path(dir) / layout;
    fs::remove_all(path);
    fs::create_directories(path);
    {
      const Opened opened(layout, path.string(), true);
      REQUIRE(opened.status.ok(), "%s", opened.status.ToString().c_str());
      Entries expected[2];
      REQUIRE(Contents(&opened, expected), "%s", layout.c_str());
    }
    std::vector<fs::path> spare;
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      if (name == "LOG" || name == "LOCK" || name.rfind("OPTIONS", 0) == 0 || entry.file_size() == 0) spare.push_back(entry.path());
    }
    for (const fs::path& file : spare) fs::remove(file);
  }
  return true;
}

bool Same(const Opened& opened, const Entries expected[2], const std::string& when) {
  for (int family = 0; family < 2; ++family) {
    REQUIRE(opened.Scan(family) == expected[family], "family %d %s", family, when.c_str());
    for (int i = 0; i < 52; ++i) {
      std::string value;
      const Status s = opened.db->Get({}, opened.handles[family], Key(i), &value);
      const auto found = expected[family].find(Key(i));
      REQUIRE(found == expected[family].end() ? s.IsNotFound() : s.ok() && value == found->second, "Get of %s %s: %s", Key(i).c_str(),
              when.c_str(), s.ToString().c_str());
    }
  }
  return true;
}

bool OpensWithExactData(const std::string& layout, const fs::path& fixture) {
  TempDir dir("formats");
  const std::string path = dir.path() + "/db";
  CopyDirectory(fixture.string(), path);
  Entries expected[2];
  Contents(nullptr, expected);
  for (int round = 0; round < 2; ++round) {
    const Opened opened(layout, path, false);
    REQUIRE(opened.status.ok(), "%s: %s", fixture.c_str(), opened.status.ToString().c_str());
    if (!Same(opened, expected, fixture.string() + ", round " + std::to_string(round))) return false;
    // The newest format beside the old one, then in its place.
    for (int i = 0; i < 50; i += 7) {
      expected[0][Key(i)] = Value(i, 4);
      REQUIRE(opened.db->Put({}, Key(i), Value(i, 4)).ok(), "put");
    }
    REQUIRE(opened.db->Flush({}, opened.handles).ok(), "flush");
    if (!Same(opened, expected, "after a flush")) return false;
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    for (auto* handle : opened.handles) {
      const Status s = opened.db->CompactRange(all, handle, nullptr, nullptr);
      REQUIRE(s.ok(), "%s", s.ToString().c_str());
    }
    if (!Same(opened, expected, "after a compaction")) return false;
  }
  return true;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

// Where a format's version stands: behind its magic number, or before it; without one, in every page of 4 KiB.
struct Versioned {
  const char* what;
  const char* file;   // part of its name
  const char* magic;  // the last one of the file; null: pages
  int offset;         // of the version's lowest byte, from the magic number or the page's begin
  int raise;          // of that byte
};
constexpr Versioned kVersioned[] = {{"CURRENT", "CURRENT", "CompassDB ", 10, 1},
                                    {"manifest", "MANIFEST", "CmpsMan1", 8, 70},
                                    {"write-ahead log", ".log", "CmpsWal1", 8, 70},
                                    {"compaction file", ".ph", "CmpsPhF1", 8, 70},
                                    {"piece", ".ph", "CmpsPie1", -4, 70},
                                    {"page", ".pages", nullptr, 15, 70}};
constexpr size_t kPageBytes = 4096;

std::vector<size_t> PlacesOf(const Versioned& versioned, const std::string& bytes) {
  std::vector<size_t> places;
  if (versioned.magic == nullptr) {
    for (size_t at = 0; at < bytes.size(); at += kPageBytes) places.push_back(at);
  } else if (const size_t at = bytes.rfind(versioned.magic); at != std::string::npos) {
    places.push_back(at);
  }
  return places;
}

// The version is raised, checksums not looked at: so would a later release's file look to this one.
bool NewerVersionIsRefused(const std::string& layout, const fs::path& fixture, const Versioned& versioned) {
  TempDir dir("formats");
  const std::string path = dir.path() + "/db";
  CopyDirectory(fixture.string(), path);
  int changed = 0;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().filename().string().find(versioned.file) == std::string::npos) continue;
    std::string bytes = ReadFile(entry.path());
    const std::vector<size_t> places = PlacesOf(versioned, bytes);
    if (places.empty()) continue;
    for (const size_t at : places) bytes[at + static_cast<size_t>(versioned.offset)] += static_cast<char>(versioned.raise);
    std::ofstream(entry.path(), std::ios::binary) << bytes;
    ++changed;
  }
  REQUIRE(changed > 0, "%s: no %s", fixture.c_str(), versioned.what);
  compassdb::TEST_IgnoreChecksums(true);
  Status s;
  {
    const Opened opened(layout, path, false);
    s = opened.status;
    std::string value;
    for (int i = 0; i < 50 && s.ok(); ++i) {
      s = opened.db->Get({}, Key(i), &value);
      if (s.IsNotFound()) s = Status::OK();
    }
    if (s.ok()) {
      // Point reads go past the key store of a table-less family.
      std::unique_ptr<rocksdb::Iterator> it(opened.db->NewIterator(rocksdb::ReadOptions()));
      for (it->SeekToFirst(); it->Valid();) it->Next();
      s = it->status();
    }
  }
  compassdb::TEST_IgnoreChecksums(false);
  const std::string text = s.ToString();
  REQUIRE(s.IsNotSupported(), "%s, newer %s: %s", fixture.c_str(), versioned.what, text.c_str());
  REQUIRE(text.find("version") != std::string::npos && text.find(path) != std::string::npos, "unclear: %s", text.c_str());
  return true;
}

bool Check(const std::string& fixtures) {
  int databases = 0;
  for (const auto& release : fs::directory_iterator(fixtures)) {
    if (!release.is_directory()) continue;
    for (const std::string& layout : Layouts()) {
      const fs::path fixture = release.path() / layout;
      if (!fs::is_directory(fixture)) continue;  // a layout that came later
      ++databases;
      if (!OpensWithExactData(layout, fixture)) return false;
      for (const Versioned& versioned : kVersioned) {
        if (versioned.magic == nullptr && layout != "tableless") continue;
        if (!NewerVersionIsRefused(layout, fixture, versioned)) return false;
      }
    }
  }
  printf("%d databases\n", databases);
  REQUIRE(databases > 0, "no fixtures in %s", fixtures.c_str());
  return true;
}

}  // namespace

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  const std::string fixtures = flags.String("fixtures", ""), make = flags.String("make", "");
  flags.RejectUnknown();
  if (fixtures.empty() == make.empty()) {
    fprintf(stderr, "--fixtures=DIR or --make=DIR\n");
    return 2;
  }
  return (make.empty() ? Check(fixtures) : Make(make)) ? 0 : 1;
}

}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
