// SPDX-License-Identifier: Apache-2.0
//   write_tables DIR
// Writes files for ingestion, DIR/CASE.sst, by the SstFileWriter of RocksDB 7.8 or newer, and what a database with some
// keys has after it has ingested the file, DIR/CASE.scan. src/copies/foreign_tables_test.cc compares.
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::Slice;
using rocksdb::SstFileWriter;
using rocksdb::Status;

void Must(const Status& s) {
  if (s.ok()) return;
  std::cerr << s.ToString() << "\n";
  std::exit(1);
}

std::string Key(int i) {
  char text[16];
  std::snprintf(text, sizeof(text), "key%04d", i);
  return text;
}
std::string Value(int i, const char* what) { return std::string(what) + " " + std::to_string(i) + std::string(static_cast<size_t>(i % 50), 'x'); }
std::string Time(char time) { return std::string(1, time) + std::string(7, '\0'); }
std::string Hex(const Slice& bytes) { return bytes.empty() ? "-" : bytes.ToString(true); }

constexpr int kKeys = 120;

struct Case {
  std::string name;
  std::function<void(Options*, BlockBasedTableOptions*)> adjust;
  std::function<void(SstFileWriter*)> write;
  bool reingested = false;      // another database ingested it before, and has written its sequence into it
  bool values_inside = false;
  bool of_family = false;       // is for the default column family
};

void Puts(SstFileWriter* writer) {
  for (int i = 0; i < kKeys; i += 2) Must(writer->Put(Key(i), Value(i, "ingested")));
}

void All(SstFileWriter* writer) {
  for (int i = 0; i < kKeys; i += 2) {
    if (i % 3 == 0) {
      Must(writer->Delete(Key(i)));
    } else if (i % 5 == 0) {
      Must(writer->Merge(Key(i), "operand"));
    } else {
      Must(writer->Put(Key(i), Value(i, "ingested")));
    }
  }
  Must(writer->DeleteRange(Key(21), Key(40)));
  Must(writer->DeleteRange(Key(100), Key(kKeys + 5)));
}

void Ranges(SstFileWriter* writer) {
  Must(writer->DeleteRange(Key(5), Key(9)));
  Must(writer->DeleteRange(Key(50), Key(70)));
}

#if ROCKSDB_MAJOR >= 8
void Timed(SstFileWriter* writer) {
  for (int i = 0; i < kKeys; i += 2) {
    if (i % 6 == 0) {
      Must(writer->Delete(Key(i), Time(5)));
    } else {
      Must(writer->Put(Key(i), Time(5), Value(i, "ingested")));
    }
  }
}
#endif

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  cases.push_back({"puts", nullptr, Puts});
  cases.push_back({"all", nullptr, All});
  cases.push_back({"ranges", nullptr, Ranges});
  cases.push_back({"of_family", nullptr, Puts, false, false, true});
  cases.push_back({"two_levels", [](Options* o, BlockBasedTableOptions* t) {
                     t->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
                     t->partition_filters = true;
                     t->filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
                     t->metadata_block_size = 256;
                     o->compression = rocksdb::kZSTD;
                   }, All});
  cases.push_back({"reverse", [](Options* o, BlockBasedTableOptions*) { o->comparator = rocksdb::ReverseBytewiseComparator(); },
                   [](SstFileWriter* writer) {
                     for (int i = kKeys; i > 0; i -= 3) Must(writer->Put(Key(i), Value(i, "ingested")));
                     Must(writer->DeleteRange(Key(50), Key(31)));
                   }});
#if ROCKSDB_MAJOR >= 8
  cases.push_back({"timestamps", [](Options* o, BlockBasedTableOptions*) { o->comparator = rocksdb::BytewiseComparatorWithU64Ts(); }, Timed});
#endif
#if ROCKSDB_MAJOR < 11
  cases.push_back({"reingested", nullptr, All, true});
