// SPDX-License-Identifier: Apache-2.0
// Finds the value size from which separation pays on this machine, as HashKV 3.5 does: for
// pairs of several sizes, loads a database with and without separation, updates it by zipf 0.99 in three
// phases of the same volume, and compares the throughput of the last. Tables are measured twice: as they are by
// default, and with no more garbage than separated values may have.
#include <compassdb/preset.h>
#include <compassdb/table.h>
#include <fmt/core.h>
#include <rocksdb/convenience.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "commands.h"
#include "interruption.h"
#include "streams.h"

namespace compassdb_cli {
namespace {

using rocksdb::Status;

constexpr size_t kKeySize = 24;
constexpr int kPhases = 3;
// With less data, memtables are so small that every collection has only a few values.
constexpr uint64_t kMeaningfulDataMb = 64;

struct TuneFlags {
  uint64_t data_mb = 256;
  std::vector<uint64_t> sizes = {64, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192, 16384};
  bool json = false;
};

// Ranks from 0 by Zipf's law with exponent 0.99, by inverting its integral: near enough to the law for
// all but the first ranks.
class Zipf {
 public:
  explicit Zipf(uint64_t n) : n_(n), top_(std::pow(static_cast<double>(n) + 1, kRest)) {}
  uint64_t operator()(std::mt19937_64* random) const {
    const double u = std::uniform_real_distribution<double>(0, 1)(*random);
    const double x = std::pow(1 + u * (top_ - 1), 1 / kRest) - 1;
    return std::min(n_ - 1, static_cast<uint64_t>(x));
  }

