// SPDX-License-Identifier: Apache-2.0
//
// A database acts only on its own files: copies and moves of databases with logs and tables in other directories.
//
//   places_test --cli=PATH   every kind of copy, with every option that names a directory, under every command
//
// Each trial ends with the original, which must have all of its records, after any use of the copy.

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/info_log_finder.h"
#include "rocksdb/utilities/options_util.h"
#include "support/flags.h"
#include "support/temp_dir.h"

namespace compassdb_test {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

int failures = 0;
std::string trial;

void Check(bool ok, const std::string& what) {
  if (ok) return;
  ++failures;
  fprintf(stderr, "FAILED: %s: %s\n", trial.c_str(), what.c_str());
}

// A directory as text: names, sizes and bytes. Of the information log nothing: opening it moves it.
std::string Snapshot(const std::string& dir) {
  std::map<std::string, std::string> files;
  if (fs::is_regular_file(dir)) {
    std::ifstream in(dir, std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    return bytes.str();
  }
  if (!fs::is_directory(dir)) return "";
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    files[entry.path().string()] = bytes.str();
  }
  std::string all;
  for (const auto& [name, bytes] : files) all += name + "\n" + bytes + "\n";
  return all;
}

std::string Key(int i) { return "key" + std::to_string(100000 + i); }

struct Layout {
  const char* name;
  bool logs, tables, families;
};

struct Place {
  std::string root, db, logs, tables;
  explicit Place(const std::string& r) : root(r), db(r + "/db"), logs(r + "/logs"), tables(r + "/tables") {}
};

rocksdb::Options OptionsOf(const Layout& layout, const Place& place) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.avoid_flush_during_recovery = true;
  if (layout.logs) options.wal_dir = place.logs;
  if (layout.tables) options.db_paths = {{place.tables, 1 << 30}};
  if (layout.families) options.cf_paths = {{place.tables, 1 << 30}};
  return options;
}

constexpr int kFlushed = 200, kLogged = 100;

std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const std::string& dir, Status* s) {
  rocksdb::DB* db = nullptr;
  *s = rocksdb::DB::Open(options, dir, &db);
  return std::unique_ptr<rocksdb::DB>(db);
}

int Count(rocksdb::DB* db) {
  int n = 0;
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++n;
  return it->status().ok() ? n : -1;
}

// Tables and logs.
std::unique_ptr<rocksdb::DB> Make(const rocksdb::Options& options, const std::string& dir) {
  Status s;
  std::unique_ptr<rocksdb::DB> db = Open(options, dir, &s);
  Check(s.ok(), "create: " + s.ToString());
  for (int i = 0; s.ok() && i < kFlushed + kLogged; ++i) {
    s = db->Put({}, Key(i), std::string(100, 'v'));
    if (i == kFlushed - 1) s = db->Flush({});
  }
  Check(s.ok(), "fill: " + s.ToString());
  return db;
}

void ExpectAll(const rocksdb::Options& options, const std::string& dir, int records, const std::string& what) {
  Status s;
  std::unique_ptr<rocksdb::DB> db = Open(options, dir, &s);
  Check(s.ok(), what + ": " + s.ToString());
  if (!s.ok()) return;
  const int n = Count(db.get());
  Check(n == records, what + ": has " + std::to_string(n) + " records of " + std::to_string(records));
}

struct Outcome {
  int code = 0;
  std::string text;
};

std::string cli;

