// SPDX-License-Identifier: Apache-2.0
// A user's program, as far as the compiler is concerned: it derives from every extension point and
// calls a wide spread of the interface. It must compile with the headers of CompassDB and with those of
// RocksDB 7.8, as C++17; nothing here runs.
#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/experimental.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/file_system.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iostats_context.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/secondary_cache.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_manager.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/sst_partitioner.h>
#include <rocksdb/statistics.h>
#include <rocksdb/stats_history.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/threadpool.h>
#include <rocksdb/unique_id.h>
#include <rocksdb/utilities/options_util.h>
#include <rocksdb/wal_filter.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <type_traits>

namespace api {

using namespace ROCKSDB_NAMESPACE;  // NOLINT: a user's program

class CaseComparator : public Comparator {
 public:
  const char* Name() const override { return "api.CaseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
};

class Counter : public AssociativeMergeOperator {
 public:
  static const char* kClassName() { return "api.Counter"; }
  const char* Name() const override { return kClassName(); }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    *result = (existing != nullptr ? existing->ToString() : std::string()) + value.ToString();
    return true;
  }
};

class Lists : public MergeOperator {
 public:
  const char* Name() const override { return "api.Lists"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (in.existing_value == nullptr) out->existing_operand = in.operand_list.back();
    out->new_value.append(in.key.data(), in.key.size());
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>&, std::string*,
                         Logger*) const override {
    return false;
  }
  bool AllowSingleOperand() const override { return true; }
  bool ShouldMerge(const std::vector<Slice>& operands) const override {
    return operands.size() > 8;
  }
};

class Expire : public CompactionFilter {
 public:
  const char* Name() const override { return "api.Expire"; }
  Decision FilterV2(int, const Slice& key, ValueType type, const Slice&, std::string* new_value,
                    std::string* skip_until) const override {
    if (type == ValueType::kBlobIndex) return Decision::kKeep;
    new_value->clear();
    skip_until->assign(key.data(), key.size());
    return key.empty() ? Decision::kRemove : Decision::kRemoveAndSkipUntil;
  }
};

class ExpireFactory : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "api.ExpireFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    if (context.is_full_compaction || context.is_manual_compaction) return nullptr;
    return std::make_unique<Expire>();
  }
};

class Listener : public EventListener {
 public:
  void OnFlushCompleted(DB*, const FlushJobInfo& info) override { bytes += info.file_number; }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    bytes += info.stats.total_output_bytes;
    if (info.compaction_reason == CompactionReason::kManualCompaction) bytes = 0;
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override { bytes += info.file_size; }
  void OnBackgroundError(BackgroundErrorReason, Status* error) override { *error = Status::OK(); }
  void OnStallConditionsChanged(const WriteStallInfo& info) override {
    if (info.condition.cur == WriteStallCondition::kStopped) bytes = 0;
  }
  uint64_t bytes = 0;
};

class DomainPrefix : public SliceTransform {
 public:
  const char* Name() const override { return "api.DomainPrefix"; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), 1); }
  bool InDomain(const Slice& key) const override { return !key.empty(); }
};

class Collector : public TablePropertiesCollector {
 public:
  Status AddUserKey(const Slice&, const Slice&, EntryType type, SequenceNumber,
                    uint64_t) override {
    deletions += type == kEntryDelete ? 1 : 0;
    return Status::OK();
  }
  Status Finish(UserCollectedProperties* properties) override {
    properties->insert({"api.deletions", std::to_string(deletions)});
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "api.Collector"; }
  int deletions = 0;
};

class CollectorFactory : public TablePropertiesCollectorFactory {
 public:
  const char* Name() const override { return "api.CollectorFactory"; }
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new Collector();
  }
};

class CountingEnv : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  Status NewWritableFile(const std::string& name, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override {
    ++files;
    return EnvWrapper::NewWritableFile(name, result, options);
  }
  int files = 0;
};

class FlakyFile : public FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    IOStatus s = IOStatus::IOError("lost power");
    s.SetRetryable(true);
    return s;
  }
};

class FlakyFileSystem : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "api.FlakyFileSystem"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* dbg) override {
    IOStatus s = target()->NewWritableFile(name, options, result, dbg);
    if (s.ok()) *result = std::make_unique<FlakyFile>(std::move(*result));
    return s;
  }
};

class StderrLogger : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override { vfprintf(stderr, format, ap); }
};

class Printer : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t, const Slice& key, const Slice&) override {
    last = key.ToString(true);
    return Status::OK();
  }
  void Put(const Slice& key, const Slice&) override { last = key.ToString(); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  void LogData(const Slice&) override {}
  bool Continue() override { return last.empty(); }
  std::string last;
};

class SkipWal : public WalFilter {
 public:
  const char* Name() const override { return "api.SkipWal"; }
  WalProcessingOption LogRecord(const WriteBatch& batch, WriteBatch* changed,
                                bool* is_changed) const override {
    *is_changed = batch.Count() > 1;
    return changed->HasDelete() ? WalProcessingOption::kStopReplay
                                : WalProcessingOption::kContinueProcessing;
  }
};

