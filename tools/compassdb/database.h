// SPDX-License-Identifier: Apache-2.0
// An open database and the flags that all commands share.
#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <string>
#include <vector>

#include "unfinished.h"

namespace compassdb_cli {

struct Globals {
  std::string db;
  std::string cf;  // empty: "default", or all families where a command says so
  std::string preset;  // to be applied to these families; empty: none
  std::string wal_dir;  // of the database's logs; empty: as it has recorded
  std::vector<std::string> key_files;  // of encrypted files; the first one's key writes
  std::shared_ptr<rocksdb::Env> encrypted;  // with their keys, if there are any
  uint64_t memory_mb = 0;  // cap of memtables, blocks and index; 0: as the database has it
  bool hex = false, key_hex = false, value_hex = false;
  bool quiet = false;
  int exit_code = 0;

  // The defaults, and the Env for the keys.
  rocksdb::DBOptions DbOptions() const {
    rocksdb::DBOptions options;
    if (encrypted != nullptr) options.env = encrypted.get();
    return options;
  }
  bool KeyHex() const { return hex || key_hex; }
  bool ValueHex() const { return hex || value_hex; }
};

enum class OpenMode {
  kRead,    // never writes a byte; works while another process writes
  kWrite,   // the database must exist
  kCreate,  // made if missing
};

class Database {
 public:
  ~Database();

  // Opens all column families with the options stored in the database. On
  // failure prints the error for `command` and returns its exit code.
  static int Open(const std::string& command, const Globals& globals, OpenMode mode,
                  std::unique_ptr<Database>* result);

  rocksdb::DB* db() { return db_.get(); }
  // The family that --cf names; null, after a message, if there is none.
  rocksdb::ColumnFamilyHandle* Family(const std::string& command, const Globals& globals);
  // That family if --cf is given, else all.
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }
  // Adds the family that --cf names if there is none, with the options of --preset.
  rocksdb::Status CreateFamily(const Globals& globals);
  // For commands that create missing databases. None is made for a family that it would not have.
  static OpenMode ModeToMake(const Globals& globals, bool create_cf) {
    const bool will_be_there = create_cf || globals.cf.empty() || globals.cf == rocksdb::kDefaultColumnFamilyName;
    return will_be_there ? OpenMode::kCreate : OpenMode::kWrite;
  }

  // Moves a new database to its place; with `keep` also if closing it fails.
  rocksdb::Status Close(bool keep = false);
  // Closes it, and removes a database that was made.
  void Abandon();

 private:
  Database() = default;
  rocksdb::Status CloseFiles();

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  // Both are null if the database was there.
  std::unique_ptr<Unfinished> made_;
  std::unique_ptr<MadeInPlace> made_in_place_;
};

// The options, with the Env, and families of the newest OPTIONS file of a database.
rocksdb::Status ReadOptionsFile(const Globals& globals, rocksdb::DBOptions* db_options,
                                std::vector<rocksdb::ColumnFamilyDescriptor>* families);
// --wal-dir, or what the database has recorded. An error if that may be of another database.
rocksdb::Status ChooseWalDir(const Globals& globals, rocksdb::DBOptions* db_options);
// Sets the families' options to those of --preset: of the family that --cf names, else of all.
rocksdb::Status UsePreset(const Globals& globals, std::vector<rocksdb::ColumnFamilyDescriptor>* families);

// Turns a key or value of the command line into bytes. False, after a
// message, if it should be hex and is not.
bool DecodeArgument(const std::string& command, const char* what, bool hex, std::string* argument);

}  // namespace compassdb_cli