Outcome Run(const std::string& arguments) {
  Outcome outcome;
  FILE* pipe = popen((cli + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, "popen"};
  char buffer[4096];
  size_t n;
  while ((n = fread(buffer, 1, sizeof(buffer), pipe)) > 0) outcome.text.append(buffer, n);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

enum class Copy { kFiles, kCheckpoint, kBackup };

// A copy of the database alone, made while it is open.
void CopyTo(Copy kind, rocksdb::DB* db, const std::string& from, const std::string& to, const std::string& scratch) {
  if (kind == Copy::kFiles) {
    fs::copy(from, to, fs::copy_options::recursive);
  } else if (kind == Copy::kCheckpoint) {
    rocksdb::Checkpoint* checkpoint = nullptr;
    Check(rocksdb::Checkpoint::Create(db, &checkpoint).ok(), "Checkpoint::Create");
    const Status s = checkpoint->CreateCheckpoint(to, UINT64_MAX);
    Check(s.ok(), "checkpoint: " + s.ToString());
    delete checkpoint;
  } else {
    rocksdb::BackupEngine* engine = nullptr;
    Status s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(), rocksdb::BackupEngineOptions(scratch), &engine);
    if (s.ok()) s = engine->CreateNewBackup(db);
    if (s.ok()) s = engine->RestoreDBFromLatestBackup(to, to);
    Check(s.ok(), "backup: " + s.ToString());
    delete engine;
  }
}

// No use of a copy changes the original's directories.
void TryCopies(const std::string& root) {
  const Layout layouts[] = {{"wal_dir", true, false, false}, {"db_paths", false, true, false},
                            {"cf_paths", false, false, true}, {"wal_dir and db_paths", true, true, false}};
  const char* const kCommands[] = {"put k v", "compact", "repair", "delete key100001", "verify", "scan", "stats"};
  for (const Layout& layout : layouts) {
    for (const auto& [kind, name] : {std::pair(Copy::kFiles, "cp -r"), std::pair(Copy::kCheckpoint, "checkpoint"), std::pair(Copy::kBackup, "backup")}) {
      for (const bool running : {true, false}) {
        const Place place(root + "/" + std::to_string(rand()));
        trial = std::string(layout.name) + ", " + name + (running ? ", running" : ", closed");
        fs::create_directories(place.root);
        const rocksdb::Options options = OptionsOf(layout, place);
        std::unique_ptr<rocksdb::DB> db = Make(options, place.db);
        const std::string copy = place.root + "/copy";
        CopyTo(kind, db.get(), place.db, copy, place.root + "/backup");
        if (!running) db.reset();
        const std::string logs = Snapshot(place.logs), tables = Snapshot(place.tables);
        const std::string before = trial;
        for (const char* command : kCommands) {
          trial = before + ", " + command;
          const Outcome done = Run("--db " + copy + " " + command);
          Check(Snapshot(place.logs) == logs, "changed the original's logs: " + done.text);
          Check(Snapshot(place.tables) == tables, "changed the original's tables: " + done.text);
          if (kind == Copy::kFiles) {
            Check(done.code != 0 && done.text.find(layout.logs ? place.logs : place.tables) != std::string::npos,
                  "not refused by name: " + std::to_string(done.code) + " " + done.text);
          } else {
            Check(done.code == 0, std::to_string(done.code) + " " + done.text);
          }
        }
        // A program that opens the copy with the original's options.
        trial = before + ", Open";
        Status s;
        Open(options, copy, &s);
        Check(s.IsInvalidArgument() || s.IsCorruption(), "Open: " + s.ToString());
        rocksdb::DB* reader = nullptr;
        s = rocksdb::DB::OpenForReadOnly(options, copy, &reader);
        Check(!s.ok(), "OpenForReadOnly: " + s.ToString());
        delete reader;
        s = rocksdb::DestroyDB(copy, options);
        Check(!s.ok(), "DestroyDB: " + s.ToString());
        Check(Snapshot(place.logs) == logs, "changed the original's logs");
        Check(Snapshot(place.tables) == tables, "changed the original's tables");
        db.reset();
        trial = before;
        ExpectAll(options, place.db, kFlushed + kLogged, "the original");
        const Outcome verified = Run("--db " + place.db + " verify");
        Check(verified.code == 0, "verify: " + verified.text);
        fs::remove_all(place.root);
      }
    }
  }
}

// Every entry that is given directories of another database.
void ExpectRefused(const rocksdb::Options& options, const std::string& dir, const std::string& root, const std::string& named) {
  const auto check = [&](const char* entry, const Status& s) {
    Check(s.IsInvalidArgument() && s.ToString().find(named) != std::string::npos, std::string(entry) + ": " + s.ToString());
  };
  Status s;
  Open(options, dir, &s);
  check("Open", s);
  rocksdb::DB* reader = nullptr;
  check("OpenForReadOnly", rocksdb::DB::OpenForReadOnly(options, dir, &reader));
  check("OpenAsSecondary", rocksdb::DB::OpenAsSecondary(options, dir, root + "/secondary", &reader));
  check("RepairDB", rocksdb::RepairDB(dir, options));
  check("DestroyDB", rocksdb::DestroyDB(dir, options));
}

// A copy of a database includes the directories inside of it. The copy must not use the original's.
void TryInside(const std::string& root) {
  for (const Layout& layout : {Layout{"wal_dir inside", true, false, false}, Layout{"db_paths inside", false, true, false},
                               Layout{"cf_paths inside", false, false, true}}) {
    trial = layout.name;
    Place place(root + "/" + std::to_string(rand())), copied = place;
    place.logs = place.db + "/w";
    place.tables = place.db + "/t";
    copied.db = place.root + "/copy";
    copied.logs = copied.db + "/w";
    copied.tables = copied.db + "/t";
    fs::create_directories(place.root);
    const rocksdb::Options options = OptionsOf(layout, place);
    Make(options, place.db);
    fs::copy(place.db, copied.db, fs::copy_options::recursive);
    const std::string original = Snapshot(place.db), named = layout.logs ? place.logs : place.tables;
    ExpectRefused(options, copied.db, place.root, named);
    Make(OptionsOf({"", false, false, false}, place), place.root + "/other");
    ExpectRefused(options, place.root + "/other", place.root, named);
    if (layout.logs) {
      for (const char* command : {"verify", "put k v", "repair"}) {
        const Outcome done = Run("--db " + copied.db + " --wal-dir " + place.logs + " " + command);
        Check(done.code != 0 && done.text.find(place.logs) != std::string::npos, command + done.text);
      }
      rocksdb::BackupEngine* engine = nullptr;
      Status s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(), rocksdb::BackupEngineOptions(place.root + "/b"), &engine);
      std::unique_ptr<rocksdb::DB> db = Open(OptionsOf(layout, copied), copied.db, &s);
      if (s.ok()) s = engine->CreateNewBackup(db.get());
      Check(s.ok(), "backup: " + s.ToString());
      db.reset();
      s = engine->RestoreDBFromLatestBackup(copied.db, place.logs);
      Check(s.IsInvalidArgument(), "restore: " + s.ToString());
      delete engine;
    }
    Check(Snapshot(place.db) == original, "the original was changed");
    ExpectAll(OptionsOf(layout, copied), copied.db, kFlushed + kLogged, "the copy in its own place");
    ExpectAll(options, place.db, kFlushed + kLogged, "the original");
  }
}

