// SPDX-License-Identifier: Apache-2.0
#include "stress/engine_options.h"

namespace compassdb_test {

namespace {

std::string Power(Random* random, int from, int to) {
  return std::to_string(uint64_t{1} << random->Range(from, to));
}

std::string Truth(Random* random) { return random->OneIn(2) ? "true" : "false"; }

}  // namespace

OptionChanges RandomFamilyOptions(Random* random, bool separated_values) {
  static const char* const kCompressions[] = {"kNoCompression", "kSnappyCompression", "kLZ4Compression", "kZSTD"};
  switch (random->Uniform(10)) {
    case 0: return {{"write_buffer_size", Power(random, 14, 18)}};
    case 1: return {{"max_write_buffer_number", std::to_string(random->Range(2, 6))}};
    case 2: return {{"level0_file_num_compaction_trigger", std::to_string(random->Range(1, 6))}};
    case 3: return {{"max_bytes_for_level_base", Power(random, 15, 20)}, {"max_bytes_for_level_multiplier", "4"}};
    case 4: return {{"target_file_size_base", Power(random, 13, 17)}, {"max_compaction_bytes", Power(random, 15, 24)}};
    case 5: return {{"compression", random->Pick(kCompressions)}, {"bottommost_compression", random->Pick(kCompressions)}};
    case 6: return {{"paranoid_file_checks", Truth(random)}, {"max_sequential_skip_in_iterations", std::to_string(random->Uniform(10))}};
    case 7: return {{"ttl", std::to_string(random->OneIn(2) ? 0 : random->Range(1, 1000))}};
    case 8:
      if (!separated_values) return {{"report_bg_io_stats", Truth(random)}};
      return {{"enable_blob_files", Truth(random)},
              {"min_blob_size", Power(random, 4, 10)},
              {"blob_file_size", Power(random, 9, 26)},
              {"blob_compaction_readahead_size", Power(random, 9, 21)},
              {"enable_blob_garbage_collection", Truth(random)}};
    default: return RandomEngineOptions(random);
  }
}

OptionChanges RandomDbOptions(Random* random) {
  switch (random->Uniform(5)) {
    case 0: return {{"max_background_jobs", std::to_string(random->Range(1, 4))}};
    case 1: return {{"bytes_per_sync", std::to_string(random->OneIn(2) ? 0 : 64 << 10)}};
    case 2: return {{"max_total_wal_size", std::to_string(random->OneIn(2) ? 0 : 256 << 10)}};
    case 3: return {{"avoid_flush_during_shutdown", Truth(random)}};
    default: return {{"max_subcompactions", std::to_string(random->Range(1, 3))}};
  }
}

}  // namespace compassdb_test
