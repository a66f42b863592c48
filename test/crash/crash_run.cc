// SPDX-License-Identifier: Apache-2.0
#include "crash/crash_run.h"

#include <rocksdb/convenience.h>
#include <rocksdb/listener.h>

#include <algorithm>
#include <set>

#include "support/layout.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Status;

namespace {

constexpr char kPath[] = "/disk/db";
constexpr char kSecondPath[] = "/disk/second";
constexpr char kLogPath[] = "/disk/logs";
constexpr int kThird = 2;
// The overhead of a record in the value store, which may be in a segment of its own, as groups are small here. Also of
// notices that groups keep.
constexpr uint64_t kValueOverhead = 160, kValuesOverhead = 16 << 10;

// Leaves out the syncs of files of separated values.
class UnsyncedValues final : public rocksdb::EventListener {
 public:
  explicit UnsyncedValues(Disk* disk) : disk_(disk) {}
  void OnBlobFileCreationStarted(const rocksdb::BlobFileCreationBriefInfo& info) override {
    disk_->LeaveOutFile(info.file_path);
  }

 private:
  Disk* const disk_;
};

bool Ours() { return std::string(Traits().name) == "compassdb"; }

// With large values tables are so large that parts of a file die before the rest, and holes are punched.
Profile CrashProfile(bool large_values) {
  Profile p;
  p.name = "crash";
  p.families = {{.merge = MergeKind::kAppend}, {.reverse_order = true}, FamilySpec()};
  p.keys = 200;
  p.max_value_log = large_values ? 13 : 10;
  p.write = 500;
  p.batch = 300;
  p.get = p.multi_get = p.key_may_exist = p.snapshot = p.iterator = p.scan = 0;
  p.flush = 60;   // of 5000
  p.compact = 30;
  p.delete_range_share = 3;
  return p;
}

}  // namespace

CrashRun::CrashRun(const Options& options)
    : options_(options), profile_(CrashProfile(options.large_values)), random_(options.seed),
      generator_(profile_, options.seed), disk_(options.sealed), history_(profile_.families) {
  history_.mutable_model()->CreateFamily(1);
  if (options.directory_exists) {
    disk_.MakeDirectory(kPath);
    disk_.MakeDirectory(kSecondPath);
    disk_.MakeDirectory(kLogPath);
  }
  disk_.LeaveOut(options.left_out);
  if (options.atomic) disk_.SetAtomicWrites(4096);
  tuning_.seed = 1;
}

CrashRun::~CrashRun() { Close(); }

rocksdb::ColumnFamilyOptions CrashRun::FamilyOptions(int slot) const {
  rocksdb::ColumnFamilyOptions options =
      TunedFamilyOptions(tuning_, profile_.families[slot], slot);
  ApplyLayout(options_.layout, &options);
  const auto apply = [&options](const std::string& text) {
    const rocksdb::ColumnFamilyOptions base = options;
    if (!rocksdb::GetColumnFamilyOptionsFromString(rocksdb::ConfigOptions(), base, text, &options).ok()) abort();
  };
  // In some lives values are one log: it takes over their groups, and gives way to groups again.
  if (options_.layout == "hash-kv" && (tuning_.seed >> 2) % 3 == 0) {
    apply("table_factory={value_gc_policy=oldest-first;value_hot_cold=false}");
  }
  if (options_.layout == "tableless") {
    // Another number of pages in each life: from few, that overflow, every section is rehashed. Pages of three
    // sizes: the disk tears the larger ones within.
    static constexpr const char* kPages[] = {"2", "40", "0", "9"};
    static constexpr const char* kPageBytes[] = {"4096", "8192", "32768"};
    std::string pages = std::string("table_factory={tableless_pages=") + kPages[(tuning_.seed >> 1) % 4] +
                        ";tableless_page_bytes=" + kPageBytes[options_.expect_atomic ? 0 : (options_.seed >> 16) % 3] +
                        ";tableless_key_store=" + (working_ && Keyless() ? "false" : "true");
    if (options_.expect_atomic && (tuning_.seed >> 3) % 5 != 0) pages += ";tableless_atomic_page_writes=true";
    pages += std::string(";memtable_as_log_index=") + (IndexesLog() ? "true" : "false");
    apply(pages + "}");
  }
  return options;
}

