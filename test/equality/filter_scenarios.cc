// SPDX-License-Identifier: Apache-2.0
// Filters of tables: what they spare, counted, and what iterators show that use their prefixes.
// Counters are compared with one table.

#include <cstdio>

#include "equality/transcript.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"

namespace compassdb_test {

using rocksdb::BlockBasedTableOptions;
using rocksdb::Options;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::WriteOptions;

namespace {

Options Filtered(const rocksdb::FilterPolicy* policy, bool whole_keys = true) {
  Options options = FreshOptions();
  BlockBasedTableOptions table;
  table.filter_policy.reset(policy);
  table.whole_key_filtering = whole_keys;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.statistics = rocksdb::CreateDBStatistics();
  return options;
}

std::string Key(const char* prefix, int i) {
  char key[32];
  snprintf(key, sizeof(key), "%s%08d", prefix, i);
  return key;
}

void Counters(Transcript* t, const std::string& what, const Options& options) {
  std::string line = what;
  for (const uint32_t ticker :
       {rocksdb::BLOOM_FILTER_USEFUL, rocksdb::BLOOM_FILTER_FULL_POSITIVE,
        rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE, rocksdb::BLOOM_FILTER_PREFIX_CHECKED,
        rocksdb::BLOOM_FILTER_PREFIX_USEFUL}) {
    line += " " + std::to_string(options.statistics->getAndResetTickerCount(ticker));
  }
  rocksdb::PerfContext* const perf = rocksdb::get_perf_context();
  line += " hit " + std::to_string(perf->bloom_sst_hit_count) + " miss " +
          std::to_string(perf->bloom_sst_miss_count);
  perf->Reset();
  t->Line(line);
}

// Keys a.. and c.. in one table; those with b and with other numbers do not exist.
std::unique_ptr<rocksdb::DB> OneTable(Transcript* t, const std::string& name, const Options& options,
                                      int keys) {
  auto db = OpenOrNote(t, name, options);
  if (!db) return db;
  for (int i = 0; i < keys; ++i) {
    const std::string value = std::to_string(i);
    db->Put(WriteOptions(), Key("aa", 2 * i), value).PermitUncheckedError();
    db->Put(WriteOptions(), Key("cc", 2 * i), value).PermitUncheckedError();
  }
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  options.statistics->Reset().PermitUncheckedError();
  return db;
}

void Reads(Transcript* t, rocksdb::DB* db, const Options& options) {
  std::string value;
  int found = 0;
  for (int i = 0; i < 2000; ++i) found += db->Get(ReadOptions(), Key("aa", i), &value).ok() ? 1 : 0;
  Counters(t, "got " + std::to_string(found), options);
  found = 0;
  for (int i = 0; i < 2000; ++i) found += db->Get(ReadOptions(), Key("bb", i), &value).ok() ? 1 : 0;
  Counters(t, "got " + std::to_string(found), options);
  std::vector<std::string> keys;
  for (int i = 0; i < 60; ++i) keys.push_back(Key(i % 2 != 0 ? "aa" : "ab", i));
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<std::string> values;
  found = 0;
  for (const auto& s : db->MultiGet(ReadOptions(), slices, &values)) found += s.ok() ? 1 : 0;
  Counters(t, "multi-got " + std::to_string(found), options);
}

void PointReads(Transcript* t) {
  int n = 0;
  const auto run = [&](const std::string& what, Options options, int keys) {
    t->Line(what + " of " + std::to_string(2 * keys));
    auto db = OneTable(t, "db" + std::to_string(n++), options, keys);
    if (db) Reads(t, db.get(), options);
  };
  for (const int keys : {20, 700, 5000}) {
    run("bloom 8", Filtered(rocksdb::NewBloomFilterPolicy(8)), keys);
    run("bloom 3.3", Filtered(rocksdb::NewBloomFilterPolicy(3.3)), keys);
    run("ribbon 8", Filtered(rocksdb::NewRibbonFilterPolicy(8, -1)), keys);
    run("ribbon 12, not of flushes", Filtered(rocksdb::NewRibbonFilterPolicy(12)), keys);
  }
}

void PrefixReads(Transcript* t) {
  for (const bool whole_keys : {false, true}) {
    Options options = Filtered(rocksdb::NewBloomFilterPolicy(10), whole_keys);
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(2));
    auto db = OneTable(t, whole_keys ? "keys" : "prefixes", options, 700);
    if (db) Reads(t, db.get(), options);
  }
}

void Seek(Transcript* t, rocksdb::DB* db, const ReadOptions& read, const std::string& target) {
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
  std::string line = "seek " + target;
  it->Seek(target);
  for (int i = 0; i < 3 && it->Valid(); ++i, it->Next()) line += " " + it->key().ToString();
  t->Line(line + " " + it->status().ToString());
}

void PrefixSeeks(Transcript* t) {
  Options options = Filtered(rocksdb::NewBloomFilterPolicy(20));
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(2));
  auto db = OneTable(t, "db", options, 700);
  if (!db) return;
  const std::vector<std::string> targets = {Key("aa", 7), Key("ab", 0), Key("bb", 3), Key("cc", 9999),
                                            "ab",         "zz"};
  ReadOptions prefix;
  prefix.prefix_same_as_start = true;
  for (const std::string& target : targets) Seek(t, db.get(), prefix, target);
  Counters(t, "same prefix", options);
  ReadOptions total;
  total.total_order_seek = true;
  for (const std::string& target : targets) Seek(t, db.get(), total, target);
  Counters(t, "total order", options);
  for (const char* bound : {"ab", "ac", "ac1", "bb7", "c"}) {
    const Slice upper(bound);
    ReadOptions automatic;
    automatic.auto_prefix_mode = true;
    automatic.iterate_upper_bound = &upper;
    for (const std::string& target : targets) Seek(t, db.get(), automatic, target);
    Counters(t, std::string("automatic to ") + bound, options);
  }
  // Tables keep the prefixes of the extractor that they were written with.
  t->Code("change", db->SetOptions({{"prefix_extractor", "fixed:1"}}));
  for (const std::string& target : targets) Seek(t, db.get(), prefix, target);
  Counters(t, "another extractor", options);
  t->Code("change back", db->SetOptions({{"prefix_extractor", "fixed:2"}}));
  for (const std::string& target : targets) Seek(t, db.get(), prefix, target);
  Counters(t, "the same again", options);
}