Options MakeOptions() {
  Options options;
  options.create_if_missing = true;
  options.comparator = BytewiseComparator();
  options.merge_operator = std::make_shared<Counter>();
  options.compaction_filter_factory = std::make_shared<ExpireFactory>();
  options.prefix_extractor.reset(NewFixedPrefixTransform(4));
  options.listeners.push_back(std::make_shared<Listener>());
  options.statistics = CreateDBStatistics();
  options.table_properties_collector_factories.push_back(std::make_shared<CollectorFactory>());
  options.rate_limiter.reset(NewGenericRateLimiter(10 << 20, 100 * 1000, 10,
                                                   RateLimiter::Mode::kAllIo));
  options.info_log = std::make_shared<StderrLogger>();
  options.compression_per_level = {kNoCompression, kLZ4Compression, kZSTD};
  options.compaction_options_universal.size_ratio = 10;
  options.compaction_options_fifo.max_table_files_size = 1 << 30;
  options.sst_file_manager.reset(NewSstFileManager(options.env, options.info_log));
  options.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(4);
  options.write_buffer_manager = std::make_shared<WriteBufferManager>(64 << 20);
  options.memtable_factory.reset(new SkipListFactory());
  options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  options.db_paths.emplace_back("path", 1 << 20);
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(LRUCacheOptions(8 << 20, 4, false, 0.5));
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.block_cache = HyperClockCacheOptions(8 << 20, 4096).MakeSharedCache();
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  auto* configured = options.table_factory->GetOptions<BlockBasedTableOptions>();
  if (configured != nullptr) configured->block_size = 8192;
  if (options.table_factory->IsInstanceOf(TableFactory::kBlockBasedTableName())) {
    options.OptimizeLevelStyleCompaction();
  }
  options.IncreaseParallelism();
  options.PrepareForBulkLoad()->OptimizeForSmallDb();
  return options;
}

Status Write(DB* db, ColumnFamilyHandle* family) {
  WriteOptions sync;
  sync.sync = true;
  Status s = db->Put(sync, "key", "value");
  s = db->Put(sync, family, "key", std::string("value"));
  s = db->PutEntity(sync, family, "key", WideColumns{{"a", "1"}, {"b", "2"}});
  s = db->Merge(sync, "key", Slice("operand", 7));
  s = db->Delete(sync, std::string_view("key"));
  s = db->SingleDelete(sync, family, "key");
  s = db->DeleteRange(sync, family, "a", "b");
  WriteBatch batch(1024, 1 << 20);
  batch.Put("a", "1").PermitUncheckedError();
  batch.Put(family, "a", "1").PermitUncheckedError();
  batch.Merge(family, "b", "2").PermitUncheckedError();
  batch.DeleteRange("c", "d").PermitUncheckedError();
  batch.PutLogData("blob").PermitUncheckedError();
  batch.SetSavePoint();
  s = batch.RollbackToSavePoint();
  const Slice parts[] = {"k", "ey"};
  s = batch.Put(SliceParts(parts, 2), SliceParts(parts, 1));
  Printer printer;
  s = batch.Iterate(&printer);
  WriteBatch copy(batch.Data());
  if (copy.HasDeleteRange() && copy.Count() == 4 && copy.GetDataSize() > 12) copy.Clear();
  return db->Write(sync, &copy);
}

Status Read(DB* db, ColumnFamilyHandle* family, std::string* out) {
  ReadOptions options;
  ManagedSnapshot snapshot(db);
  options.snapshot = snapshot.snapshot();
  const Slice upper("z");
  options.iterate_upper_bound = &upper;
  options.fill_cache = false;
  options.deadline = std::chrono::microseconds(100);
  options.read_tier = kBlockCacheTier;
  Status s = db->Get(options, "key", out);
  PinnableSlice pinned;
  s = db->Get(options, family, "key", &pinned);
  PinnableWideColumns columns;
  s = db->GetEntity(options, family, "key", &columns);
  std::vector<std::string> values;
  std::vector<Status> statuses = db->MultiGet(options, {"a", "b"}, &values);
  const Slice keys[] = {"a", "b"};
  PinnableSlice found[2];
  Status results[2];
  db->MultiGet(options, family, 2, keys, found, results, true);
  bool value_found = false;
  if (!db->KeyMayExist(options, "key", out, &value_found)) return Status::NotFound("key");
  PinnableSlice operands[4];
  GetMergeOperandsOptions merge_options;
  merge_options.expected_max_number_of_operands = 4;
  int count = 0;
  s = db->GetMergeOperands(options, family, "key", operands, &merge_options, &count);
  std::unique_ptr<Iterator> it(db->NewIterator(options, family));
  for (it->SeekForPrev("m"); it->Valid(); it->Prev()) out->append(it->value().ToString());
  for (it->Seek("a"); it->Valid(); it->Next()) out->append(it->key().data(), it->key().size());
  s = it->Refresh();
  std::vector<Iterator*> iterators;
  s = db->NewIterators(options, {family}, &iterators);
  for (Iterator* each : iterators) delete each;
  return it->status();
}

