// SPDX-License-Identifier: Apache-2.0
#include "stress/stress_db.h"

#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/db_ttl.h"
#include "stress/engine_options.h"
#include "support/layout.h"
#include "support/random.h"
#include "support/sealed_env.h"
#include "support/tuning.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyHandle;
using rocksdb::Status;

namespace {

// Or each memtable would be flushed for the logs and the memory of the others.
constexpr uint64_t kScale = 32;

constexpr int kSecondsToLive = 10 * 24 * 3600;

std::string OwnName(int thread) { return "own" + std::to_string(thread); }

std::string TimedName(int thread) { return "timed" + std::to_string(thread); }

const rocksdb::Comparator* TimedComparator() {
  const rocksdb::Comparator* comparator = nullptr;
  rocksdb::Comparator::CreateFromString(rocksdb::ConfigOptions(), "leveldb.BytewiseComparator.u64ts", &comparator)
      .PermitUncheckedError();
  return comparator;
}

}  // namespace

const char* NameOf(Flavour flavour) {
  switch (flavour) {
    case Flavour::kSealed: return "sealed";
    case Flavour::kExpiring: return "expiring";
    default: return "usual";
  }
}

std::vector<FamilySpec> StressFamilies(int thread) {
  static const FamilySpec kOwn[] = {{.merge = MergeKind::kAppend},
                                    {.reverse_order = true, .merge = MergeKind::kCommands},
                                    {.merge = MergeKind::kAdd, .prefix_extractor = true}};
  return {{.merge = MergeKind::kAppend},
          {.reverse_order = true, .merge = MergeKind::kCommands},
          {.merge = MergeKind::kAdd, .prefix_extractor = true},
          {.filter = true},
          kOwn[thread % 3]};
}

StressDb::StressDb(std::string path, std::string layout, Flavour flavour, int threads)
    : path_(std::move(path)),
      layout_(std::move(layout)),
      flavour_(flavour),
      sealed_(flavour == Flavour::kSealed ? SealedEnvOver(rocksdb::Env::Default()) : nullptr),
      threads_(threads) {}

rocksdb::ColumnFamilyOptions StressDb::FamilyOptions(int slot, int thread, uint64_t family_seed) const {
  const Tuning tuning{.seed = seed_, .family_seed = family_seed, .scale = kScale};
  rocksdb::ColumnFamilyOptions options = TunedFamilyOptions(tuning, StressFamilies(thread)[slot], slot);
  options.write_buffer_size *= 2;
  ApplyLayout(layout_, &options);
  if (layout_ == "tableless") ChangePages(family_seed, &options);
  return options;
}

// Sections and the size of pages count for families that are made.
void StressDb::ChangePages(uint64_t seed, rocksdb::ColumnFamilyOptions* options) const {
  Random random(seed);
  const auto number = [&](const char* name, uint64_t from, uint64_t to) {
    return std::string("tableless_") + name + "=" + std::to_string(random.Range(from, to)) + ";";
  };
  const std::string text = "table_factory={" + number("sections", 1, 6) + number("fill_percent", 20, 95) +
                           number("max_overflow_percent", 1, 20) + number("min_fill_percent", 0, 30) +
                           number("rehash_threads", 1, 3) + number("rehash_batch", 1, 64) + number("write_threads", 1, 4) +
                           "tableless_page_bytes=" + std::to_string(4096 << random.Uniform(4)) + ";" +
                           "tableless_pages=" + std::to_string(random.OneIn(2) ? 0 : random.Range(1, 400)) + ";" +
                           "tableless_key_store=" + (without_keys_ ? "false" : "true") +
                           ";memtable_as_log_index=" + (IndexesLog() ? "true" : "false") + "}";
  const rocksdb::ColumnFamilyOptions base = *options;
  if (!rocksdb::GetColumnFamilyOptionsFromString(rocksdb::ConfigOptions(), base, text, options).ok()) abort();
}

Status StressDb::FlushWithoutKeys(uint64_t seed) {
  without_keys_ = true;
  Status s = Open(seed);
  for (ColumnFamilyHandle* handle : handles_) {
    if (s.ok() && handle != nullptr) s = db_->Flush(rocksdb::FlushOptions(), handle);
  }
  const Status closed = Close();
  without_keys_ = false;
  return s.ok() ? closed : s;
}

