// SPDX-License-Identifier: Apache-2.0
// Copies of a database and tables from outside: checkpoints, backups, files
// that are ingested, exported and imported.

#include "equality/transcript.h"
#include "rocksdb/convenience.h"
#include "rocksdb/metadata.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::BackupEngine;
using rocksdb::BackupEngineOptions;
using rocksdb::Checkpoint;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::Env;
using rocksdb::Options;
using rocksdb::WriteOptions;

namespace {

void Fill(Transcript* t, DB* db, int first, int count, const std::string& value) {
  for (int i = first; i < first + count; ++i) {
    rocksdb::Status s = db->Put(WriteOptions(), "key" + std::to_string(1000 + i), value);
    if (!s.ok()) t->Code("put", s);
  }
}

void ScanCopy(Transcript* t, const std::string& what, const std::string& name) {
  Options options;
  auto db = OpenOrNote(t, name, options);
  if (!db) return;
  t->Scan(what, db.get());
  t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
}

void Checkpoints(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  Fill(t, db.get(), 0, 20, "a");
  Checkpoint* opened = nullptr;
  t->Code("create", Checkpoint::Create(db.get(), &opened));
  std::unique_ptr<Checkpoint> checkpoint(opened);
  uint64_t sequence = 0;
  t->Code("logs", checkpoint->CreateCheckpoint(t->Path("logs"), UINT64_MAX, &sequence));
  t->Line(std::to_string(sequence));
  t->Code("flushed", checkpoint->CreateCheckpoint(t->Path("flushed"), 0, &sequence));
  Fill(t, db.get(), 10, 20, "b");
  t->Code("slashes", checkpoint->CreateCheckpoint(t->Path("slashes") + "//", 1 << 30));
  t->Full("exists", checkpoint->CreateCheckpoint(t->Path("logs")));
  t->Full("empty", checkpoint->CreateCheckpoint(""));
  t->Full("root", checkpoint->CreateCheckpoint("/"));
  t->Code("no parent", checkpoint->CreateCheckpoint(t->Path("none/there")));
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  std::string id, copy_id;
  t->Code("identity", db->GetDbIdentity(id));
  checkpoint.reset();
  db.reset();
  ScanCopy(t, "logs", "logs");
  ScanCopy(t, "flushed", "flushed");
  ScanCopy(t, "slashes", "slashes");
  Options options;
  auto copy = OpenOrNote(t, "logs", options);
  if (!copy) return;
  t->Code("identity", copy->GetDbIdentity(copy_id));
  t->Line(id == copy_id ? "same" : "another");
}

// RocksDB 7.8 leaves it out; later ones, and CompassDB, do not.
bool IsEmptyLog(const rocksdb::LiveFileStorageInfo& file) {
  return file.file_type == rocksdb::kWalFile && file.size == 0;
}

void LiveFiles(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  Fill(t, db.get(), 0, 20, "a");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  rocksdb::VectorLogPtr logs;
  t->Code("logs", db->GetSortedWalFiles(logs));
  t->Line(std::to_string(logs.size()));
  Fill(t, db.get(), 0, 2, "b");
  t->Code("logs", db->GetSortedWalFiles(logs));
  for (const auto& log : logs) {
    t->Line(std::to_string(log->StartSequence()) + " " + std::to_string(log->Type()));
  }
  t->Code("enable", db->EnableFileDeletions(false));
  t->Code("disable", db->DisableFileDeletions());
  t->Code("disable", db->DisableFileDeletions());
  for (uint64_t limit : {UINT64_MAX, uint64_t{1} << 30, uint64_t{0}}) {
    rocksdb::LiveFilesStorageInfoOptions options;
    options.include_checksum_info = true;
    options.wal_size_for_flush = limit;
    std::vector<rocksdb::LiveFileStorageInfo> files;
    t->Code("live", db->GetLiveFilesStorageInfo(options, &files));
    for (const auto& file : files) {
      if (file.file_type == rocksdb::kTableFile || IsEmptyLog(file)) continue;
      t->Line(std::to_string(file.file_type) + " " + std::to_string(file.trim_to_size) + " " +
              std::to_string(file.replacement_contents.empty()) + " " +
              file.file_checksum_func_name);
    }
  }
  t->Full("no list", db->GetLiveFilesChecksumInfo(nullptr));
  t->Code("enable", db->EnableFileDeletions(true));
  db.reset();
  DB* opened = nullptr;
  t->Code("read-only", DB::OpenForReadOnly(Options(), t->Path("db"), &opened));
  db.reset(opened);
  if (!db) return;
  t->Code("disable", db->DisableFileDeletions());
  t->Code("enable", db->EnableFileDeletions(false));
  std::vector<std::string> names;
  uint64_t bytes = 0;
  t->Code("live", db->GetLiveFiles(names, &bytes));
  t->Code("logs", db->GetSortedWalFiles(logs));
  t->Code("ingest", db->IngestExternalFile({t->Path("none")}, rocksdb::IngestExternalFileOptions()));
}

void Backups(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  const BackupEngineOptions options(t->Path("backups"));
  rocksdb::BackupEngineReadOnly* read_only = nullptr;
  t->Code("read-only", rocksdb::BackupEngineReadOnly::Open(options, Env::Default(), &read_only));
  BackupEngine* opened = nullptr;
  t->Code("open", BackupEngine::Open(options, Env::Default(), &opened));
  std::unique_ptr<BackupEngine> engine(opened);
  if (!engine) return;
  rocksdb::BackupInfo info;
  const std::string restored = t->Path("restored");
  t->Code("latest", engine->GetLatestBackupInfo(&info));
  t->Code("info", engine->GetBackupInfo(7, &info));
  t->Code("restore", engine->RestoreDBFromLatestBackup(restored, restored));
  t->Code("verify", engine->VerifyBackup(3));
  t->Code("delete", engine->DeleteBackup(3));
  for (int n = 0; n < 4; ++n) {
    Fill(t, db.get(), n * 5, 10, std::string(1, static_cast<char>('a' + n)));
    rocksdb::CreateBackupOptions create;
    create.flush_before_backup = n % 2 == 0;
    rocksdb::BackupID id = 0;
    t->Code("backup", engine->CreateNewBackupWithMetadata(
                          create, db.get(), n == 1 ? "" : "metadata\n" + std::to_string(n), &id));
    t->Line(std::to_string(id));
  }
  std::vector<rocksdb::BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  for (const auto& i : infos) t->Line(std::to_string(i.backup_id) + " " + Show(i.app_metadata));
  for (rocksdb::BackupID id : {2u, 4u, 1u, 3u}) {
    t->Code("verify", engine->VerifyBackup(id, true));
    t->Code("restore", engine->RestoreDBFromBackup(id, restored, restored));
    ScanCopy(t, "restored", "restored");
  }
  t->Code("delete", engine->DeleteBackup(2));
  t->Code("info", engine->GetBackupInfo(2, &info));
  t->Code("purge", engine->PurgeOldBackups(1));
  t->Code("garbage", engine->GarbageCollect());
  engine->GetBackupInfo(&infos);
  t->Line(std::to_string(infos.size()));
  t->Code("latest", engine->GetLatestBackupInfo(&info));
  t->Line(std::to_string(info.backup_id));
  t->Code("purge all", engine->PurgeOldBackups(0));
  for (int n = 0; n < 2; ++n) {
    rocksdb::BackupID id = 0;
    t->Code("backup", engine->CreateNewBackup(rocksdb::CreateBackupOptions(), db.get(), &id));
    t->Line(std::to_string(id));
    t->Code("delete", engine->DeleteBackup(id));
    if (n == 0) t->Code("backup", engine->CreateNewBackup(db.get()));
    engine.reset();
    t->Code("open", BackupEngine::Open(options, Env::Default(), &opened));
    engine.reset(opened);
  }
  engine->StopBackup();
  t->Code("stopped", engine->CreateNewBackup(db.get()));
  engine.reset();
  BackupEngineOptions destroy = options;
  destroy.destroy_old_data = true;
  t->Code("read-only", rocksdb::BackupEngineReadOnly::Open(destroy, Env::Default(), &read_only));
  t->Code("open", BackupEngine::Open(destroy, Env::Default(), &opened));
  engine.reset(opened);
  t->Code("latest", engine->GetLatestBackupInfo(&info));
}

void WriteTable(Transcript* t, const std::string& name, int first, int count,
                const std::string& value) {
  const Options options;
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  t->Code("open", writer.Open(t->Path(name)));
  for (int i = first; i < first + count; ++i) {
    rocksdb::Status s = writer.Put("key" + std::to_string(1000 + i), value);
    if (!s.ok()) t->Code("add", s);
  }
  rocksdb::ExternalSstFileInfo info;
  t->Code("finish", writer.Finish(&info));
  t->Line(info.smallest_key + " " + info.largest_key + " " + std::to_string(info.num_entries) +
          " " + std::to_string(info.sequence_number) + " " + std::to_string(info.version));
}

void SstFiles(Transcript* t) {
  const Options options;
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  t->Full("not open", writer.Put("a", "1"));
  t->Code("not open", writer.Finish());
  t->Code("open", writer.Open(t->Path("f.sst")));
  t->Full("no entries", writer.Finish());
  t->Code("put", writer.Put("b", "1"));
  t->Full("again", writer.Put("b", "2"));
  t->Full("before", writer.Put("a", "2"));
  t->Code("delete", writer.Delete("c"));
  t->Code("merge", writer.Merge("d", "x"));
  t->Code("range", writer.DeleteRange("k", "m"));
  t->Code("range", writer.DeleteRange("e", "f"));
  rocksdb::ExternalSstFileInfo info;
  t->Code("finish", writer.Finish(&info));
  t->Line(info.smallest_key + " " + info.largest_key + " " + info.smallest_range_del_key + " " +
          info.largest_range_del_key + " " + std::to_string(info.num_entries) + " " +
          std::to_string(info.num_range_del_entries));
  WriteTable(t, "g.sst", 0, 50, "value");
  rocksdb::SstFileReader reader(options);
  t->Code("missing", rocksdb::SstFileReader(options).Open(t->Path("none.sst")));
  t->Code("open", reader.Open(t->Path("g.sst")));
  t->Code("verify", reader.VerifyChecksum());
  std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(rocksdb::ReadOptions()));
  for (it->Seek("key1045"); it->Valid(); it->Next()) t->Line(it->key().ToString());
  t->Line(std::to_string(reader.GetTableProperties()->num_entries) + " " +
          reader.GetTableProperties()->comparator_name);
}

