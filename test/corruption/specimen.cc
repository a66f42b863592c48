// SPDX-License-Identifier: Apache-2.0
#include "corruption/specimen.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "support/family.h"
#include "support/history.h"
#include "support/layout.h"
#include "support/random.h"
#include "support/sealed_env.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::Status;

namespace {

constexpr int kLogBatches = 25;
constexpr char kPath[] = "/specimen";

std::vector<FamilySpec> Specs() {
  return {{.merge = MergeKind::kAppend}, {.reverse_order = true}};
}

rocksdb::ColumnFamilyOptions FamilyOptions(const FamilySpec& spec, const std::string& layout) {
  rocksdb::ColumnFamilyOptions options;
  options.comparator = ComparatorOf(spec);
  options.merge_operator = MergeOperatorOf(spec.merge);
  options.disable_auto_compactions = true;
  options.target_file_size_base = 8 << 10;
  options.max_bytes_for_level_base = 16 << 10;
  options.compression = spec.reverse_order ? rocksdb::kNoCompression : rocksdb::kLZ4Compression;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 1 << 10;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  ApplyLayout(layout, &options);
  return options;
}

class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

void Opened::Close() {
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  handles.clear();
  db.reset();
}

rocksdb::DBOptions SpecimenOptions(rocksdb::Env* env, rocksdb::WALRecoveryMode mode, const SpecimenKind& kind) {
  rocksdb::DBOptions options;
  options.env = env;
  options.allow_2pc = kind.last == LastCommit::kTransactions;
  options.avoid_flush_during_shutdown = true;
  options.max_bgerror_resume_count = 0;
  options.wal_recovery_mode = mode;
  if (kind.logs == Logs::kCompressed) options.wal_compression = rocksdb::kZSTD;
  // No read uses it.
  options.info_log = std::make_shared<NoLog>();
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> SpecimenFamilies(const std::string& layout) {
  const std::vector<FamilySpec> specs = Specs();
  return {{"default", FamilyOptions(specs[0], layout)}, {"second", FamilyOptions(specs[1], layout)}};
}

void OpenSpecimen(const rocksdb::DBOptions& options, const std::string& path,
                  const std::string& layout, bool read_only, Opened* out) {
  const auto families = SpecimenFamilies(layout);
  rocksdb::DB* db = nullptr;
  out->status = read_only
                    ? rocksdb::DB::OpenForReadOnly(options, path, families, &out->handles, &db)
                    : rocksdb::DB::Open(options, path, families, &out->handles, &db);
  if (!out->status.ok()) {
    out->handles.clear();
  } else {
    out->db.reset(db);
  }
}

void Must(const Status& s, const char* what) {
  if (s.ok()) return;
  fprintf(stderr, "cannot make the specimen: %s: %s\n", what, s.ToString().c_str());
  exit(1);
}

namespace {

std::vector<WriteItem> SomeItems(Random* random, int count, int families) {
  std::vector<WriteItem> items;
  for (int i = 0; i < count; i++) {
    WriteItem item;
    item.family = static_cast<int>(random->Uniform(static_cast<uint64_t>(families)));
    item.key = "key" + std::to_string(random->Uniform(kSpecimenKeys));
    item.value = random->Bytes(random->Uniform(120));
    if (random->OneIn(8)) {
      item.kind = WriteItem::Kind::kDelete;
    } else if (item.family == 0 && random->OneIn(6)) {
      item.kind = WriteItem::Kind::kMerge;
      item.value = random->Text(5);
    } else if (item.family == 0 && random->OneIn(60)) {
      item.kind = WriteItem::Kind::kDeleteRange;
      item.value = item.key + "9";
    }
    items.push_back(std::move(item));
  }
  return items;
}

Status Write(const Opened& opened, const std::vector<WriteItem>& items, bool logged) {
  rocksdb::WriteBatch batch;
  for (const WriteItem& item : items) {
    auto* family = opened.handles[item.family];
    Status s;
    switch (item.kind) {
      case WriteItem::Kind::kPut: s = batch.Put(family, item.key, item.value); break;
      case WriteItem::Kind::kDelete: s = batch.Delete(family, item.key); break;
      case WriteItem::Kind::kMerge: s = batch.Merge(family, item.key, item.value); break;
      default: s = batch.DeleteRange(family, item.key, item.value);
    }
    if (!s.ok()) return s;
  }
  rocksdb::WriteOptions options;
  options.sync = logged;
  options.disableWAL = !logged;
  return opened.db->Write(options, &batch);
}

void ReopenForTransactions(const rocksdb::DBOptions& options, const std::string& layout, Opened* opened) {
  opened->Close();
  rocksdb::TransactionDB* db = nullptr;
  Must(rocksdb::TransactionDB::Open(options, rocksdb::TransactionDBOptions(), kPath, SpecimenFamilies(layout),
                                    &opened->handles, &db),
       "open for transactions");
  opened->db.reset(db);
}

// Prepares them under a name of its own. Range deletions are none of a transaction's.
std::unique_ptr<rocksdb::Transaction> Prepare(const Opened& opened, const std::string& name,
                                              const std::vector<WriteItem>& items) {
  rocksdb::WriteOptions options;
  options.sync = true;
  auto* const db = static_cast<rocksdb::TransactionDB*>(opened.db.get());
  std::unique_ptr<rocksdb::Transaction> transaction(db->BeginTransaction(options));
  Must(transaction->SetName(name), "name");
  for (const WriteItem& item : items) {
    auto* family = opened.handles[item.family];
    switch (item.kind) {
      case WriteItem::Kind::kPut: Must(transaction->Put(family, item.key, item.value), "put"); break;
      case WriteItem::Kind::kMerge: Must(transaction->Merge(family, item.key, item.value), "merge"); break;
      default: Must(transaction->Delete(family, item.key), "delete");
    }
  }
  Must(transaction->Prepare(), "prepare");
  return transaction;
}

Specimen::State StateOf(const Model& model) {
  Specimen::State state;
  for (int family = 0; family < kSpecimenFamilies; family++) {
    Entries entries = model.Scan(family, model.sequence());
    state.emplace_back(entries.begin(), entries.end());
  }
  return state;
}

Files ReadFiles(rocksdb::Env* env, const std::string& path) {
  Files files;
  std::vector<std::string> names;
  Must(env->GetChildren(path, &names), "list");
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (name == "." || name == ".." || name == "LOCK") continue;
    std::string bytes;
    Must(rocksdb::ReadFileToString(env, path + "/" + name, &bytes), "read");
    files.emplace_back(name, std::move(bytes));
  }
  return files;
}

void Note(const std::vector<WriteItem>& items, Specimen* specimen,
          std::set<std::pair<int, std::string>>* merged) {
  for (const WriteItem& item : items) {
    if (item.kind == WriteItem::Kind::kMerge) merged->insert({item.family, item.key});
    if (item.kind == WriteItem::Kind::kPut) specimen->ever[item.family][item.key].insert(item.value);
  }
}

// The second family is to be created last.
void DropSecond(Opened* opened) {
  Must(opened->db->DropColumnFamily(opened->handles[1]), "drop");
  Must(opened->db->DestroyColumnFamilyHandle(opened->handles[1]), "drop");
  opened->handles.pop_back();
}

void CreateSecond(const std::string& layout, Opened* opened) {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  Must(opened->db->CreateColumnFamily(SpecimenFamilies(layout)[1].options, "second", &handle), "create");
  opened->handles.push_back(handle);
}

// Keys behind all others, so that no memtable has to go before them.
std::vector<WriteItem> IngestSome(const rocksdb::DBOptions& options, const rocksdb::ColumnFamilyOptions& family,
                                  Random* random, const Opened& opened) {
  constexpr int kKeys = 20;
  const std::string path = std::string(kPath) + ".sst";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), rocksdb::Options(options, family));
  Must(writer.Open(path), "make a table");
  std::vector<WriteItem> items;
  for (int i = 0; i < kKeys; i++) {
    WriteItem item;
    item.key = "late" + std::to_string(kKeys + i);
    item.value = random->Bytes(random->Uniform(120));
    Must(writer.Put(item.key, item.value), "make a table");
    items.push_back(std::move(item));
  }
  Must(writer.Finish(), "make a table");
  Must(opened.db->IngestExternalFile(opened.handles[0], {path}, rocksdb::IngestExternalFileOptions()), "ingest");
  return items;
}

}  // namespace

