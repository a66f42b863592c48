// SPDX-License-Identifier: Apache-2.0
#include "formats/databases.h"

#include <vector>

#include "formats/fixture.h"
#include "support/temp_dir.h"
#include "util/hash.h"

namespace compassdb_test {

namespace fs = std::filesystem;
using rocksdb::Status;

bool MakeDatabase(const std::string& layout, const fs::path& path, rocksdb::Env* env) {
  fs::remove_all(path);
  fs::create_directories(path);
  {
    const Opened opened(layout, path.string(), true, env);
    REQUIRE(opened.status.ok(), "%s", opened.status.ToString().c_str());
    Entries expected[2];
    REQUIRE(Contents(ReleaseOf(path.parent_path()), &opened, expected), "%s", layout.c_str());
  }
  std::vector<fs::path> spare;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name == "LOG" || name == "LOCK" || name.rfind("OPTIONS", 0) == 0 || entry.file_size() == 0) spare.push_back(entry.path());
  }
  for (const fs::path& file : spare) fs::remove(file);
  return true;
}

bool OpensWithExactData(const std::string& layout, const fs::path& fixture, rocksdb::Env* env) {
  TempDir dir("formats");
  const std::string path = dir.path() + "/db";
  CopyDirectory(fixture.string(), path);
  Entries expected[2];
  Contents(ReleaseOf(fixture.parent_path()), nullptr, expected);
  for (int round = 0; round < 2; ++round) {
    const Opened opened(layout, path, false, env);
    REQUIRE(opened.status.ok(), "%s: %s", fixture.c_str(), opened.status.ToString().c_str());
    if (!Same(opened, expected, fixture.string() + ", round " + std::to_string(round))) return false;
    // The newest format next to the old one, then in its place.
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

Status FirstError(const std::string& layout, const std::string& path, rocksdb::Env* env) {
  const Opened opened(layout, path, false, env);
  Status s = opened.status;
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
  return s;
}

bool IsRefusal(const Status& s, const std::string& path, const std::string& what) {
  const std::string text = s.ToString();
  REQUIRE(s.IsNotSupported(), "%s: %s", what.c_str(), text.c_str());
  REQUIRE(text.find("version") != std::string::npos && text.find(path) != std::string::npos, "unclear: %s", text.c_str());
  return true;
}

namespace {

// The place of a format's version: behind its magic number, or before it; without one, in every page of 4 KiB.
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
    std::string bytes;
    REQUIRE(rocksdb::ReadFileToString(rocksdb::Env::Default(), entry.path(), &bytes).ok(), "read");
    const std::vector<size_t> places = PlacesOf(versioned, bytes);
    if (places.empty()) continue;
    for (const size_t at : places) bytes[at + static_cast<size_t>(versioned.offset)] += static_cast<char>(versioned.raise);
    REQUIRE(rocksdb::WriteStringToFile(rocksdb::Env::Default(), bytes, entry.path()).ok(), "write");
    ++changed;
  }
  REQUIRE(changed > 0, "%s: no %s", fixture.c_str(), versioned.what);
  compassdb::TEST_IgnoreChecksums(true);
  const Status s = FirstError(layout, path, /*env=*/nullptr);
  compassdb::TEST_IgnoreChecksums(false);
  return IsRefusal(s, path, fixture.string() + ", newer " + versioned.what);
}

}  // namespace

bool NewerVersionsAreRefused(const std::string& layout, const fs::path& fixture) {
  for (const Versioned& versioned : kVersioned) {
    if (versioned.magic == nullptr && layout != "tableless") continue;
    if (!NewerVersionIsRefused(layout, fixture, versioned)) return false;
  }
  return true;
}

}  // namespace compassdb_test