// The disk of a recorded directory is not mounted: it is absent, or an empty directory.
void TryUnmounted(const std::string& root) {
  for (const Layout& layout : {Layout{"wal_dir", true, false, false}, Layout{"db_paths", false, true, false},
                               Layout{"cf_paths", false, false, true}}) {
    for (const bool empty : {false, true}) {
      trial = std::string(layout.name) + (empty ? " is empty" : " is absent");
      const Place place(root + "/" + std::to_string(rand()));
      fs::create_directories(place.root);
      const rocksdb::Options options = OptionsOf(layout, place);
      Make(options, place.db);
      const std::string& disk = layout.logs ? place.logs : place.tables;
      fs::rename(disk, disk + ".away");
      if (empty) fs::create_directory(disk);
      const std::string before = Snapshot(place.db);
      const auto check = [&](const std::string& entry, const Status& s) {
        Check(s.IsInvalidArgument() && s.ToString().find("mounted") != std::string::npos, entry + ": " + s.ToString());
      };
      Status s;
      Open(options, place.db, &s);
      check("Open", s);
      rocksdb::DB* reader = nullptr;
      check("OpenForReadOnly", rocksdb::DB::OpenForReadOnly(options, place.db, &reader));
      check("OpenAsSecondary", rocksdb::DB::OpenAsSecondary(options, place.db, place.root + "/secondary", &reader));
      s = rocksdb::RepairDB(place.db, options);
      Check(!s.ok() && s.ToString().find(disk) != std::string::npos, "RepairDB: " + s.ToString());
      for (const char* command : {"put k v", "get key100001", "verify", "repair"}) {
        const Outcome done = Run("--db " + place.db + " " + command);
        Check(done.code != 0 && done.text.find(disk) != std::string::npos, command + done.text);
      }
      Check(Snapshot(place.db) == before && fs::exists(disk) == empty, "something was changed");
      fs::remove_all(disk);
      fs::rename(disk + ".away", disk);
      ExpectAll(options, place.db, kFlushed + kLogged, "with the disk");
    }
  }
}

// A copy has no logs where the original's are. An open without wal_dir must not show a part of the records.
void TryCopyWithoutLogs(const std::string& root) {
  trial = "a copy without its logs";
  const Place place(root + "/copy_without_logs");
  fs::create_directories(place.root);
  Make(OptionsOf({"", true, false, false}, place), place.db);
  const std::string copy = place.root + "/copy";
  fs::copy(place.db, copy, fs::copy_options::recursive);
  rocksdb::Options options;
  for (const bool there : {true, false}) {
    if (!there) fs::rename(place.logs, place.logs + ".away");
    const auto check = [&](const char* entry, const Status& s) {
      Check(s.IsInvalidArgument() && s.ToString().find(place.logs) != std::string::npos, std::string(entry) + ": " + s.ToString());
    };
    Status s;
    Open(options, copy, &s);
    check("Open", s);
    rocksdb::DB* reader = nullptr;
    check("OpenForReadOnly", rocksdb::DB::OpenForReadOnly(options, copy, &reader));
    check("OpenAsSecondary", rocksdb::DB::OpenAsSecondary(options, copy, place.root + "/secondary", &reader));
    check("RepairDB", rocksdb::RepairDB(copy, options));
  }
  fs::rename(place.logs + ".away", place.logs);
  options.wal_dir = copy;
  Check(rocksdb::RepairDB(copy, options).ok(), "RepairDB with wal_dir");
  ExpectAll(options, copy, kFlushed, "with wal_dir");
  ExpectAll(rocksdb::Options(), copy, kFlushed, "from then on");
  ExpectAll(OptionsOf({"", true, false, false}, place), place.db, kFlushed + kLogged, "the original");
}

