// SPDX-License-Identifier: Apache-2.0
// package-demo DB FILE: the part of `make demo` with the package index of this
// machine. FILE has a JSON object {"key": name, "value": stanza} per line. All
// is written against the public API; every phase checks what it reads.
#include <fmt/core.h>
#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "crash_writer.h"
#include "phase.h"

namespace package_demo {
namespace {

using rocksdb::Status;

struct Package {
  std::string name;
  std::string stanza;
};

int Fail(const std::string& what, const std::string& why) {
  fmt::print(stderr, "package-demo: {}: {}\n", what, why);
  return 1;
}

std::vector<std::string> Names(const std::vector<Package>& packages) {
  std::vector<std::string> names;
  for (const Package& p : packages) names.push_back(p.name);
  return names;
}

class Demo {
 public:
  Demo(std::string path, std::string file, std::vector<Package> packages)
      : path_(std::move(path)), file_(std::move(file)), packages_(std::move(packages)) {}

  int Run() {
    for (auto step :
         {&Demo::Load, &Demo::PointReads, &Demo::PrefixScan, &Demo::Updates, &Demo::Crash}) {
      const std::string wrong = (this->*step)();
      if (!wrong.empty()) return Fail(path_, wrong);
    }
    return 0;
  }

 private:
  std::string Open() {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    const Status s = rocksdb::DB::Open(options, path_, &db);
    db_.reset(db);
    return s.ok() ? "" : s.ToString();
  }

  std::string Load() {
    Phase phase(1, "load");
    if (std::string wrong = Open(); !wrong.empty()) return wrong;
    rocksdb::WriteBatch batch;
    uint64_t bytes = 0, count = 0;
    for (const Package& p : packages_) {
      Status s = batch.Put(p.name, p.stanza);
      bytes += p.name.size() + p.stanza.size();
      ++count;
      if (s.ok() && batch.Count() == 100) {
        s = db_->Write(rocksdb::WriteOptions(), &batch);
        batch.Clear();
      }
      if (!s.ok()) return p.name + ": " + s.ToString();
      phase.Update(count, packages_.size());
    }
    Status s = db_->Write(rocksdb::WriteOptions(), &batch);
    if (s.ok()) s = db_->Flush(rocksdb::FlushOptions());
    if (!s.ok()) return s.ToString();
    phase.Finish(packages_.size(), "packages",
                 fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6));
    return "";
  }

  std::string PointReads() {
    constexpr uint64_t kReads = 200'000;
    Phase phase(2, "point reads");
    std::mt19937_64 random(1);
    rocksdb::PinnableSlice value;
    for (uint64_t i = 0; i < kReads; ++i) {
      const Package& p = packages_[random() % packages_.size()];
      value.Reset();
      const Status s = db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), p.name, &value);
      if (!s.ok()) return p.name + ": " + s.ToString();
      if (value != p.stanza) return p.name + ": wrong stanza";
      phase.Update(i, kReads);
    }
    phase.Finish(kReads, "reads", "each compared with its stanza");
    return "";
  }

  std::string PrefixScan() {
    const std::string prefix = "lib";
    Phase phase(3, "prefix scan");
    uint64_t expected = 0, seen = 0, bytes = 0;
    for (const Package& p : packages_) expected += p.name.compare(0, prefix.size(), prefix) == 0;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    std::string previous;
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next(), ++seen) {
      if (it->key().compare(previous) <= 0)
        return "prefix scan: keys out of order at " + it->key().ToString();
      previous = it->key().ToString();
      bytes += it->key().size() + it->value().size();
    }
    if (!it->status().ok()) return "prefix scan: " + it->status().ToString();
    if (seen != expected)
      return fmt::format("prefix scan: {} packages instead of {}", seen, expected);
    phase.Finish(seen, "packages",
                 fmt::format("{}*, {:.1f} MB, in order", prefix, static_cast<double>(bytes) / 1e6));
    return "";
  }

  std::string Updates() {
    Phase phase(4, "updates");
    std::mt19937_64 random(2);
    const uint64_t count = packages_.size();
    for (uint64_t i = 0; i < count; ++i) {
      Package& p = packages_[random() % packages_.size()];
      p.stanza += fmt::format("Demo-Revision: {}\n", i);
      const Status s = db_->Put(rocksdb::WriteOptions(), p.name, p.stanza);
      if (!s.ok()) return p.name + ": " + s.ToString();
      phase.Update(i, count);
    }
    std::string value;
    for (const Package& p : packages_) {
      const Status s = db_->Get(rocksdb::ReadOptions(), p.name, &value);
      if (!s.ok()) return p.name + ": " + s.ToString();
      if (value != p.stanza) return p.name + ": the update is lost";
    }
    phase.Finish(count, "updates", "all packages read back and compared");
    return "";
  }

  std::string Crash() {
    constexpr uint64_t kWrites = 5'000;
    constexpr double kSeconds = 5;
    const Status closed = db_->Close();
    db_.reset();
    if (!closed.ok()) return "close: " + closed.ToString();

    Phase writing(5, "synced writes");
    const uint64_t acknowledged = RunAndKill(path_, file_, kWrites, kSeconds);
    if (acknowledged == 0) return "the writing process acknowledged no write";
    writing.Finish(acknowledged, "writes",
                   "each waited for the disk; then the writer was killed with kill -9");

    Phase reopen(6, "reopen");
    if (std::string wrong = Open(); !wrong.empty()) return "reopen after kill -9: " + wrong;
    const double seconds = reopen.Seconds();
    uint64_t found = 0;
    const std::string wrong = CheckAfterCrash(db_.get(), Names(packages_), acknowledged, &found);
    if (!wrong.empty()) return "after kill -9: " + wrong;
    reopen.Finish(
        found, "writes",
        fmt::format("opened in {:.3f} s; all {} acknowledged writes are there, none invented",
                    seconds, acknowledged));
    const Status s = db_->Close();
    return s.ok() ? "" : s.ToString();
  }

  const std::string path_;
  const std::string file_;
  std::vector<Package> packages_;
  std::unique_ptr<rocksdb::DB> db_;
};

bool ReadPackages(const std::string& file, std::vector<Package>* packages) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object() || !object.contains("key") || !object.contains("value")) return false;
    packages->push_back({object["key"].get<std::string>(), object["value"].get<std::string>()});
  }
  return !packages->empty();
}

int Main(int argc, char** argv) {
  const bool crash_writer = argc == 4 && std::string(argv[3]) == kCrashWriterFlag;
  if (argc != 3 && !crash_writer) {
    fmt::print(stderr, "usage: package-demo DB FILE\n");
    return 2;
  }
  std::vector<Package> packages;
  if (!ReadPackages(argv[2], &packages))
    return Fail(argv[2], "not the JSON lines that scripts/package-index writes");
  if (crash_writer) return RunCrashWriter(argv[1], Names(packages));
  const Status s = rocksdb::DestroyDB(argv[1], rocksdb::Options());
  if (!s.ok()) return Fail(argv[1], s.ToString());
  return Demo(argv[1], argv[2], std::move(packages)).Run();
}

}  // namespace
}  // namespace package_demo

int main(int argc, char** argv) { return package_demo::Main(argc, argv); }
