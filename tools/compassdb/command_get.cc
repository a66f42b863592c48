// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "codec.h"
#include "commands.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

int Get(const Globals& globals, const std::string& key, Database* database) {
  rocksdb::ColumnFamilyHandle* family = database->Family("get", globals);
  if (family == nullptr) return kFailed;
  rocksdb::PinnableSlice value;
  const rocksdb::Status s = database->db()->Get(rocksdb::ReadOptions(), family, key, &value);
  if (s.IsNotFound()) return Fail(kNotFound, "get: not found", Printable(key));
  if (!s.ok()) return Fail("get", s);
  std::string_view rest(value.data(), value.size());
  if (globals.ValueHex()) {
    constexpr size_t kChunkBytes = 64 << 10;
    WriteOutput("0x");
    for (; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kChunkBytes))) {
      WriteOutput(HexDigits(rest.substr(0, kChunkBytes)));
    }
  }
  WriteOutput(rest);
  WriteOutput("\n");
  return FinishOutput("get", kOk);
}

}  // namespace

void AddGet(CLI::App* app, Globals* globals) {
  auto key = std::make_shared<std::string>();
  CLI::App* command = AddDatabaseCommand(
      app, globals, "get", "Print the value of a key", OpenMode::kRead,
      [=] { return DecodeArgument("get", "KEY", globals->KeyHex(), key.get()) ? kOk : kUsage; },
      [=](Database* database) { return Get(*globals, *key, database); });
  command->add_option("KEY", *key, "the key")->required();
}

}  // namespace compassdb_cli