void TrySecondary(const std::string& root) {
  trial = "a secondary without the directories";
  const Place place(root + "/of_secondary");
  fs::create_directories(place.root);
  rocksdb::DB* reader = nullptr;
  for (const bool logs : {true, false}) {
    const std::string db = place.db + (logs ? "1" : "2");
    Make(OptionsOf({"", logs, !logs, false}, place), db);
    const Status s = rocksdb::DB::OpenAsSecondary(rocksdb::Options(), db, place.root + "/secondary", &reader);
    Check(s.IsInvalidArgument() && s.ToString().find(logs ? place.logs : place.tables) != std::string::npos &&
              s.ToString().find(logs ? "wal_dir" : "db_paths") != std::string::npos,
          s.ToString());
  }
}

// Without CURRENT, manifest and mirror, PLACES still says where the rest is.
void TryLostState(const std::string& root) {
  for (const bool inside : {false, true}) {
    trial = std::string("state lost, directories ") + (inside ? "inside" : "outside");
    Place place(root + "/" + std::to_string(rand()));
    fs::create_directories(place.root);
    if (inside) {
      place.logs = place.db + "/w";
      place.tables = place.db + "/t";
    }
    const rocksdb::Options options = OptionsOf({"", true, true, false}, place);
    Make(options, place.db);
    std::vector<fs::path> gone;
    for (const auto& entry : fs::directory_iterator(place.db)) {
      const std::string name = entry.path().filename();
      if (name == "CURRENT" || name.starts_with("MANIFEST") || name.starts_with("MIRROR")) gone.push_back(entry.path());
    }
    for (const fs::path& path : gone) fs::remove(path);
    const std::string tables = Snapshot(place.tables), logs = Snapshot(place.logs), places = Snapshot(place.db + "/PLACES");
    for (const char* command : {"verify", "get key100001", "put k v"}) {
      const Outcome done = Run("--db " + place.db + " " + command);
      Check(done.code != 0 && done.text.find("RepairDB") != std::string::npos, command + done.text);
    }
    rocksdb::Options plain;
    plain.create_if_missing = true;
    for (const rocksdb::Options& given : {options, plain}) {
      Status s;
      Open(given, place.db, &s);
      Check(s.IsCorruption() && s.ToString().find("RepairDB") != std::string::npos, "Open: " + s.ToString());
    }
    Check(Snapshot(place.tables) == tables && Snapshot(place.logs) == logs && Snapshot(place.db + "/PLACES") == places, "files were changed");
    const Outcome repair = Run("--db " + place.db + " repair");
    Check(repair.code == 0, repair.text);
    ExpectAll(options, place.db, kFlushed + kLogged, "repaired");
  }
}

// One record, as RocksDB writes it.
const std::string kRocksDBLog("\347\132\115\000\021\000\001\001\000\000\000\000\000\000\000\001\000\000\000\001\001\153\001\166", 24);

