// SPDX-License-Identifier: Apache-2.0
// cli_fixture KIND DIR: writes a small database with data that the command line tool cannot write, for its tests.
#include <compassdb/preset.h>
#include <compassdb/table.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/wide_columns.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

using rocksdb::Status;

Status SetOptions(const std::string& kind, rocksdb::Options* options) {
  options->create_if_missing = true;
  if (kind == "timestamps") {
    return rocksdb::Comparator::CreateFromString(rocksdb::ConfigOptions(), "leveldb.BytewiseComparator.u64ts",
                                                 &options->comparator);
  }
  if (kind != "nokeys") return Status::OK();
  Status s = compassdb::ApplyPreset(compassdb::Preset::kTableless, options);
  if (s.ok()) options->table_factory->GetOptions<compassdb::PieceTableOptions>()->tableless_key_store = false;
  return s;
}

Status Fill(const std::string& kind, rocksdb::DB* db) {
  const rocksdb::WriteOptions w;
  Status s;
  for (int i = 0; s.ok() && i < 2000; ++i) {
    const std::string key = "key" + std::to_string(i), value(100, static_cast<char>('a' + i % 26));
    // Later times for some; others are deleted.
    for (char time = 1; s.ok() && time <= (kind == "timestamps" ? 3 : 1); ++time) {
      const std::string timestamp(8, time);
      s = kind != "timestamps"     ? db->Put(w, key, value)
          : time == 3 && i % 5 == 0 ? db->Delete(w, key, timestamp)
                                    : db->Put(w, key, timestamp, value + std::to_string(time));
    }
  }
  if (s.ok() && kind == "entity") {
    s = db->PutEntity(w, db->DefaultColumnFamily(), "row", rocksdb::WideColumns{{"a", "1"}, {"b", "2"}});
  }
  return s.ok() ? db->Flush(rocksdb::FlushOptions()) : s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  rocksdb::Options options;
  Status s = SetOptions(argv[1], &options);
  rocksdb::DB* opened = nullptr;
  if (s.ok()) s = rocksdb::DB::Open(options, argv[2], &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (s.ok()) s = Fill(argv[1], db.get());
  if (s.ok()) s = db->Close();
  if (s.ok()) return 0;
  std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return 1;
}
