// SPDX-License-Identifier: Apache-2.0
// tour DIR: what a program does with a database, classes of its own and type information of the
// library's included. Prints the engine that it found: compassdb or rocksdb.
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>

namespace {

void Expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "tour: %s\n", what);
  std::exit(1);
}

class Listener : public rocksdb::EventListener {
 public:
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override { ++flushes; }
  std::atomic<int> flushes{0};
};

class Backwards : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "tour.Backwards"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string* start, const rocksdb::Slice& limit) const override {}
  void FindShortSuccessor(std::string* key) const override {}
};

struct Count : rocksdb::WriteBatch::Handler {
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override {
    ++puts;
    return rocksdb::Status::OK();
  }
  int puts = 0;
};

// The name of the engine.
std::string Tour(const rocksdb::Options& options, const std::string& dir) {
  rocksdb::TransactionDB* raw = nullptr;
  Expect(rocksdb::TransactionDB::Open(options, rocksdb::TransactionDBOptions(), dir, &raw).ok(), "open");
  const std::unique_ptr<rocksdb::TransactionDB> db(raw);
  rocksdb::WriteBatch batch;
  for (int i = 0; i < 1000; ++i) Expect(batch.Put(std::to_string(i), "v" + std::to_string(i)).ok(), "put");
  Count count;
  Expect(batch.Iterate(&count).ok() && count.puts == 1000, "iterate a batch");
  Expect(db->Write(rocksdb::WriteOptions(), &batch).ok(), "write");
  const std::unique_ptr<rocksdb::Transaction> txn(db->BeginTransaction(rocksdb::WriteOptions()));
  Expect(txn->Put("x", "y").ok() && txn->Commit().ok(), "commit");
  Expect(db->Flush(rocksdb::FlushOptions()).ok(), "flush");

  std::string value;
  Expect(db->Get(rocksdb::ReadOptions(), "500", &value).ok() && value == "v500", "get");
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  it->SeekToFirst();
  Expect(it->Valid() && it->key() == "x", "the order of an own comparator");

  rocksdb::DB* base = db.get();
  Expect(dynamic_cast<rocksdb::StackableDB*>(base) == db.get(), "dynamic_cast");
  Expect(typeid(*base) != typeid(rocksdb::DB), "typeid");
  Expect(dynamic_cast<rocksdb::Customizable*>(options.table_factory.get()) != nullptr, "dynamic_cast");
  rocksdb::Checkpoint* checkpoint = nullptr;
  Expect(rocksdb::Checkpoint::Create(db.get(), &checkpoint).ok(), "checkpoint");
  delete checkpoint;
  return db->GetProperty("compassdb.index-memory", &value) ? "compassdb" : "rocksdb";
}

}  // namespace

int main(int argc, char** argv) {
  Expect(argc == 2, "usage: tour DIR");
  const Backwards backwards;
  const auto listener = std::make_shared<Listener>();
  rocksdb::Options options;
  options.create_if_missing = true;
  options.comparator = &backwards;
  options.listeners.push_back(listener);
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(8 << 20);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const std::string engine = Tour(options, argv[1]);
  Expect(listener->flushes > 0, "an own listener is called");
  std::puts(engine.c_str());
  return 0;
}