void Write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// DestroyDB and a restore delete the files of one database.
void TryFilesOfOthers(const std::string& root) {
  const Place place(root + "/files_of_others");
  const Layout outside{"", true, false, false}, plain{"", false, false, false};
  const std::string log = place.logs + "/000004.log";
  const auto start = [&](const char* what) {
    trial = what;
    fs::remove_all(place.root);
    fs::create_directories(place.logs);
    Write(log, kRocksDBLog);
  };
  const auto backup = [&](const rocksdb::Options& options, const std::string& dir, rocksdb::BackupEngine** engine) {
    Status s;
    std::unique_ptr<rocksdb::DB> db = Open(options, dir, &s);
    if (s.ok()) s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(), rocksdb::BackupEngineOptions(place.root + "/backups"), engine);
    if (s.ok()) s = (*engine)->CreateNewBackup(db.get());
    Check(s.ok(), "backup: " + s.ToString());
  };
  Status s;
  rocksdb::BackupEngine* engine = nullptr;

  start("DestroyDB of a database without wal_dir");
  Make(OptionsOf(plain, place), place.db);
  s = rocksdb::DestroyDB(place.db, OptionsOf(outside, place));
  Check(Snapshot(log) == kRocksDBLog, "the log is gone: " + s.ToString());

  start("DestroyDB of a database that found the log there");
  Make(OptionsOf(outside, place), place.db);
  s = rocksdb::DestroyDB(place.db, OptionsOf(outside, place));
  Check(s.ok() && Snapshot(log) == kRocksDBLog, "the log is gone: " + s.ToString());
  Check(!fs::exists(place.db) && fs::file_size(log) > 0 && !fs::exists(place.logs + "/OWNER"), "files are left");

  start("restore");
  Make(OptionsOf(outside, place), place.db);
  backup(OptionsOf(outside, place), place.db, &engine);
  s = engine->RestoreDBFromLatestBackup(place.db, place.logs);
  Check(s.ok() && Snapshot(log) == kRocksDBLog, "over the database that found it there: " + s.ToString());
  ExpectAll(OptionsOf(outside, place), place.db, kFlushed + kLogged, "restored");
  Check(Snapshot(log) == kRocksDBLog, "the log is gone");

  trial = "restore into a new database";
  fs::create_directories(place.root + "/w2");
  for (const std::string& text : {kRocksDBLog, std::string("theirs")}) {
    Write(place.root + "/w2/000004.log", text);
    s = engine->RestoreDBFromLatestBackup(place.root + "/db2", place.root + "/w2");
    Check(s.IsInvalidArgument() && s.ToString().find("/w2/000004.log") != std::string::npos, s.ToString());
    Check(Snapshot(place.root + "/w2/000004.log") == text, "the log is gone");
  }

  trial = "a directory of RocksDB's";
  const std::string theirs = place.root + "/theirs";
  fs::create_directories(theirs);
  Write(theirs + "/CURRENT", "MANIFEST-000005\n");
  for (const char* name : {"MANIFEST-000005", "000004.log"}) Write(theirs + "/" + name, kRocksDBLog);
  for (const char* name : {"000007.sst", "LOG", "IDENTITY", "OPTIONS-000007"}) Write(theirs + "/" + name, "theirs");
  for (const bool current : {true, false}) {
    if (!current) fs::remove(theirs + "/CURRENT");
    const std::string before = Snapshot(theirs);
    s = engine->RestoreDBFromLatestBackup(theirs, theirs);
    Check(s.IsInvalidArgument(), "restore: " + s.ToString());
    rocksdb::DestroyDB(theirs, rocksdb::Options()).PermitUncheckedError();
    fs::remove(theirs + "/LOCK");
    Check(Snapshot(theirs) == before, "files were changed");
  }

  trial = "a directory with foreign files";
  const std::string foreign = place.root + "/foreign_files";
  fs::create_directories(foreign);
  for (const char* name : {"000044.ph", "LOG", "MANIFEST-000099", "000003.pages", "notes.txt"}) Write(foreign + "/" + name, "theirs");
  const auto kept = [&] {
    for (const char* name : {"000044.ph", "LOG", "MANIFEST-000099", "000003.pages", "notes.txt"}) {
      Check(Snapshot(foreign + "/" + name) == "theirs", std::string(name) + " is gone");
    }
  };
  s = rocksdb::DestroyDB(foreign, rocksdb::Options());
  Check(s.ok(), "DestroyDB: " + s.ToString());
  kept();
  s = engine->RestoreDBFromLatestBackup(foreign, foreign);
  Check(s.ok(), "restore: " + s.ToString());
  kept();

  trial = "the directory of another database's logs";
  const std::string logs = Snapshot(place.logs);
  s = rocksdb::DestroyDB(place.logs, rocksdb::Options());
  Check(s.ok(), "DestroyDB: " + s.ToString());
  s = engine->RestoreDBFromLatestBackup(place.logs, place.logs);
  Check(s.IsInvalidArgument() && s.ToString().find(place.db) != std::string::npos, "restore: " + s.ToString());
  Check(Snapshot(place.logs) == logs, "logs were changed");
  delete engine;
}

