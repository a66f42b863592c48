// SPDX-License-Identifier: Apache-2.0
// The user's program of docs/migration.md. It knows RocksDB's interface only.
//   orders fill DIR MEGABYTES   writes orders, customers (a column family) and totals
//   orders sum DIR              prints a checksum over all keys and values, in order
//   orders more DIR             continues writing
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::Status;

void Check(const Status& s, const char* what) {
  if (s.ok()) return;
  std::fprintf(stderr, "orders: %s: %s\n", what, s.ToString().c_str());
  std::exit(1);
}

class Store {
 public:
  Store(const std::string& dir, bool create) {
    rocksdb::DBOptions options;
    options.create_if_missing = create;
    options.create_missing_column_families = create;
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()},
        {"customers", rocksdb::ColumnFamilyOptions()}};
    rocksdb::DB* db = nullptr;
    Check(rocksdb::DB::Open(options, dir, families, &handles_, &db), "open");
    db_.reset(db);
  }
  ~Store() {
    for (ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
    Check(db_->Close(), "close");
  }

  // A kilobyte per order. Most of it does not compress.
  void Write(uint64_t from, uint64_t to) {
    rocksdb::WriteOptions fast;
    fast.disableWAL = true;
    rocksdb::WriteBatch batch;
    uint64_t state = from * 0x9e3779b97f4a7c15 + 1;
    for (uint64_t i = from; i < to; ++i) {
      char key[32];
      std::snprintf(key, sizeof(key), "order%012llu", static_cast<unsigned long long>(i * 7919 % (1u << 30)));
      std::string value;
      while (value.size() < 1000) {
        state = state * 6364136223846793005 + 1442695040888963407;
        value.append(reinterpret_cast<const char*>(&state), 6);
        value += "item ";
      }
      Check(batch.Put(key, value), "put");
      Check(batch.Put(handles_[1], "customer" + std::to_string(i % 1000), key), "put");
      if (i % 10 == 9) Check(batch.Delete(std::string(key, 17) + "gone"), "delete");
      if (batch.Count() < 500 && i + 1 < to) continue;
      Check(db_->Write(fast, &batch), "write");
      batch.Clear();
    }
    Check(db_->Flush(rocksdb::FlushOptions(), handles_), "flush");
  }

  // FNV-1a over the lengths and bytes of all records of all families.
  void Sum() {
    uint64_t sum = 0xcbf29ce484222325, records = 0;
    const auto add = [&sum](const rocksdb::Slice& bytes) {
      for (size_t i = 0; i < bytes.size(); ++i) {
        sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
      }
      sum = (sum ^ bytes.size()) * 0x100000001b3;
    };
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    for (ColumnFamilyHandle* handle : handles_) {
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, handle));
      for (it->SeekToFirst(); it->Valid(); it->Next(), ++records) {
        add(it->key());
        add(it->value());
      }
      Check(it->status(), "scan");
    }
    std::printf("%llu records, checksum %016llx\n", static_cast<unsigned long long>(records),
                static_cast<unsigned long long>(sum));
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "fill" && argc == 4) {
    Store(argv[2], true).Write(0, std::strtoull(argv[3], nullptr, 10) * 1000);
  } else if (command == "sum" && argc == 3) {
    Store(argv[2], false).Sum();
  } else if (command == "more" && argc == 3) {
    Store(argv[2], false).Write(500, 1500);
  } else {
    std::fprintf(stderr, "usage: orders fill DIR MEGABYTES | sum DIR | more DIR\n");
    return 2;
  }
  return 0;
}
