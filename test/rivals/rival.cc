// SPDX-License-Identifier: Apache-2.0
// One engine behind two commands, the same for all that are compared (compare.py): compiled against
// CompassDB, RocksDB and LevelDB, whose interfaces are alike in what this uses.
//
//   rival run DIR BATCHES   opens the database twice and writes batch 1, 2, ... of two keys each; every third
//                           is synced. Says on standard output what became of each.
//   rival dump DIR          opens an existing database and says what is in it.
//
// Lines of `run`: "begin I" before batch I, then "ack I SYNCED" or "fail I MESSAGE"; "closed" at the end.
// Lines of `dump`: "open MESSAGE"; "has KEY I" for a key with batch I's exact value, "wrong KEY"; "scan MESSAGE" behind
// the last; "get KEY MESSAGE" where Get says anything else than the iterator.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#ifdef RIVAL_LEVELDB
#include "leveldb/db.h"
#include "leveldb/write_batch.h"
namespace kv = leveldb;
#else
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"
namespace kv = rocksdb;
#endif

namespace {

constexpr int kKeys = 211;

// At once, so that it is in order with the calls that the engine makes.
void Say(const std::string& line) {
  const std::string text = line + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(3);
}

std::string KeyOf(int n) {
  std::string digits = std::to_string(n);
  return "key" + std::string(5 - digits.size(), '0') + digits;
}

// 100 to 700 bytes that only this batch puts at this key.
std::string ValueOf(const std::string& key, int batch) {
  std::string value = std::to_string(batch) + ":" + key + ":";
  uint64_t state = static_cast<uint64_t>(batch) * 1'000'003 + std::hash<std::string>()(key);
  const size_t size = 100 + state % 600;
  while (value.size() < size) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    value.push_back(static_cast<char>(state >> 56));
  }
  return value;
}

kv::Options OptionsOf(bool create) {
  kv::Options options;
  options.create_if_missing = create;
  options.paranoid_checks = true;
  options.write_buffer_size = 64 << 10;  // the least that all of them allow
  options.compression = kv::kNoCompression;
  return options;
}

std::unique_ptr<kv::DB> Open(const std::string& dir, bool create, kv::Status* status) {
  kv::DB* db = nullptr;
  *status = kv::DB::Open(OptionsOf(create), dir, &db);
  return std::unique_ptr<kv::DB>(db);
}

void WriteBatch(kv::DB* db, int i) {
  const std::string own = KeyOf(i * 7919 % kKeys);
  const std::string shared = "shared" + std::to_string(i % 5);
  kv::WriteBatch batch;
  batch.Put(own, ValueOf(own, i));
  batch.Put(shared, ValueOf(shared, i));
  kv::WriteOptions options;
  options.sync = i % 3 == 0;
  Say("begin " + std::to_string(i));
  const kv::Status s = db->Write(options, &batch);
  Say(s.ok() ? "ack " + std::to_string(i) + (options.sync ? " 1" : " 0")
             : "fail " + std::to_string(i) + " " + s.ToString());
}

int Run(const std::string& dir, int batches) {
  for (int half = 0; half < 2; ++half) {
    kv::Status s;
    std::unique_ptr<kv::DB> db = Open(dir, true, &s);
    if (!s.ok()) {
      Say("open " + s.ToString());
      return 0;
    }
    for (int i = half * batches / 2 + 1; i <= (half + 1) * batches / 2; ++i) WriteBatch(db.get(), i);
  }
  Say("closed");
  return 0;
}

std::string Shown(const std::string& key, const std::string& value) {
  const int batch = atoi(value.c_str());
  return value == ValueOf(key, batch) ? "has " + key + " " + std::to_string(batch) : "wrong " + key;
}

void Get(kv::DB* db, const kv::ReadOptions& options, const std::string& key, const std::string& found) {
  std::string value;
  const kv::Status s = db->Get(options, key, &value);
  const std::string got = s.ok() ? Shown(key, value) : s.IsNotFound() ? "" : s.ToString();
  if (got != found) Say("get " + key + " " + (got.empty() ? "NotFound" : got));
}

int Dump(const std::string& dir) {
  kv::Status s;
  const std::unique_ptr<kv::DB> db = Open(dir, false, &s);
  Say("open " + s.ToString());
  if (!s.ok()) return 0;
  kv::ReadOptions options;
  options.verify_checksums = true;
  const std::unique_ptr<kv::Iterator> it(db->NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    const std::string found = Shown(key, it->value().ToString());
    Say(found);
    Get(db.get(), options, key, found);
  }
  Say("scan " + it->status().ToString());
  if (!it->status().ok()) return 0;
  for (int n = 0; n < kKeys; ++n) {
    it->Seek(KeyOf(n));
    if (!it->Valid() || it->key() != kv::Slice(KeyOf(n))) Get(db.get(), options, KeyOf(n), "");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "run" && argc == 4) return Run(argv[2], atoi(argv[3]));
  if (command == "dump" && argc == 3) return Dump(argv[2]);
  fprintf(stderr, "usage: rival run DIR BATCHES | rival dump DIR\n");
  return 2;
}