void Ingestion(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  const auto ingest = [&](const std::vector<std::string>& names,
                          const rocksdb::IngestExternalFileOptions& options) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(t->Path(name));
    t->Code("ingest " + names.front(), db->IngestExternalFile(paths, options));
    t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
  };
  rocksdb::IngestExternalFileOptions options;
  ingest({"missing.sst"}, options);
  WriteTable(t, "a.sst", 0, 20, "a");
  ingest({"a.sst"}, options);
  t->Scan("new", db.get());
  WriteTable(t, "b.sst", 10, 20, "b");
  options.allow_global_seqno = false;
  ingest({"b.sst"}, options);
  options.allow_global_seqno = true;
  ingest({"b.sst"}, options);
  t->Scan("over", db.get());
  Fill(t, db.get(), 15, 3, "memory");
  WriteTable(t, "c.sst", 12, 5, "c");
  options.allow_blocking_flush = false;
  ingest({"c.sst"}, options);
  options.allow_blocking_flush = true;
  ingest({"c.sst"}, options);
  t->Scan("over memory", db.get());
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  WriteTable(t, "d.sst", 100, 5, "d");
  ingest({"d.sst"}, options);
  rocksdb::ReadOptions before;
  before.snapshot = snapshot;
  t->Scan("before", db.get(), nullptr, before);
  db->ReleaseSnapshot(snapshot);
  WriteTable(t, "e.sst", 200, 5, "e");
  WriteTable(t, "f.sst", 203, 5, "f");
  options.move_files = true;
  ingest({"e.sst", "f.sst"}, options);
  t->Code("moved", Env::Default()->FileExists(t->Path("e.sst")));
  options.ingest_behind = true;
  WriteTable(t, "g.sst", 300, 5, "g");
  ingest({"g.sst"}, options);
  t->Code("no files", db->IngestExternalFile({}, rocksdb::IngestExternalFileOptions()));
  t->Code("no arguments", db->IngestExternalFiles({}));
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  t->Scan("compacted", db.get());
  db.reset();
  ScanCopy(t, "again", "db");
}

