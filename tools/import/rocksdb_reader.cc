// SPDX-License-Identifier: Apache-2.0
// compassdb-rocksdb-reader DIR: streams a RocksDB database to standard output
// for `compassdb import` (protocol.h). Links RocksDB itself. Opens read-only
// and changes nothing; what it cannot carry over exactly it refuses by name.
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol.h"

namespace {

using namespace compassdb_import;  // NOLINT: the protocol is all of it
using rocksdb::Status;

constexpr char kBytewise[] = "leveldb.BytewiseComparator";
constexpr char kReverseBytewise[] = "rocksdb.ReverseBytewiseComparator";

bool WriteFrame(FrameType type, std::string_view payload) {
  std::string head(1, type);
  AppendNumber(&head, payload.size());
  return std::fwrite(head.data(), 1, head.size(), stdout) == head.size() &&
         std::fwrite(payload.data(), 1, payload.size(), stdout) == payload.size();
}

int Refuse(const std::string& text) {
  WriteFrame(kError, text);
  std::fflush(stdout);
  return 1;
}

// The options that decide whether a family can be read, as written in the
// OPTIONS file: LoadLatestOptions silently replaces what it cannot build.
struct WrittenOptions {
  std::string comparator = kBytewise;
  std::string merge_operator = "nullptr";
};

// "{id=Name;...}" and "Name" both mean Name.
std::string IdOf(const std::string& value) {
  const size_t id = value.find("id=");
  if (value.empty() || value[0] != '{' || id == std::string::npos) return value;
  return value.substr(id + 3, value.find_first_of(";}", id) - id - 3);
}

// The name of a family as it is, of one in a section's title.
std::string Unescaped(const std::string& title) {
  std::string name;
  for (size_t i = 0; i < title.size(); ++i) {
    if (title[i] != '\\' || i + 1 == title.size()) {
      name += title[i];
      continue;
    }
    const char c = title[++i];
    name += c == 'n' ? '\n' : c == 'r' ? '\r' : c;
  }
  return name;
}

std::map<std::string, WrittenOptions> ReadOptionsFile(const std::string& path) {
  std::map<std::string, WrittenOptions> families;
  std::ifstream in(path);
  std::string line;
  WrittenOptions* current = nullptr;
  while (std::getline(in, line)) {
    const size_t start = line.find_first_not_of(" \t");
    if (start == std::string::npos) continue;
    line = line.substr(start);
    if (line[0] == '[') {
      const size_t open = line.find('"'), close = line.rfind('"');
      const bool family =
          line.rfind("[CFOptions ", 0) == 0 && open != std::string::npos && close > open;
      current = family ? &families[Unescaped(line.substr(open + 1, close - open - 1))] : nullptr;
    } else if (current != nullptr && line.rfind("comparator=", 0) == 0) {
      current->comparator = IdOf(line.substr(11));
    } else if (current != nullptr && line.rfind("merge_operator=", 0) == 0) {
      current->merge_operator = IdOf(line.substr(15));
    }
  }
  return families;
}

// Stands in for a merge operator that cannot be built here. Without any,
// RocksDB's iterators may pass over merge operands in silence; with this one
// the first operand ends the reading.
class RefusingMergeOperator : public rocksdb::MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override {
    refused_ = true;
    return false;
  }
  const char* Name() const override { return "CompassdbImportRefuses"; }
  bool refused() const { return refused_; }

 private:
  mutable std::atomic<bool> refused_{false};
};

