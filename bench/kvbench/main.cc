// SPDX-License-Identifier: Apache-2.0
// kvbench: exit code 0 when all workloads ran, 1 on an error of the engine or
// the system, 2 on a usage error.
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "engine.h"
#include "flags.h"
#include "key_set.h"
#include "report.h"
#include "runner.h"
#include "sync_hooks.h"

namespace kvbench {
namespace {

int Fail(const std::string& what, const std::string& why) {
  fmt::print(stderr, "kvbench: {}: {}\n", what, why);
  return 1;
}

// A fill begins with an empty directory. Old files are only deleted if an
// earlier kvbench made it.
int PrepareDirectory(const Flags& flags) {
  namespace fs = std::filesystem;
  std::error_code ec;
  if (fs::exists(flags.db, ec) && !fs::is_empty(flags.db, ec)) {
    if (!fs::exists(KeySet::StatePath(flags.db), ec)) {
      return Fail(flags.db, "exists and was not made by kvbench; remove it or choose another --db");
    }
    fs::remove_all(flags.db, ec);
    if (ec) return Fail(flags.db, ec.message());
  }
  fs::create_directories(flags.db, ec);
  if (ec) return Fail(flags.db, ec.message());
  std::ofstream(KeySet::StatePath(flags.db)) << "unfinished\n";
  return 0;
}

std::unique_ptr<KeySet> OpenKeySet(Flags* flags, std::string* error) {
  if (!flags->reuse_db) {
    const WorkloadKind kind = flags->workloads[0].kind;
    return std::make_unique<KeySet>(
        flags->records, flags->key_size, flags->value_sizes,
        kind == WorkloadKind::kYcsbLoad ? KeyOrder::kHashed : KeyOrder::kOrdered);
  }
  auto keys = KeySet::Load(flags->db, error);
  if (keys == nullptr) return nullptr;
  if (keys->key_size() != flags->key_size || keys->value_sizes().text() != flags->value_sizes.text()) {
    *error = fmt::format(
        "{} holds keys of {} and values of {} bytes; give the same --key-size and --value-size",
        flags->db, keys->key_size(), keys->value_sizes().text());
    return nullptr;
  }
  return keys;
}

int RunAll(const Flags& flags, double open_seconds, Engine* engine, KeySet* keys,
           std::ostream* json) {
  const EngineBuild build = BuildOfEngine();
  for (const WorkloadSpec& spec : flags.workloads) {
    WorkloadResult result;
    result.open_seconds = open_seconds;
    rocksdb::Status s = RunWorkload(flags, spec, engine, keys, &result);
    if (!s.ok()) return Fail(spec.name, s.ToString());
    if (json != &std::cout) fmt::print("{}\n", TextReport(spec, result));
    std::fflush(stdout);
    if (json == nullptr) continue;
    *json << JsonReport(flags, spec, build, result) << std::endl;
    if (!*json) return Fail(flags.json, "cannot write");
  }
  return 0;
}

int Main(int argc, char** argv) {
  Flags flags;
  const int code = ParseFlags(argc, argv, &flags);
  if (code >= 0) return code;
  if (flags.skip_syncs) SkipSyncs();

  std::ofstream file;
  std::ostream* json = nullptr;
  if (flags.json == "-") {
    json = &std::cout;
  } else if (!flags.json.empty()) {
    file.open(flags.json, std::ios::trunc);
    if (!file) return Fail(flags.json, "cannot write");
    json = &file;
  }
  if (!flags.reuse_db) {
    if (const int failed = PrepareDirectory(flags); failed != 0) return failed;
  }
  std::string error;
  std::unique_ptr<KeySet> keys = OpenKeySet(&flags, &error);
  if (keys == nullptr) return Fail("--reuse-db", error);

  std::unique_ptr<Engine> engine;
  const auto start = std::chrono::steady_clock::now();
  rocksdb::Status s = OpenEngine(flags, !flags.reuse_db, &engine);
  const std::chrono::duration<double> opening = std::chrono::steady_clock::now() - start;
  if (s.ok()) s = engine->Prepare();
  if (!s.ok()) return Fail("open " + flags.db, s.ToString());
  const int failed = RunAll(flags, opening.count(), engine.get(), keys.get(), json);
  s = engine->Close();
  if (failed != 0) return failed;
  if (!s.ok()) return Fail("close " + flags.db, s.ToString());
  if (!keys->Save(flags.db, &error)) return Fail("state", error);
  return 0;
}

}  // namespace
}  // namespace kvbench

int main(int argc, char** argv) { return kvbench::Main(argc, argv); }
