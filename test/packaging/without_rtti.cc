// SPDX-License-Identifier: Apache-2.0
// Built without type information, as RocksDB's own library and many of its clients are: objects of
// each kind that a client implements go through the library.
#include <rocksdb/compaction_filter.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/options_util.h>
#include <rocksdb/utilities/stackable_db.h>

#include <cstdio>
#include <cstdlib>

using namespace rocksdb;

namespace {

class Order : public Comparator {
 public:
  const char* Name() const override { return "order"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class Join : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "join"; }
  bool Merge(const Slice&, const Slice* value, const Slice& operand, std::string* joined,
             Logger*) const override {
    *joined = (value != nullptr ? value->ToString() : "") + operand.ToString();
    return true;
  }
};

class KeepAll : public CompactionFilter {
 public:
  const char* Name() const override { return "keep all"; }
};

class FirstByte : public SliceTransform {
 public:
  const char* Name() const override { return "first byte"; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), 1); }
  bool InDomain(const Slice& key) const override { return !key.empty(); }
};

class Silent : public Logger {
 public:
  void Logv(const char*, va_list) override {}
};

class OwnEnv : public EnvWrapper {
 public:
  OwnEnv() : EnvWrapper(Env::Default()) {}
};

class OwnFiles : public FileSystemWrapper {
 public:
  OwnFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "OwnFiles"; }
};

class Over : public StackableDB {
 public:
  using StackableDB::StackableDB;
};

void Must(const char* what, const Status& s) {
  if (s.ok()) return;
  fprintf(stderr, "%s: %s\n", what, s.ToString().c_str());
  exit(1);
}

void Use(const std::string& dir, Env* env) {
  Order order;
  Options options;
  options.create_if_missing = true;
  options.env = env;
  options.comparator = &order;
  options.merge_operator = std::make_shared<Join>();
  options.prefix_extractor = std::make_shared<FirstByte>();
  options.info_log = std::make_shared<Silent>();
  options.listeners.push_back(std::make_shared<EventListener>());
  const KeepAll filter;
  options.compaction_filter = &filter;
  DB* opened = nullptr;
  Must("open", DB::Open(options, dir, &opened));
  Over db(opened);
  Must("put", db.Put(WriteOptions(), "key", "a"));
  Must("merge", db.Merge(WriteOptions(), "key", "b"));
  Must("flush", db.Flush(FlushOptions()));
  Must("compact", db.CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Must("files in range", DeleteFilesInRange(&db, db.DefaultColumnFamily(), nullptr, nullptr));
  Checkpoint* checkpoint = nullptr;
  Must("checkpoint", Checkpoint::Create(&db, &checkpoint));
  Must("create", checkpoint->CreateCheckpoint(dir + "-checkpoint"));
  delete checkpoint;
  BackupEngine* backups = nullptr;
  Must("backup", BackupEngine::Open(BackupEngineOptions(dir + "-backup"), env, &backups));
  Must("create", backups->CreateNewBackup(&db));
  delete backups;
  ConfigOptions config;
  std::string text;
  Must("options", GetStringFromColumnFamilyOptions(config, db.GetOptions(), &text));
  Must("set", db.SetOptions({{"block_based_table_factory", "{block_size=8192}"}}));
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  Must("stored", LoadLatestOptions(config, dir, &db_options, &families));
  const Order same;
  if (!order.AreEquivalent(config, &same, &text)) exit(1);
  if (order.ConfigureFromString(config, "a=b").ok()) exit(1);
}

}  // namespace

int main(int, char** argv) {
  const std::string dir = argv[1];
  OwnEnv env;
  Use(dir + "/env", &env);
  const std::unique_ptr<Env> files = NewCompositeEnv(std::make_shared<OwnFiles>());
  Use(dir + "/files", files.get());
  puts("done");
}
