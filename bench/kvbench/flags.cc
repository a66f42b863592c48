// SPDX-License-Identifier: Apache-2.0
#include "flags.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>

#include "keys.h"

namespace kvbench {
namespace {

const std::vector<WorkloadSpec>& AllWorkloads() {
  using K = WorkloadKind;
  using D = Distribution;
  static const std::vector<WorkloadSpec> all = {
      {.name = "ycsb-load", .kind = K::kYcsbLoad, .insert = 100},
      {.name = "ycsb-a",
       .kind = K::kYcsbMix,
       .distribution = D::kZipfian,
       .read = 50,
       .update = 50},
      {.name = "ycsb-b", .kind = K::kYcsbMix, .distribution = D::kZipfian, .read = 95, .update = 5},
      {.name = "ycsb-c", .kind = K::kYcsbMix, .distribution = D::kZipfian, .read = 100},
      {.name = "ycsb-d", .kind = K::kYcsbMix, .distribution = D::kLatest, .read = 95, .insert = 5},
      {.name = "ycsb-e", .kind = K::kYcsbMix, .distribution = D::kZipfian, .insert = 5, .scan = 95},
      {.name = "ycsb-f", .kind = K::kYcsbMix, .distribution = D::kZipfian, .read = 50, .rmw = 50},
      {.name = "fillrandom", .kind = K::kFillRandom, .update = 100},
      {.name = "fillseq", .kind = K::kFillSeq, .insert = 100},
      {.name = "overwrite", .kind = K::kOverwrite, .update = 100},
      {.name = "readrandom", .kind = K::kReadRandom, .read = 100},
      {.name = "multireadrandom", .kind = K::kMultiReadRandom, .read = 100},
      {.name = "readmissing", .kind = K::kReadMissing, .read = 100},
      {.name = "readwhilewriting", .kind = K::kReadWhileWriting, .read = 100},
      {.name = "seekrandom", .kind = K::kSeekRandom, .scan = 100},
  };
  return all;
}

// "A", "a", "ycsb-a", "ycsba" and "load" all find their workload.
const WorkloadSpec* FindWorkload(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  for (const WorkloadSpec& w : AllWorkloads()) {
    if (name == w.name) return &w;
    if (w.name.rfind("ycsb-", 0) == 0) {
      const std::string tail = w.name.substr(5);
      if (name == tail || name == "ycsb" + tail) return &w;
    }
  }
  return nullptr;
}

int UsageError(const std::string& message) {
  fmt::print(stderr, "kvbench: {}\nRun with --help for more information.\n", message);
  return 2;
}

int CheckCombination(const std::vector<std::string>& names, Flags* flags) {
  for (const std::string& name : names) {
    const WorkloadSpec* spec = FindWorkload(name);
    if (spec == nullptr) {
      std::string known;
      for (const WorkloadSpec& w : AllWorkloads()) known += " " + w.name;
      return UsageError(fmt::format("--workload: unknown workload '{}'; known:{}", name, known));
    }
    flags->workloads.push_back(*spec);
  }
  for (size_t i = 0; i < flags->workloads.size(); ++i) {
    const WorkloadSpec& spec = flags->workloads[i];
    const bool has_data = i > 0 || flags->reuse_db;
    if (spec.Fills() && has_data) {
      return UsageError(fmt::format(
          "--workload: {} fills an empty database; it must come first and without --reuse-db",
          spec.name));
    }
    if (!spec.Fills() && !has_data) {
      return UsageError(fmt::format(
          "--workload: {} needs data; put a load before it or give --reuse-db", spec.name));
    }
    if (!flags->distribution.empty()) {
      WorkloadSpec& w = flags->workloads[i];
      w.distribution = flags->distribution == "zipfian"  ? Distribution::kZipfian
                       : flags->distribution == "latest" ? Distribution::kLatest
                                                         : Distribution::kUniform;
    }
  }
  return -1;
}

}  // namespace

const char* DistributionName(Distribution d) {
  switch (d) {
    case Distribution::kZipfian:
      return "zipfian";
    case Distribution::kLatest:
      return "latest";
    case Distribution::kUniform:
      return "uniform";
  }
  return "?";
}

namespace {

void AddSizeFlags(CLI::App* app, Flags* flags) {
  app->add_option("--key-size", flags->key_size, "bytes per key")
      ->check(CLI::Range(uint64_t{kMinKeySize}, uint64_t{1} << 16))
      ->capture_default_str();
  app->add_option_function<std::string>(
         "--value-size",
         [flags](const std::string& text) {
           std::string error;
           if (!ValueSizes::Parse(text, &flags->value_sizes, &error)) throw CLI::ValidationError(error);
         },
         "bytes per value; or, the same for all versions of a record, \"zipfian:LEAST:MOST\", or "
         "\"40x2,1000x1\": two of 40 bytes to one of 1000")
      ->default_str(flags->value_sizes.text());
  app->add_option("--compressible", flags->compressible,
                 "percent of each value that is zeros, behind bytes of full entropy; 0: printable random "
                 "bytes, which are no zeros but compress by a quarter")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
}

void AddMemoryFlags(CLI::App* app, Flags* flags) {
  app->add_option("--cache-mb", flags->cache_mb,
                 "memory for index, filters and cached blocks together (the cache gets what the "
                 "index leaves)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20))
      ->capture_default_str();
  app->add_option("--data-cache-kb", flags->data_cache_kb,
                 "block cache for data alone, in place of --cache-mb; without index and filters")
      ->check(CLI::Range(uint64_t{64}, uint64_t{1} << 30));
  app->add_flag("--index-in-cache", flags->index_in_cache,
               "index and filters live in the block cache of --cache-mb and can be evicted");
  app->add_option("--memory-mb", flags->memory_mb,
                 "one cap on memtables, blocks, index and filters together, in place of --cache-mb: "
                 "memory_limit; RocksDB: a block cache that holds index and filters and is charged "
                 "for memtables, a quarter at most")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20));
}

}  // namespace