// Without filters in the last level.
void NotInLastLevel(Transcript* t) {
  Options options = Filtered(rocksdb::NewBloomFilterPolicy(10));
  options.optimize_filters_for_hits = true;
  auto db = OneTable(t, "db", options, 300);
  if (!db) return;
  rocksdb::CompactRangeOptions force;
  force.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  t->Code("compact", db->CompactRange(force, nullptr, nullptr));
  std::string value;
  int found = 0;
  for (int i = 0; i < 600; ++i) found += db->Get(ReadOptions(), Key("aa", i), &value).ok() ? 1 : 0;
  t->Line("got " + std::to_string(found));
}

void OfStrings(Transcript* t) {
  for (const char* text : {"bloomfilter:10:false", "bloomfilter:7.25", "ribbonfilter:10",
                           "ribbonfilter:10:2", "rocksdb.BloomFilter:3"}) {
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    rocksdb::ConfigOptions config;
    const auto s = rocksdb::FilterPolicy::CreateFromString(config, text, &policy);
    t->Code(text, s);
    if (!s.ok()) continue;
    Options options = Filtered(nullptr);
    auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
    table->filter_policy = policy;
    auto db = OneTable(t, std::string("db ") + text, options, 600);
    if (db) Reads(t, db.get(), options);
  }
}

}  // namespace

std::vector<Scenario> FilterScenarios() {
  return {{"filter_point_reads", PointReads},
          {"filter_prefix_reads", PrefixReads},
          {"filter_prefix_seeks", PrefixSeeks},
          {"filter_not_in_last_level", NotInLastLevel},
          {"filter_of_strings", OfStrings}};
}

}  // namespace compassdb_test
