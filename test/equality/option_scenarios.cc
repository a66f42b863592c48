// SPDX-License-Identifier: Apache-2.0
// Options from strings and maps, and back.

#include "equality/transcript.h"
#include "rocksdb/cache.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/file_system.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/flush_block_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/statistics.h"
#include "rocksdb/system_clock.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/wal_filter.h"
#include "rocksdb/utilities/options_util.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyOptions;
using rocksdb::ConfigOptions;
using rocksdb::DBOptions;
using rocksdb::Options;
using rocksdb::Status;

namespace {

std::string Fields(const ColumnFamilyOptions& o) {
  return std::to_string(o.write_buffer_size) + " " + std::to_string(o.max_write_buffer_number) +
         " " + std::to_string(o.level0_file_num_compaction_trigger) + " " +
         std::to_string(o.num_levels) + " " + std::to_string(o.target_file_size_base) + " " +
         std::to_string(o.max_bytes_for_level_base) + " " +
         std::to_string(static_cast<int>(o.compression)) + " " +
         std::to_string(o.disable_auto_compactions) + " " +
         std::to_string(o.compression_opts.level) + " " + o.comparator->Name() + " " +
         (o.merge_operator ? o.merge_operator->Name() : "no operator") + " " +
         (o.prefix_extractor ? o.prefix_extractor->AsString() : "no prefix") + " " +
         o.memtable_factory->GetId();
}

void FamilyStrings(Transcript* t) {
  const char* const kStrings[] = {
      "",
      "write_buffer_size=1048576",
      "write_buffer_size=4M;max_write_buffer_number=5;num_levels=3",
      " write_buffer_size = 64K ; target_file_size_base=2G ; ",
      "compression=kZSTD;compression_opts={level=7}",
      "compression=kLZ4Compression;disable_auto_compactions=true",
      "comparator=leveldb.BytewiseComparator",
      "comparator=rocksdb.ReverseBytewiseComparator",
      "prefix_extractor=fixed:8",
      "prefix_extractor=rocksdb.CappedPrefix.5",
      "merge_operator=uint64add",
      "max_bytes_for_level_base=10T;level0_file_num_compaction_trigger=8",
      "block_based_table_factory={block_size=8192;checksum=kXXH3}",
      "write_buffer_size=abc",
      "no_such_option=1",
      "write_buffer_size",
      "write_buffer_size=1;=2",
      "compression=kNoSuchCompression",
      "disable_auto_compactions=perhaps",
      "block_based_table_factory={block_size=8192",
      "comparator=no.such.comparator",
      "merge_operator=a=b",
      "memtable_factory={id=skip_list;lookahead=3}",
      "memtable_factory=cuckoo",
      "num_levels=99999999999999999999",
      "write_buffer_size=64MB",
      "target_file_size_base=1.5g;max_bytes_for_level_base=0x100",
      "write_buffer_size=-5",
      "write_buffer_size=3 K",
      "write_buffer_size=+3",
      "num_levels=1t",
      "num_levels=2147483648",
      "write_buffer_size=18446744073709551616",
      "memtable_prefix_bloom_huge_page_tlb_size=1",
      "bottommost_temperature=any",
      "experimental_mempurge_threshold=1.5x",
      "experimental_mempurge_threshold=1e400",
      "block_based_table_factory={read_amp_bytes_per_bit=8589934592;filter_policy=bloomfilter;index_per_partition=1}",
      "block_based_table_factory={reserve_table_builder_memory=1;reserve_table_reader_memory=x;block_cache=64MB}",
  };
  for (const char* text : kStrings) {
    ColumnFamilyOptions parsed;
    Status s = rocksdb::GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(),
                                                         text, &parsed);
    t->Code(std::string("\"") + text + "\"", s);
    if (s.ok()) t->Line("  " + Fields(parsed));
  }
}

