// SPDX-License-Identifier: Apache-2.0
#include "processes/inherited_calls.h"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <unordered_map>

#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/stats_history.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/wide_columns.h"
#include "rocksdb/write_batch.h"

namespace compassdb_test {
namespace {

using namespace rocksdb;

class Answers {
 public:
  void Refused(const char* call, const Status& s) {
    if (!s.IsInvalidArgument() || s.ToString().find("fork()") == std::string::npos) {
      wrong_.push_back(std::string(call) + ": " + s.ToString());
    }
  }
  void Is(const char* call, bool right) {
    if (!right) wrong_.push_back(call);
  }
  std::vector<std::string> wrong_;
};

#define REFUSED(call) a->Refused(#call, (call))
#define IS(condition) a->Is(#condition, (condition))

void Writes(DB* db, ColumnFamilyHandle* family, bool ordinary, Answers* a) {
  const WriteOptions w;
  REFUSED(db->Put(w, "k", "v"));
  REFUSED(db->Put(w, family, "k", "v"));
  REFUSED(db->Delete(w, family, "k"));
  REFUSED(db->SingleDelete(w, family, "k"));
  REFUSED(db->Merge(w, family, "k", "v"));
  if (ordinary) {  // others refuse these for what they are
    REFUSED(db->DeleteRange(w, family, "a", "b"));
    REFUSED(db->Put(w, family, "k", "12345678", "v"));
    REFUSED(db->PutEntity(w, family, "k", WideColumns{{"c", "v"}}));
  }
  WriteBatch batch;  // itself stays usable
  IS(batch.Put(family, "k", "v").ok() && batch.Count() == 1);
  REFUSED(db->Write(w, &batch));
  REFUSED(db->FlushWAL(true));
  REFUSED(db->SyncWAL());
  REFUSED(db->LockWAL());
  REFUSED(db->UnlockWAL());
  REFUSED(db->Flush(FlushOptions(), family));
  REFUSED(db->Flush(FlushOptions(), std::vector<ColumnFamilyHandle*>{family}));
}

void Reads(DB* db, ColumnFamilyHandle* family, Answers* a) {
  const ReadOptions r;
  std::string value, time;
  PinnableSlice pinned;
  PinnableWideColumns columns;
  REFUSED(db->Get(r, "k", &value));
  REFUSED(db->Get(r, family, "k", &pinned));
  if (db->GetRootDB() == db) REFUSED(db->Get(r, family, "k", &pinned, &time));
  REFUSED(db->GetEntity(r, family, "k", &columns));
  GetMergeOperandsOptions merge;
  merge.expected_max_number_of_operands = 1;
  int operands = 0;
  REFUSED(db->GetMergeOperands(r, family, "k", &pinned, &merge, &operands));
  std::vector<std::string> values;
  const std::vector<Slice> keys = {"a", "b"};
  const std::vector<ColumnFamilyHandle*> families(2, family);
  for (const Status& s : db->MultiGet(r, families, keys, &values)) REFUSED(s);
  std::vector<Status> statuses(2);
  std::vector<PinnableSlice> many(2);
  db->MultiGet(r, family, 2, keys.data(), many.data(), statuses.data());
  for (const Status& s : statuses) REFUSED(s);
  bool found = true;
  IS(db->KeyMayExist(r, family, "k", &value, &found) && !found);
  const std::unique_ptr<Iterator> it(db->NewIterator(r, family));
  it->SeekToFirst();
  IS(!it->Valid());
  REFUSED(it->status());
  std::vector<Iterator*> iterators;
  REFUSED(db->NewIterators(r, {family}, &iterators));
  IS(iterators.empty());
  IS(db->GetSnapshot() == nullptr);
  db->ReleaseSnapshot(nullptr);
  IS(db->GetLatestSequenceNumber() == 0);
}

void Reports(DB* db, ColumnFamilyHandle* family, Answers* a) {
  std::string text;
  std::map<std::string, std::string> map;
  uint64_t number = 0;
  IS(!db->GetProperty(family, DB::Properties::kStats, &text));
  IS(!db->GetMapProperty(family, DB::Properties::kCFStats, &map));
  IS(!db->GetIntProperty(family, DB::Properties::kEstimateNumKeys, &number));
  IS(!db->GetAggregatedIntProperty(DB::Properties::kEstimateNumKeys, &number));
  if (db->GetRootDB() == db) {  // the base of wrappers does not pass these on
    std::unique_ptr<StatsHistoryIterator> history;
    REFUSED(db->GetStatsHistory(0, UINT64_MAX, &history));
    REFUSED(db->ResetStats());
  }
  const Range range("a", "b");
  REFUSED(db->GetApproximateSizes(family, &range, 1, &number));
  uint64_t count = 1, size = 1;
  db->GetApproximateMemTableStats(family, range, &count, &size);
  IS(count == 0 && size == 0);
  db->NumberLevels(family);
  db->MaxMemCompactionLevel(family);
  db->Level0StopWriteTrigger(family);
  db->GetOptions(family);
  db->GetDBOptions();
  IS(!db->GetName().empty() && db->GetEnv() != nullptr && db->DefaultColumnFamily() != nullptr);
  REFUSED(db->GetCreationTimeOfOldestFile(&number));
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  IS(files.empty());
  ColumnFamilyMetaData family_data;
  db->GetColumnFamilyMetaData(family, &family_data);
  IS(family_data.levels.empty());
  std::vector<ColumnFamilyMetaData> all;
  db->GetAllColumnFamilyMetaData(&all);
  IS(all.empty());
  REFUSED(db->VerifyChecksum());
  REFUSED(db->VerifyFileChecksums(ReadOptions()));
  REFUSED(db->GetDbIdentity(text));
  REFUSED(db->GetDbSessionId(text));
  TablePropertiesCollection properties;
  REFUSED(db->GetPropertiesOfAllTables(family, &properties));
  REFUSED(db->GetPropertiesOfTablesInRange(family, &range, 1, &properties));
}

void Work(DB* db, ColumnFamilyHandle* family, Answers* a) {
  REFUSED(db->CompactRange(CompactRangeOptions(), family, nullptr, nullptr));
  REFUSED(db->CompactFiles(CompactionOptions(), family, {"/000001.sst"}, 1));
  REFUSED(db->SuggestCompactRange(family, nullptr, nullptr));
  REFUSED(db->PromoteL0(family, 1));
  REFUSED(db->WaitForCompact(WaitForCompactOptions()));
  REFUSED(DeleteFilesInRange(db, family, nullptr, nullptr));
  CancelAllBackgroundWork(db, true);
  REFUSED(db->PauseBackgroundWork());
  REFUSED(db->ContinueBackgroundWork());
  REFUSED(db->EnableAutoCompaction({family}));
  db->DisableManualCompaction();
  db->EnableManualCompaction();
  REFUSED(db->SetOptions(family, {{"write_buffer_size", "1000000"}}));
  REFUSED(db->SetDBOptions({{"max_background_jobs", "3"}}));
  REFUSED(db->DisableFileDeletions());
  REFUSED(db->EnableFileDeletions(true));
  std::vector<std::string> names;
  uint64_t size = 0;
  REFUSED(db->GetLiveFiles(names, &size, true));
  std::vector<LiveFileStorageInfo> stored;
  REFUSED(db->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &stored));
  const std::unique_ptr<FileChecksumList> checksums(NewFileChecksumList());
  REFUSED(db->GetLiveFilesChecksumInfo(checksums.get()));
  VectorLogPtr logs;
  REFUSED(db->GetSortedWalFiles(logs));
  std::unique_ptr<LogFile> log;
  REFUSED(db->GetCurrentWalFile(&log));
  std::unique_ptr<TransactionLogIterator> updates;
  REFUSED(db->GetUpdatesSince(0, &updates));
  REFUSED(db->IngestExternalFile(family, {"/none.sst"}, IngestExternalFileOptions()));
  REFUSED(db->IngestExternalFiles({IngestExternalFileArg()}));
  ColumnFamilyHandle* made = nullptr;
  std::vector<ColumnFamilyHandle*> several;
  REFUSED(db->CreateColumnFamily(ColumnFamilyOptions(), "new", &made));
  REFUSED(db->CreateColumnFamilies(ColumnFamilyOptions(), {"new"}, &several));
  REFUSED(db->CreateColumnFamilies({ColumnFamilyDescriptor()}, &several));
  REFUSED(db->CreateColumnFamilyWithImport(ColumnFamilyOptions(), "new", ImportColumnFamilyOptions(),
                                           ExportImportFilesMetaData(), &made));
  REFUSED(db->DropColumnFamily(family));
  REFUSED(db->DropColumnFamilies({family}));
  std::unique_ptr<TraceWriter> trace;
  REFUSED(db->StartTrace(TraceOptions(), std::move(trace)));
  REFUSED(db->EndTrace());
  REFUSED(db->IncreaseFullHistoryTsLow(family, "12345678"));
  std::string low;
  REFUSED(db->GetFullHistoryTsLow(family, &low));
  REFUSED(db->Resume());
  REFUSED(db->TryCatchUpWithPrimary());
  REFUSED(db->Close());
}

void Transactions(DB* db, Transaction* t, Answers* a) {
  std::string value;
  REFUSED(t->Put("k", "v"));
  REFUSED(t->PutUntracked("k", "v"));
  REFUSED(t->Delete("k"));
  REFUSED(t->Merge("k", "v"));
  REFUSED(t->Get(ReadOptions(), "k", &value));
  REFUSED(t->GetForUpdate(ReadOptions(), "k", &value));
  std::vector<std::string> values;
  for (const Status& s : t->MultiGet(ReadOptions(), {"a"}, &values)) REFUSED(s);
  for (const Status& s : t->MultiGetForUpdate(ReadOptions(), {"a"}, &values)) REFUSED(s);
  const std::unique_ptr<Iterator> it(t->GetIterator(ReadOptions()));
  it->SeekToFirst();
  IS(!it->Valid());
  REFUSED(it->status());
  t->SetSnapshot();
  t->ClearSnapshot();
  t->SetSavePoint();
  REFUSED(t->RollbackToSavePoint());
  REFUSED(t->Commit());
  REFUSED(t->Rollback());
  if (auto* const locking = dynamic_cast<TransactionDB*>(db)) {
    REFUSED(t->SetName("name"));
    REFUSED(t->Prepare());
    IS(locking->GetTransactionByName("name") == nullptr);
    IS(locking->GetLockStatusData().empty());
    std::vector<Transaction*> prepared;
    locking->GetAllPreparedTransactions(&prepared);
    IS(prepared.empty());
    const std::unique_ptr<Transaction> fresh(locking->BeginTransaction(WriteOptions()));
    a->Is("a transaction begun in the child", !fresh->Put("k", "v").ok() && !fresh->Commit().ok());
  }
}

void Copies(const OpenObjects& open, const std::string& scratch, Answers* a) {
  if (open.checkpoint != nullptr) {
    REFUSED(open.checkpoint->CreateCheckpoint(scratch + "-checkpoint"));
    ExportImportFilesMetaData* exported = nullptr;
    REFUSED(open.checkpoint->ExportColumnFamily(open.family, scratch + "-export", &exported));
  }
  BackupInfo info;
  std::vector<BackupInfo> infos;
  if (BackupEngine* const e = open.backups) {
    REFUSED(e->CreateNewBackup(open.db));
    REFUSED(e->PurgeOldBackups(0));
    REFUSED(e->DeleteBackup(1));
    REFUSED(e->GarbageCollect());
    REFUSED(e->VerifyBackup(1));
    REFUSED(e->GetLatestBackupInfo(&info));
    REFUSED(e->RestoreDBFromLatestBackup(scratch + "-restored", scratch + "-restored"));
    e->GetBackupInfo(&infos);
    IS(infos.empty());
    e->StopBackup();
  }
  if (BackupEngineReadOnly* const e = open.backups_to_read) {
    REFUSED(e->VerifyBackup(1));
    REFUSED(e->RestoreDBFromBackup(1, scratch + "-restored", scratch + "-restored"));
    e->GetBackupInfo(&infos);
    IS(infos.empty());
  }
  if (SstFileWriter* const w = open.writer) {
    REFUSED(w->Put("z", "v"));
    REFUSED(w->DeleteRange("y", "z"));
    REFUSED(w->Finish());
    REFUSED(w->Open(scratch + "-table"));
  }
  if (SstFileReader* const r = open.reader) {
    const std::unique_ptr<Iterator> it(r->NewIterator(ReadOptions()));
    REFUSED(it->status());
    REFUSED(r->VerifyChecksum());
  }
}

void CApi(rocksdb_t* db, Answers* a) {
  rocksdb_writeoptions_t* const w = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* const r = rocksdb_readoptions_create();
  char* error = nullptr;
  rocksdb_put(db, w, "k", 1, "v", 1, &error);
  a->Is("rocksdb_put", error != nullptr && std::string(error).find("fork()") != std::string::npos);
  free(error);
  error = nullptr;
  size_t length = 0;
  free(rocksdb_get(db, r, "k", 1, &length, &error));
  a->Is("rocksdb_get", error != nullptr && std::string(error).find("fork()") != std::string::npos);
  free(error);
  a->Is("rocksdb_property_value", rocksdb_property_value(db, "rocksdb.stats") == nullptr);
  rocksdb_writeoptions_destroy(w);
  rocksdb_readoptions_destroy(r);
}

}  // namespace