// A database may be moved, with and without its other directories, and be put back as it was.
void TryMoves(const std::string& root) {
  for (const Layout& layout : {Layout{"wal_dir", true, false, false}, Layout{"db_paths", false, true, false}}) {
    const auto start = [&](const char* what) {
      trial = std::string(layout.name) + ", " + what;
      Place place(root + "/" + std::to_string(rand()));
      fs::create_directories(place.root);
      Make(OptionsOf(layout, place), place.db);
      return place;
    };
    {
      const Place place = start("database moved");
      fs::rename(place.db, place.root + "/moved");
      const Outcome put = Run("--db " + place.root + "/moved put key1 v");
      Check(put.code == 0, put.text);
      ExpectAll(OptionsOf(layout, place), place.root + "/moved", kFlushed + kLogged + 1, "moved");
    }
    {
      Place place = start("directories moved");
      std::error_code absent;
      fs::rename(place.logs, place.root + "/l2", absent);
      fs::rename(place.tables, place.root + "/t2", absent);
      place.logs = place.root + "/l2";
      place.tables = place.root + "/t2";
      ExpectAll(OptionsOf(layout, place), place.db, kFlushed + kLogged, "moved");
      const Outcome put = Run("--db " + place.db + " put key1 v");
      Check(put.code == 0, put.text);
    }
    {
      const Place place = start("all moved");
      fs::rename(place.root, place.root + "b");
      const Place there(place.root + "b");
      ExpectAll(OptionsOf(layout, there), there.db, kFlushed + kLogged, "moved");
    }
    {
      const Place place = start("put back as it was");
      fs::copy(place.root, place.root + "b", fs::copy_options::recursive);
      fs::remove_all(place.root);
      fs::copy(place.root + "b", place.root, fs::copy_options::recursive);
      ExpectAll(OptionsOf(layout, place), place.db, kFlushed + kLogged, "put back");
    }
    {
      const Place place = start("an old copy put back");
      fs::copy(place.db, place.root + "/old", fs::copy_options::recursive);
      Status s;
      std::unique_ptr<rocksdb::DB> db = Open(OptionsOf(layout, place), place.db, &s);
      Check(s.ok() && db->Put({}, "later", "v").ok() && db->Flush({}).ok(), "write on: " + s.ToString());
      db.reset();
      fs::remove_all(place.db);
      fs::rename(place.root + "/old", place.db);
      const std::string logs = Snapshot(place.logs), tables = Snapshot(place.tables);
      Open(OptionsOf(layout, place), place.db, &s);
      Check(!s.ok(), "the past is opened");
      Check(Snapshot(place.logs) == logs && Snapshot(place.tables) == tables, "files changed");
    }
    {
      const Place place = start("symbolic link");
      fs::create_directory_symlink(place.db, place.root + "/link");
      ExpectAll(OptionsOf(layout, place), place.root + "/link", kFlushed + kLogged, "link");
      ExpectAll(OptionsOf(layout, place), place.db, kFlushed + kLogged, "again");
    }
    {
      const Place place = start("relative path");
      const fs::path before = fs::current_path();
      fs::current_path(place.root);
      ExpectAll(OptionsOf(layout, place), "db", kFlushed + kLogged, "relative");
      fs::current_path(before);
      ExpectAll(OptionsOf(layout, place), place.db, kFlushed + kLogged, "absolute");
    }
    {
      const Place place = start("another database with the same directories");
      Status s;
      Open(OptionsOf(layout, place), place.root + "/db2", &s);
      Check(!s.ok() && s.ToString().find(layout.logs ? place.logs : place.tables) != std::string::npos, "second: " + s.ToString());
      ExpectAll(OptionsOf(layout, place), place.db, kFlushed + kLogged, "first");
    }
    {
      const Place place = start("destroyed and made again");
      Status s = rocksdb::DestroyDB(place.db, rocksdb::Options());
      Check(s.ok(), s.ToString());
      Check(!fs::exists(place.logs) && !fs::exists(place.tables) && !fs::exists(place.db), "directories are left");
      Make(OptionsOf(layout, place), place.db);
    }
    {
      const Place place = start("OWNER lost");
      fs::remove(place.logs + "/OWNER");
      fs::remove(place.tables + "/OWNER");
      ExpectAll(OptionsOf(layout, place), place.db, kFlushed + kLogged, "without OWNER");
    }
    {
      const Place place = start("made by an earlier release");
      for (const std::string& file : {place.db + "/PLACES", place.logs + "/OWNER", place.tables + "/OWNER"}) fs::remove(file);
      ExpectAll(OptionsOf(layout, place), place.db, kFlushed + kLogged, "first opening");
      const Outcome put = Run("--db " + place.db + " put key1 v");
      Check(put.code == 0, put.text);
    }
  }
}

void TryOtherPlaces(const std::string& root) {
  {
    trial = "a copy of an earlier release's database, by the command line";
    const Place place(root + "/early");
    fs::create_directories(place.root);
    const Layout layout{"wal_dir", true, false, false};
    Make(OptionsOf(layout, place), place.db);
    fs::remove(place.db + "/PLACES");
    fs::remove(place.logs + "/OWNER");
    fs::copy(place.db, place.root + "/copy", fs::copy_options::recursive);
    const std::string logs = Snapshot(place.logs);
    const Outcome put = Run("--db " + place.root + "/copy put k v");
    Check(put.code != 0 && put.text.find("--wal-dir") != std::string::npos, put.text);
    Check(Snapshot(place.logs) == logs, "logs changed");
    const Outcome own = Run("--db " + place.db + " --wal-dir " + place.logs + " put k v");
    Check(own.code == 0, own.text);
    ExpectAll(OptionsOf(layout, place), place.db, kFlushed + kLogged + 1, "original");
  }
  {
    trial = "logs in another place than wal_dir";
    const Place place(root + "/elsewhere");
    fs::create_directories(place.root);
    Make(rocksdb::Options(OptionsOf({"", false, false, false}, place)), place.db);
    const rocksdb::Options moved = OptionsOf({"", true, false, false}, place);
    Status s;
    Open(moved, place.db, &s);
    Check(s.IsInvalidArgument() && s.ToString().find(place.logs) != std::string::npos, s.ToString());
    ExpectAll(OptionsOf({"", false, false, false}, place), place.db, kFlushed + kLogged, "without wal_dir");
  }
}

