// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/options.h>

#include <fmt/core.h>
#include <rocksdb/write_batch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>

#include "commands.h"
#include "line_reader.h"

namespace compassdb_cli {
namespace {

struct PutFlags {
  std::string key, value, value_file;
  bool create_cf = false;
};

// The engine's limit: a key and a value together.
constexpr uint64_t kMostBytes = UINT32_MAX - (1 << 20);

int Put(const Globals& globals, PutFlags* flags, Database* database) {
  if (flags->create_cf) {
    const rocksdb::Status s = database->CreateFamily(globals);
    if (!s.ok()) return Fail("put", s);
  }
  rocksdb::ColumnFamilyHandle* family = database->Family("put", globals);
  if (family == nullptr) return kFailed;
  rocksdb::WriteOptions options;
  options.sync = true;  // what the command reports as done survives a crash
  rocksdb::WriteBatch batch;
  rocksdb::Status s = batch.Put(family, flags->key, flags->value);
  std::string().swap(flags->value);  // the batch has it
  if (s.ok()) s = database->db()->Write(options, &batch);
  return s.ok() ? kOk : Fail("put", s);
}

// False if the input has more than `most` bytes, or cannot be read: in.bad().
bool ReadAll(std::istream& in, uint64_t size_hint, uint64_t most, std::string* value) {
  constexpr size_t kFirst = 1 << 20;
  size_t filled = 0;
  value->resize(size_hint > 0 ? size_hint + 1 : kFirst);
  while (true) {
    in.read(value->data() + filled, static_cast<std::streamsize>(value->size() - filled));
    filled += static_cast<size_t>(in.gcount());
    if (in.bad() || filled > most) return false;
    if (!in) break;
    value->resize(std::min<uint64_t>(2 * value->size(), most + 1));
  }
  value->resize(filled);
  return true;
}

int ReadValueFile(const std::string& path, std::string* value) {
  struct stat status = {};
  const bool is_file = (path == "-" ? fstat(0, &status) : stat(path.c_str(), &status)) == 0 && S_ISREG(status.st_mode);
  const uint64_t size = is_file ? static_cast<uint64_t>(status.st_size) : 0;
  const uint64_t most = is_file ? kMostBytes : kMostStreamBytes;
  const auto too_large = [&] {
    return Fail(kFailed, "put: " + path,
                is_file ? fmt::format("{} bytes are too large for a value; {} are the most", size, most)
                        : fmt::format("no end after {} bytes, which are the most that are read from what is no file", most));
  };
  if (size > most) return too_large();
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  if (!in || (in.peek() == std::istream::traits_type::eof() && in.bad())) {
    return Fail(kFailed, "put: cannot read", path);
  }
  in.clear();
  if (ReadAll(in, size, most, value)) return kOk;
  return in.bad() ? Fail(kFailed, "put: cannot read", path) : too_large();
}

// Checks the arguments, before a database is made.
int Prepare(const Globals& globals, bool has_value, PutFlags* flags) {
  if (has_value == !flags->value_file.empty())
    return Fail(kUsage, "put", "give either VALUE or --value-file");
  if (flags->create_cf && globals.cf.empty())
    return Fail(kUsage, "put", "--create-cf needs --cf NAME");
  if (!DecodeArgument("put", "KEY", globals.KeyHex(), &flags->key)) return kUsage;
  if (has_value)
    return DecodeArgument("put", "VALUE", globals.ValueHex(), &flags->value) ? kOk : kUsage;
  return ReadValueFile(flags->value_file, &flags->value);
}

}  // namespace

void AddPut(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<PutFlags>();
  auto has_value = std::make_shared<CLI::Option*>(nullptr);
  CLI::App* command = AddCommand(
      app, globals, "put", "Write one record, synced; makes the database if missing", [=] {
        PutFlags prepared = *flags;
        int code = Prepare(*globals, (*has_value)->count() > 0, &prepared);
        if (code != kOk) return code;
        std::unique_ptr<Database> database;
        code = Database::Open("put", *globals, Database::ModeToMake(*globals, prepared.create_cf), &database);
        if (code != kOk) return code;
        code = Put(*globals, &prepared, database.get());
        if (code != kOk) return code;
        const rocksdb::Status s = database->Close();
        return s.ok() ? kOk : Fail("put", s);
      });
  command->add_option("KEY", flags->key, "the key")->required();
  *has_value = command->add_option("VALUE", flags->value, "the value");
  command->add_option("--value-file", flags->value_file,
                      "read the value from this file (-: standard input)");
  command->add_flag("--create-cf", flags->create_cf, "make the column family if missing");
}

}  // namespace compassdb_cli