std::vector<std::string> CallInherited(const OpenObjects& open, const std::string& scratch) {
  Answers answers;
  Answers* const a = &answers;
  if (DB* const db = open.db) {
    ColumnFamilyHandle* const family = open.family != nullptr ? open.family : db->DefaultColumnFamily();
    Reads(db, family, a);
    Writes(db, family, db->GetRootDB() == db, a);
    Reports(db, family, a);
    Work(db, family, a);
    ColumnFamilyDescriptor descriptor;
    REFUSED(family->GetDescriptor(&descriptor));
    if (open.transaction != nullptr) Transactions(db, open.transaction, a);
  }
  if (open.overlay != nullptr) {
    REFUSED(open.overlay->status());
    open.overlay->SeekToFirst();
    IS(!open.overlay->Valid());
  }
  if (Iterator* const it = open.iterator) {
    IS(!it->Valid());
    it->SeekToFirst();
    it->SeekToLast();
    it->Seek("k");
    it->SeekForPrev("k");
    IS(!it->Valid());
    REFUSED(it->status());
    REFUSED(it->Refresh());
  }
  if (TransactionLogIterator* const log = open.log) {
    log->Next();
    IS(!log->Valid());
    REFUSED(log->status());
  }
  Copies(open, scratch, a);
  if (open.file != nullptr) {
    REFUSED(open.file->Append("child"));
    REFUSED(open.file->Flush());
    REFUSED(open.file->Sync());
    REFUSED(open.file->Close());
  }
  if (open.logger != nullptr) {
    Warn(open.logger, "from the child");
    open.logger->Flush();
  }
  if (open.c_db != nullptr) CApi(open.c_db, a);
  const std::filesystem::path at(scratch);
  for (const auto& entry : std::filesystem::directory_iterator(at.parent_path())) {
    const std::string name = entry.path().filename();
    if (name.rfind(at.filename().string() + "-", 0) == 0) a->Is(name.c_str(), false);
  }
  return answers.wrong_;
}

void DeleteInherited(OpenObjects* open) {
  delete open->iterator;
  delete open->overlay;
  delete open->log;
  delete open->transaction;
  delete open->checkpoint;
  delete open->backups;
  delete open->backups_to_read;
  delete open->writer;
  delete open->reader;
  delete open->file;
  if (open->db != nullptr && open->snapshot != nullptr) open->db->ReleaseSnapshot(open->snapshot);
  delete open->family;
  if (open->c_db != nullptr) rocksdb_close(open->c_db);
  delete open->db;
}

}  // namespace compassdb_test