Status CrashRun::Open() {
  using Mode = rocksdb::WALRecoveryMode;
  if (tuning_.seed % 3 == 0) {
    Status s = OpenWithMode(Mode::kTolerateCorruptedTailRecords);
    if (!s.IsCorruption() || Ours()) return s;
  }
  return OpenWithMode(Mode::kPointInTimeRecovery);
}

bool CrashRun::Keyless() const { return options_.layout == "tableless" && (tuning_.seed >> 3) % 3 == 0; }

bool CrashRun::IndexesLog() const {
  return options_.layout == "tableless" && (options_.seed >> 10) % 2 == 1;
}

bool CrashRun::Recycles() const { return Ours() && (options_.seed >> 8) % 2 == 1; }

// Logs are recycled in the mode that skips holes. Recovery uses another one, which promises a prefix.
Status CrashRun::OpenForWork() {
  Status s = Open();
  if (!s.ok() || !Recycles()) return s;
  Close();
  return OpenWithMode(rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords);
}

Status CrashRun::OpenWithMode(rocksdb::WALRecoveryMode mode) {
  rocksdb::DBOptions options = TunedDbOptions(tuning_);
  options.recycle_log_file_num = 2;  // where the mode allows it
  options.env = disk_.env();
  options.statistics = statistics_;
  if (options_.left_out == SyncKind::kValues) options.listeners.push_back(std::make_shared<UnsyncedValues>(&disk_));
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  options.max_bgerror_resume_count = 0;
  options.wal_recovery_mode = mode;
  if (options_.seed % 2 == 1) options.db_paths = {{kPath, 32 << 10}, {kSecondPath, UINT64_MAX}};
  if (options_.seed % 3 == 1) options.wal_dir = kLogPath;
  // Pages that are written in place have none.
  if (options_.seed % 4 == 1 && options_.layout != "tableless") {
    options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  }
  // It does not exist yet, or the disk is dead: the names do not matter then.
  std::vector<std::string> names;
  rocksdb::DB::ListColumnFamilies(options, kPath, &names).PermitUncheckedError();
  bool third = std::find(names.begin(), names.end(), FamilyName(kThird)) != names.end();
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (int slot = 0; slot < (third ? 3 : 2); slot++) {
    families.emplace_back(FamilyName(slot), FamilyOptions(slot));
  }
  rocksdb::DB* db = nullptr;
  handles_.clear();
  Status s;
  if (options_.two_phase) {
    rocksdb::TransactionDB* transactions = nullptr;
    s = rocksdb::TransactionDB::Open(options, rocksdb::TransactionDBOptions(), kPath, families, &handles_, &transactions);
    db = transactions;
    if (s.ok()) two_phase_.SetDb(transactions);
  } else {
    s = rocksdb::DB::Open(options, kPath, families, &handles_, &db);
  }
  if (s.ok()) db_.reset(db);
  return s;
}

void CrashRun::Close() {
  if (db_ == nullptr) return;
  for (auto* handle : handles_) {
    uint64_t pages = 0;
    if (options_.expect_atomic && db_->GetIntProperty(handle, "compassdb.tableless-unjournaled-pages", &pages)) {
      unjournaled_pages_ += pages;
    }
  }
  two_phase_.SetDb(nullptr);
  for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  handles_.clear();
  db_.reset();
}