std::string SpecimenKind::ToString() const {
  static const char* const kCommits[] = {"flush", "ingestion", "family", "unlogged flush", "transaction"};
  static const char* const kLogs[] = {"", ", recycled logs", ", compressed logs"};
  return layout + (sealed ? ", sealed" : "") + (closed ? ", closed" : ", killed") + ", last a " + kCommits[static_cast<int>(last)] +
         kLogs[static_cast<int>(logs)];
}

Specimen MakeSpecimen(const SpecimenKind& kind, uint64_t seed) {
  Specimen specimen;
  specimen.kind = kind;
  specimen.ever.resize(kSpecimenFamilies);
  std::set<std::pair<int, std::string>> merged;
  const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  const std::unique_ptr<rocksdb::Env> over(kind.sealed ? SealedEnvOver(env.get()) : nullptr);
  Random random(seed);
  Model model(Specs());
  model.CreateFamily(1);
  Opened opened;
  const bool recycled = kind.logs == Logs::kRecycled;  // which takes a mode
  rocksdb::DBOptions options = SpecimenOptions(
      kind.sealed ? over.get() : env.get(),
      recycled ? rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords : rocksdb::WALRecoveryMode::kPointInTimeRecovery, kind);
  options.create_if_missing = options.create_missing_column_families = true;
  options.recycle_log_file_num = recycled ? 2 : 0;
  OpenSpecimen(options, kPath, kind.layout, false, &opened);
  Must(opened.status, "open");
  int families = kSpecimenFamilies;
  if (kind.last == LastCommit::kFamily) {
    DropSecond(&opened);
    families = 1;
  }
  uint64_t number = 0;
  bool transactions = false;
  auto write = [&](int count, bool logged = true) {
    std::vector<WriteItem> items = SomeItems(&random, count, families);
    WriteItem counter;
    counter.key = History::kCounterKey;
    counter.value = std::to_string(++number);
    items.push_back(counter);
    if (transactions) {
      for (WriteItem& item : items) {
        if (item.kind == WriteItem::Kind::kDeleteRange) item.kind = WriteItem::Kind::kDelete;
      }
      Must(Prepare(opened, "transaction" + counter.value, items)->Commit(), "commit");
    } else {
      Must(Write(opened, items, logged), "write");
    }
    Note(items, &specimen, &merged);
    model.Write(items);
  };
  // Older logs are longer than the last one if it recycles one.
  const int batches = recycled ? 16 : 6;
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < batches; i++) write(14);
    Must(opened.db->Flush(rocksdb::FlushOptions(), opened.handles), "flush");
    if (round != 1 && round != 3) continue;
    for (auto* family : opened.handles) {
      Must(opened.db->CompactRange(rocksdb::CompactRangeOptions(), family, nullptr, nullptr),
           "compact");
    }
  }
  switch (kind.last) {
    case LastCommit::kFlush:
      break;
    case LastCommit::kIngestion: {
      const std::vector<WriteItem> items = IngestSome(options, SpecimenFamilies(kind.layout)[0].options, &random, opened);
      Note(items, &specimen, &merged);
      model.Write(items);
      break;
    }
    case LastCommit::kFamily:
      CreateSecond(kind.layout, &opened);
      families = kSpecimenFamilies;
      break;
    case LastCommit::kUnloggedFlush:
      write(14, /*logged=*/false);
      Must(opened.db->Flush(rocksdb::FlushOptions(), opened.handles), "flush");
      break;
    case LastCommit::kTransactions:
      ReopenForTransactions(options, kind.layout, &opened);
      transactions = true;
      break;
  }
  // State 0 belongs to counter value `number` as of here.
  specimen.states.push_back(StateOf(model));
  for (int i = 0; i < kLogBatches; i++) {
    write(4);
    specimen.states.push_back(StateOf(model));
  }
  // No read sees it; the transaction is deleted, and what it prepared stays.
  if (transactions) Prepare(opened, "undecided", SomeItems(&random, 4, families)).reset();
  if (kind.closed) opened.Close();
  specimen.files = ReadFiles(env.get(), kPath);
  for (const auto& [family, key] : merged) specimen.ever[family].erase(key);
  return specimen;
}

}  // namespace compassdb_test
