// SPDX-License-Identifier: Apache-2.0
// Tables in several directories: db_paths and cf_paths.

#include <set>

#include "equality/transcript.h"
#include "rocksdb/env.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::CompactRangeOptions;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::WriteOptions;

namespace {

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Options WithPaths(Transcript* t, const std::vector<std::string>& names) {
  Options options = FreshOptions();
  options.disable_auto_compactions = true;
  for (const std::string& name : names) options.db_paths.emplace_back(t->Path(name), 1 << 30);
  return options;
}

void ShowPaths(Transcript* t, const std::string& what, const std::vector<rocksdb::DbPath>& paths) {
  std::string line = what;
  for (const rocksdb::DbPath& path : paths) {
    line += " " + LastPart(path.path) + ":" + std::to_string(path.target_size);
  }
  t->Line(line);
}

// The directories that tables are in, and whether they are really there.
void ShowDirectories(Transcript* t, DB* db) {
  std::vector<rocksdb::LiveFileMetaData> tables;
  db->GetLiveFilesMetaData(&tables);
  std::set<std::string> lines;
  for (const rocksdb::LiveFileMetaData& table : tables) {
    const bool found = db->GetEnv()->FileExists(table.db_path + table.name).ok();
    lines.insert(table.column_family_name + " " + LastPart(table.db_path) + " " +
                 LastPart(table.directory) + (found ? "" : " not there"));
  }
  for (const std::string& line : lines) t->Line("tables of " + line);
  std::vector<rocksdb::LiveFileStorageInfo> files;
  rocksdb::LiveFilesStorageInfoOptions copy;
  copy.wal_size_for_flush = UINT64_MAX;
  t->Code("live files", db->GetLiveFilesStorageInfo(copy, &files));
  lines.clear();
  for (const rocksdb::LiveFileStorageInfo& file : files) {
    if (file.file_type == rocksdb::kTableFile) lines.insert(LastPart(file.directory));
  }
  for (const std::string& line : lines) t->Line("live files in " + line);
}

void ShowExisting(Transcript* t, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    t->Line(name + (rocksdb::Env::Default()->FileExists(t->Path(name)).ok() ? " exists" : " is missing"));
  }
}

void Fill(Transcript* t, DB* db, ColumnFamilyHandle* family, const std::string& value) {
  for (int i = 0; i < 50; ++i) {
    rocksdb::Status s = db->Put(WriteOptions(), family, "key" + std::to_string(i), value);
    if (!s.ok()) t->Code("put", s);
  }
  t->Code("flush", db->Flush(rocksdb::FlushOptions(), family));
}

void PathErrors(Transcript* t) {
  DB* db = nullptr;
  t->Full("five paths", DB::Open(WithPaths(t, {"a", "b", "c", "d", "e"}), t->Path("db"), &db));
  Options nameless = FreshOptions();
  nameless.db_paths.emplace_back("", 1);
  t->Code("nameless", DB::Open(nameless, t->Path("db"), &db));
  {
    auto four = OpenOrNote(t, "db", WithPaths(t, {"a", "b", "c", "d"}));
    if (!four) return;
    ShowPaths(t, "db_paths", four->GetDBOptions().db_paths);
    ShowPaths(t, "cf_paths", four->GetOptions().cf_paths);
    CompactRangeOptions compact;
    compact.target_path_id = 4;
    t->Full("no such path", four->CompactRange(compact, nullptr, nullptr));
  }
  ShowExisting(t, {"a", "b", "c", "d"});
  std::vector<std::string> names;
  t->Code("children of nothing", rocksdb::Env::Default()->GetChildren(t->Path("nothing"), &names));
  auto plain = OpenOrNote(t, "plain", FreshOptions());
  if (!plain) return;
  ShowPaths(t, "db_paths", plain->GetDBOptions().db_paths);
  ShowPaths(t, "cf_paths", plain->GetOptions().cf_paths);
}

