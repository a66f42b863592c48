// SPDX-License-Identifier: Apache-2.0
#include "formats/others.h"

#include <functional>

#include "formats/databases.h"
#include "formats/fixture.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "support/sealed_env.h"
#include "support/small_options.h"
#include "support/temp_dir.h"
#include "util/hash.h"

namespace compassdb_test {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

constexpr char kLayout[] = "default";
constexpr char kTable[] = "one.sst";

// ---- An encrypted database ----

constexpr size_t kSealVersionAt = 8;

bool CheckSealed(const fs::path& fixture) {
  const std::unique_ptr<rocksdb::Env> env = SealedEnvOver(rocksdb::Env::Default());
  if (!OpensWithExactData(kLayout, fixture, env.get())) return false;
  for (const char* part : {"CURRENT", "MANIFEST", ".log", ".ph"}) {
    TempDir dir("formats");
    const std::string path = dir.path() + "/db";
    CopyDirectory(fixture.string(), path);
    int changed = 0;
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.path().filename().string().find(part) == std::string::npos) continue;
      std::string bytes;
      REQUIRE(rocksdb::ReadFileToString(rocksdb::Env::Default(), entry.path(), &bytes).ok(), "read");
      REQUIRE(bytes.rfind("CDBSEAL\n", 0) == 0, "%s is not sealed", entry.path().c_str());
      bytes[kSealVersionAt] += 70;
      REQUIRE(rocksdb::WriteStringToFile(rocksdb::Env::Default(), bytes, entry.path()).ok(), "write");
      ++changed;
    }
    REQUIRE(changed > 0, "%s: no %s", fixture.c_str(), part);
    compassdb::TEST_IgnoreChecksums(true);
    const Status s = FirstError(kLayout, path, env.get());
    compassdb::TEST_IgnoreChecksums(false);
    if (!IsRefusal(s, path, fixture.string() + ", newer seal of " + part)) return false;
  }
  return true;
}

// ---- Backups: of what every fixture holds, and without two of its keys ----

std::unique_ptr<rocksdb::BackupEngine> OpenBackups(const std::string& path) {
  rocksdb::BackupEngine* engine = nullptr;
  const Status s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(), rocksdb::BackupEngineOptions(path), &engine);
  if (!s.ok()) fprintf(stderr, "%s\n", s.ToString().c_str());
  return std::unique_ptr<rocksdb::BackupEngine>(engine);
}

void LeaveOut(Entries expected[2]) {
  expected[0].erase(Key(1));
  expected[1].erase(Key(2));
}

bool MakeBackups(const fs::path& path) {
  TempDir dir("formats");
  const Opened opened(kLayout, dir.path() + "/db", true);
  Entries expected[2];
  REQUIRE(opened.status.ok() && Contents(ReleaseOf(path.parent_path()), &opened, expected), "%s", opened.status.ToString().c_str());
  fs::remove_all(path);
  const auto backups = OpenBackups(path.string());
  REQUIRE(backups != nullptr, "no backups");
  REQUIRE(backups->CreateNewBackup(opened.db.get()).ok(), "backup");
  REQUIRE(opened.db->Delete({}, opened.handles[0], Key(1)).ok(), "delete");
  REQUIRE(opened.db->Delete({}, opened.handles[1], Key(2)).ok(), "delete");
  REQUIRE(backups->CreateNewBackupWithMetadata(opened.db.get(), "without two", true).ok(), "backup");
  return true;
}

bool RestoresWithExactData(rocksdb::BackupEngine* backups, rocksdb::BackupID id, const Entries expected[2]) {
  TempDir dir("formats");
  const std::string path = dir.path() + "/db";
  Status s = backups->VerifyBackup(id, /*verify_with_checksum=*/true);
  if (s.ok()) s = backups->RestoreDBFromBackup(id, path, path);
  REQUIRE(s.ok(), "backup %u: %s", id, s.ToString().c_str());
  const Opened opened(kLayout, path, false);
  REQUIRE(opened.status.ok(), "backup %u: %s", id, opened.status.ToString().c_str());
  if (!Same(opened, expected, "in backup " + std::to_string(id))) return false;
  if (id != 2) return true;
  // It is continued, and its next backup is next to the old ones.
  s = backups->CreateNewBackup(opened.db.get(), /*flush_before_backup=*/true);
  REQUIRE(s.ok(), "%s", s.ToString().c_str());
  return RestoresWithExactData(backups, 3, expected);
}