// RocksDB keeps the last level with universal compaction only.
void IngestionBehind(Transcript* t) {
  Options options = FreshOptions();
  options.allow_ingest_behind = true;
  options.num_levels = 3;
  options.compaction_style = rocksdb::kCompactionStyleUniversal;
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  rocksdb::IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  const auto ingest = [&](const std::vector<std::string>& names,
                          const rocksdb::IngestExternalFileOptions& how) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(t->Path(name));
    t->Code("ingest " + names.front(), db->IngestExternalFile(paths, how));
    t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
    t->Scan(names.front(), db.get());
  };
  Fill(t, db.get(), 10, 20, "newer");
  // No deletions: RocksDB forgets them at the last level but one, so that what they deleted would
  // show through from below.
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  WriteTable(t, "a.sst", 0, 40, "a");
  ingest({"a.sst"}, behind);
  WriteTable(t, "b.sst", 39, 10, "b");
  ingest({"b.sst"}, behind);
  WriteTable(t, "c.sst", 40, 10, "c");
  WriteTable(t, "d.sst", 45, 10, "d");
  ingest({"c.sst", "d.sst"}, behind);
  ingest({"c.sst"}, behind);
  WriteTable(t, "e.sst", 60, 5, "e");
  ingest({"e.sst"}, behind);
  // The end of it in RocksDB: other ingestions and forced compactions give sequence 0 to what is not
  // behind, and then it refuses.
  rocksdb::CompactRangeOptions force;
  force.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  t->Code("compact", db->CompactRange(force, nullptr, nullptr));
  t->Scan("compacted", db.get());
  db.reset();
  db = OpenOrNote(t, "db", options);
  if (!db) return;
  t->Scan("again", db.get());
}

