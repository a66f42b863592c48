// SPDX-License-Identifier: Apache-2.0
//   check_databases DIR
// Reads the databases that write_databases has made, without their library, and compares. Exit code 1 and a line for each
// that differs.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "api/wide_column_codec.h"
#include "env/file_system.h"
#include "rocksdb/convenience.h"
#include "rocksdb_files/source_database.h"
#include "rocksdb_files/table_file.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

std::string Hex(const Slice& bytes) { return bytes.empty() ? "-" : bytes.ToString(true); }
std::string UnHex(const std::string& text) {
  std::string bytes;
  if (text == "-" || !Slice(text).DecodeHex(&bytes)) return "";
  return bytes;
}

struct Family {
  const Comparator* comparator = nullptr;
  std::vector<std::string> lines;
};
using Families = std::map<std::string, Family>;  // by name

const Comparator* ComparatorOf(const std::string& name) {
  const Comparator* comparator = nullptr;
  const Status s = Comparator::CreateFromString(rocksdb::ConfigOptions(), name, &comparator);
  return s.ok() ? comparator : nullptr;
}

Families ReadExpected(const std::string& file) {
  Families families;
  std::ifstream in(file);
  Family* family = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == 'F') {
      std::istringstream words(line.substr(2));
      std::string name, comparator;
      words >> name >> comparator;
      family = &families[UnHex(name)];
      family->comparator = ComparatorOf(UnHex(comparator));
    } else {
      family->lines.push_back(line);
    }
  }
  return families;
}

class Checker {
 public:
  explicit Checker(std::string dir) : dir_(std::move(dir)) {}

  // The records of all tables of a database whose log is empty.
  bool CheckTables(const Families& expected) {
    Families found;
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      if (entry.path().extension() == ".sst" && !ReadTable(entry.path(), expected, &found)) return false;
    }
    for (const auto& [name, family] : expected) {
      std::vector<std::string> lines = found[name].lines, wanted = family.lines;
      std::sort(lines.begin(), lines.end());
      std::sort(wanted.begin(), wanted.end());
      if (lines != wanted) {
        return Differs("family " + name + ": " + std::to_string(lines.size()) + " records of tables, expected " + std::to_string(wanted.size()));
      }
    }
    return true;
  }

  // What a reader of the database sees.
  bool CheckScan(const Families& expected) {
    rocksdb_files::SourceOptions options;
    options.fs = PosixFileSystem();
    options.dir = dir_;
    if (std::filesystem::exists(dir_ + "/logs")) options.log_dir = dir_ + "/logs";
    options.comparator = ComparatorOf;
    std::unique_ptr<rocksdb_files::SourceDatabase> database;
    const Status s = rocksdb_files::SourceDatabase::Open(options, &database);
    if (!s.ok()) return Differs(s.ToString());
    if (database->log_torn() || database->manifest_torn()) return Differs("the log or the manifest is torn");
    if (database->manifest().families.size() != expected.size()) return Differs("another number of families");
    for (const auto& [id, family] : database->manifest().families) {
      const auto known = expected.find(family.name);
      if (known == expected.end()) return Differs("unknown family " + family.name);
      std::unique_ptr<rocksdb_files::SourceCursor> cursor;
      const Status opened = database->NewCursor(id, &cursor);
      if (!opened.ok()) return Differs(opened.ToString());
      if (!CheckFamily(known->second.lines, cursor.get())) return false;
    }
    return true;
  }

  const std::string& message() const { return message_; }

 private:
  bool Differs(const std::string& message) {
    message_ = dir_ + ": " + message;
    return false;
  }

  bool CheckFamily(const std::vector<std::string>& lines, rocksdb_files::SourceCursor* cursor) {
    size_t n = 0;
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++n) {
      if (n == lines.size()) return Differs("more entries than the " + std::to_string(n) + " that are expected");
      const std::string line = "S " + Hex(cursor->key()) + " " + Hex(ValueOf(*cursor));
      if (line != lines[n]) return Differs("entry " + std::to_string(n) + " is\n  " + line + "\n, expected\n  " + lines[n]);
    }
    if (!cursor->status().ok()) return Differs(cursor->status().ToString());
    return n == lines.size() || Differs(std::to_string(n) + " entries, expected " + std::to_string(lines.size()));
  }

  // As iterators show it. The cases with merge operands append strings.
  static std::string ValueOf(const rocksdb_files::SourceCursor& cursor) {
    std::string value;
    bool first = true;
    if (cursor.value() != nullptr) {
      value = *cursor.value();
      first = false;
    }
    if (cursor.entity()) {
      Slice column;
      if (!DefaultWideColumn(value, &column).ok()) return "damaged";
      value = column.ToString();
    }
    for (const std::string& operand : cursor.operands()) {
      value += (first ? "" : ",") + operand;
      first = false;
    }
    return value;
  }

  bool ReadTable(const std::string& path, const Families& expected, Families* found) {
    std::unique_ptr<rocksdb_files::TableFile> table;
    rocksdb_files::TableFileOptions options;
    // A first time for the name of the family.
    if (!OpenTable(path, options, &table)) return false;
    std::string family = table->Property("rocksdb.column.family.name");
    if (family.empty()) family = "default";  // an ingested file
    const auto known = expected.find(family);
    if (known == expected.end()) return Differs(path + " is of an unknown family " + family);
    options.comparator = known->second.comparator;
    if (!OpenTable(path, options, &table)) return false;
    const Status verified = table->VerifyMetaBlocks();
    if (!verified.ok()) return Differs(verified.ToString());
    const auto cursor = table->NewCursor();
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      const std::string& key = cursor->key();
      (*found)[family].lines.push_back("R " + Hex(ExtractUserKey(key)) + " " + std::to_string(ExtractSequence(key)) + " " +
                                       std::to_string(ExtractType(key)) + " " + Hex(cursor->value()));
    }
    return cursor->status().ok() || Differs(cursor->status().ToString());
  }

  bool OpenTable(const std::string& path, const rocksdb_files::TableFileOptions& options,
                 std::unique_ptr<rocksdb_files::TableFile>* table) {
    std::unique_ptr<RandomAccessFile> file;
    Status s = PosixFileSystem()->NewRandomAccessFile(path, {}, &file);
    if (s.ok()) s = rocksdb_files::TableFile::Open(std::move(file), std::filesystem::file_size(path), path, options, table);
    return s.ok() || Differs(s.ToString());
  }

  const std::string dir_;
  std::string message_;
};

bool HasLog(const std::string& dir) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    if (entry.path().extension() == ".log" && entry.file_size() > 0) return true;
  }
  return false;
}

int Run(const std::string& dir) {
  int wrong = 0, right = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    if (!entry.is_directory()) continue;
    const std::string database = entry.path();
    Checker checker(database);
    bool good = true;
    // The manifest has the sequences of ingested tables.
    const bool ingested = database.find("ingested") != std::string::npos;
    if (std::filesystem::exists(database + ".records") && !HasLog(database) && !ingested) {
      good = checker.CheckTables(ReadExpected(database + ".records"));
    }
    if (good) good = checker.CheckScan(ReadExpected(database + ".scan"));
    good ? ++right : ++wrong;
    if (!good) std::cout << checker.message() << "\n";
  }
  std::cout << right << " databases read, " << wrong << " wrong\n";
  return wrong == 0 && right > 0 ? 0 : 1;
}

}  // namespace
}  // namespace compassdb_test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: check_databases DIR\n";
    return 2;
  }
  return compassdb_test::Run(argv[1]);
}