rocksdb::ColumnFamilyOptions StressDb::TimedOptions(int thread) const {
  rocksdb::ColumnFamilyOptions options = FamilyOptions(kOwnFamily, thread, seed_);
  options.comparator = TimedComparator();
  options.merge_operator = nullptr;
  options.prefix_extractor = nullptr;
  options.enable_blob_files = false;
  // Hashed tables and pages have no place for timestamps.
  if (!options.table_factory->ValidateOptions(rocksdb::DBOptions(), options).ok()) {
    options.table_factory = rocksdb::ColumnFamilyOptions().table_factory;
  }
  return options;
}

rocksdb::DBOptions StressDb::DbOptions() const {
  const Tuning tuning{.seed = seed_, .scale = kScale};
  rocksdb::DBOptions options = TunedDbOptions(tuning);
  options.env = env();
  options.create_missing_column_families = true;
  Random random(seed_ ^ 0x737472657373);
  options.atomic_flush = random.OneIn(5) && Limits().atomic_flush;
  if (options.atomic_flush) options.enable_pipelined_write = false;  // which is refused with it
  if (!Limits().two_phase_unasked) {
    options.allow_2pc = true;
    options.enable_pipelined_write = false;
  }
  if (random.OneIn(5)) options.wal_compression = rocksdb::kZSTD;
  return options;
}

Status StressDb::Describe(std::vector<rocksdb::ColumnFamilyDescriptor>* families, int only) const {
  std::vector<std::string> names;
  rocksdb::DBOptions listing;
  listing.env = env();
  Status s = rocksdb::DB::ListColumnFamilies(listing, path_, &names);
  if (!s.ok() && !env()->FileExists(path_ + "/CURRENT").IsNotFound()) return s;
  for (int slot = 0; slot < kSharedFamilies; slot++) {
    families->emplace_back(FamilyName(slot), FamilyOptions(slot, 0, seed_));
  }
  for (int thread = 0; thread < threads_; thread++) {
    if (only >= 0 && thread != only) continue;
    if (std::find(names.begin(), names.end(), OwnName(thread)) == names.end()) continue;
    families->emplace_back(OwnName(thread), FamilyOptions(kOwnFamily, thread, seed_ + thread));
  }
  for (int thread = 0; thread < threads_ && flavour_ != Flavour::kExpiring; thread++) {
    if (only < 0 || thread == only) families->emplace_back(TimedName(thread), TimedOptions(thread));
  }
  return Status::OK();
}

void StressDb::Adopt(rocksdb::DB* db, const std::vector<ColumnFamilyHandle*>& handles) {
  db_.reset(db);
  handles_.assign(kSharedFamilies + 2 * threads_, nullptr);
  for (size_t i = 0; i < handles.size(); i++) {
    size_t place = i;
    for (int thread = 0; thread < threads_; thread++) {
      if (handles[i]->GetName() == OwnName(thread)) place = kSharedFamilies + thread;
      if (handles[i]->GetName() == TimedName(thread)) place = kSharedFamilies + threads_ + thread;
    }
    handles_[place] = handles[i];
  }
}

Status StressDb::OpenExpiring(bool read_only) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Status s = Describe(&families);
  if (!s.ok()) return s;
  kind_ = Kind::kPlain;
  std::vector<ColumnFamilyHandle*> handles;
  rocksdb::DBWithTTL* db = nullptr;
  const std::vector<int32_t> seconds(families.size(), kSecondsToLive);
  s = rocksdb::DBWithTTL::Open(DbOptions(), path_, families, &handles, &db, seconds, read_only);
  if (s.ok()) Adopt(db, handles);
  return s;
}