class Reader {
 public:
  explicit Reader(std::string directory) : directory_(std::move(directory)) {}
  ~Reader() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
  }

  int Run() {
    WriteFrame(kHello, kHelloText);
    int code = LoadOptions();
    if (code == 0) code = Open();
    if (code == 0) code = StreamAll();
    return code;
  }

 private:
  int LoadOptions() {
    rocksdb::ConfigOptions config;
    config.ignore_unknown_options = true;
    config.ignore_unsupported_options = true;
    std::vector<rocksdb::ColumnFamilyDescriptor> stored;
    Status s = rocksdb::LoadLatestOptions(config, directory_, &db_options_, &stored);
    if (s.ok()) {
      std::string file;
      if (rocksdb::GetLatestOptionsFileName(directory_, rocksdb::Env::Default(), &file).ok()) {
        written_ = ReadOptionsFile(directory_ + "/" + file);
      }
    }
    // The file is written behind the manifest, and an older one stays where that fails: which families there are the
    // manifest says. Of one that is not in the file, or without a file, options are the default ones.
    std::vector<std::string> names;
    if (s.ok() || s.IsNotFound()) s = rocksdb::DB::ListColumnFamilies(db_options_, directory_, &names);
    for (const std::string& name : names) {
      const auto known = std::find_if(stored.begin(), stored.end(), [&](const auto& family) { return family.name == name; });
      families_.push_back(known != stored.end() ? *known
                                                : rocksdb::ColumnFamilyDescriptor(name, rocksdb::ColumnFamilyOptions()));
    }
    if (!s.ok()) return Refuse("cannot read the options of " + directory_ + ": " + s.ToString());
    for (rocksdb::ColumnFamilyDescriptor& family : families_) {
      const std::string& comparator = written_[family.name].comparator;
      if (comparator != kBytewise && comparator != kReverseBytewise) {
        return Refuse("column family '" + family.name + "': comparator '" + comparator +
                      "' is not one of RocksDB's own; such data cannot be imported");
      }
      family.options.comparator = comparator == kBytewise ? rocksdb::BytewiseComparator()
                                                          : rocksdb::ReverseBytewiseComparator();
      if (family.options.merge_operator == nullptr) family.options.merge_operator = refusing_;
      // Readers never compact, and a filter that is not registered must not
      // keep them from opening.
      family.options.compaction_filter_factory = nullptr;
    }
    db_options_.create_if_missing = false;
    db_options_.max_open_files = 1000;
    return 0;
  }

  int Open() {
    rocksdb::DB* db = nullptr;
    const Status s =
        rocksdb::DB::OpenForReadOnly(db_options_, directory_, families_, &handles_, &db);
    if (!s.ok()) return Refuse("cannot open " + directory_ + ": " + s.ToString());
    db_.reset(db);
    return 0;
  }

  int StreamAll() {
    std::string list;
    for (const rocksdb::ColumnFamilyDescriptor& family : families_) {
      AppendString(&list, family.name);
      AppendString(&list, family.options.comparator->Name());
    }
    WriteFrame(kFamilies, list);
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      const int code = StreamFamily(handle);
      if (code != 0) return code;
    }
    return WriteFrame(kDone, "") && std::fflush(stdout) == 0 ? 0 : 1;
  }

  int StreamFamily(rocksdb::ColumnFamilyHandle* handle) {
    const std::string& name = handle->GetName();
    std::string payload;
    AppendString(&payload, name);
    WriteFrame(kFamilyBegin, payload);
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    options.fill_cache = false;
    options.readahead_size = 2 << 20;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, handle));
    uint64_t count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++count) {
      const rocksdb::WideColumns& columns = it->columns();
      if (columns.size() > 1 || (columns.size() == 1 && !columns[0].name().empty())) {
        return Refuse("column family '" + name + "': key " + it->key().ToString(true) +
                      " is a wide-column entity (PutEntity); such data cannot be imported");
      }
      payload.clear();
      AppendString(&payload, {it->key().data(), it->key().size()});
      payload.append(it->value().data(), it->value().size());
      if (!WriteFrame(kRecord, payload)) return 1;
    }
    if (!it->status().ok() || refusing_->refused())
      return Refuse(ExplainReadError(name, it->status()));
    payload.clear();
    AppendNumber(&payload, count);
    return WriteFrame(kFamilyEnd, payload) ? 0 : 1;
  }

  std::string ExplainReadError(const std::string& family, const Status& status) {
    if (refusing_->refused()) {
      return "column family '" + family + "': it holds merge operands, and merge_operator '" +
             written_[family].merge_operator +
             "' is not one of RocksDB's own; such data cannot be imported";
    }
    return "column family '" + family + "' of " + directory_ + ": " + status.ToString();
  }

  const std::string directory_;
  const std::shared_ptr<RefusingMergeOperator> refusing_ =
      std::make_shared<RefusingMergeOperator>();
  rocksdb::DBOptions db_options_;
  std::vector<rocksdb::ColumnFamilyDescriptor> families_;
  std::map<std::string, WrittenOptions> written_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: compassdb-rocksdb-reader DIR (run by `compassdb import`)\n");
    return 2;
  }
  return Reader(argv[1]).Run();
}