void ExportAndImport(Transcript* t) {
  auto db = OpenOrNote(t, "db", FreshOptions());
  if (!db) return;
  Fill(t, db.get(), 0, 30, "a");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  Fill(t, db.get(), 10, 10, "b");
  t->Code("delete", db->Delete(WriteOptions(), "key1005"));
  Checkpoint* opened = nullptr;
  t->Code("create", Checkpoint::Create(db.get(), &opened));
  std::unique_ptr<Checkpoint> checkpoint(opened);
  rocksdb::ExportImportFilesMetaData* exported = nullptr;
  t->Code("export", checkpoint->ExportColumnFamily(db->DefaultColumnFamily(), t->Path("ex"), &exported));
  if (exported == nullptr) return;
  std::unique_ptr<rocksdb::ExportImportFilesMetaData> metadata(exported);
  t->Line(metadata->db_comparator_name);
  exported = nullptr;
  t->Full("exists", checkpoint->ExportColumnFamily(db->DefaultColumnFamily(), t->Path("ex"), &exported));
  const auto import = [&](const std::string& name, const rocksdb::ExportImportFilesMetaData& from) {
    ColumnFamilyHandle* handle = nullptr;
    t->Code("import " + name,
            db->CreateColumnFamilyWithImport(ColumnFamilyOptions(),
                                             name, rocksdb::ImportColumnFamilyOptions(), from,
                                             &handle));
    if (handle == nullptr) return;
    t->Scan(name, db.get(), handle);
    t->Code("drop", db->DropColumnFamily(handle));
    delete handle;
  };
  import("copy", *metadata);
  import("default", *metadata);
  rocksdb::ExportImportFilesMetaData other = *metadata;
  other.files.clear();
  import("empty", other);
  other = *metadata;
  other.db_comparator_name = "other";
  import("comparator", other);
  other = *metadata;
  other.files[0].name = "/none.sst";
  import("missing", other);
  t->Line("sequence " + std::to_string(db->GetLatestSequenceNumber()));
}

}  // namespace

std::vector<Scenario> CopyScenarios() {
  return {{"checkpoints", Checkpoints}, {"live-files", LiveFiles},
          {"backups", Backups},         {"sst-files", SstFiles},
          {"ingestion", Ingestion},     {"ingestion-behind", IngestionBehind},
          {"export-import", ExportAndImport}};
}

}  // namespace compassdb_test
