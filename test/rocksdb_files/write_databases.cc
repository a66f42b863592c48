// SPDX-License-Identifier: Apache-2.0
//   write_databases DIR [KEYS] [CASE...]
// Makes a database for each case (cases.h) in DIR/CASE by the RocksDB that this is linked with, and writes what that
// library reads of it: DIR/CASE.scan, the entries of each family, and DIR/CASE.records, all records with their sequences and
// types, where they are comparable. Lines are
//   F family comparator      S key value      R key sequence type value
// with names, keys and values in hexadecimal digits, "-" for none.
#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/debug.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "cases.h"

namespace compassdb_test {
namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::DB;
using rocksdb::Slice;
using rocksdb::Status;

void Must(const Status& s) {
  if (s.ok()) return;
  std::cerr << s.ToString() << "\n";
  std::exit(1);
}

std::string Hex(const Slice& bytes) { return bytes.empty() ? "-" : bytes.ToString(true); }

class Writer {
 public:
  Writer(const Case& what, std::string dir, int keys) : case_(what), dir_(std::move(dir)), keys_(keys) {}

  void Run() {
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
    options_.create_if_missing = true;
    table_.block_size = 512;
    if (case_.adjust) case_.adjust(&options_, &table_);
    if (options_.wal_dir == "<database>/logs") options_.wal_dir = dir_ + "/logs";
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_));
    options_.disable_auto_compactions = true;
    Open();
    if (Has(kFamilies)) {
      ColumnFamilyHandle* family = nullptr;
      Must(db_->CreateColumnFamily(options_, "second", &family));
      families_.push_back(family);
    }
    Write();
    Report();
    Close();
  }

 private:
  bool Has(unsigned contents) const { return (case_.contents & contents) != 0; }

  void Open() {
    DB* raw = nullptr;
    std::vector<rocksdb::ColumnFamilyDescriptor> names = {{rocksdb::kDefaultColumnFamilyName, options_}};
    if (families_.size() > 1) names.emplace_back("second", options_);
    families_.clear();
#if ROCKSDB_MAJOR >= 11
    std::unique_ptr<DB> opened;
    Must(DB::Open(options_, dir_, names, &families_, &opened));
    raw = opened.release();
#else
    Must(DB::Open(options_, dir_, names, &families_, &raw));
#endif
    db_.reset(raw);
  }

  void Close() {
    for (ColumnFamilyHandle* family : families_) Must(db_->DestroyColumnFamilyHandle(family));
    db_.reset();
  }

  std::string Key(int i) const {
    char text[32];
    std::snprintf(text, sizeof(text), "%04d-key-%08d", i / 7, i * 3);
    return text;
  }
  std::string Value(int i, int round) {
    std::string value = "value " + std::to_string(i) + " of round " + std::to_string(round) + ": ";
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const size_t size = (random_ >> 33) % 120;
    if (i % 11 == 0) {
      for (size_t n = 0; n < size; ++n) value.push_back(static_cast<char>((random_ = random_ * 6364136223846793005u + 1) >> 40));
    } else {
      for (size_t n = 0; n < size; ++n) value.push_back("abcdefgh"[n * (size + 1) / 40 % 8]);
    }
    return value;
  }
  std::string Time(uint64_t time) const {
    std::string text;
    for (int i = 0; i < 8; ++i) text.push_back(static_cast<char>(time >> (8 * i)));
    return text;
  }

  void WriteOne(rocksdb::WriteBatch* batch, ColumnFamilyHandle* family, int i, int round) {
    if (Has(kTimestamps)) {
      Must(db_->Put({}, family, Key(i), Time(static_cast<uint64_t>(10 + round)), Value(i, round)));
      if (i % 9 == 4 && round > 0) Must(db_->Delete({}, family, Key(i), Time(static_cast<uint64_t>(11 + round))));
      return;
    }
    if (Has(kEntities) && i % 3 == 0) {
      Must(batch->PutEntity(family, Key(i), {{"", "default"}, {"a", Value(i, round)}, {"b", "2"}}));
      return;
    }
#if ROCKSDB_MAJOR >= 9
    if (Has(kTimed) && i % 3 == 0) {
      Must(batch->TimedPut(family, Key(i), Value(i, round), 1));
      return;
    }
#endif
    if (Has(kMerges) && i % 2 == 0) {
      Must(batch->Merge(family, Key(i), Value(i, round)));
      return;
    }
    if (round > 0 && i % 9 == 4) {
      Must(batch->Delete(family, Key(i)));
      return;
    }
    if (i % 13 == 6) {
      if (round == 1) Must(batch->SingleDelete(family, Key(i)));
      if (round == 0) Must(batch->Put(family, Key(i), Value(i, round)));
      return;
    }
    Must(batch->Put(family, Key(i), Value(i, round)));
  }

  void WriteRound(int round) {
    for (ColumnFamilyHandle* family : families_) {
      rocksdb::WriteBatch batch;
      for (int i = 0; i < keys_; ++i) {
        if (round > 0 && i % 3 != round % 3) continue;
        WriteOne(&batch, family, i, round);
        if (i % 50 == 49) {
          Must(db_->Write({}, &batch));
          batch.Clear();
        }
      }
      Must(db_->Write({}, &batch));
      if (Has(kRangeDeletions)) {
        for (int i = round; i < keys_; i += 20) Must(db_->DeleteRange({}, family, Key(i), Key(i + 3 + round)));
      }
    }
  }

  void Flush() {
    for (ColumnFamilyHandle* family : families_) Must(db_->Flush({}, family));
  }

  void Write() {
    std::vector<const rocksdb::Snapshot*> snapshots;
    WriteRound(0);
    if (Has(kVersions)) snapshots.push_back(db_->GetSnapshot());
    WriteRound(1);
    if (Has(kVersions)) snapshots.push_back(db_->GetSnapshot());
    Flush();
    if (Has(kIngested)) Ingest();
    if (Has(kVersions)) {
      // One key in many blocks.
      for (int round = 0; round < 20; ++round) {
        Must(db_->Put({}, Key(keys_ / 2), Value(1, round)));
        snapshots.push_back(db_->GetSnapshot());
      }
      WriteRound(2);
      Flush();
      for (ColumnFamilyHandle* family : families_) Must(db_->CompactRange({}, family, nullptr, nullptr));
    }
    if (Has(kInLog)) {
      for (int round = 3; round < 5; ++round) {
        WriteRound(round);
        if (round == 4) break;
        Flush();
      }
      WriteRound(5);
    }
    for (const rocksdb::Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
  }

  void Ingest() {
    for (const bool write_sequence : {false, true}) {
      const std::string file = dir_ + ".sst";
      rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
      Must(writer.Open(file));
      for (int i = write_sequence ? 1 : 0; i < keys_; i += 4) {
        if (i % 5 == 0) {
          Must(writer.Delete(Key(i)));
        } else {
          Must(writer.Put(Key(i), Value(i, 8)));
        }
      }
      if (Has(kRangeDeletions)) Must(writer.DeleteRange(Key(2), Key(5)));
      Must(writer.Finish());
      rocksdb::IngestExternalFileOptions how;
      how.move_files = true;
#if ROCKSDB_MAJOR < 11
      how.write_global_seqno = write_sequence;
#endif
      Must(db_->IngestExternalFile({file}, how));
      std::filesystem::remove(file);
    }
  }

  void Report() {
    std::ofstream scan(dir_ + ".scan");
    std::ofstream records;
    // The library leaves out what range deletions cover, and reads values of blob files.
    const bool comparable = !Has(kRangeDeletions | kTimed) && !options_.enable_blob_files;
    if (comparable) records.open(dir_ + ".records");
    for (ColumnFamilyHandle* family : families_) {
      const std::string head = "F " + Hex(family->GetName()) + " " + Hex(options_.comparator->Name()) + "\n";
      scan << head;
      rocksdb::ReadOptions read;
      read.total_order_seek = true;
      const std::string latest(8, '\xff');
      const Slice time(latest);
      if (Has(kTimestamps)) read.timestamp = &time;
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read, family));
      for (it->SeekToFirst(); it->Valid(); it->Next()) scan << "S " << Hex(it->key()) << " " << Hex(it->value()) << "\n";
      Must(it->status());
      if (!comparable) continue;
      records << head;
      std::vector<rocksdb::KeyVersion> versions;
#if ROCKSDB_MAJOR >= 10
      Must(rocksdb::GetAllKeyVersions(db_.get(), family, {}, {}, SIZE_MAX, &versions));
#else
      Must(rocksdb::GetAllKeyVersions(db_.get(), family, Slice(), Slice(), SIZE_MAX, &versions));
#endif
      for (const rocksdb::KeyVersion& v : versions) {
        records << "R " << Hex(v.user_key) << " " << v.sequence << " " << v.type << " " << Hex(v.value) << "\n";
      }
    }
  }

  const Case& case_;
  const std::string dir_;
  const int keys_;
  uint64_t random_ = 1;
  rocksdb::Options options_;
  rocksdb::BlockBasedTableOptions table_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> families_;
};

int Run(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: write_databases DIR [KEYS] [CASE...]\n";
    return 2;
  }
  const int keys = argc > 2 ? std::atoi(argv[2]) : 400;
  const std::vector<std::string> wanted(argv + std::min(argc, 3), argv + argc);
  for (const Case& c : AllCases()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), c.name) == wanted.end()) continue;
    Writer(c, std::string(argv[1]) + "/" + c.name, keys).Run();
  }
  return 0;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Run(argc, argv); }
