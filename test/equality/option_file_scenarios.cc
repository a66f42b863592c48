// SPDX-License-Identifier: Apache-2.0
// Which OPTIONS files load, and with what: whole ones of other versions, and ones that a person or a program put
// together. Numbers in values as RocksDB reads them.

#include "equality/transcript.h"
#include "rocksdb/cache.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"

namespace compassdb_test {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ConfigOptions;
using rocksdb::DBOptions;
using rocksdb::Env;
using rocksdb::Status;

namespace {

constexpr char kOfOldRelease[] = "[Version]\n  rocksdb_version=6.1.2\n  options_file_version=1.1\n";
constexpr char kOfNewRelease[] = "[Version]\n  rocksdb_version=9.1.2\n  options_file_version=1.1\n";
constexpr char kDb[] = "[DBOptions]\n  max_open_files=7\n";
constexpr char kFamily[] = "[CFOptions \"default\"]\n  num_levels=5\n";
constexpr char kTable[] = "[TableOptions/BlockBasedTable \"default\"]\n  block_size=1k\n";

void Load(Transcript* t, const std::string& name, const std::string& text) {
  const std::string path = t->Path("OPTIONS");
  t->Code(name + ": written", rocksdb::WriteStringToFile(Env::Default(), text, path, true));
  for (const bool ignore : {false, true}) {
    ConfigOptions config;
    config.ignore_unknown_options = ignore;
    DBOptions db;
    std::vector<ColumnFamilyDescriptor> families;
    const Status s = rocksdb::LoadOptionsFromFile(config, path, &db, &families);
    t->Code(name + (ignore ? ", ignoring" : ""), s);
    if (!s.ok()) continue;
    t->Line("  " + std::to_string(db.max_open_files) + " " + std::to_string(db.create_if_missing));
    for (const ColumnFamilyDescriptor& family : families) {
      const rocksdb::TableFactory* factory = family.options.table_factory.get();
      const auto* table =
          factory == nullptr ? nullptr : factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      t->Line("  " + family.name + " " + std::to_string(family.options.num_levels) + " " +
              (factory == nullptr ? "no factory"
               : table == nullptr ? "no blocks"
                                  : std::to_string(table->block_size) + " " +
                                        std::to_string(table->read_amp_bytes_per_bit) + " " +
                                        (table->filter_policy ? "a filter" : "no filter")));
    }
  }
}

void Sections(Transcript* t) {
  const std::string old = kOfOldRelease, db = kDb, family = kFamily, table = kTable;
  Load(t, "whole", old + db + family + table);
  Load(t, "no version", db + family + table);
  Load(t, "version behind", db + old + family);
  Load(t, "version last", db + family + old);
  Load(t, "two versions", old + old + db + family);
  Load(t, "no file version", "[Version]\n  rocksdb_version=6.1.2\n" + db + family);
  Load(t, "no release", "[Version]\n  options_file_version=1.1\n" + db + family);
  Load(t, "file version 2", "[Version]\n  options_file_version=2\n" + db + family);
  Load(t, "file version 0.5", "[Version]\n  options_file_version=0.5\n" + db + family);
  Load(t, "file version abc", "[Version]\n  options_file_version=abc\n" + db + family);
  Load(t, "release abc", "[Version]\n  rocksdb_version=abc\n" + db + family);
  Load(t, "more in version", "[Version]\n  rocksdb_version=6.1\n  foo=1\n" + db + family);
  Load(t, "family first", old + family + db);
  Load(t, "no family", old + db);
  Load(t, "no database", old + family);
  Load(t, "two databases", old + db + db + family);
  Load(t, "another family first", old + db + "[CFOptions \"x\"]\n" + family);
  Load(t, "two families", old + db + family + "[CFOptions \"x\"]\n");
  Load(t, "a family twice", old + db + family + family);
  Load(t, "table first", old + db + table + family);
  Load(t, "unknown section", old + db + family + "[Foo]\n  a=1\n");
  Load(t, "before all", "a=1\n" + old + db + family);
  Load(t, "family without a name", old + db + "[CFOptions]\n");
  Load(t, "database with a name", old + "[DBOptions \"x\"]\n" + family);
  Load(t, "empty", "");
  Load(t, "comments", "# one\n" + old + db + " # two\n" + family + "  ttl=5 # three\n");
  std::string lines = old + db + family + table;
  for (size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 2) lines.insert(at, 1, '\r');
  Load(t, "CR LF", lines);
}

void Values(Transcript* t) {
  for (const char* version : {kOfOldRelease, kOfNewRelease}) {
    const std::string start = version;
    const std::string name = version == kOfOldRelease ? "old: " : "new: ";
    Load(t, name + "unknown option", start + kDb + "  zzz=1\n" + kFamily);
    Load(t, name + "bad value", start + kDb + "  create_if_missing=maybe\n" + kFamily);
    Load(t, name + "bad table value", start + kDb + kFamily + kTable + "  checksum=kFoo\n");
    Load(t, name + "unknown table option", start + kDb + kFamily + kTable + "  zzz=1\n");
    Load(t, name + "twice", start + kDb + "  max_open_files=8\n" + kFamily);
    Load(t, name + "no value", start + kDb + "  create_if_missing\n" + kFamily);
    Load(t, name + "read_amp_bytes_per_bit", start + kDb + kFamily + kTable + "  read_amp_bytes_per_bit=8589934592\n");
    Load(t, name + "filter without bits", start + kDb + kFamily + kTable + "  filter_policy=bloomfilter\n");
    Load(t, name + "filter by name", start + kDb + kFamily + kTable + "  filter_policy=rocksdb.BuiltinBloomFilter\n");
    for (const char* retired : {"use_direct_writes=x", "rate_limiter=x", "experimental_mempurge_threshold=x",
                                "experimental_mempurge_policy=x", "experimental_allow_mempurge=x", "seq_per_batch=x"}) {
      Load(t, name + retired, start + kDb + "  " + retired + "\n" + kFamily);
    }
    Load(t, name + "huge pages", start + kDb + kFamily + "  memtable_prefix_bloom_huge_page_tlb_size=x\n");
    for (const char* retired : {"reserve_table_builder_memory=x", "reserve_table_reader_memory=x", "index_per_partition=x"}) {
      Load(t, name + retired, start + kDb + kFamily + kTable + "  " + retired + "\n");
    }
  }
  for (const char* number : {"64MB", "1.5g", "0x100", "-1", "-5", "+3", " 7", "7 ", "3 K", "1e3", "1kk", "1t", "", "abc", "k1",
                             "18446744073709551615", "18446744073709551616", "4294967296", "2147483648", "-2147483649"}) {
    for (const char* option : {"write_buffer_size", "num_levels", "max_successive_merges", "memtable_protection_bytes_per_key",
                               "max_bytes_for_level_multiplier", "disable_auto_compactions"}) {
      rocksdb::ColumnFamilyOptions o;
      const std::string text = std::string(option) + "=" + number;
      const Status s = rocksdb::GetColumnFamilyOptionsFromString(ConfigOptions(), rocksdb::ColumnFamilyOptions(), text, &o);
      t->Code(text, s);
      if (!s.ok()) continue;
      t->Line("  " + std::to_string(o.write_buffer_size) + " " + std::to_string(o.num_levels) + " " +
              std::to_string(o.max_successive_merges) + " " + std::to_string(o.memtable_protection_bytes_per_key) + " " +
              std::to_string(o.max_bytes_for_level_multiplier) + " " + std::to_string(o.disable_auto_compactions));
    }
  }
}

// Heads of sections, and [Version].
void Heads(Transcript* t) {
  const std::string start = kOfNewRelease, db = kDb, family = kFamily;
  for (const char* head :
       {"[CFOptions \"x\" junk]", "[CFOptions\"x\"]", "[CFOptions \"x]", "[CFOptions \"z\\\"]",
        "[CFOptions \"x\"y\"]", "[TableOptions/ \"default\"]",
        "[TableOptions/TitanTable \"default\"]\n  a=1",
        "[TableOptions/BlockBasedTable \"default\"]\n  id=BlockBasedTable",
        "[TableOptions/BlockBasedTable \"default\"]\n  filter_policy=Foo\n  block_size=2k",
        "[TableOptions/BlockBasedTable \"default\"]\n  BlockBasedTable.block_size=2k"}) {
    Load(t, head, start + db + family + head + "\n");
  }
  for (const char* release : {"7.8.3.1", "1..2", ".1", "1.", "6.2x", "1 2", "7", ""}) {
    Load(t, std::string("release ") + release,
         std::string("[Version]\n  rocksdb_version=") + release + "\n" + db + family);
  }
  for (const char* version : {"1.1.1", "1.", "1.1.", "1..1", "1", ""}) {
    Load(t, std::string("file version ") + version,
         std::string("[Version]\n  options_file_version=") + version + "\n" + db + family);
  }
}

std::string Name(const rocksdb::Customizable* object) {
  return object == nullptr ? "null" : object->GetId();
}

std::string Fields(const rocksdb::ColumnFamilyOptions& o) {
  std::string fields =
      "  " + std::to_string(o.num_levels) + " " + std::to_string(o.write_buffer_size) + " " +
      Name(o.comparator) + " " + Name(o.memtable_factory.get()) + " " +
      Name(o.prefix_extractor.get()) + " " + Name(o.merge_operator.get()) + " " +
      std::to_string(static_cast<int>(o.compression)) + " " +
      std::to_string(o.compression_opts.window_bits) + ":" +
      std::to_string(o.compression_opts.level) + ":" + std::to_string(o.compression_opts.strategy) +
      ":" + std::to_string(o.compression_opts.max_dict_bytes) + " " + Name(o.table_factory.get());
  for (const int factor : o.max_bytes_for_level_multiplier_additional)
    fields += " " + std::to_string(factor);
  const auto* table = o.table_factory == nullptr
                          ? nullptr
                          : o.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  return table == nullptr ? fields : fields + " " + std::to_string(table->block_size);
}

void Family(Transcript* t, const std::string& text) {
  for (int flags = 0; flags < 4; ++flags) {
    ConfigOptions config;
    config.ignore_unknown_options = (flags & 1) != 0;
    config.ignore_unsupported_options = (flags & 2) == 0;
    rocksdb::ColumnFamilyOptions o;
    const Status s =
        rocksdb::GetColumnFamilyOptionsFromString(config, rocksdb::ColumnFamilyOptions(), text, &o);
    t->Code(text + " " + std::to_string(flags), s);
    if (s.ok()) t->Line(Fields(o));
  }
}

void Texts(Transcript* t) {
  for (const char* text : {"num_levels=5;;",
                           ";num_levels=5",
                           ";",
                           " ",
                           "   ",
                           "{}",
                           "{ }",
                           "num_levels=5; ",
                           "num_levels=5 ; ;",
                           "{num_levels=5}",
                           "num_levels={5}x",
                           "num_levels={5",
                           "={5}",
                           " =5",
                           "num_levels=5;=5",
                           "num_levels",
                           "num_levels.x=5",
                           "soft_rate_limit.x=1",
                           "num_levels=\\5",
                           "num_levels=5\\",
                           "write_buffer_size=1\\0",
                           "compression=k\\ZSTD"}) {
    Family(t, text);
  }
  for (const char* text :
       {"compression_opts=1:2:3:", "compression_opts=1:2:3", "compression_opts=1:2",
        "compression_opts=1:2:x", "compression_opts=-1:-1:-1:-1",
        "compression_opts=1:2:3:4:5: true", "compression_opts={level=x;strategy=3}",
        "compression_opts={level=3;foo=1}", "compression_opts=", "compression_opts.foo=1",
        "max_bytes_for_level_multiplier_additional=1:2:x:4",
        "max_bytes_for_level_multiplier_additional={{1:2}}",
        "max_bytes_for_level_multiplier_additional=1::2",
        "max_bytes_for_level_multiplier_additional=1:2:", "compaction_options_fifo={}",
        "compaction_options_universal="}) {
    Family(t, text);
  }
}

void ObjectTexts(Transcript* t) {
  for (const char* text : {"comparator=",
                           "comparator=nullptr",
                           "memtable_factory=",
                           "memtable_factory=nullptr",
                           "memtable_factory=Foo",
                           "memtable_factory=cuckoo",
                           "memtable_factory=cuckoo:1000",
                           "memtable_factory=skip_list:x",
                           "memtable_factory=skip_list\\:5",
                           "memtable_factory=hash_linkedlist:8:9",
                           "memtable_factory={lookahead=5}",
                           "memtable_factory.SkipListFactory.lookahead=5",
                           "prefix_extractor.x=fixed:3",
                           "prefix_extractor.id=fixed:3",
                           "prefix_extractor.x=",
                           "prefix_extractor=fixed:-1",
                           "prefix_extractor={id=fixed:3;a=1}",
                           "merge_operator={a",
                           "merge_operator={id=put;a=1}",
                           "blob_cache=nullptr",
                           "blob_cache=",
                           "blob_cache={capacity=1M;foo=1}"}) {
    Family(t, text);
  }
  for (const char* text :
       {"table_factory=", "table_factory=nullptr", "table_factory={id=}",
        "table_factory.block_size=5000", "table_factory.BlockBasedTable.block_size=5000",
        "table_factory.id=PlainTable", "table_factory.x=PlainTable",
        "table_factory={block_size=5000}", "table_factory={id=PlainTable;foo=1}",
        "plain_table_factory=PlainTable", "plain_table_factory=5",
        "plain_table_factory.user_key_len=5", "block_based_table_factory=nullptr",
        "block_based_table_factory={block_size=5000}", "block_based_table_factory.block_size=5000",
        "block_based_table_factory={id=BlockBasedTable;block_size=5000}"}) {
    Family(t, text);
  }
  for (const char* text : {"statistics={level=x}", "statistics.string=5", "statistics=5",
                           "env.x=", "max_open_files=5;;"}) {
    for (const bool ignore : {true, false}) {
      ConfigOptions config;
      config.ignore_unsupported_options = ignore;
      DBOptions o;
      t->Code(text, rocksdb::GetDBOptionsFromString(config, DBOptions(), text, &o));
      t->Line("  " + std::to_string(o.max_open_files) +
              (o.statistics == nullptr ? " no statistics" : " statistics"));
    }
  }
}

// With and without an earlier object.
template <class T, class Pointer>
void Create(Transcript* t, const std::string& kind, const Pointer& present,
            const std::vector<std::string>& texts) {
  for (std::string text : texts) {
    for (int flags = 0; flags < 4; ++flags) {
      ConfigOptions config;
      config.ignore_unsupported_options = (flags & 1) == 0;
      Pointer object = (flags & 2) == 0 ? Pointer() : present;
      const Status s = T::CreateFromString(config, text, &object);
      t->Code(kind + " " + text + " " + std::to_string(flags), s);
      if (s.ok()) t->Line("  " + (object == nullptr ? "null" : object->GetId()));
    }
  }
}

void Objects(Transcript* t) {
  using namespace rocksdb;
  using std::shared_ptr;
  const std::vector<std::string> none = {"",        "nullptr", "id=", "id=nullptr",
                                         "id=;a=1", "a=1",     "{",   " "};
  Create<TableFactory>(t, "table", shared_ptr<TableFactory>(NewBlockBasedTableFactory()), none);
  Create<MemTableRepFactory>(t, "memtable", shared_ptr<MemTableRepFactory>(new SkipListFactory),
                             none);
  Create<FilterPolicy>(t, "filter", shared_ptr<const FilterPolicy>(NewBloomFilterPolicy(7)), none);
  Create<Comparator>(t, "comparator", BytewiseComparator(), none);
  Create<MergeOperator>(t, "merge", shared_ptr<MergeOperator>(), none);
  Create<SstPartitionerFactory>(t, "partitioner", NewSstPartitionerFixedPrefixFactory(3), none);
  Create<FileChecksumGenFactory>(t, "checksum", GetFileChecksumGenCrc32cFactory(), none);
  Create<Statistics>(t, "statistics", shared_ptr<Statistics>(), none);
  Create<CompactionFilterFactory>(t, "filters", shared_ptr<CompactionFilterFactory>(), none);
  Create<EventListener>(t, "listener", shared_ptr<EventListener>(), none);
  Create<FilterPolicy>(t, "filter", shared_ptr<const FilterPolicy>(NewBloomFilterPolicy(7)),
                       {"bloomfilter:10:0",
                        "bloomfilter:10:x",
                        "bloomfilter:10:true",
                        "bloomfilter:1e1:false",
                        "bloomfilter:nan:false",
                        "bloomfilter:.5",
                        "bloomfilter:5.",
                        "bloomfilter:1.2.3",
                        "bloomfilter:-2",
                        "bloomfilter:-",
                        "bloomfilter:x",
                        "5:x",
                        "ribbonfilter:10:2x",
                        "ribbonfilter:10:-5",
                        "ribbonfilter:10:",
                        "rocksdb.BuiltinBloomFilter",
                        "rocksdb.BuiltinBloomFilter:10",
                        "rocksdb.internal.FastLocalBloomFilter",
                        "rocksdb.internal.FastLocalBloomFilter:3.5",
                        "id=bloomfilter:10;a=1",
                        "bloomfilter:10 "});
  Create<TableFactory>(
      t, "table", shared_ptr<TableFactory>(NewBlockBasedTableFactory()),
      {"block_size=5k", "id=BlockBasedTable;foo=1", " BlockBasedTable", "{id=PlainTable}"});
}

void Caches(Transcript* t) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  for (const char* text :
       {"1M", "{capacity=1M;foo=1}", "{level=x}", "id=LRUCache;capacity=1M", "id=", "capacity=x",
        "capacity=1\\M", "capacity=1M;num_shard_bits=20", "capacity=1M;num_shard_bits=4x",
        "capacity=1M;high_pri_pool_ratio=0,5", "capacity=1M;high_pri_pool_ratio=2",
        "capacity=1M;strict_capacity_limit=yes"}) {
    std::shared_ptr<rocksdb::Cache> cache;
    t->Code(text, rocksdb::Cache::CreateFromString(config, text, &cache));
    t->Line(cache == nullptr ? "  null" : "  " + std::to_string(cache->GetCapacity()));
  }
}

void BlockTables(Transcript* t) {
  using rocksdb::BlockBasedTableOptions;
  for (const char* text : {"block_restart_interval=0",
                           "index_block_restart_interval=-1",
                           "block_size_deviation=101",
                           "block_size_deviation=-1",
                           "partition_filters=true",
                           "partition_filters=true;index_type=kTwoLevelIndexSearch",
                           "index_block_restart_interval=8;index_type=kHashSearch",
                           "block_cache=nullptr",
                           "block_cache=",
                           "block_cache_compressed=nullptr",
                           "block_cache.x=1M",
                           "block_cache={capacity=1M;foo=1}",
                           "filter_policy=Foo",
                           "filter_policy={id=bloomfilter:10;a=1}",
                           "filter_policy=5:x",
                           "flush_block_policy_factory=Foo",
                           "metadata_cache_options={foo=1}",
                           "id=BlockBasedTable",
                           "BlockBasedTable.block_size=2k",
                           "foo=1",
                           "foo=1;checksum=x"}) {
    for (const bool ignore : {false, true}) {
      ConfigOptions config;
      config.ignore_unknown_options = ignore;
      config.ignore_unsupported_options = ignore;
      BlockBasedTableOptions o;
      t->Code(text, rocksdb::GetBlockBasedTableOptionsFromString(config, BlockBasedTableOptions(),
                                                                 text, &o));
      std::unordered_map<std::string, std::string> map;
      t->Code("split", rocksdb::StringToMap(text, &map));
      t->Code("map",
              rocksdb::GetBlockBasedTableOptionsFromMap(config, BlockBasedTableOptions(), map, &o));
      t->Line("  " + std::to_string(o.block_restart_interval) + " " +
              std::to_string(o.index_block_restart_interval) + " " +
              std::to_string(o.block_size_deviation) + " " + std::to_string(o.partition_filters) +
              " " + Name(o.filter_policy.get()) + " " + std::to_string(o.block_size));
    }
  }
}

}  // namespace

std::vector<Scenario> OptionFileScenarios() {
  return {{"option_file_sections", Sections},
          {"option_file_values", Values},
          {"option_file_heads", Heads},
          {"option_texts", Texts},
          {"option_object_texts", ObjectTexts},
          {"option_objects", Objects},
          {"option_caches", Caches},
          {"option_block_tables", BlockTables}};
}

}  // namespace compassdb_test