#else
  cases.push_back({"format6", [](Options*, BlockBasedTableOptions* t) { t->format_version = 6; }, All});
  cases.push_back({"values_apart", [](Options*, BlockBasedTableOptions* t) { t->separate_key_value_in_data_block = true; }, All});
  cases.push_back({"values_inside", [](Options*, BlockBasedTableOptions* t) { t->format_version = 7; }, All, false, true});
  cases.push_back({"entities", nullptr, [](SstFileWriter* writer) {
                     for (int i = 0; i < kKeys; i += 2) Must(writer->PutEntity(Key(i), {{"", Value(i, "default")}, {"a", "1"}}));
                   }});
#endif
  return cases;
}

std::unique_ptr<DB> Open(const Options& options, const std::string& dir) {
  std::filesystem::remove_all(dir);
#if ROCKSDB_MAJOR >= 11
  std::unique_ptr<DB> db;
  Must(DB::Open(options, dir, &db));
  return db;
#else
  DB* db = nullptr;
  Must(DB::Open(options, dir, &db));
  return std::unique_ptr<DB>(db);
#endif
}

void Run(const Case& c, const std::string& dir) {
  const std::string path = dir + "/" + c.name + ".sst", database = dir + "/" + c.name + ".db";
  Options options;
  options.create_if_missing = true;
  Must(rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "stringappend", &options.merge_operator));
  BlockBasedTableOptions table;
  table.block_size = 512;
  if (c.adjust) c.adjust(&options, &table);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  auto first = Open(options, database);
  SstFileWriter writer(rocksdb::EnvOptions(), options, c.of_family ? first->DefaultColumnFamily() : nullptr);
#if ROCKSDB_MAJOR >= 11
  if (c.values_inside) {
    rocksdb::SstFileWriterEmbeddedBlobOptions inside;
    inside.min_blob_size = 40;
    Must(writer.OpenWithEmbeddedBlobs(path, inside));
  } else {
    Must(writer.Open(path));
  }
#else
  Must(writer.Open(path));
#endif
  c.write(&writer);
  Must(writer.Finish());
  rocksdb::IngestExternalFileOptions how;
#if ROCKSDB_MAJOR < 11
  if (c.reingested) {
    how.write_global_seqno = true;
    how.move_files = true;
    std::filesystem::copy_file(path, path + ".copy");
    std::filesystem::create_hard_link(path, path + ".link");  // the same file, which gets the sequence
    for (int i = 0; i < kKeys; ++i) Must(first->Put({}, Key(i), "old"));
    Must(first->IngestExternalFile({path}, how));
    std::filesystem::rename(path + ".link", path);
  }
  how = {};
  how.write_global_seqno = false;
#endif
  first.reset();
  const auto db = Open(options, database);
  const bool timed = options.comparator->timestamp_size() != 0;
  for (int i = 0; i < kKeys; i += 3) {
    if (timed) {
      Must(db->Put({}, Key(kKeys + i), Time(2), Value(i, "old")));  // RocksDB ingests no file over keys with times
    } else {
      Must(db->Put({}, Key(i), Value(i, "old")));
    }
  }
  // RocksDB does not take a file with the sequence of another database.
  const std::string taken = c.reingested ? path + ".copy" : path;
  Must(db->IngestExternalFile({taken}, how));
  std::filesystem::remove(path + ".copy");
  std::ofstream scan(dir + "/" + c.name + ".scan");
  scan << "C " << options.comparator->Name() << "\n";
  rocksdb::ReadOptions read;
  const std::string latest(8, '\xff');
  const Slice time(latest);
  if (timed) read.timestamp = &time;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
  for (it->SeekToFirst(); it->Valid(); it->Next()) scan << "S " << Hex(it->key()) << " " << Hex(it->value()) << "\n";
  Must(it->status());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_tables DIR\n";
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  for (const Case& c : AllCases()) {
    Run(c, argv[1]);
    std::filesystem::remove_all(std::string(argv[1]) + "/" + c.name + ".db");
  }
  return 0;
}