Status CrashRun::WriteSome() {
  // The generator knows no family but the default one to exist; spread here.
  Op op;
  do {
    op = generator_.Next();
  } while (op.kind != OpKind::kWrite);
  std::vector<WriteItem> items = EffectiveItems(op.items);
  for (WriteItem& item : items) {
    if (item.kind == WriteItem::Kind::kPut && random_.OneIn(3)) item.family = 1;
    bool third = third_family_ && random_.OneIn(4);
    if (item.kind == WriteItem::Kind::kPut && third) item.family = kThird;
    if (item.kind == WriteItem::Kind::kSingleDelete) item.kind = WriteItem::Kind::kDelete;
    if (options_.two_phase && item.kind == WriteItem::Kind::kDeleteRange) item.kind = WriteItem::Kind::kDelete;
  }
  if (options_.two_phase && random_.OneIn(3)) return WriteInTwoPhases(std::move(items));
  rocksdb::WriteBatch batch;
  for (const WriteItem& item : *history_.Begin(std::move(items))) {
    rocksdb::ColumnFamilyHandle* family = handles_[item.family];
    Status s;
    switch (item.kind) {
      case WriteItem::Kind::kPut: s = batch.Put(family, item.key, item.value); break;
      case WriteItem::Kind::kDelete: s = batch.Delete(family, item.key); break;
      case WriteItem::Kind::kMerge: s = batch.Merge(family, item.key, item.value); break;
      case WriteItem::Kind::kDeleteRange:
        s = batch.DeleteRange(family, item.key, item.value);
        break;
      default: break;
    }
    if (!s.ok()) return s;
  }
  rocksdb::WriteOptions options;
  options.sync = random_.OneIn(4);
  Status s = db_->Write(options, &batch);
  if (s.ok()) history_.Acknowledge(options.sync);
  return s;
}

Status CrashRun::WriteInTwoPhases(std::vector<WriteItem> items) {
  const bool sync = random_.OneIn(4);
  const std::vector<WriteItem>& batch = *history_.Begin(std::move(items));
  Status s = two_phase_.Write(batch, history_.begun(), handles_, random_.OneIn(2), sync,
                              [this] { return random_.OneIn(4) ? MaintainSome() : Status::OK(); });
  if (s.ok()) history_.Acknowledge(sync);
  return s;
}

Status CrashRun::MaintainSome() {
  Op op;
  op.kind = random_.Percent(70) ? OpKind::kFlush : OpKind::kCompact;
  op.number = random_.Next();
  return Maintain(op);
}

Status CrashRun::Maintain(const Op& op) {
  Status s;
  if (op.number % 5 == 0) {
    s = db_->SyncWAL();
    if (s.ok()) history_.PromiseAll();
    return s;
  }
  if (op.kind == OpKind::kFlush) {
    // A flushed family is durable; and as states are prefixes, all before it.
    rocksdb::FlushOptions options;
    s = op.number % 2 == 0 ? db_->Flush(options, handles_) : db_->Flush(options, handles_[0]);
    if (s.ok()) history_.PromiseAll();  // the counter is in the default family
    return s;
  }
  return db_->CompactRange(rocksdb::CompactRangeOptions(), handles_[op.number % 2], nullptr,
                           nullptr);
}

Status CrashRun::ChangeFamily() {
  // Writes that must survive come before it, so that its place is certain.
  Status s = db_->SyncWAL();
  if (!s.ok()) return s;
  history_.PromiseAll();
  changing_family_ = true;
  if (third_family_) {
    s = db_->DropColumnFamily(handles_[kThird]);
    if (!s.ok()) return s;
    db_->DestroyColumnFamilyHandle(handles_[kThird]).PermitUncheckedError();
    handles_.pop_back();
    history_.DropFamily(kThird);
  } else {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    s = db_->CreateColumnFamily(FamilyOptions(kThird), FamilyName(kThird), &handle);
    if (!s.ok()) return s;
    handles_.push_back(handle);
    history_.CreateFamily(kThird);
  }
  third_family_ = !third_family_;
  changing_family_ = false;
  return s;
}

std::optional<std::string> CrashRun::CheckFamilies() {
  bool found = handles_.size() == 3;
  if (found == third_family_) {
    changing_family_ = false;
    return std::nullopt;
  }
  if (!changing_family_) {
    return found ? "a dropped family is back" : "a created family is missing";
  }
  if (found) {
    history_.CreateFamily(kThird);
  } else {
    history_.DropFamily(kThird);
  }
  third_family_ = found;
  changing_family_ = false;
  return std::nullopt;
}

std::optional<std::string> CrashRun::Work() {
  const int writes = Recycles() ? 80 : 96;  // more flushes, more logs
  if (options_.two_phase) {
    Status s = two_phase_.RollBackBatch();
    if (!s.ok()) return disk_.IsDown() ? std::nullopt : std::optional("a rollback failed: " + s.ToString());
  }
  for (int i = 0; i < options_.operations && !disk_.IsDown(); i++) {
    Status s;
    if (options_.two_phase && random_.OneIn(30)) {
      s = two_phase_.HoldOrRollBack(random_.OneIn(2));
    } else if (random_.Percent(writes)) {
      s = WriteSome();
    } else if (random_.OneIn(4)) {
      s = ChangeFamily();
    } else {
      s = MaintainSome();
    }
    if (!s.ok() && !disk_.IsDown()) return "failed with the power on: " + s.ToString();
    if (!s.ok()) break;
  }
  return std::nullopt;
}

