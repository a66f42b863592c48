// SPDX-License-Identifier: Apache-2.0
// Control over compactions, what is dropped by files, and the small utilities.

#include <set>

#include "equality/transcript.h"
#include "rocksdb/convenience.h"
#include "rocksdb/experimental.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/debug.h"
#include "rocksdb/utilities/leveldb_options.h"
#include "rocksdb/utilities/memory_util.h"
#include "rocksdb/utilities/option_change_migration.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "support/text.h"

namespace compassdb_test {

using rocksdb::CompactRangeOptions;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::Slice;
using rocksdb::WriteOptions;

namespace {

void Fill(Transcript* t, DB* db, int first, int last, const std::string& value) {
  for (int i = first; i < last; ++i) {
    rocksdb::Status s = db->Put(WriteOptions(), "key" + std::to_string(100 + i), value);
    if (!s.ok()) t->Code("put", s);
  }
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
}

void Shape(Transcript* t, DB* db) {
  std::string line;
  for (int level = 0; level < db->NumberLevels(); ++level) {
    std::string n;
    db->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &n);
    line += n + " ";
  }
  t->Line(line);
}

Options Quiet() {
  Options options = FreshOptions();
  options.disable_auto_compactions = true;
  return options;
}

void DropFiles(Transcript* t) {
  auto db = OpenOrNote(t, "db", Quiet());
  if (!db) return;
  auto* family = db->DefaultColumnFamily();
  Fill(t, db.get(), 0, 10, "a");
  const Slice begin("key100"), middle("key105"), end("key109");
  t->Code("level 0", rocksdb::DeleteFilesInRange(db.get(), family, nullptr, nullptr));
  Shape(t, db.get());
  t->Code("compact", db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Shape(t, db.get());
  t->Code("part", rocksdb::DeleteFilesInRange(db.get(), family, &begin, &middle));
  t->Code("part", rocksdb::DeleteFilesInRange(db.get(), family, &middle, nullptr));
  t->Code("without end", rocksdb::DeleteFilesInRange(db.get(), family, &begin, &end, false));
  t->Scan("still", db.get());
  Fill(t, db.get(), 3, 6, "b");
  const rocksdb::RangePtr ranges[] = {{&middle, &middle}, {&begin, &end}};
  t->Code("all", rocksdb::DeleteFilesInRanges(db.get(), family, ranges, 2));
  Shape(t, db.get());
  t->Scan("left", db.get());
  t->Code("none", rocksdb::DeleteFilesInRanges(db.get(), family, ranges, 0));
}

void Suggest(Transcript* t) {
  auto db = OpenOrNote(t, "db", Quiet());
  if (!db) return;
  t->Code("empty", rocksdb::experimental::SuggestCompactRange(db.get(), nullptr, nullptr));
  Fill(t, db.get(), 0, 10, "a");
  const Slice begin("key102"), end("key104");
  t->Code("some", rocksdb::experimental::SuggestCompactRange(db.get(), &begin, &end));
  t->Scan("same", db.get());
}

void Promote(Transcript* t) {
  auto db = OpenOrNote(t, "db", Quiet());
  if (!db) return;
  auto* family = db->DefaultColumnFamily();
  Fill(t, db.get(), 0, 5, "a");
  Fill(t, db.get(), 5, 10, "b");
  t->Code("to 0", rocksdb::experimental::PromoteL0(db.get(), family, 0));
  t->Code("to 2", rocksdb::experimental::PromoteL0(db.get(), family, 2));
  Shape(t, db.get());
  Fill(t, db.get(), 3, 7, "c");
  t->Code("over", rocksdb::experimental::PromoteL0(db.get(), family, 2));
  t->Code("to 1", rocksdb::experimental::PromoteL0(db.get(), family, 1));
  Fill(t, db.get(), 8, 10, "d");
  Fill(t, db.get(), 9, 12, "e");
  Shape(t, db.get());
  t->Scan("all", db.get());
}

void ChangeLevel(Transcript* t) {
  auto db = OpenOrNote(t, "db", Quiet());
  if (!db) return;
  Fill(t, db.get(), 0, 10, "a");
  CompactRangeOptions compact;
  compact.change_level = true;
  compact.target_level = 4;
  t->Code("to 4", db->CompactRange(compact, nullptr, nullptr));
  Shape(t, db.get());
  compact.target_level = 2;
  t->Code("to 2", db->CompactRange(compact, nullptr, nullptr));
  Shape(t, db.get());
  compact.target_level = 40;
  t->Code("to 40", db->CompactRange(compact, nullptr, nullptr));
  t->Scan("all", db.get());
}

void CompactByFiles(Transcript* t) {
  auto db = OpenOrNote(t, "db", Quiet());
  if (!db) return;
  Fill(t, db.get(), 0, 10, "a");
  Fill(t, db.get(), 5, 15, "b");
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(&metadata);
  std::vector<std::string> names;
  for (const auto& level : metadata.levels) {
    for (const auto& file : level.files) names.push_back(file.db_path + file.name);
  }
  t->Line(std::to_string(names.size()));
  t->Full("no files", db->CompactFiles(rocksdb::CompactionOptions(), {}, 1));
  t->Code("too deep", db->CompactFiles(rocksdb::CompactionOptions(), names, 9));
  t->Code("unknown", db->CompactFiles(rocksdb::CompactionOptions(), {"/987654.sst"}, 1));
  t->Code("compact", db->CompactFiles(rocksdb::CompactionOptions(), names, 2));
  Shape(t, db.get());
  t->Scan("all", db.get());
  t->Code("gone", db->CompactFiles(rocksdb::CompactionOptions(), names, 2));
}

void Versions(Transcript* t) {
  auto db = OpenOrNote(t, "db", Quiet());
  if (!db) return;
  Fill(t, db.get(), 0, 3, "a");
  db->Delete(WriteOptions(), "key101").PermitUncheckedError();
  db->SingleDelete(WriteOptions(), "key102").PermitUncheckedError();
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  Fill(t, db.get(), 1, 5, "b");
  db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "key100", "key103").PermitUncheckedError();
  auto list = [&](const char* what, const Slice& begin, const Slice& end, size_t limit) {
    std::vector<rocksdb::KeyVersion> versions;
    t->Code(what, rocksdb::GetAllKeyVersions(db.get(), begin, end, limit, &versions));
    for (const auto& v : versions) {
      t->Line(v.user_key + " " + v.GetTypeName() + " " + v.value + " " + std::to_string(v.sequence));
    }
  };
  list("all", Slice(), Slice(), 1000);
  list("range", "key101", "key102", 1000);
  list("limit", "key101", Slice(), 2);
  list("nothing", "x", "y", 2);
  t->Full("no database", rocksdb::GetAllKeyVersions(nullptr, "a", "b", 1, nullptr));
  for (int type = 0; type < 24; ++type) {
    if (type == 0x14 || type == 0x16 || type == 0x17 || type == 0x15) continue;
    t->Line(rocksdb::KeyVersion("k", "v", 1, type).GetTypeName());
  }
  db->ReleaseSnapshot(snapshot);
}

void SmallUtilities(Transcript* t) {
  auto db = OpenOrNote(t, "db", Quiet());
  if (!db) return;
  std::map<rocksdb::MemoryUtil::UsageType, uint64_t> usage;
  t->Code("memory", rocksdb::MemoryUtil::GetApproximateMemoryUsageByType({db.get()}, {}, &usage));
  for (const auto& [type, bytes] : usage) t->Line(std::to_string(type));
  const rocksdb::LevelDBOptions leveldb;
  const Options options = rocksdb::ConvertOptions(leveldb);
  t->Line(std::to_string(options.write_buffer_size) + " " + std::to_string(options.max_open_files) +
          " " + std::to_string(options.compression) + " " + std::to_string(options.paranoid_checks) +
          " " + std::to_string(leveldb.block_restart_interval) + " " +
          std::to_string(leveldb.block_size));
  Fill(t, db.get(), 0, 10, "a");
  CompactRangeOptions compact;
  compact.change_level = true;
  compact.target_level = 6;
  t->Code("to 6", db->CompactRange(compact, nullptr, nullptr));
  db.reset();
  Options old_options = Quiet(), new_options = Quiet();
  new_options.num_levels = 3;
  t->Code("migrate", rocksdb::OptionChangeMigration(t->Path("db"), old_options, new_options));
  db = OpenOrNote(t, "db", new_options);
  if (db) t->Scan("migrated", db.get());
}

void Tailing(Transcript* t) {
  auto db = OpenOrNote(t, "db", Quiet());
  if (!db) return;
  rocksdb::ReadOptions options;
  options.tailing = true;
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options));
  const auto show = [&](const char* what) {
    t->Value(what, it->status(),
             it->Valid() ? it->key().ToString() + "=" + it->value().ToString() : "end");
  };
  const auto put = [&](const char* key, const char* value) {
    db->Put(WriteOptions(), key, value).PermitUncheckedError();
  };
  it->SeekToFirst();
  show("empty");
  put("a", "1");
  it->SeekToFirst();
  show("first");
  put("b", "2");
  it->Next();
  show("next");
  put("b", "3");
  put("d", "4");
  it->Seek("b");
  show("seek");
  t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  put("c", "5");
  it->Seek("b");
  it->Next();
  show("from memory");
  it->Next();
  show("from the table");
  db->Delete(WriteOptions(), "d").PermitUncheckedError();
  it->Seek("c");
  it->Next();
  show("deleted");
  t->Code("refresh", it->Refresh());
}