// The directories of tables are known without options.
void TryTables(const std::string& root) {
  for (const Layout& layout : {Layout{"db_paths", false, true, false}, Layout{"cf_paths", false, false, true}}) {
    trial = layout.name;
    const Place place(root + "/" + std::to_string(rand()));
    fs::create_directories(place.root);
    const rocksdb::Options options = OptionsOf(layout, place);
    Make(options, place.db);
    for (const char* command : {"verify", "repair", "put key1 v", "compact", "verify"}) {
      const Outcome done = Run("--db " + place.db + " " + command);
      Check(done.code == 0, command + done.text);
      Check(done.text.find("lost: 1") == std::string::npos, command + done.text);
    }
    rocksdb::Options plain;
    Status s;
    const std::string tables = Snapshot(place.tables);
    Open(plain, place.db, &s);
    Check(!s.ok() && s.ToString().find(place.tables) != std::string::npos && s.ToString().find("_paths") != std::string::npos,
          "Open without the paths: " + s.ToString());
    Check(Snapshot(place.tables) == tables, "tables changed");
    s = rocksdb::RepairDB(place.db, plain);
    Check(s.ok(), "RepairDB without the paths: " + s.ToString());
    ExpectAll(options, place.db, kFlushed + kLogged + 1, "after RepairDB");
    fs::rename(place.tables, place.tables + "away");
    s = rocksdb::RepairDB(place.db, plain);
    Check(!s.ok() && s.ToString().find(place.tables) != std::string::npos, "RepairDB without the directory: " + s.ToString());
    const Outcome repair = Run("--db " + place.db + " repair");
    Check(repair.code != 0 && repair.text.find(place.tables) != std::string::npos, "repair: " + repair.text);
    fs::remove_all(place.tables);
    fs::rename(place.tables + "away", place.tables);
    ExpectAll(options, place.db, kFlushed + kLogged + 1, "at the end");
    rocksdb::DBOptions stored;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    s = rocksdb::LoadLatestOptions({}, place.db, &stored, &families);
    Check(s.ok() && (stored.db_paths.size() + families[0].options.cf_paths.size()) == 1, "LoadLatestOptions: " + s.ToString());
  }
}

void TryRestore(const std::string& root) {
  trial = "restore over the same place";
  const Place place(root + "/restore");
  fs::create_directories(place.root);
  const rocksdb::Options options = OptionsOf({"", true, true, false}, place);
  std::unique_ptr<rocksdb::DB> db = Make(options, place.db);
  rocksdb::BackupEngine* opened = nullptr;
  Status s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(), rocksdb::BackupEngineOptions(place.root + "/b"), &opened);
  std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  if (s.ok()) s = engine->CreateNewBackup(db.get());
  if (s.ok()) s = db->Put({}, "later", "v");
  if (s.ok()) s = db->Flush({});
  db.reset();
  std::ofstream(place.logs + "/notes.txt") << "not ours";
  if (s.ok()) s = engine->RestoreDBFromLatestBackup(place.db, place.logs);
  Check(s.ok(), s.ToString());
  Check(fs::exists(place.logs + "/notes.txt"), "the foreign file is gone");
  const Outcome put = Run("--db " + place.db + " put key1 v");
  Check(put.code == 0, put.text);
  ExpectAll(options, place.db, kFlushed + kLogged + 1, "restored");
  s = engine->RestoreDBFromLatestBackup(place.db, place.db);
  Check(s.ok(), "with the logs in its own directory: " + s.ToString());
  for (const auto& entry : fs::directory_iterator(place.logs)) Check(entry.path().extension() != ".log", entry.path().string() + " is left");
  ExpectAll(OptionsOf({"", false, true, false}, place), place.db, kFlushed + kLogged, "restored again");
  s = engine->RestoreDBFromLatestBackup(place.db, place.logs);
  Check(s.ok(), "with the logs elsewhere again: " + s.ToString());

  trial = "restore with another database's wal_dir";
  const std::string logs = Snapshot(place.logs);
  s = engine->RestoreDBFromLatestBackup(place.root + "/other", place.logs);
  Check(s.IsInvalidArgument(), s.ToString());
  Check(Snapshot(place.logs) == logs, "logs changed");
}