void DbStrings(Transcript* t) {
  const char* const kStrings[] = {
      "max_open_files=100;max_background_jobs=7;create_if_missing=true",
      "wal_recovery_mode=kAbsoluteConsistency;bytes_per_sync=1M",
      "wal_dir=/somewhere;use_direct_reads=true",
      "max_open_files=",
      "unknown=1",
      "create_if_missing=2",
      "wal_recovery_mode=kWrong",
      "use_direct_writes=true;rate_limiter=any;experimental_mempurge_threshold=x",
      "experimental_mempurge_policy=kAlways;experimental_allow_mempurge=1;seq_per_batch=maybe",
      "max_open_files=5x;bytes_per_sync=2 m",
  };
  for (const char* text : kStrings) {
    DBOptions o;
    Status s = rocksdb::GetDBOptionsFromString(ConfigOptions(), DBOptions(), text, &o);
    t->Code(std::string("\"") + text + "\"", s);
    if (!s.ok()) continue;
    t->Line("  " + std::to_string(o.max_open_files) + " " + std::to_string(o.max_background_jobs) +
            " " + std::to_string(o.create_if_missing) + " " +
            std::to_string(static_cast<int>(o.wal_recovery_mode)) + " " +
            std::to_string(o.bytes_per_sync) + " " + o.wal_dir + " " +
            std::to_string(o.use_direct_reads));
  }
}

void Maps(Transcript* t) {
  std::unordered_map<std::string, std::string> map;
  Status s = rocksdb::StringToMap("a=1;b={c=2;d={e=3}};f = g ;", &map);
  t->Full("map", s);
  for (const char* key : {"a", "b", "f"}) t->Line(std::string(key) + "=" + map[key]);
  for (const char* bad : {"a", "a={b", "a={b}c", "=1"}) {
    map.clear();
    t->Code(bad, rocksdb::StringToMap(bad, &map));
  }
  ConfigOptions lenient;
  lenient.ignore_unknown_options = true;
  ColumnFamilyOptions parsed;
  s = rocksdb::GetColumnFamilyOptionsFromMap(
      lenient, ColumnFamilyOptions(), {{"unknown", "1"}, {"num_levels", "5"}}, &parsed);
  t->Code("lenient", s);
  t->Line(std::to_string(parsed.num_levels));
  rocksdb::BlockBasedTableOptions table;
  s = rocksdb::GetBlockBasedTableOptionsFromString(
      ConfigOptions(), rocksdb::BlockBasedTableOptions(),
      "block_size=16384;cache_index_and_filter_blocks=1;filter_policy=bloomfilter:9:false", &table);
  t->Code("table", s);
  t->Line(std::to_string(table.block_size) + " " +
          std::to_string(table.cache_index_and_filter_blocks) + " " +
          (table.filter_policy ? "filter" : "no filter"));
  s = rocksdb::GetBlockBasedTableOptionsFromString(
      ConfigOptions(), rocksdb::BlockBasedTableOptions(), "block_size=x", &table);
  t->Code("bad table", s);
}

void RoundTrips(Transcript* t) {
  ColumnFamilyOptions family;
  family.write_buffer_size = 123456;
  family.num_levels = 4;
  family.compression = rocksdb::kZSTD;
  family.ttl = 77;
  std::string text;
  t->Code("to string", rocksdb::GetStringFromColumnFamilyOptions(ConfigOptions(), family, &text));
  ColumnFamilyOptions back;
  t->Code("from string", rocksdb::GetColumnFamilyOptionsFromString(
                             ConfigOptions(), ColumnFamilyOptions(), text, &back));
  t->Line(Fields(back) + " " + std::to_string(back.ttl));
  std::string again;
  t->Code("to string", rocksdb::GetStringFromColumnFamilyOptions(ConfigOptions(), back, &again));
  t->Line(text == again ? "equal" : "different");
  DBOptions db;
  db.max_open_files = 321;
  t->Code("to string", rocksdb::GetStringFromDBOptions(ConfigOptions(), db, &text));
  DBOptions db_back;
  t->Code("from string",
          rocksdb::GetDBOptionsFromString(ConfigOptions(), DBOptions(), text, &db_back));
  t->Line(std::to_string(db_back.max_open_files));
}