std::optional<std::string> CrashRun::Life(uint64_t cut_at_change, uint64_t cut_at_sync,
                                          const Cut& cut) {
  tuning_.seed = random_.Next() | 1;
  disk_.Arm(cut_at_change, cut_at_sync, random_.Next(), cut);
  working_ = true;
  Status s = OpenForWork();
  std::optional<std::string> wrong;
  if (s.ok()) {
    wrong = Work();
  } else if (!disk_.IsDown()) {
    wrong = "open failed with the power on: " + s.ToString();
  }
  disk_.CutNow();
  cuts_++;
  changes_ = disk_.changes();
  syncs_ = disk_.syncs();
  std::string where = disk_.cut_at();
  Close();
  working_ = false;
  // The kernel keeps the writes of a killed process.
  if (cut.kill) history_.PromiseAll();
  if (!wrong) wrong = Verify(cut);
  if (wrong) *wrong += (cut.kill ? " (killed before: " : " (power cut before: ") + where + ")" + disk_.Listing();
  return wrong;
}

std::optional<std::string> CrashRun::ReadAll(std::vector<Entries>* families) {
  families->resize(handles_.size());
  for (size_t slot = 0; slot < families->size(); slot++) {
    Entries& entries = (*families)[slot];
    std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(rocksdb::ReadOptions(), handles_[slot]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      entries.emplace_back(it->key().ToString(), it->value().ToString());
    }
    if (!it->status().ok()) return "scan: " + it->status().ToString();
    // The point index must agree with the scan.
    for (size_t i = 0; i < entries.size(); i += 7) {
      std::string value;
      Status s = db_->Get(rocksdb::ReadOptions(), handles_[slot], entries[i].first, &value);
      if (!s.ok() || value != entries[i].second) {
        return "get of " + Show(entries[i].first) + " after the crash: " + s.ToString();
      }
    }
  }
  return std::nullopt;
}

void CrashRun::Restart() {
  disk_.Restart();
  states_.push_back(disk_.Fingerprint());
}

std::optional<std::string> CrashRun::Reopen() {
  const LogDamage logs = disk_.Logs(kPath);
  // The log of a database that was never created is not read.
  const bool exists = disk_.env()->FileExists(std::string(kPath) + "/CURRENT").ok();
  if (Ours() && exists && random_.OneIn(3)) {
    Status s = OpenWithMode(rocksdb::WALRecoveryMode::kAbsoluteConsistency);
    if (s.ok() && logs.newest_torn) return "kAbsoluteConsistency opened the torn " + logs.newest;
    if (s.ok()) return std::nullopt;
    if (!s.IsCorruption() || !logs.any) {
      return "kAbsoluteConsistency refuses whole logs: " + s.ToString();
    }
  }
  Status s = Open();
  if (s.ok()) return std::nullopt;
  return "open after a cut: " + s.ToString();
}

std::optional<std::string> CrashRun::CheckFiles() {
  constexpr int kMostAhead = 16;
  Status s = db_->PauseBackgroundWork();
  if (s.ok()) s = db_->DisableFileDeletions();
  if (s.ok()) s = db_->EnableFileDeletions(/*force=*/true);  // deletes at once what it may
  rocksdb::LiveFilesStorageInfoOptions no_flush;
  no_flush.wal_size_for_flush = UINT64_MAX;
  std::vector<rocksdb::LiveFileStorageInfo> named;
  if (s.ok()) s = db_->GetLiveFilesStorageInfo(no_flush, &named);
  std::set<std::string> known;
  for (const auto& file : named) known.insert(file.directory + "/" + file.relative_filename);
  std::string strays;
  for (const char* directory : {kPath, kSecondPath}) {
    std::vector<std::string> names;
    if (!disk_.env()->FileExists(directory).ok()) continue;
    if (s.ok()) s = disk_.env()->GetChildren(directory, &names);
    int ahead = 0;
    for (const std::string& name : names) {
      const std::string path = std::string(directory) + "/" + name;
      if (!name.ends_with(".ph") || known.count(path) != 0) continue;
      uint64_t size = 0;
      if (s.ok()) s = disk_.env()->GetFileSize(path, &size);
      if (size == 0 && ++ahead <= kMostAhead) continue;  // a spare log
      strays += " " + path + " of " + std::to_string(size) + " bytes";
    }
  }
  if (Status resumed = db_->ContinueBackgroundWork(); s.ok()) s = resumed;
  if (!s.ok()) return "files: " + s.ToString();
  if (!strays.empty()) return "files that nothing names:" + strays;
  return std::nullopt;
}