bool CheckBackups(const fs::path& fixture) {
  TempDir dir("formats");
  const std::string path = dir.path() + "/backups";
  CopyDirectory(fixture.string(), path);
  Entries all[2], fewer[2];
  Contents(ReleaseOf(fixture.parent_path()), nullptr, all);
  Contents(ReleaseOf(fixture.parent_path()), nullptr, fewer);
  LeaveOut(fewer);
  {
    const auto backups = OpenBackups(path);
    REQUIRE(backups != nullptr, "%s", fixture.c_str());
    std::vector<rocksdb::BackupInfo> infos;
    backups->GetBackupInfo(&infos);
    REQUIRE(infos.size() == 2 && infos[1].app_metadata == "without two", "%s", fixture.c_str());
    if (!RestoresWithExactData(backups.get(), 1, all)) return false;
    if (!RestoresWithExactData(backups.get(), 2, fewer)) return false;
  }
  const fs::path meta = fs::path(path) / "meta" / "1";
  std::string text;
  REQUIRE(rocksdb::ReadFileToString(rocksdb::Env::Default(), meta, &text).ok(), "read");
  const size_t version = text.find("backup ") + 7;
  text[version] = '9';
  REQUIRE(rocksdb::WriteStringToFile(rocksdb::Env::Default(), text, meta).ok(), "write");
  const auto backups = OpenBackups(path);
  REQUIRE(backups != nullptr, "a newer backup next to it");
  if (!IsRefusal(backups->VerifyBackup(1), path, "a newer backup")) return false;
  if (!IsRefusal(backups->RestoreDBFromBackup(1, dir.path() + "/db", dir.path() + "/db"), path, "a newer backup")) return false;
  return RestoresWithExactData(backups.get(), 3, fewer);
}

// ---- A table file ----

rocksdb::Options TableOptions() { return SmallOptions(kLayout); }

bool MakeTable(const fs::path& path) {
  fs::create_directories(path);
  Entries expected[2];
  Contents(ReleaseOf(path.parent_path()), nullptr, expected);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), TableOptions());
  Status s = writer.Open((path / kTable).string());
  for (const auto& [key, value] : expected[0]) {
    if (s.ok()) s = writer.Put(key, value);
  }
  if (s.ok()) s = writer.Finish();
  REQUIRE(s.ok(), "%s", s.ToString().c_str());
  return true;
}

bool CheckTable(const fs::path& fixture) {
  TempDir dir("formats");
  Entries expected[2];
  Contents(ReleaseOf(fixture.parent_path()), nullptr, expected);
  expected[1].clear();
  const std::string path = (fixture / kTable).string();
  rocksdb::SstFileReader reader(TableOptions());
  Status s = reader.Open(path);
  if (s.ok()) s = reader.VerifyChecksum();
  REQUIRE(s.ok(), "%s", s.ToString().c_str());
  Entries read;
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) read[it->key().ToString()] = it->value().ToString();
  REQUIRE(it->status().ok() && read == expected[0], "%s", path.c_str());
  const Opened opened(kLayout, dir.path() + "/db", true);
  REQUIRE(opened.status.ok(), "%s", opened.status.ToString().c_str());
  s = opened.db->IngestExternalFile({path}, rocksdb::IngestExternalFileOptions());
  REQUIRE(s.ok(), "%s", s.ToString().c_str());
  if (!Same(opened, expected, "as it was ingested")) return false;
  // Its trailer ends in the magic number, and has the version before that.
  std::string bytes;
  REQUIRE(rocksdb::ReadFileToString(rocksdb::Env::Default(), path, &bytes).ok(), "read");
  const std::string newer = dir.path() + "/newer.sst";
  bytes[bytes.size() - 16] += 70;
  REQUIRE(rocksdb::WriteStringToFile(rocksdb::Env::Default(), bytes, newer).ok(), "write");
  compassdb::TEST_IgnoreChecksums(true);
  const Status opens = rocksdb::SstFileReader(TableOptions()).Open(newer);
  const Status ingests = opened.db->IngestExternalFile({newer}, rocksdb::IngestExternalFileOptions());
  compassdb::TEST_IgnoreChecksums(false);
  return IsRefusal(opens, newer, "a newer table file") && IsRefusal(ingests, newer, "a newer table file");
}

struct Other {
  const char* name;
  std::function<bool(const fs::path&)> make, check;
};

const Other kOthers[] = {
    {"sealed",
     [](const fs::path& path) {
       const std::unique_ptr<rocksdb::Env> env = SealedEnvOver(rocksdb::Env::Default());
       return MakeDatabase(kLayout, path, env.get());
     },
     CheckSealed},
    {"backups", MakeBackups, CheckBackups},
    {"table", MakeTable, CheckTable},
};

}  // namespace

bool MakeOthers(const fs::path& release) {
  for (const Other& other : kOthers) {
    if (!other.make(release / other.name)) return false;
  }
  return true;
}

bool CheckOthers(const fs::path& release, int* checked) {
  for (const Other& other : kOthers) {
    if (!fs::is_directory(release / other.name)) continue;  // one that came later
    ++*checked;
    if (!other.check(release / other.name)) return false;
  }
  return true;
}

}  // namespace compassdb_test