void TryInfoLogs(const std::string& root) {
  trial = "one db_log_dir";
  rocksdb::Options options;
  options.create_if_missing = true;
  options.db_log_dir = root + "/messages";
  const std::string a = root + "/info/a", b = root + "/info/b";
  for (const std::string& dir : {a, b, a, b}) {
    Status s;
    fs::create_directories(dir);
    std::unique_ptr<rocksdb::DB> db = Open(options, dir, &s);
    Check(s.ok(), s.ToString());
    std::vector<std::string> names;
    s = rocksdb::GetInfoLogList(db.get(), &names);
    Check(s.ok() && !names.empty(), s.ToString());
    for (const std::string& name : names) Check(name.find(dir.back() == 'a' ? "_info_a_LOG" : "_info_b_LOG") != std::string::npos, name);
  }
  const auto count = [&](const char* of) {
    int n = 0;
    for (const auto& entry : fs::directory_iterator(options.db_log_dir)) n += entry.path().string().find(of) != std::string::npos;
    return n;
  };
  Check(count("_info_a_LOG") == 2 && count("_info_b_LOG") == 2, "each has its LOG, and one before it");
  Check(rocksdb::DestroyDB(a, options).ok(), "DestroyDB");
  Check(count("_info_a_LOG") == 0 && count("_info_b_LOG") == 2, "only those of the database are destroyed");
}

void TryRefusedOpenings(const std::string& root) {
  const Place place(root + "/refused");
  fs::create_directories(place.root);
  Make(OptionsOf({"", true, false, false}, place), place.db);
  trial = "an Open that fails makes no directories";
  Place other(place.root + "/new");
  other.logs += "/deep";
  Status s;
  Open(OptionsOf({"", true, true, false}, other), place.db, &s);
  Check(s.IsInvalidArgument(), s.ToString());
  Check(!fs::exists(other.root), "directories are left");

  trial = "a new database where one was that was moved";
  fs::rename(place.db, place.db + "_moved");
  Open(OptionsOf({"", true, false, false}, place), place.db, &s);
  Check(s.ToString().find("was moved") != std::string::npos, s.ToString());
  ExpectAll(OptionsOf({"", true, false, false}, place), place.db + "_moved", kFlushed + kLogged, "moved");

  trial = "a foreign IDENTITY";
  fs::create_directories(place.db);
  std::ofstream(place.db + "/IDENTITY") << "theirs";
  const std::string before = Snapshot(place.db);
  Open(OptionsOf({"", false, false, false}, place), place.db, &s);
  Check(s.IsInvalidArgument() && s.ToString().find("IDENTITY") != std::string::npos, s.ToString());
  Check(Snapshot(place.db) == before, "files were changed");
}

// A new directory may have any files.
void TryForeignFiles(const std::string& root) {
  for (const char* name : {"7.log", "000007.log", "000005.ph", "000009.pages", "MANIFEST-000003", "MIRROR-000003", "OPTIONS-000004", "LOG",
                           "000006.dbtmp", "archive", "lost", "notes.txt"}) {
    for (const char* kind : {"text", "empty", "large", "directory"}) {
      trial = std::string("foreign ") + name + ", " + kind;
      const std::string dir = root + "/foreign/" + std::to_string(rand()), path = dir + "/" + name;
      fs::create_directories(dir);
      if (kind == std::string("directory")) {
        fs::create_directory(path);
        std::ofstream(path + "/within") << "theirs";
      } else {
        std::ofstream(path) << (kind == std::string("text") ? "theirs" : kind == std::string("large") ? std::string(9000, 'x') : "");
      }
      const std::string text = Snapshot(path);
      rocksdb::Options options;
      options.create_if_missing = true;
      Make(options, dir);
      const auto same = [&] {
        return fs::exists(path) && Snapshot(path) == text;
      };
      const bool log = name == std::string("LOG") && kind == std::string("empty");  // as a crash leaves it
      Check(log || same(), "is not as it was after creation");
      ExpectAll(options, dir, kFlushed + kLogged, "second opening");
      const Outcome put = Run("--db " + dir + " put key1 v");
      Check(put.code == 0, put.text);
      const Outcome verify = Run("--db " + dir + " verify");
      Check(verify.code == 0, verify.text);
      Check(log || same(), "is not as it was at the end");
    }
  }
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) {
  using namespace compassdb_test;
  Flags flags(argc, argv);
  cli = flags.String("cli", "");
  flags.RejectUnknown();
  if (cli.empty()) return 2;
  TempDir dir("places");
  srand(1);
  TryCopies(dir.path() + "/copies");
  TryInside(dir.path() + "/inside");
  TryUnmounted(dir.path() + "/unmounted");
  TryCopyWithoutLogs(dir.path());
  TrySecondary(dir.path());
  TryLostState(dir.path() + "/lost");
  TryFilesOfOthers(dir.path());
  TryMoves(dir.path() + "/moves");
  TryOtherPlaces(dir.path() + "/others");
  TryTables(dir.path() + "/tables");
  TryRestore(dir.path() + "/restore");
  TryInfoLogs(dir.path());
  TryRefusedOpenings(dir.path());
  TryForeignFiles(dir.path());
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