std::optional<std::string> CrashRun::CheckValues(const std::vector<Entries>& families) {
  rocksdb::CompactRangeOptions all;
  all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  all.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  all.blob_garbage_collection_age_cutoff = 1;
  for (size_t slot = 0; slot < families.size(); slot++) {
    if (Status s = db_->CompactRange(all, handles_[slot], nullptr, nullptr); !s.ok()) {
      return "forced collection: " + s.ToString();
    }
    uint64_t most = kValuesOverhead, bytes = 0;
    for (const auto& [key, value] : families[slot]) most += key.size() + value.size() + kValueOverhead;
    if (!db_->GetIntProperty(handles_[slot], "compassdb.value-bytes", &bytes)) return "no compassdb.value-bytes";
    if (bytes > most) {
      return "family " + std::to_string(slot) + " has " + std::to_string(bytes) + " bytes of separated values for " +
             std::to_string(most) + " of data";
    }
  }
  return std::nullopt;
}

std::optional<std::string> CrashRun::Verify(const Cut& cut) {
  // A third of the recoveries are themselves cut, some of them twice.
  Cut again = cut;
  again.at_punches = false;  // recovery seldom comes to one
  for (int further = random_.OneIn(3) ? static_cast<int>(random_.Range(1, 2)) : 0; further > 0;
       further--) {
    Restart();
    disk_.Arm(random_.Range(1, 25), 0, random_.Next(), again);
    Status s = Open();
    if (!s.ok() && !disk_.IsDown()) return "open after a cut: " + s.ToString();
    disk_.CutNow();
    cuts_++;
    Close();
  }
  Restart();
  disk_.Arm(0, 0, random_.Next(), {.mode = cut.mode});
  if (std::optional<std::string> wrong = Reopen()) return wrong;
  std::vector<Entries> families;
  std::optional<std::string> wrong = CheckFamilies();
  if (!wrong) wrong = ReadAll(&families);
  if (!wrong && Ours()) {
    // Also data that no key leads to.
    if (Status s = db_->VerifyChecksum(); !s.ok()) {
      wrong = "verification: " + s.ToString() + "; " + history_.Recover(families).value_or("all records exist");
      *wrong += "; tuned by " + std::to_string(tuning_.seed);
    }
  }
  // (With two-phase commit the list of live files comes behind a flush, which would wait for what is paused.)
  if (!wrong && Ours() && !options_.two_phase && random_.OneIn(4)) wrong = CheckFiles();
  if (!wrong && options_.layout == "hash-kv" && random_.OneIn(8)) wrong = CheckValues(families);
  if (!wrong && db_->GetDBOptions().file_checksum_gen_factory != nullptr) {
    if (Status s = db_->VerifyFileChecksums(rocksdb::ReadOptions()); !s.ok()) {
      wrong = "checksums of files: " + s.ToString();
    }
  }
  if (!wrong) wrong = history_.Recover(families);
  if (!wrong && options_.two_phase) wrong = two_phase_.Check(history_.begun());
  // What was found must stay, in any case: its own close is clean or
  // another cut.
  bool clean = random_.OneIn(2);
  if (!clean) {
    // RocksDB leaves it to the next sync.
    if (!Ours() || random_.OneIn(2)) {
      Status s = db_->SyncWAL();
      if (!s.ok() && !wrong) wrong = "SyncWAL after recovery: " + s.ToString();
    }
    disk_.CutNow();
    cuts_++;
  }
  Close();
  if (!clean) Restart();
  return wrong;
}

}  // namespace compassdb_test