void TablesInPaths(Transcript* t) {
  Options options = WithPaths(t, {"first", "second"});
  {
    auto db = OpenOrNote(t, "db", options);
    if (!db) return;
    auto* family = db->DefaultColumnFamily();
    Fill(t, db.get(), family, "one");
    ShowDirectories(t, db.get());
    CompactRangeOptions compact;
    compact.target_path_id = 1;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    t->Code("compact", db->CompactRange(compact, nullptr, nullptr));
    ShowDirectories(t, db.get());
    rocksdb::ColumnFamilyMetaData meta;
    db->GetColumnFamilyMetaData(&meta);
    std::vector<std::string> inputs, outputs;
    for (const auto& level : meta.levels) {
      for (const auto& file : level.files) inputs.push_back(file.name);
    }
    t->Code("compact files",
            db->CompactFiles(rocksdb::CompactionOptions(), inputs, 3, 0, &outputs));
    for (const std::string& output : outputs) {
      t->Line("output in " + LastPart(output.substr(0, output.rfind('/'))));
    }
    ShowDirectories(t, db.get());
    Fill(t, db.get(), family, "two");
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kSkip;
    compact.target_path_id = 1;
    t->Code("compact", db->CompactRange(compact, nullptr, nullptr));
    t->Scan("contents", db.get());
  }
  options.db_paths.emplace_back(t->Path("third"), 1 << 30);
  {
    auto db = OpenOrNote(t, "db", options);
    if (!db) return;
    t->Scan("with a third", db.get());
    CompactRangeOptions compact;
    compact.target_path_id = 2;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    t->Code("compact", db->CompactRange(compact, nullptr, nullptr));
    ShowDirectories(t, db.get());
  }
  t->Code("destroy", rocksdb::DestroyDB(t->Path("db"), options));
  ShowExisting(t, {"db", "first", "second", "third"});
}

void PathsOfFamilies(Transcript* t) {
  Options options = WithPaths(t, {"shared"});
  ColumnFamilyOptions own(options);
  own.cf_paths = {{t->Path("own1"), 1 << 30}, {t->Path("own2"), 1 << 30}};
  {
    auto db = OpenOrNote(t, "db", options);
    if (!db) return;
    ColumnFamilyHandle* handle = nullptr;
    ColumnFamilyOptions nameless;
    nameless.cf_paths.emplace_back("", 1);
    t->Code("nameless", db->CreateColumnFamily(nameless, "nameless", &handle));
    t->Code("create", db->CreateColumnFamily(own, "own", &handle));
    if (handle == nullptr) return;
    ShowExisting(t, {"own1", "own2"});
    ShowPaths(t, "cf_paths", db->GetOptions(handle).cf_paths);
    Fill(t, db.get(), handle, "one");
    Fill(t, db.get(), db->DefaultColumnFamily(), "two");
    CompactRangeOptions compact;
    compact.target_path_id = 2;
    t->Full("no such path", db->CompactRange(compact, handle, nullptr, nullptr));
    ShowDirectories(t, db.get());
    db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  std::vector<std::string> names;
  t->Code("list", DB::ListColumnFamilies(options, t->Path("db"), &names));
  for (const std::string& name : names) t->Line("family " + name);
  const std::vector<ColumnFamilyDescriptor> families = {{"default", options}, {"own", own}};
  std::vector<ColumnFamilyHandle*> handles;
  DB* opened = nullptr;
  t->Code("open", DB::Open(options, t->Path("db"), families, &handles, &opened));
  if (opened == nullptr) return;
  t->Scan("own", opened, handles[1]);
  for (auto* handle : handles) opened->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  delete opened;
  t->Code("destroy", rocksdb::DestroyDB(t->Path("db"), options, families));
  ShowExisting(t, {"db", "shared", "own1", "own2"});
}

}  // namespace

std::vector<Scenario> PathScenarios() {
  return {{"path_errors", PathErrors},
          {"tables_in_paths", TablesInPaths},
          {"paths_of_families", PathsOfFamilies}};
}

}  // namespace compassdb_test
