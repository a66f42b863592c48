// SPDX-License-Identifier: Apache-2.0
// One phase of a database's life on a file system that compresses; btrfs_test.py runs them one after the other.
//
//   compressed_fs_check --db=DIR --phase=fill|checkpoint|rewrite|backup|restore [--checkpoint=DIR] [--backup=DIR]
//                       [--preset=NAME] [--options=TEXT] [--records=N]
//
// fill: makes the database, closes it, opens it again and checks it. checkpoint: makes and checks one.
// rewrite: overwrites every record or deletes it, and checks the database, opened again, and the checkpoint,
// which must be as it was. backup, after that: makes a backup. restore: restores it over the checkpoint, and checks
// that. Exit code 1 and one line for the first thing that is wrong.
#include <compassdb/preset.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "support/flags.h"
#include "support/random.h"

namespace compassdb_test {
namespace {

using rocksdb::Status;

constexpr size_t kRandomBytes = 200, kZeros = 200;
constexpr uint64_t kDeleteOneIn = 7;
constexpr auto kLongestSettling = std::chrono::seconds(120);

struct Settings {
  std::string db, checkpoint, backup, preset, options;
  uint64_t records = 0;
};

std::string KeyOf(uint64_t number) {
  char key[32];
  snprintf(key, sizeof(key), "key%013llu", static_cast<unsigned long long>(number));
  return key;
}

// Of round 0 (fill) or 1 (rewrite).
std::string ValueOf(uint64_t number, int round) {
  // Seeds that follow each other give streams that overlap.
  Random random(Random(number * 2 + static_cast<uint64_t>(round)).Next());
  std::string value;
  while (value.size() < kRandomBytes) {
    const uint64_t bits = random.Next();
    value.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  }
  value.resize(kRandomBytes);
  return value.append(kZeros, '\0');
}

bool Exists(uint64_t number, int round) { return round == 0 || number % kDeleteOneIn != 0; }

Status Open(const Settings& settings, const std::string& path, bool create, std::unique_ptr<rocksdb::DB>* db) {
  compassdb::Preset preset;
  Status s = compassdb::PresetFromName(settings.preset, &preset);
  if (!s.ok()) return s;
  rocksdb::Options options;
  s = compassdb::ApplyPreset(preset, &options);
  if (s.ok() && !settings.options.empty()) {
    const rocksdb::Options base = options;
    s = rocksdb::GetOptionsFromString(rocksdb::ConfigOptions(), base, settings.options, &options);
  }
  if (!s.ok()) return s;
  options.compression = rocksdb::kNoCompression;  // that is the file system's work
  options.create_if_missing = create;
  options.error_if_exists = create;
  rocksdb::DB* opened = nullptr;
  s = rocksdb::DB::Open(options, path, &opened);
  db->reset(opened);
  return s;
}

constexpr uint64_t kMostUnpunched = 1 << 20;

// Until nothing is left to be written in the background, and what is dead is freed: a copy's links would keep it.
Status Settle(rocksdb::DB* db) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestSettling;
  Status s = db->Flush(rocksdb::FlushOptions());
  while (s.ok()) {
    uint64_t left = 0;
    for (const char* name : {"rocksdb.num-running-compactions", "rocksdb.compaction-pending",
                             "compassdb.tableless-pending-pages", "compassdb.tableless-rehashing"}) {
      uint64_t value = 0;
      if (db->GetIntProperty(name, &value)) left += value;
    }
    uint64_t unpunched = 0;
    db->GetIntProperty("compassdb.dead-bytes-punchable", &unpunched);
    if (left == 0 && unpunched <= kMostUnpunched) return s;
    if (std::chrono::steady_clock::now() > deadline) return Status::TimedOut("background work does not end");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return s;
}

Status Write(rocksdb::DB* db, uint64_t records, int round) {
  for (uint64_t number = 0; number < records; ++number) {
    const std::string key = KeyOf(number);
    Status s = Exists(number, round) ? db->Put(rocksdb::WriteOptions(), key, ValueOf(number, round))
                                     : db->Delete(rocksdb::WriteOptions(), key);
    if (!s.ok()) return s;
  }
  return Settle(db);
}

Status CheckGets(rocksdb::DB* db, uint64_t records, int round) {
  std::string value;
  for (uint64_t number = 0; number < records; ++number) {
    Status s = db->Get(rocksdb::ReadOptions(), KeyOf(number), &value);
    if (!s.ok() && !s.IsNotFound()) return s;
    if (s.ok() != Exists(number, round)) {
      return Status::Corruption(KeyOf(number), s.ok() ? "exists" : "does not exist");
    }
    if (s.ok() && value != ValueOf(number, round)) return Status::Corruption(KeyOf(number), "has another value");
  }
  return Status::OK();
}

Status CheckScan(rocksdb::DB* db, uint64_t records, int round) {
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  it->SeekToFirst();
  for (uint64_t number = 0; number < records; ++number) {
    if (!Exists(number, round)) continue;
    if (!it->Valid()) return it->status().ok() ? Status::Corruption("a scan ends before", KeyOf(number)) : it->status();
    if (it->key() != KeyOf(number) || it->value() != ValueOf(number, round)) {
      return Status::Corruption("a scan meets " + it->key().ToString() + " instead of", KeyOf(number));
    }
    it->Next();
  }
  return it->Valid() ? Status::Corruption("a scan continues with", it->key()) : it->status();
}

Status Check(const Settings& settings, const std::string& path, int round) {
  std::unique_ptr<rocksdb::DB> db;
  Status s = Open(settings, path, false, &db);
  if (s.ok()) s = CheckGets(db.get(), settings.records, round);
  if (s.ok()) s = CheckScan(db.get(), settings.records, round);
  return s;
}

Status WriteRound(const Settings& settings, int round) {
  std::unique_ptr<rocksdb::DB> db;
  Status s = Open(settings, settings.db, round == 0, &db);
  if (s.ok()) s = Write(db.get(), settings.records, round);
  return s.ok() ? db->Close() : s;
}

Status MakeCheckpoint(const Settings& settings) {
  std::unique_ptr<rocksdb::DB> db;
  Status s = Open(settings, settings.db, false, &db);
  if (!s.ok()) return s;
  rocksdb::Checkpoint* made = nullptr;
  s = rocksdb::Checkpoint::Create(db.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (s.ok()) s = checkpoint->CreateCheckpoint(settings.checkpoint);
  return s.ok() ? db->Close() : s;
}

Status OpenBackups(const Settings& settings, std::unique_ptr<rocksdb::BackupEngine>* engine) {
  rocksdb::BackupEngine* opened = nullptr;
  Status s = rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions(settings.backup), rocksdb::Env::Default(), &opened);
  engine->reset(opened);
  return s;
}

Status MakeBackup(const Settings& settings) {
  std::unique_ptr<rocksdb::DB> db;
  std::unique_ptr<rocksdb::BackupEngine> engine;
  Status s = Open(settings, settings.db, false, &db);
  if (s.ok()) s = OpenBackups(settings, &engine);
  if (s.ok()) s = engine->CreateNewBackup(db.get());
  if (s.ok()) s = engine->VerifyBackup(1, /*verify_with_checksum=*/true);
  return s.ok() ? db->Close() : s;
}

Status Restore(const Settings& settings) {
  std::unique_ptr<rocksdb::BackupEngine> engine;
  Status s = OpenBackups(settings, &engine);
  if (s.ok()) s = engine->RestoreDBFromLatestBackup(settings.checkpoint, settings.checkpoint);
  return s.ok() ? Check(settings, settings.checkpoint, 1) : s;
}

Status Run(const Settings& settings, const std::string& phase) {
  Status s;
  if (phase == "fill") {
    s = WriteRound(settings, 0);
    if (s.ok()) s = Check(settings, settings.db, 0);
  } else if (phase == "checkpoint") {
    s = MakeCheckpoint(settings);
    if (s.ok()) s = Check(settings, settings.checkpoint, 0);
  } else if (phase == "rewrite") {
    s = WriteRound(settings, 1);
    if (s.ok()) s = Check(settings, settings.db, 1);
    if (s.ok()) s = Check(settings, settings.checkpoint, 0);
  } else if (phase == "backup") {
    s = MakeBackup(settings);
  } else if (phase == "restore") {
    s = Restore(settings);
  } else {
    s = Status::InvalidArgument("--phase is fill, checkpoint, rewrite, backup or restore, not", phase);
  }
  return s;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) {
  using namespace compassdb_test;
  Flags flags(argc, argv);
  const Settings settings = {.db = flags.String("db", ""),
                             .checkpoint = flags.String("checkpoint", ""),
                             .backup = flags.String("backup", ""),
                             .preset = flags.String("preset", "tableless"),
                             .options = flags.String("options", ""),
                             .records = flags.Number("records", 100'000)};
  const std::string phase = flags.String("phase", "");
  flags.RejectUnknown();
  const rocksdb::Status s = Run(settings, phase);
  if (s.ok()) return 0;
  fprintf(stderr, "compressed_fs_check: %s of %s: %s\n", phase.c_str(), settings.db.c_str(), s.ToString().c_str());
  return 1;
}
