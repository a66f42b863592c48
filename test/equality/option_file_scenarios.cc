// SPDX-License-Identifier: Apache-2.0
// Which OPTIONS files load, and with what: whole ones of other versions, and ones that a person or a program put
// together. Numbers in values as RocksDB reads them.

#include "equality/transcript.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
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
      const auto* table = family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      t->Line("  " + family.name + " " + std::to_string(family.options.num_levels) + " " +
              (table == nullptr ? "no blocks" : std::to_string(table->block_size) + " " +
               std::to_string(table->read_amp_bytes_per_bit) + " " + (table->filter_policy ? "a filter" : "no filter")));
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

}  // namespace

std::vector<Scenario> OptionFileScenarios() {
  return {{"option_file_sections", Sections}, {"option_file_values", Values}};
}

}  // namespace compassdb_test