 private:
  static constexpr double kRest = 1 - 0.99;
  const uint64_t n_;
  const double top_;
};

// Keys in no order of their ranks.
std::string KeyOf(uint64_t rank) {
  uint64_t x = rank + 1;
  x *= 0x9e3779b97f4a7c15ULL;
  x ^= x >> 29;
  return fmt::format("{:024}", x);
}

enum Kind { kTables, kTightTables, kApart, kKinds };

rocksdb::Options OptionsFor(Kind kind, uint64_t data_mb) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.write_buffer_size = std::clamp<uint64_t>(data_mb << 14, 1 << 20, 64 << 20);
  options.max_write_buffer_number = 3;
  options.max_bytes_for_level_base = 4 * options.write_buffer_size;
  options.target_file_size_base = options.write_buffer_size;
  options.compression = rocksdb::kNoCompression;
  if (kind == kTightTables) {
    compassdb::PieceTableOptions tables;
    tables.max_dead_percent = tables.value_reserve_percent;
    options.table_factory.reset(compassdb::NewPieceTableFactory(tables));
  } else if (kind == kApart) {
    // A preset never fails on these options.
    compassdb::ApplyPreset(compassdb::Preset::kHashKv, &options).PermitUncheckedError();
    options.min_blob_size = 1;
  }
  return options;
}

Status Settle(rocksdb::DB* db) {
  Status s = db->Flush(rocksdb::FlushOptions());
  return s.ok() ? db->WaitForCompact(rocksdb::WaitForCompactOptions()) : s;
}

struct Figures {
  double rate = 0;     // updates per second, of the last phase
  double space = 0;    // bytes of tables and values per byte of pairs, at the end
  double written = 0;  // by flushes, compactions and collections, per byte of all that was put
};

uint64_t Number(rocksdb::DB* db, const std::string& property) {
  uint64_t value = 0;
  return db->GetIntProperty(property, &value) ? value : 0;
}

double Number(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Without the log.
double BytesWritten(rocksdb::DB* db) {
  std::map<std::string, std::string> stats;
  db->GetMapProperty(rocksdb::DB::Properties::kCFStats, &stats);
  double gigabytes = 0;
  for (const char* name : {"compaction.Sum.WriteGB", "compaction.Sum.WblobGB"}) {
    if (const auto at = stats.find(name); at != stats.end()) gigabytes += Number(at->second);
  }
  return gigabytes * (1 << 30);
}

Status Measure(const std::string& dir, Kind kind, uint64_t pair, uint64_t data_mb, Figures* figures) {
  rocksdb::DB* opened = nullptr;
  Status s = rocksdb::DB::Open(OptionsFor(kind, data_mb), dir, &opened);
  if (!s.ok()) return s;
  std::unique_ptr<rocksdb::DB> db(opened);
  const uint64_t records = (data_mb << 20) / pair;
  std::mt19937_64 random(pair);
  const Zipf zipf(records);
  std::string value(pair - kKeySize, ' ');
  const auto put = [&](uint64_t rank) {
    if (Interruption::noted() != 0) return Status::Aborted(fmt::format("interrupted by signal {}", Interruption::noted()));
    // Bytes that do not repeat from one value to the next.
    for (size_t i = 0; i + 8 <= value.size(); i += 64) {
      const uint64_t word = random();
      memcpy(value.data() + i, &word, sizeof(word));
    }
    return db->Put(rocksdb::WriteOptions(), KeyOf(rank), value);
  };
  for (uint64_t i = 0; s.ok() && i < records; ++i) s = put(i);
  for (int phase = 0; s.ok() && phase < kPhases; ++phase) {
    s = Settle(db.get());
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; s.ok() && i < records; ++i) s = put(zipf(&random));
    if (s.ok()) s = Settle(db.get());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    figures->rate = static_cast<double>(records) / seconds.count();
  }
  const auto data = static_cast<double>(records * pair);
  figures->space = static_cast<double>(Number(db.get(), rocksdb::DB::Properties::kTotalSstFilesSize) +
                                       Number(db.get(), rocksdb::DB::Properties::kTotalBlobFileSize)) / data;
  figures->written = BytesWritten(db.get()) / (data * (1 + kPhases));
  const Status closed = db->Close();
  db.reset();
  const Status gone = rocksdb::DestroyDB(dir, rocksdb::Options());
  if (s.ok()) s = closed;
  return s.ok() ? gone : s;
}

struct Point {
  uint64_t pair;
  Figures of[kKinds] = {};
  double gain(Kind over) const { return of[kApart].rate / of[over].rate; }
};

// The smallest pair from which on separation is faster than these tables at every size; null if at none.
const Point* Choose(const std::vector<Point>& curve, Kind over) {
  const Point* choice = nullptr;
  for (auto it = curve.rbegin(); it != curve.rend() && it->gain(over) > 1; ++it) choice = &*it;
  return choice;
}

std::string OptionsOf(const Point* choice) {
  return choice == nullptr ? "enable_blob_files=false: no size from which separation is faster"
                           : fmt::format("min_blob_size={}", choice->pair - kKeySize);
}

void Print(const std::vector<Point>& curve, uint64_t data_mb) {
  const compassdb::PieceTableOptions defaults;
  PrintOut("{} MB of pairs with keys of {} bytes: updates per second (rate), bytes on disk per byte of pairs (space),\n"
           "bytes written without the log per byte put (written)\n\n", data_mb, kKeySize);
  PrintOut("{:>6}  {:>6}  {:^22}  {:^22}  {:^22}  {:^12}\n", "", "", "in tables",
           fmt::format("max_dead_percent={}", defaults.value_reserve_percent), "kept apart", "gain in rate");
  PrintOut("{:>6}  {:>6}", "pair", "value");
  for (int kind = 0; kind < kKinds; ++kind) PrintOut("  {:>8} {:>5} {:>7}", "rate", "space", "written");
  PrintOut("  {:>5} {:>6}\n", "1st", "2nd");
  for (const Point& p : curve) {
    PrintOut("{:>6}  {:>6}", p.pair, p.pair - kKeySize);
    for (const Figures& f : p.of) PrintOut("  {:>8.0f} {:>5.2f} {:>7.2f}", f.rate, f.space, f.written);
    PrintOut("  {:>5.2f} {:>6.2f}\n", p.gain(kTables), p.gain(kTightTables));
  }
  PrintOut("\n{}\n", OptionsOf(Choose(curve, kTables)));
  PrintOut("where tables, too, may have no more than {} % of garbage: {}\n", defaults.value_reserve_percent,
           OptionsOf(Choose(curve, kTightTables)));
}

void PrintJson(const std::vector<Point>& curve, uint64_t data_mb) {
  static constexpr std::pair<Kind, const char*> kSuffixes[] = {
      {kTables, ""}, {kTightTables, "_equal_space"}, {kApart, "_separated"}};
  nlohmann::ordered_json out;
  out["data_mb"] = data_mb;
  out["key_size"] = kKeySize;
  out["curve"] = nlohmann::ordered_json::array();
  for (const Point& p : curve) {
    nlohmann::ordered_json point = {{"value_size", p.pair - kKeySize}};
    for (const auto& [kind, suffix] : kSuffixes) {
      point[std::string("updates_per_second") + suffix] = p.of[kind].rate;
      point[std::string("space") + suffix] = p.of[kind].space;
      point[std::string("written") + suffix] = p.of[kind].written;
    }
    out["curve"].push_back(std::move(point));
  }
  for (const auto& [kind, suffix] : kSuffixes) {
    if (kind == kApart) continue;
    const Point* choice = Choose(curve, kind);
    out[std::string("min_blob_size") + suffix] =
        choice == nullptr ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(choice->pair - kKeySize);
  }
  PrintOut("{}\n", out.dump());
}

int Tune(const Globals& globals, const TuneFlags& flags) {
  // The measured databases have the options that tools/README.md names, and no others.
  for (const auto& [flag, given] : {std::pair("--cf", !globals.cf.empty()), std::pair("--preset", !globals.preset.empty()),
                                    std::pair("--key-file", !globals.key_files.empty()),
                                    std::pair("--memory-mb", globals.memory_mb > 0)}) {
    if (given) return Fail(kUsage, "tune-separation", std::string(flag) + " is not for tune-separation");
  }
  std::vector<uint64_t> sizes = flags.sizes;
  std::sort(sizes.begin(), sizes.end());
  std::vector<Point> curve;
  if (flags.data_mb < kMeaningfulDataMb && !globals.quiet) {
    PrintError("less than {} MB: syncs of small collections dominate the measurement\n", kMeaningfulDataMb);
  }
  const Interruption interruption;  // the database that is measured is removed first
  if (!Unfinished::IsVacant(globals.db, /*foreign=*/false)) {
    return Fail(kFailed, "tune-separation", globals.db + " exists and is not an empty directory");
  }
  Unfinished measured;
  if (const Status s = measured.Begin("tune-separation", globals.db); !s.ok()) return Fail("tune-separation", s);
  for (const uint64_t pair : sizes) {
    Point point{pair};
    for (const Kind kind : {kTables, kTightTables, kApart}) {
      const Status s = Measure(measured.directory(), kind, pair, flags.data_mb, &point.of[kind]);
      if (!s.ok()) return Fail("tune-separation", s);
    }
    if (!globals.quiet) {
      PrintError("pairs of {} B: gain {:.2f}, of equal space {:.2f}\n", pair, point.gain(kTables), point.gain(kTightTables));
    }
    curve.push_back(point);
  }
  if (flags.json) {
    PrintJson(curve, flags.data_mb);
  } else {
    Print(curve, flags.data_mb);
  }
  return FinishOutput("tune-separation", kOk);
}

}  // namespace

void AddTuneSeparation(CLI::App* app, Globals* globals) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* command = AddCommand(
      app, globals, "tune-separation",
      "Measure from which value size on it pays to keep values apart (min_blob_size), in the new "
      "directory of --db, which is removed afterwards",
      [=] { return Tune(*globals, *flags); });
  command->add_option("--data-mb", flags->data_mb, "data per measurement")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20))
      ->capture_default_str();
  command->add_option("--sizes", flags->sizes, "bytes of the pairs, keys of 24 bytes included")
      ->delimiter(',')
      ->check(CLI::Range(uint64_t{32}, uint64_t{1} << 20))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "the curve and the choice as JSON");
}

}  // namespace compassdb_cli
