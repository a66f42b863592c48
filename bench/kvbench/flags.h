// SPDX-License-Identifier: Apache-2.0
// The command line of kvbench, the same for both engines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "value_sizes.h"

namespace kvbench {

enum class WorkloadKind {
  kYcsbLoad,
  kYcsbMix,  // A to F
  kFillRandom,
  kFillSeq,
  kOverwrite,
  kReadRandom,
  kMultiReadRandom,
  kReadMissing,
  kReadWhileWriting,
  kSeekRandom,
};

inline constexpr double kZipfianConstant = 0.99;  // YCSB's

enum class Distribution { kZipfian, kLatest, kUniform };

// What a workload does, as shares of 100 operations.
struct WorkloadSpec {
  std::string name;
  WorkloadKind kind;
  Distribution distribution = Distribution::kUniform;
  int read = 0, update = 0, insert = 0, scan = 0, rmw = 0;

  // A fill starts from an empty database; everything else needs data.
  bool Fills() const {
    return kind == WorkloadKind::kYcsbLoad || kind == WorkloadKind::kFillRandom ||
           kind == WorkloadKind::kFillSeq;
  }
  bool Writes() const {
    return Fills() || kind == WorkloadKind::kOverwrite || kind == WorkloadKind::kReadWhileWriting ||
           update + insert + rmw > 0;
  }
};

struct Flags {
  std::vector<WorkloadSpec> workloads;
  uint64_t records = 1'000'000;
  uint64_t operations = 0;  // 0: as many as records
  int threads = 1;
  uint64_t key_size = 24;
  ValueSizes value_sizes = 1000;
  uint64_t compressible = 0;  // percent of each value that is zeros behind random bytes; 0: printable
  std::string distribution;  // empty: the workload's own
  double zipf_constant = kZipfianConstant;
  bool direct = false;
  uint64_t cache_mb = 256;
  uint64_t data_cache_kb = 0;   // > 0: the block cache alone, without index and filters
  bool index_in_cache = false;  // index and filters live in the block cache of cache_mb
  uint64_t memory_mb = 0;  // > 0: memtables, blocks and index together, in place of cache_mb
  uint64_t memtable_mb = 64;
  uint64_t table_mb = 0;  // 0: a memtable's size; LevelDB: its default, 2
  std::string compression = "none";
  std::string preset;  // CompassDB only; empty: none
  std::string data_order = "key";  // other values: CompassDB only
  std::string options_string;
  std::string set_options;  // for SetOptions, before each workload that is not a fill
  std::string while_property;  // ends a workload that is not a fill once this has been above 0 and is 0
  std::vector<std::string> properties;  // that a result names
  double bloom_bits = 10;
  std::string db;
  std::string json;
  uint64_t seed = 1;
  bool reuse_db = false;
  int background_threads = 2;
  bool defaults = false;
  bool sync = false;
  bool skip_syncs = false;
  bool disable_wal = false;
  bool partition_index = false;
  uint64_t rate = 0;     // operations per second of all clients together; 0: unlimited
  uint64_t seconds = 0;  // > 0: ends a workload that is not a fill early
  bool compact = false;  // manually, before a workload that is not a fill
  bool warm_up = false;  // every record is read once before a workload is measured
  int seek_nexts = 10;
  uint64_t batch_size = 16;  // keys per MultiGet of multireadrandom
  uint64_t writes_per_second = 0;  // of the writer in readwhilewriting; 0: unlimited

  uint64_t Operations() const { return operations == 0 ? records : operations; }
};

// Parses argv. Returns -1 to continue; otherwise the process ends with that code
// (0 after --help, 2 after a usage error, which has been printed).
int ParseFlags(int argc, char** argv, Flags* flags);

const char* DistributionName(Distribution d);

}  // namespace kvbench