// Keeps the number of entries of each kind.
class KindCollector : public rocksdb::TablePropertiesCollector {
 public:
  rocksdb::Status AddUserKey(const Slice&, const Slice&, rocksdb::EntryType type,
                             rocksdb::SequenceNumber, uint64_t) override {
    ++counts_[type];
    return rocksdb::Status::OK();
  }
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    for (const auto& [type, n] : counts_) {
      (*properties)["my" + std::to_string(type)] = std::to_string(n);
    }
    return rocksdb::Status::OK();
  }
  rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "Kinds"; }

 private:
  std::map<int, int> counts_;
};

class KindFactory : public rocksdb::TablePropertiesCollectorFactory {
 public:
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new KindCollector();
  }
  const char* Name() const override { return "KindFactory"; }
};

void Collectors(Transcript* t) {
  Options options = Quiet();
  options.table_properties_collector_factories.push_back(std::make_shared<KindFactory>());
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  const auto list = [&](const char* what) {
    rocksdb::TablePropertiesCollection tables;
    t->Code(what, db->GetPropertiesOfAllTables(&tables));
    std::map<std::string, int> lines;
    for (const auto& [file, properties] : tables) {
      std::string line = std::to_string(properties->num_entries) + " " +
                         std::to_string(properties->num_deletions) + " " +
                         std::to_string(properties->num_range_deletions);
      for (const auto& [name, value] : properties->user_collected_properties) {
        if (name.rfind("my", 0) == 0) line += " " + name + "=" + value;
      }
      ++lines[line];
    }
    for (const auto& [line, n] : lines) t->Line(std::to_string(n) + " x " + line);
  };
  Fill(t, db.get(), 0, 10, "a");
  db->Delete(WriteOptions(), "key101").PermitUncheckedError();
  db->SingleDelete(WriteOptions(), "key102").PermitUncheckedError();
  db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "key103", "key105")
      .PermitUncheckedError();
  Fill(t, db.get(), 20, 23, "b");
  list("two");
  t->Code("compact", db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  list("one");
  rocksdb::ReadOptions read;
  read.table_filter = [](const rocksdb::TableProperties&) { return false; };
  Fill(t, db.get(), 50, 51, "c");
  db->Put(WriteOptions(), "memory", "m").PermitUncheckedError();
  t->Scan("without tables", db.get(), nullptr, read);
  t->Line(rocksdb::NewCompactOnDeletionCollectorFactory(100, 20, 0.5)->ToString());
}

