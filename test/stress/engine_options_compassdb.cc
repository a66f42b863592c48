// SPDX-License-Identifier: Apache-2.0
#include "stress/engine_options.h"

namespace compassdb_test {

OptionChanges RandomEngineOptions(Random* random) {
  static const char* const kTable[] = {
      "max_pieces=1",          "max_pieces=3",          "max_pieces=64",           "max_dead_percent=5",
      "max_dead_percent=200",  "data_order=key",        "data_order=slot",         "data_order=hash",
      "perfect_hash=cphash",   "perfect_hash=default",  "scan_bytes_per_read=0",   "scan_bytes_per_read=1048576",
      "target_table_bytes=0",  "target_table_bytes=4096", "group_compaction_bytes=0", "group_compaction_bytes=65536",
      "max_dead_space_percent=1", "value_reserve_percent=5", "value_gc_policy=cost-benefit",
      "value_gc_policy=greedy;value_hot_cold=true", "value_gc_policy=oldest-first;value_hot_cold=false"};
  static const char* const kPages[] = {
      "tableless_pages=0",             "tableless_pages=0",             "tableless_pages=8",       "tableless_pages=200",
      "tableless_pages=900",           "tableless_fill_percent=20",     "tableless_fill_percent=50", "tableless_fill_percent=95",
      "tableless_max_overflow_percent=1", "tableless_max_overflow_percent=3", "tableless_max_overflow_percent=30",
      "tableless_min_fill_percent=0",  "tableless_min_fill_percent=15", "tableless_min_fill_percent=45",
      "tableless_rehash_threads=1",    "tableless_rehash_threads=4",    "tableless_rehash_batch=1", "tableless_rehash_batch=100",
      "tableless_write_threads=1",     "tableless_write_threads=5"};
  return {{"table_factory", "{" + std::string(random->OneIn(3) ? random->Pick(kPages) : random->Pick(kTable)) + "}"}};
}

const EngineLimits& Limits() {
  static const EngineLimits kLimits = {.atomic_flush = true, .single_delete_in_locked_batch = true, .two_phase_unasked = true,
          .multi_get_of_many = true, .separated_values = true, .secondaries = true,
          .ingests_at_once = true, .imports = true, .times_kept = true, .optimistic_always_knows = true, .flavours = {Flavour::kUsual, Flavour::kSealed, Flavour::kExpiring}};
  return kLimits;
}

}  // namespace compassdb_test
