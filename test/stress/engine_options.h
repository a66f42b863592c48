// SPDX-License-Identifier: Apache-2.0
// Changes for SetOptions and SetDBOptions that must not change any result.
#pragma once

#include <string>
#include <unordered_map>

#include "stress/stress_db.h"
#include "support/random.h"

namespace compassdb_test {

using OptionChanges = std::unordered_map<std::string, std::string>;

OptionChanges RandomFamilyOptions(Random* random, bool separated_values);
OptionChanges RandomDbOptions(Random* random);

// The rest has one definition per library (engine_options_*.cc).
// Options of one engine alone, if any.
OptionChanges RandomEngineOptions(Random* random);

// Where RocksDB 7.8.3 does less.
struct EngineLimits {
  bool atomic_flush;                   // its debug build has an assertion that fails now and then
  bool single_delete_in_locked_batch;  // TransactionDB::Write refuses it outside of the default family
  bool two_phase_unasked;              // logs with prepared transactions need allow_2pc, and no pipelined writes
  bool multi_get_of_many;              // of hundreds of keys with merges gives operands for values
  bool separated_values;               // with merges, MultiGet gives operands for values
  bool secondaries;                    // not tried
  bool ingests_at_once;                // its debug build answers TryAgain when the memtable was written to since its flush
  bool imports;                        // show older versions now and then
  bool times_kept;                     // compactions set those to zero that are before IncreaseFullHistoryTsLow's
  bool optimistic_always_knows;        // a commit never answers TryAgain
  std::vector<Flavour> flavours;       // kUsual first; no encryption of that kind, and MultiGet of a DBWithTTL gives times for values
};
const EngineLimits& Limits();

}  // namespace compassdb_test