// Remembers what listeners are notified of new tables.
struct TableNames : public rocksdb::EventListener {
  static std::string Of(const rocksdb::TableProperties& p) {
    return p.compression_name + " [" + p.compression_options + "] " + p.prefix_extractor_name +
           " [" + p.filter_policy_name + "]";
  }
  // Tables have them; RocksDB's listeners are not notified.
  static std::string Counts(const rocksdb::TableProperties& p) {
    bool counted = false;
    const uint64_t merges = rocksdb::GetMergeOperands(p.user_collected_properties, &counted);
    return std::to_string(rocksdb::GetDeletedKeys(p.user_collected_properties)) + " deleted, " +
           std::to_string(merges) + (counted ? " merges" : " merges, not counted");
  }
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    names = Of(info.table_properties);
    db_id = info.table_properties.db_id;
    session = info.table_properties.db_session_id;
  }
  std::string names, db_id, session;
};

void TablePropertyNames(Transcript* t) {
  for (int i = 0; i < 3; ++i) {
    Options options = MergingOptions();
    const rocksdb::CompressionType kTypes[] = {rocksdb::kNoCompression, rocksdb::kLZ4Compression,
                                               rocksdb::kZSTD};
    options.compression = kTypes[i];
    options.compression_opts.level = i == 2 ? 3 : options.compression_opts.level;
    rocksdb::BlockBasedTableOptions table;
    if (i == 1) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    if (i == 2) table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (i > 0) options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
    const auto listener = std::make_shared<TableNames>();
    options.listeners.push_back(listener);
    auto db = OpenOrNote(t, "db" + std::to_string(i), options);
    if (!db) return;
    Fill(t, db.get(), 0, 50, std::string(200, 'a'));
    // CompassDB reports how the first block is compressed: this one must gain by it.
    db->Put(WriteOptions(), "other0", std::string(1000, 'a')).PermitUncheckedError();
    db->Delete(WriteOptions(), "other1").PermitUncheckedError();
    db->SingleDelete(WriteOptions(), "other2").PermitUncheckedError();
    db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "p", "q").PermitUncheckedError();
    db->Merge(WriteOptions(), "other3", "operand").PermitUncheckedError();
    t->Code("flush", db->Flush(rocksdb::FlushOptions()));
    std::string id, session;
    t->Code("id", db->GetDbIdentity(id));
    t->Code("session", db->GetDbSessionId(session));
    t->Line("notified: " + listener->names);
    t->Line(std::to_string(listener->db_id == id) + " " +
            std::to_string(listener->session == session));
    rocksdb::TablePropertiesCollection tables;
    t->Code("properties", db->GetPropertiesOfAllTables(&tables));
    std::set<std::string> lines;
    for (const auto& [file, properties] : tables) {
      lines.insert(TableNames::Of(*properties) + " " + TableNames::Counts(*properties) + " " + std::to_string(properties->db_id == id));
    }
    for (const std::string& line : lines) t->Line(line);
  }
}

}  // namespace

std::vector<Scenario> ControlScenarios() {
  return {{"drop_files", DropFiles},         {"suggest_compact_range", Suggest},
          {"promote_level0", Promote},       {"change_level", ChangeLevel},
          {"compact_files", CompactByFiles}, {"key_versions", Versions},
          {"small_utilities", SmallUtilities},
          {"tailing", Tailing},              {"properties_collectors", Collectors},
          {"table_property_names", TablePropertyNames}};
}

}  // namespace compassdb_test