void OptionsFile(Transcript* t) {
  Options options = FreshOptions();
  options.write_buffer_size = 7 << 20;
  options.max_open_files = 222;
  {
    auto db = OpenOrNote(t, "db", options);
    if (!db) return;
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    ColumnFamilyOptions family;
    family.num_levels = 5;
    t->Code("create", db->CreateColumnFamily(family, "family", &handle));
    if (handle != nullptr) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  t->Code("load", rocksdb::LoadLatestOptions(ConfigOptions(), t->Path("db"), &db_options,
                                             &families));
  t->Line(std::to_string(db_options.max_open_files));
  for (const auto& family : families) {
    t->Line(family.name + " " + std::to_string(family.options.write_buffer_size) + " " +
            std::to_string(family.options.num_levels));
  }
  t->Code("load missing", rocksdb::LoadLatestOptions(ConfigOptions(), t->Path("nowhere"),
                                                     &db_options, &families));
  auto db = OpenOrNote(t, "db2", options);
  if (!db) return;
  Options seen = db->GetOptions();
  t->Line(std::to_string(seen.write_buffer_size) + " " + std::to_string(seen.max_open_files));
}

void RecycledLogs(Transcript* t) {
  for (int mode = 0; mode < 4; mode++) {
    for (int archive = 0; archive < 3; archive++) {
      Options options = FreshOptions();
      options.recycle_log_file_num = 2;
      options.avoid_flush_during_shutdown = true;
      options.wal_recovery_mode = static_cast<rocksdb::WALRecoveryMode>(mode);
      if (archive == 1) options.WAL_ttl_seconds = 1000;
      if (archive == 2) options.WAL_size_limit_MB = 10;
      const std::string name = "recycled" + std::to_string(mode * 3 + archive);
      auto db = OpenOrNote(t, name, options);
      if (!db) return;
      t->Line(std::to_string(mode) + " " + std::to_string(archive) + ": " +
              std::to_string(db->GetDBOptions().recycle_log_file_num));
      for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 30 - 5 * round; i++) {
          t->Code("put", db->Put(rocksdb::WriteOptions(), std::to_string(i), std::to_string(round)));
        }
        if (round < 4) t->Code("flush", db->Flush(rocksdb::FlushOptions()));
      }
      db.reset();
      db = OpenOrNote(t, name, options);
      if (!db) return;
      std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        t->Line(it->key().ToString() + "=" + it->value().ToString());
      }
    }
  }
}

class NamedOperator final : public rocksdb::AssociativeMergeOperator {
 public:
  explicit NamedOperator(const char* name) : name_(name) {}
  const char* Name() const override { return name_; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice*, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    *result = value.ToString();
    return true;
  }

 private:
  const char* const name_;
};

using FamilyChange = std::function<void(ColumnFamilyOptions*)>;

// A database made with the one, looked at with the other; exactly also with a changed DB option.
void CompareAs(Transcript* t, const std::string& name, const FamilyChange& made,
               const FamilyChange& given) {
  Options options = FreshOptions();
  made(&options);
  if (auto db = OpenOrNote(t, name, options); !db) return;
  for (auto level : {ConfigOptions::kSanityLevelNone, ConfigOptions::kSanityLevelLooselyCompatible,
                     ConfigOptions::kSanityLevelExactMatch}) {
    ConfigOptions config;
    config.sanity_level = level;
    DBOptions db;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    Status s = rocksdb::LoadLatestOptions(config, t->Path(name), &db, &families);
    if (!s.ok()) return t->Code(name + " load", s);
    made(&families[0].options);
    given(&families[0].options);
    const std::string what = name + " " + std::to_string(static_cast<int>(level));
    s = rocksdb::CheckOptionsCompatibility(config, t->Path(name), db, families);
    t->Code(what, s);
    db.max_open_files = 17;
    s = rocksdb::CheckOptionsCompatibility(config, t->Path(name), db, families);
    t->Code(what + " other db", s);
  }
}

FamilyChange MergedBy(const char* name) {
  return [name](ColumnFamilyOptions* o) {
    o->merge_operator = name == nullptr ? nullptr : std::make_shared<NamedOperator>(name);
  };
}

FamilyChange MergedByBuiltIn(const char* id) {
  return [id](ColumnFamilyOptions* o) {
    rocksdb::MergeOperator::CreateFromString(ConfigOptions(), id, &o->merge_operator)
        .PermitUncheckedError();
  };
}

FamilyChange OrderedBy(const rocksdb::Comparator* comparator) {
  return [comparator](ColumnFamilyOptions* o) { o->comparator = comparator; };
}

