// SPDX-License-Identifier: Apache-2.0
// What a thread does now and then, other than reading and writing: files from outside, compactions
// of chosen files, and changed options. Copies and secondaries are opened and compared.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "stress/engine_options.h"
#include "stress/worker.h"

namespace compassdb_test {

using rocksdb::Status;
namespace fs = std::filesystem;

bool Worker::Maintain() {
  const uint64_t roll = random_.Uniform(100);
  if (roll < 35) return Ingest();
  if (roll < 50) return CompactSomeFiles();
  if (roll < 70) return ChangeFamilyOptions();
  if (roll < 80) return ChangeDbOptions();
  if (roll < 85) return FlushAll();
  if (roll < 88) return Hold();
  if (roll < 91) return MoveOwnFamily();
  if (roll < 95) return Look();
  if (roll < 97) return TakeCheckpoint();
  return roll < 98 ? TakeBackup() : Follow();
}

bool Worker::Ingest() {
  if (!db_->HasIngestion()) return Generated();
  const int family = RandomFamily();
  Begin("ingestion into family " + std::to_string(family));
  const std::string path = FilePath("ingest") + std::to_string(done_) + ".sst";
  rocksdb::Options options(rocksdb::DBOptions(), db_->FamilyOptions(family, number_, random_.Next()));
  options.env = db_->env();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Status s = writer.Open(path);
  if (!s.ok()) return Ok("a table file", s);
  std::vector<WriteItem> items;
  for (uint64_t n = 1 + random_.Uniform(60); n > 0; n--) items.push_back(RandomItem(family));
  auto less = [&](const WriteItem& a, const WriteItem& b) { return generator_.Less(family, a.key, b.key); };
  auto same = [](const WriteItem& a, const WriteItem& b) { return a.key == b.key; };
  std::sort(items.begin(), items.end(), less);
  items.erase(std::unique(items.begin(), items.end(), same), items.end());
  for (const WriteItem& item : items) {
    switch (item.kind) {
      case WriteItem::Kind::kDelete: s = writer.Delete(item.key); break;
      case WriteItem::Kind::kMerge: s = writer.Merge(item.key, item.value); break;
      default: s = writer.Put(item.key, item.value); break;
    }
    if (!s.ok()) return Ok("writing a table file", s);
  }
  s = writer.Finish();
  if (!s.ok()) return Ok("finishing a table file", s);
  rocksdb::IngestExternalFileOptions ingestion;
  ingestion.move_files = random_.OneIn(2);
  ingestion.verify_checksums_before_ingest = random_.OneIn(2);
  s = db_->db()->IngestExternalFile(db_->Handles(number_)[family], {path}, ingestion);
  if (s.ok()) model_.model().Write(items);
  std::error_code ignored;
  fs::remove(path, ignored);
  if (s.IsTryAgain() && !Limits().ingests_at_once) return true;
  return Ok("ingestion", s);
}

bool Worker::CompactSomeFiles() {
  const int family = RandomFamily();
  Begin("CompactFiles of family " + std::to_string(family));
  auto* handle = db_->Handles(number_)[family];
  rocksdb::ColumnFamilyMetaData all;
  db_->db()->GetColumnFamilyMetaData(handle, &all);
  std::vector<std::string> names;
  int level = 0;
  for (const rocksdb::LevelMetaData& each : all.levels) {
    if (each.files.empty() || !(names.empty() || random_.OneIn(2))) continue;
    names.clear();
    level = each.level;
    for (const rocksdb::SstFileMetaData& file : each.files) {
      if (names.size() < 3 && random_.OneIn(2)) names.push_back(file.name);
    }
  }
  if (names.empty()) return true;
  const int target = std::min<int>(level + 1, static_cast<int>(all.levels.size()) - 1);
  const Status s = db_->db()->CompactFiles(rocksdb::CompactionOptions(), handle, names, target);
  // They may be deleted by then, or used by others.
  if (s.IsInvalidArgument() || s.IsAborted() || s.IsIncomplete()) return true;
  if (s.IsNotSupported() && db_->layout() == "tableless") return true;
  return Ok("CompactFiles", s);
}

bool Worker::ChangeFamilyOptions() {
  const int family = RandomFamily();
  std::unordered_map<std::string, std::string> changes = RandomFamilyOptions(&random_, db_->HasSeparatedValues() && Limits().separated_values);
  if (may_not_compact_ || random_.OneIn(10)) {
    may_not_compact_ = !may_not_compact_;
    changes = {{"disable_auto_compactions", may_not_compact_ ? "true" : "false"}};
  }
  // Options of one engine's tables are known to its own table factory alone, and pages have no age.
  const std::string table = db_->db()->GetOptions(db_->Handles(number_)[family]).table_factory->Name();
  if (changes.count("table_factory") != 0 && table == "BlockBasedTable") return true;
  if (changes.count("ttl") != 0 && !db_->HasTtl()) return true;
  std::string text = "SetOptions of family " + std::to_string(may_not_compact_ ? 0 : family);
  for (const auto& [name, value] : changes) text += " " + name + "=" + value;
  Begin(text);
  // Compactions are held off in one family only, so that it is known where to release them.
  const bool about_compactions = changes.count("disable_auto_compactions") != 0;
  return Ok(text, db_->db()->SetOptions(db_->Handles(number_)[about_compactions ? 0 : family], changes));
}

bool Worker::ChangeDbOptions() {
  const std::unordered_map<std::string, std::string> changes = RandomDbOptions(&random_);
  std::string text = "SetDBOptions";
  for (const auto& [name, value] : changes) text += " " + name + "=" + value;
  Begin(text);
  return Ok(text, db_->db()->SetDBOptions(changes));
}

bool Worker::FlushAll() {
  Begin("flush of all families");
  std::vector<rocksdb::ColumnFamilyHandle*> handles = db_->Handles(number_);
  if (handles.back() == nullptr) handles.pop_back();
  return Ok("flush", db_->db()->Flush(rocksdb::FlushOptions(), handles));
}

// Checks that these calls do no harm; their results are estimates.
bool Worker::Look() {
  Begin("properties");
  auto* handle = db_->Handles(number_)[RandomFamily()];
  for (const char* name : {"rocksdb.stats", "rocksdb.levelstats", "rocksdb.estimate-num-keys", "rocksdb.total-sst-files-size"}) {
    std::string value;
    if (!db_->db()->GetProperty(handle, name, &value)) return Fail(name, "a value", "none");
  }
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->db()->GetLiveFilesMetaData(&files);
  const std::string end = prefix_ + "~";
  const rocksdb::Range range(prefix_, end);
  uint64_t size = 0;
  const bool reverse = handle->GetComparator() == rocksdb::ReverseBytewiseComparator();
  const rocksdb::Range backward(end, prefix_);
  return Ok("GetApproximateSizes", db_->db()->GetApproximateSizes(rocksdb::SizeApproximationOptions(), handle,
                                                                  reverse ? &backward : &range, 1, &size));
}

bool Worker::VerifyCopy(const std::string& path, const char* when) {
  StressDb copy(path, db_->layout(), db_->flavour(), db_->threads());
  const uint64_t seed = random_.Next();
  if (!Ok(std::string("opening the ") + when, random_.OneIn(3) ? copy.Open(seed) : copy.OpenReadOnly(seed))) return false;
  const std::string wrong = bank_->CheckSum(copy, random_.OneIn(2));
  if (!wrong.empty()) return Fail(std::string(when) + ": accounts", "consistent", wrong);
  if (!Verify(copy, when) || !Ok(std::string("checksums of the ") + when, copy.db()->VerifyChecksum())) return false;
  return Ok(std::string("closing the ") + when, copy.Close());
}

bool Worker::TakeCheckpoint() {
  if (!VerifyKept()) return false;
  Begin("checkpoint");
  const std::string path = FilePath("checkpoint");
  std::error_code ignored;
  if (kept_) fs::remove_all(path, ignored);
  kept_.reset();
  rocksdb::Checkpoint* made = nullptr;
  Status s = rocksdb::Checkpoint::Create(db_->db(), &made);
  std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (s.ok()) s = checkpoint->CreateCheckpoint(path, random_.OneIn(2) ? 0 : 1 << 20);
  if (!Ok("checkpoint", s) || !VerifyCopy(path, "checkpoint")) return false;
  if (random_.OneIn(3)) {
    fs::remove_all(path, ignored);
    return true;
  }
  kept_.emplace();
  kept_->seed = random_.Next();
  const std::string wrong = ReadKept(kept_->seed, &kept_->content);
  return wrong.empty() || Fail("reading the checkpoint", "OK", wrong);
}

bool Worker::VerifyKept() {
  if (!kept_) return true;
  Begin("older checkpoint");
  Entries content;
  const std::string wrong = ReadKept(kept_->seed, &content);
  if (!wrong.empty()) return Fail("reading an older checkpoint", "OK", wrong);
  return Same("an older checkpoint", kept_->content, content);
}

// Of all families without timestamps. The files of the others are read nevertheless. Returns what went wrong.
std::string Worker::ReadKept(uint64_t seed, Entries* content) const {
  StressDb copy(FilePath("checkpoint"), db_->layout(), db_->flavour(), db_->threads());
  Status s = copy.OpenReadOnly(seed);
  if (!s.ok()) return "opening: " + s.ToString();
  std::vector<rocksdb::ColumnFamilyHandle*> handles = copy.Handles(0);
  for (int thread = 1; thread < db_->threads(); thread++) handles.push_back(copy.Handles(thread).back());
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    if (handle == nullptr) continue;
    content->emplace_back("<family>", handle->GetName());
    const std::unique_ptr<rocksdb::Iterator> it(copy.db()->NewIterator(read, handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) content->emplace_back(it->key().ToString(), it->value().ToString());
    if (!it->status().ok()) return handle->GetName() + ": " + it->status().ToString();
  }
  s = copy.db()->VerifyChecksum();
  return s.ok() ? "" : "checksums: " + s.ToString();
}

bool Worker::TakeBackup() {
  Begin("backup");
  const std::string path = FilePath("restored");
  rocksdb::BackupEngine* opened = nullptr;
  Status s = rocksdb::BackupEngine::Open(db_->env(), rocksdb::BackupEngineOptions(FilePath("backup")), &opened);
  if (!s.ok()) return Ok("backup engine", s);
  std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  if (!Ok("backup", engine->CreateNewBackup(db_->db(), random_.OneIn(2)))) return false;
  std::vector<rocksdb::BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  if (!Ok("checking the backup", engine->VerifyBackup(backups.back().backup_id, true))) return false;
  if (!Ok("older backups", engine->PurgeOldBackups(2))) return false;
  if (!Ok("restoring", engine->RestoreDBFromLatestBackup(path, path)) || !VerifyCopy(path, "restored backup")) return false;
  std::error_code ignored;
  fs::remove_all(path, ignored);
  return true;
}

// This thread's writes are in the log: a secondary must see all of them, at once and after each catching up.
bool Worker::Follow() {
  if (!db_->HasSecondaries() || !Limits().secondaries) return Generated();
  Begin("secondary");
  const std::string path = FilePath("secondary");
  StressDb second(db_->path(), db_->layout(), db_->flavour(), db_->threads());
  Status s = second.OpenSecondary(path, random_.Next(), number_);
  const rocksdb::ColumnFamilyHandle* const own = db_->Handles(number_)[kOwnFamily];
  for (int round = 0; s.ok() && round < 3; round++) {
    const std::string wrong = bank_->CheckSum(second, random_.OneIn(2));
    if (!wrong.empty()) return Fail("secondary: accounts", "consistent", wrong);
    if (!Verify(second, "secondary")) return false;
    for (int i = 0; i < 50; i++) {
      if (!Generated()) return false;
      ++done_;
    }
    // It has the families of that time, even if they changed since.
    if (db_->Handles(number_)[kOwnFamily] != own) break;
    Begin("secondary catches up");
    s = second.db()->TryCatchUpWithPrimary();
  }
  std::error_code ignored;
  // The primary may have replaced its files too often since.
  if (!s.ok() && !s.IsTryAgain()) return Ok("secondary", s);
  if (!Ok("closing the secondary", second.Close())) return false;
  fs::remove_all(path, ignored);
  return true;
}

// The family has another number afterwards, and all that it had.
bool Worker::MoveOwnFamily() {
  if (!db_->HasImports() || !Limits().imports || !model_.model().HasFamily(kOwnFamily) || generator_.HasIterators(kOwnFamily)) return Generated();
  Begin("own family exported and imported");
  const std::string path = FilePath("exported");
  const Status s = db_->MoveOwn(number_, random_.Next(), path, random_.OneIn(2));
  executor_.SetHandle(kOwnFamily, db_->Handles(number_)[kOwnFamily]);
  if (!Ok("export and import", s) || !VerifyFamily(*db_, kOwnFamily, "imported")) return false;
  std::error_code ignored;
  fs::remove_all(path, ignored);
  return true;
}

// Work or deletions held off for a moment, while the other threads continue.
bool Worker::Hold() {
  const bool work = random_.OneIn(2);
  Begin(work ? "background work held" : "deletions held");
  if (!Ok("holding", work ? db_->db()->PauseBackgroundWork() : db_->db()->DisableFileDeletions())) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(random_.Uniform(20)));
  return Ok("letting go", work ? db_->db()->ContinueBackgroundWork() : db_->db()->EnableFileDeletions(/*force=*/false));
}

}  // namespace compassdb_test