Status StressDb::Open(uint64_t seed) {
  seed_ = seed;
  if (flavour_ == Flavour::kExpiring) return OpenExpiring(/*read_only=*/false);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Status s = Describe(&families);
  if (!s.ok()) return s;
  std::vector<ColumnFamilyHandle*> handles;
  kind_ = static_cast<Kind>(Random(seed).Uniform(3));
  rocksdb::DB* db = nullptr;
  if (kind_ == Kind::kLocking) {
    rocksdb::TransactionDB* locking = nullptr;
    s = rocksdb::TransactionDB::Open(DbOptions(), rocksdb::TransactionDBOptions(), path_, families, &handles, &locking);
    db = locking;
  } else if (kind_ == Kind::kOptimistic) {
    rocksdb::OptimisticTransactionDB* optimistic = nullptr;
    s = rocksdb::OptimisticTransactionDB::Open(DbOptions(), path_, families, &handles, &optimistic);
    db = optimistic;
  } else {
    s = rocksdb::DB::Open(DbOptions(), path_, families, &handles, &db);
  }
  if (s.ok()) Adopt(db, handles);
  return s;
}

Status StressDb::OpenReadOnly(uint64_t seed) {
  seed_ = seed;
  if (flavour_ == Flavour::kExpiring) return OpenExpiring(/*read_only=*/true);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Status s = Describe(&families);
  if (!s.ok()) return s;
  std::vector<ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  kind_ = Kind::kPlain;
  s = rocksdb::DB::OpenForReadOnly(DbOptions(), path_, families, &handles, &db);
  if (s.ok()) Adopt(db, handles);
  return s;
}

Status StressDb::OpenSecondary(const std::string& secondary_path, uint64_t seed, int thread) {
  seed_ = seed;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Status s = Describe(&families, thread);
  if (!s.ok()) return s;
  std::vector<ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  secondary_ = true;
  rocksdb::DBOptions options = DbOptions();
  options.max_open_files = -1;  // RocksDB asks for it
  s = rocksdb::DB::OpenAsSecondary(options, path_, secondary_path, families, &handles, &db);
  if (s.ok()) Adopt(db, handles);
  return s;
}

Status StressDb::Close() {
  if (!db_) return Status::OK();
  for (ColumnFamilyHandle* handle : handles_) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  handles_.clear();
  Status s = db_->Close();
  db_.reset();
  return s;
}

std::vector<ColumnFamilyHandle*> StressDb::Handles(int thread) const {
  std::vector<ColumnFamilyHandle*> handles(handles_.begin(), handles_.begin() + kSharedFamilies);
  handles.push_back(handles_[kSharedFamilies + thread]);
  return handles;
}

ColumnFamilyHandle* StressDb::TimedFamily(int thread) const { return handles_[kSharedFamilies + threads_ + thread]; }

Status StressDb::CreateOwn(int thread, uint64_t seed) {
  const rocksdb::ColumnFamilyOptions options = FamilyOptions(kOwnFamily, thread, seed);
  ColumnFamilyHandle** handle = &handles_[kSharedFamilies + thread];
  if (flavour_ != Flavour::kExpiring) return db_->CreateColumnFamily(options, OwnName(thread), handle);
  return static_cast<rocksdb::DBWithTTL*>(db_.get())->CreateColumnFamilyWithTtl(options, OwnName(thread), handle, kSecondsToLive);
}

Status StressDb::MoveOwn(int thread, uint64_t seed, const std::string& directory, bool move_files) {
  rocksdb::Checkpoint* made = nullptr;
  Status s = rocksdb::Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  rocksdb::ExportImportFilesMetaData* files = nullptr;
  if (s.ok()) s = checkpoint->ExportColumnFamily(handles_[kSharedFamilies + thread], directory, &files);
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> exported(files);
  // Without files there is nothing to import.
  if (!s.ok() || exported->files.empty()) return s;
  s = DropOwn(thread);
  rocksdb::ImportColumnFamilyOptions import;
  import.move_files = move_files;
  if (s.ok()) {
    s = db_->CreateColumnFamilyWithImport(FamilyOptions(kOwnFamily, thread, seed), OwnName(thread), import, *exported,
                                          &handles_[kSharedFamilies + thread]);
  }
  return s;
}

Status StressDb::DropOwn(int thread) {
  ColumnFamilyHandle*& handle = handles_[kSharedFamilies + thread];
  Status s = db_->DropColumnFamily(handle);
  if (s.ok()) s = db_->DestroyColumnFamilyHandle(handle);
  handle = nullptr;
  return s;
}

}  // namespace compassdb_test