FamilyChange Prefixed(const rocksdb::SliceTransform* (*make)(size_t), size_t length) {
  return [make, length](ColumnFamilyOptions* o) { o->prefix_extractor.reset(make(length)); };
}

FamilyChange Blocks(size_t block_size) {
  return [block_size](ColumnFamilyOptions* o) {
    rocksdb::BlockBasedTableOptions table;
    table.block_size = block_size;
    o->table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  };
}

void Compatibility(Transcript* t) {
  const FamilyChange same = [](ColumnFamilyOptions*) {};
  CompareAs(t, "same", same, same);
  CompareAs(t, "merge none to own", same, MergedBy("own"));
  CompareAs(t, "merge own to none", MergedBy("own"), MergedBy(nullptr));
  CompareAs(t, "merge own to other", MergedBy("own"), MergedBy("other"));
  CompareAs(t, "merge own", MergedBy("own"), MergedBy("own"));
  for (const char* name : {"a=b", "a;b", "a{b", "a}b", "{a}", "a\\b", "a b", "x=1;y=2"}) {
    CompareAs(t, std::string("merge ") + name, MergedBy(name), MergedBy(name));
  }
  CompareAs(t, "merge add to append", MergedByBuiltIn("uint64add"),
            MergedByBuiltIn("stringappend"));
  CompareAs(t, "merge add to own", MergedByBuiltIn("uint64add"), MergedBy("own"));
  CompareAs(t, "merge own to add", MergedBy("own"), MergedByBuiltIn("uint64add"));
  CompareAs(t, "order turned", same, OrderedBy(rocksdb::ReverseBytewiseComparator()));
  CompareAs(t, "order turned back", OrderedBy(rocksdb::ReverseBytewiseComparator()),
            OrderedBy(rocksdb::BytewiseComparator()));
  CompareAs(t, "prefix none to 3", same, Prefixed(rocksdb::NewFixedPrefixTransform, 3));
  CompareAs(t, "prefix 3 to none", Prefixed(rocksdb::NewFixedPrefixTransform, 3),
            [](ColumnFamilyOptions* o) { o->prefix_extractor.reset(); });
  CompareAs(t, "prefix 3 to 4", Prefixed(rocksdb::NewFixedPrefixTransform, 3),
            Prefixed(rocksdb::NewFixedPrefixTransform, 4));
  CompareAs(t, "blocks", Blocks(4096), Blocks(8192));
  CompareAs(t, "no table", same, [](ColumnFamilyOptions* o) { o->table_factory.reset(); });
  CompareAs(t, "levels", same, [](ColumnFamilyOptions* o) { o->num_levels = 4; });
  CompareAs(t, "style", same, [](ColumnFamilyOptions* o) {
    o->compaction_style = rocksdb::kCompactionStyleUniversal;
  });
  CompareAs(t, "level of compression", same,
            [](ColumnFamilyOptions* o) { o->compression_opts.level = 3; });
}