Status Maintain(DB* db, ColumnFamilyHandle* family) {
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  Status s = db->CompactRange(compact, nullptr, nullptr);
  s = db->Flush(FlushOptions(), std::vector<ColumnFamilyHandle*>{family});
  s = db->FlushWAL(true);
  s = db->SyncWAL();
  s = db->SetOptions(family, {{"write_buffer_size", "1048576"}});
  s = db->SetDBOptions({{"max_background_jobs", "4"}});
  std::string text;
  uint64_t number = 0;
  std::map<std::string, std::string> map;
  if (db->GetProperty(DB::Properties::kStats, &text) &&
      db->GetIntProperty("rocksdb.estimate-num-keys", &number) &&
      db->GetMapProperty(family, DB::Properties::kCFStats, &map)) {
    s = db->ResetStats();
  }
  const Range range("a", "b");
  uint64_t size = 0;
  s = db->GetApproximateSizes(SizeApproximationOptions(), family, &range, 1, &size);
  s = db->GetApproximateSizes(&range, 1, &size,
                              DB::SizeApproximationFlags::INCLUDE_FILES |
                                  DB::SizeApproximationFlags::INCLUDE_MEMTABLES);
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(family, &metadata);
  for (const auto& level : metadata.levels) number += level.files.size();
  s = db->IngestExternalFile(family, {"file.sst"}, IngestExternalFileOptions());
  std::unique_ptr<TransactionLogIterator> log;
  s = db->GetUpdatesSince(db->GetLatestSequenceNumber(), &log);
  for (; log->Valid(); log->Next()) number += log->GetBatch().sequence;
  TablePropertiesCollection properties;
  s = db->GetPropertiesOfAllTables(&properties);
  for (const auto& entry : properties) number += entry.second->num_entries;
  s = DeleteFilesInRange(db, family, nullptr, nullptr);
  CancelAllBackgroundWork(db, true);
  s = experimental::PromoteL0(db, family, 1);
  return db->VerifyChecksum();
}

Status Everything(const std::string& path) {
  Options options = MakeOptions();
  DB* db = nullptr;
  Status s = DB::Open(options, path, &db);
  std::vector<ColumnFamilyHandle*> handles;
  s = DB::Open(DBOptions(options), path,
               {{kDefaultColumnFamilyName, ColumnFamilyOptions(options)}}, &handles, &db);
  std::vector<std::string> names;
  s = DB::ListColumnFamilies(options, path, &names);
  ColumnFamilyHandle* family = nullptr;
  s = db->CreateColumnFamily(ColumnFamilyOptions(), "family", &family);
  std::string value;
  if (s.ok()) s = Write(db, family);
  if (s.ok()) s = Read(db, family, &value);
  if (s.ok()) s = Maintain(db, family);
  s = db->DropColumnFamily(family);
  s = db->DestroyColumnFamilyHandle(family);
  s = db->Close();
  delete db;
  s = DB::OpenForReadOnly(options, path, &db);
  s = DB::OpenAsSecondary(options, path, path + "2", &db);
  s = db->TryCatchUpWithPrimary();
  SstFileWriter writer(EnvOptions(), options);
  s = writer.Open("file.sst");
  s = writer.Put("a", "1");
  ExternalSstFileInfo info;
  s = writer.Finish(&info);
  SstFileReader reader(options);
  s = reader.Open(info.file_path);
  Options parsed;
  s = GetOptionsFromString(ConfigOptions(), options, "max_open_files=10;num_levels=4", &parsed);
  std::unordered_map<std::string, std::string> map;
  s = StringToMap("a=1;b={c=2}", &map);
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  s = LoadLatestOptions(ConfigOptions(), path, &loaded, &families);
  SetPerfLevel(PerfLevel::kEnableTimeExceptForMutex);
  get_perf_context()->Reset();
  if (get_iostats_context()->bytes_read > 0) value = get_perf_context()->ToString(true);
  std::shared_ptr<MergeOperator> made;
  s = MergeOperator::CreateFromString(ConfigOptions(), "uint64add", &made);
  if (made != nullptr && made->CheckedCast<Counter>() != nullptr) value = made->GetId();
  s = RepairDB(path, options);
  return DestroyDB(path, options);
}

// Signatures that overload resolution alone would not pin down.
static_assert(std::is_same_v<decltype(std::declval<DB>().DefaultColumnFamily()),
                             ColumnFamilyHandle*>);
static_assert(std::is_same_v<decltype(std::declval<const Comparator>().timestamp_size()), size_t>);
static_assert(std::is_same_v<SequenceNumber, uint64_t>);
static_assert(std::is_base_of_v<Customizable, TableFactory>);
static_assert(std::is_base_of_v<Cleanable, Iterator> && std::is_base_of_v<Slice, PinnableSlice>);
static_assert(std::has_virtual_destructor_v<DB> && std::is_abstract_v<DB>);
static_assert(std::is_nothrow_move_constructible_v<Status>);

}  // namespace api

// Keeps the compiler from dropping the functions above.
ROCKSDB_NAMESPACE::Status (*api_surface_entry)(const std::string&) = &api::Everything;