int ParseFlags(int argc, char** argv, Flags* flags) {
  CLI::App app{
      "kvbench: YCSB and db_bench style workloads, one source for two engines.\n"
      "Writes one JSON object per workload; see bench/README.md for its fields."};
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  std::vector<std::string> names;
  app.add_option("--workload", names,
                 "comma list: load, a..f, fillrandom, fillseq, overwrite, readrandom, "
                 "multireadrandom, readmissing, readwhilewriting, seekrandom")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->delimiter(',');
  app.add_option("--records", flags->records, "records that a fill writes")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--operations", flags->operations,
                 "operations of each workload that is not a fill; default: as many as records")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app.add_option("--threads", flags->threads, "client threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  AddSizeFlags(&app, flags);
  app.add_option("--distribution", flags->distribution, "of the keys; default: the workload's own")
      ->check(CLI::IsMember({"zipfian", "latest", "uniform"}));
  app.add_option("--zipf-constant", flags->zipf_constant, "exponent of zipfian and latest")
      ->check(CLI::Range(0.1, 0.999))
      ->capture_default_str();
  app.add_flag("--direct", flags->direct, "O_DIRECT for reads, flushes and compactions");
  AddMemoryFlags(&app, flags);
  app.add_option("--memtable-mb", flags->memtable_mb, "write buffer; level sizes follow from it")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 14))
      ->capture_default_str();
  app.add_option("--table-mb", flags->table_mb,
                 "size of a table; default: a memtable's, LevelDB: 2")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 14));
  app.add_option("--compression", flags->compression, "of every level")
      ->check(CLI::IsMember({"none", "snappy", "lz4", "zstd"}))
      ->capture_default_str();
  app.add_option("--preset", flags->preset, "of CompassDB (compassdb/preset.h), applied after all "
                 "other flags");
  app.add_option("--data-order", flags->data_order, "of records in CompassDB's pieces")
      ->check(CLI::IsMember({"key", "slot", "hash"}))
      ->capture_default_str();
  app.add_option("--options-string", flags->options_string,
                 "RocksDB options, \"name=value;name=value\", applied last");
  app.add_option("--set-options", flags->set_options,
                 "the same for SetOptions, before each workload that is not a fill");
  app.add_option("--while-property", flags->while_property,
                 "ends a workload that is not a fill once this property has been above 0 and is 0 again");
  app.add_option("--properties", flags->properties, "comma list: of the engine, for the result")
      ->delimiter(',');
  app.add_option("--bloom-bits", flags->bloom_bits, "bits per key of the filter; 0: none")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--db", flags->db, "directory of the database")->required();
  app.add_option("--json", flags->json,
                 "write results here, one JSON object per line (\"-\": stdout)");
  app.add_option("--seed", flags->seed, "of every random choice")->capture_default_str();
  app.add_flag("--reuse-db", flags->reuse_db, "continue with the database of an earlier run");
  app.add_option("--background-threads", flags->background_threads,
                 "flush and compaction threads together")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_flag("--defaults", flags->defaults,
               "the engine's own default options; of the tuning flags only --direct (without "
               "compression then) and, with it, --data-cache-kb are applied");
  app.add_flag("--sync", flags->sync, "each write waits for the disk");
  app.add_flag("--skip-syncs", flags->skip_syncs,
               "nothing does: calls of fsync and the like, also the engine's own, return at once; to measure what they cost");
  app.add_flag("--partition-index", flags->partition_index,
               "index and filters in partitions (RocksDB only), which --index-in-cache is tuned with");
  app.add_flag("--disable-wal", flags->disable_wal, "no write-ahead log");
  app.add_option("--rate", flags->rate,
                 "operations per second of all clients together, each due at its own time; "
                 "0: as fast as they go");
  app.add_option("--seconds", flags->seconds, "ends a workload that is not a fill after this time");
  app.add_flag("--compact", flags->compact,
               "compacts the whole range of keys before each workload that is not a fill");
  app.add_flag("--warm-up", flags->warm_up,
               "reads every record once before each workload that is not a fill");
  app.add_option("--seek-nexts", flags->seek_nexts, "Next calls after each Seek of seekrandom")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app.add_option("--batch-size", flags->batch_size, "keys per MultiGet of multireadrandom")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--writes-per-second", flags->writes_per_second,
                 "rate of the writer in readwhilewriting; 0: as fast as possible");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return UsageError(e.what());
  }
  return CheckCombination(names, flags);
}

}  // namespace kvbench