void CompatibilityOfFamilies(Transcript* t) {
  {
    auto db = OpenOrNote(t, "db", FreshOptions());
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    for (const char* name : {"a", "b"}) {
      t->Code("create", db->CreateColumnFamily(ColumnFamilyOptions(), name, &handle));
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }
  const std::vector<std::vector<std::string>> kGiven = {
      {"default", "a", "b"}, {"default", "a"},           {"default", "b", "a"}, {},
      {"default", "a", "c"}, {"default", "a", "b", "c"}, {"a", "b"}};
  for (auto level :
       {ConfigOptions::kSanityLevelNone, ConfigOptions::kSanityLevelLooselyCompatible}) {
    for (const auto& names : kGiven) {
      ConfigOptions config;
      config.sanity_level = level;
      std::vector<rocksdb::ColumnFamilyDescriptor> families;
      std::string what = std::to_string(static_cast<int>(level));
      for (const std::string& name : names) {
        families.emplace_back(name, ColumnFamilyOptions());
        what += " " + name;
      }
      t->Code(what,
              rocksdb::CheckOptionsCompatibility(config, t->Path("db"), DBOptions(), families));
    }
  }
  t->Full("nowhere", rocksdb::CheckOptionsCompatibility(ConfigOptions(), t->Path("nowhere"),
                                                        DBOptions(), {}));
}

using BlockOptions = rocksdb::BlockBasedTableOptions;
struct Combination {
  const char* name;
  std::function<void(Options*, BlockOptions*)> set;
};

// Combinations that RocksDB's tables, memtables and writers cannot have are refused at Open, some of it when a family
// is made, too.
const std::vector<Combination>& RefusedCombinations() {
  const auto hashed = [](Options*, BlockOptions* b) { b->index_type = BlockOptions::kHashSearch; };
  const auto vectors = [](Options* o, BlockOptions*) {
    o->memtable_factory.reset(new rocksdb::VectorRepFactory);
  };
  static const std::vector<Combination> kAll = {
      {"hash index", hashed},
      {"hash index, prefix",
       [hashed](Options* o, BlockOptions* b) {
         hashed(o, b);
         o->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
       }},
      {"format 0", [](Options*, BlockOptions* b) { b->format_version = 0; }},
      {"format 5", [](Options*, BlockOptions* b) { b->format_version = 5; }},
      {"format 6", [](Options*, BlockOptions* b) { b->format_version = 6; }},
      {"format 99", [](Options*, BlockOptions* b) { b->format_version = 99; }},
      {"pinned, no cache",
       [](Options*, BlockOptions* b) {
         b->pin_l0_filter_and_index_blocks_in_cache = b->no_block_cache = true;
       }},
      {"unknown checksum", [](Options*, BlockOptions* b) { b->checksum = static_cast<rocksdb::ChecksumType>(99); }},
      {"aligned", [](Options*, BlockOptions* b) { b->block_align = true; }},
      {"aligned, compressed",
       [](Options* o, BlockOptions* b) {
         b->block_align = true;
         o->compression = rocksdb::kLZ4Compression;
       }},
      {"aligned, compressed below",
       [](Options* o, BlockOptions* b) {
         b->block_align = true;
         o->bottommost_compression = rocksdb::kLZ4Compression;
       }},
      {"aligned, 5000",
       [](Options*, BlockOptions* b) {
         b->block_align = true;
         b->block_size = 5000;
       }},
      {"hash in blocks",
       [](Options*, BlockOptions* b) {
         b->data_block_index_type = BlockOptions::kDataBlockBinaryAndHash;
         b->data_block_hash_table_util_ratio = -1;
       }},
      {"in place", [](Options* o, BlockOptions*) { o->inplace_update_support = true; }},
      {"vector", vectors},
      {"vector, one writer",
       [vectors](Options* o, BlockOptions* b) {
         vectors(o, b);
         o->allow_concurrent_memtable_write = false;
       }},
      {"hash memtable",
       [](Options* o, BlockOptions*) {
         o->memtable_factory.reset(rocksdb::NewHashSkipListRepFactory());
       }},
      {"atomic, pipelined",
       [](Options* o, BlockOptions*) { o->atomic_flush = o->enable_pipelined_write = true; }},
      {"cutoff",
       [](Options* o, BlockOptions*) {
         o->enable_blob_garbage_collection = true;
         o->blob_garbage_collection_age_cutoff = 1.5;
       }},
      {"cutoff without collection",
       [](Options* o, BlockOptions*) { o->blob_garbage_collection_age_cutoff = 1.5; }},
      {"trained without dictionary",
       [](Options* o, BlockOptions*) { o->compression_opts.zstd_max_train_bytes = 100; }},
      {"three bytes", [](Options* o, BlockOptions*) { o->memtable_protection_bytes_per_key = 3; }},
      {"direct without buffer",
       [](Options* o, BlockOptions*) {
         o->use_direct_io_for_flush_and_compaction = true;
         o->writable_file_max_buffer_size = 0;
       }},
  };
  return kAll;
}

void CombinationsAtOpen(Transcript* t) {
  auto db = OpenOrNote(t, "home", FreshOptions());
  if (!db) return;
  for (const Combination& combination : RefusedCombinations()) {
    Options options = FreshOptions();
    options.compression = rocksdb::kNoCompression;
    BlockOptions block;
    combination.set(&options, &block);
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(block));
    rocksdb::DB* opened = nullptr;
    t->Code(combination.name, rocksdb::DB::Open(options, t->Path("other"), &opened));
    delete opened;
    rocksdb::ColumnFamilyHandle* family = nullptr;
    t->Code("as a family", db->CreateColumnFamily(options, combination.name, &family));
    if (family != nullptr) db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
}

void InvalidCombinations(Transcript* t) {
  rocksdb::DB* db = nullptr;
  Options options = FreshOptions();
  options.num_levels = 0;
  options.max_write_buffer_number = 0;
  Status s = rocksdb::DB::Open(options, t->Path("sanitized"), &db);
  t->Code("out of range values are corrected", s);
  if (s.ok()) t->Line(std::to_string(db->GetOptions().max_write_buffer_number));
  delete db;
  options = FreshOptions();
  options.allow_mmap_reads = true;
  options.use_direct_reads = true;
  t->Code("mmap and direct", rocksdb::DB::Open(options, t->Path("a"), &db));
  options = FreshOptions();
  options.keep_log_file_num = 0;
  t->Code("keep_log_file_num 0", rocksdb::DB::Open(options, t->Path("b"), &db));
  options = FreshOptions();
  options.unordered_write = true;
  options.enable_pipelined_write = true;
  t->Code("unordered and pipelined", rocksdb::DB::Open(options, t->Path("c"), &db));
  options = FreshOptions();
  options.enable_blob_files = options.enable_blob_garbage_collection = true;
  for (double share : {-0.5, 1.5}) {
    options.blob_garbage_collection_age_cutoff = share;
    t->Code("blob cutoff", rocksdb::DB::Open(options, t->Path("e"), &db));
    options.blob_garbage_collection_age_cutoff = 1;
    options.blob_garbage_collection_force_threshold = share;
    t->Code("blob threshold", rocksdb::DB::Open(options, t->Path("e"), &db));
    options.blob_garbage_collection_force_threshold = 0;
  }
  options = FreshOptions();
  options.merge_operator = nullptr;
  options.ttl = 1;
  options.compaction_style = rocksdb::kCompactionStyleNone;
  s = rocksdb::DB::Open(options, t->Path("d"), &db);
  t->Code("no compaction style", s);
  if (s.ok()) delete db;
}

// The result of CreateFromString for an unknown name, and the earlier object.
template <class T, class Pointer>
void NoSuchObject(Transcript* t, const char* kind, const Pointer& present) {
  for (bool ignored : {true, false}) {
    ConfigOptions config;
    config.ignore_unsupported_options = ignored;
    for (const char* id : {"nope", "id=nope;x=1"}) {
      Pointer object = present;
      t->Code(std::string(kind) + " " + id, T::CreateFromString(config, id, &object));
      t->Line(object == present ? "untouched" : "changed");
    }
  }
}

void NoSuchObjects(Transcript* t) {
  using namespace rocksdb;
  using std::shared_ptr;
  const auto table = shared_ptr<TableFactory>(NewPlainTableFactory());
  NoSuchObject<TableFactory>(t, "table", table);
  NoSuchObject<TableFactory>(t, "no table", shared_ptr<TableFactory>());
  NoSuchObject<MemTableRepFactory>(t, "memtable",
                                   shared_ptr<MemTableRepFactory>(new VectorRepFactory));
  NoSuchObject<Env>(t, "env", Env::Default());
  NoSuchObject<FileSystem>(t, "files", FileSystem::Default());
  NoSuchObject<SystemClock>(t, "clock", SystemClock::Default());
  NoSuchObject<SstPartitionerFactory>(t, "partitioner", NewSstPartitionerFixedPrefixFactory(3));
  NoSuchObject<SecondaryCache>(t, "cache", NewCompressedSecondaryCache(1 << 20));
  NoSuchObject<TablePropertiesCollectorFactory>(t, "collector",
                                                shared_ptr<TablePropertiesCollectorFactory>());
  NoSuchObject<FilterPolicy>(t, "filter",
                             shared_ptr<const FilterPolicy>(NewBloomFilterPolicy(10)));
  NoSuchObject<EncryptionProvider>(t, "encryption", shared_ptr<EncryptionProvider>());
  NoSuchObject<BlockCipher>(t, "cipher", shared_ptr<BlockCipher>());
  NoSuchObject<FlushBlockPolicyFactory>(
      t, "blocks", shared_ptr<FlushBlockPolicyFactory>(new FlushBlockBySizePolicyFactory));
  NoSuchObject<EventListener>(t, "listener", shared_ptr<EventListener>());
  NoSuchObject<WalFilter>(t, "wal filter", static_cast<WalFilter*>(nullptr));
  NoSuchObject<FileChecksumGenFactory>(t, "checksum", GetFileChecksumGenCrc32cFactory());
  NoSuchObject<Statistics>(t, "statistics", CreateDBStatistics());
  NoSuchObject<SliceTransform>(t, "prefix",
                               shared_ptr<const SliceTransform>(NewFixedPrefixTransform(3)));
  NoSuchObject<Comparator>(t, "comparator", BytewiseComparator());
  NoSuchObject<CompactionFilterFactory>(t, "filters", shared_ptr<CompactionFilterFactory>());
  shared_ptr<MergeOperator> merge;
  t->Code("merge", MergeOperator::CreateFromString(ConfigOptions(), "uint64add", &merge));
  NoSuchObject<MergeOperator>(t, "merge", merge);
  shared_ptr<Env> guard;
  Env* env = nullptr;
  t->Code("guarded env", Env::CreateFromString(ConfigOptions(), "nope", &env, &guard));
  t->Line(env == nullptr ? "null" : "an env");
  t->Code("env by uri", Env::CreateFromUri(ConfigOptions(), "nope", "", &env, &guard));
  t->Line(env == Env::Default() ? "default" : "another");
}

// The parsers of options pass such names over, and keep what there was.
void NoSuchObjectsInStrings(Transcript* t) {
  ColumnFamilyOptions present;
  present.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  present.table_factory.reset(rocksdb::NewPlainTableFactory());
  present.memtable_factory.reset(new rocksdb::VectorRepFactory);
  present.sst_partitioner_factory = rocksdb::NewSstPartitionerFixedPrefixFactory(3);
  for (bool ignored : {true, false}) {
    ConfigOptions config;
    config.ignore_unsupported_options = ignored;
    for (const char* text :
         {"table_factory=nope", "table_factory={id=nope;x=1}", "memtable_factory=nope",
          "memtable_factory={id=nope;x=1}", "sst_partitioner_factory=nope", "comparator=nope",
          "merge_operator=nope", "prefix_extractor=nope", "compaction_filter=nope",
          "compaction_filter_factory=nope"}) {
      ColumnFamilyOptions parsed;
      const Status s =
          rocksdb::GetColumnFamilyOptionsFromString(config, present, text, &parsed);
      t->Code(text, s);
      t->Line("  " + Fields(parsed) + " " + parsed.table_factory->Name() + " " +
              (parsed.sst_partitioner_factory ? "partitioner" : "no partitioner"));
    }
    for (const char* text : {"env=nope", "env={id=nope;x=1}", "file_checksum_gen_factory=nope",
                             "wal_filter=nope", "listeners=nope", "statistics=nope"}) {
      DBOptions parsed;
      const Status s = rocksdb::GetDBOptionsFromString(config, DBOptions(), text, &parsed);
      if (ignored || std::string(text) != "listeners=nope") t->Code(text, s);
      t->Line(std::string("  ") + (parsed.env == rocksdb::Env::Default() ? "default" : "another") +
              " " + std::to_string(parsed.listeners.size()));
    }
  }
}

}  // namespace

std::vector<Scenario> OptionScenarios() {
  return {{"family_strings", FamilyStrings}, {"db_strings", DbStrings},
          {"maps", Maps},                    {"round_trips", RoundTrips},
          {"options_file", OptionsFile},
          {"recycled_logs", RecycledLogs},
          {"invalid_combinations", InvalidCombinations},
          {"combinations_at_open", CombinationsAtOpen},
          {"no_such_objects", NoSuchObjects},
          {"no_such_objects_in_strings", NoSuchObjectsInStrings},
          {"options_compatibility", Compatibility},
          {"options_compatibility_of_families", CompatibilityOfFamilies}};
}

}  // namespace compassdb_test
