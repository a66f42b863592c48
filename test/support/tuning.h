// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "support/family.h"
#include "support/random.h"

namespace compassdb_test {

// Options under which the same operations must give the same answers. Small
// buffers, files and levels, so that flushes and compactions happen all the
// time. `seed` 0 gives the fixed base set; others vary everything that a
// database may be reopened with.
struct Tuning {
  uint64_t seed = 0;
  // Of a family that is created while the database is open with `seed`; 0: the same.
  uint64_t family_seed = 0;
  // Memory, logs and manifests of the database are larger by this factor: for many families and threads.
  uint64_t scale = 1;
  // Leave unflushed data to the WAL at close (not with disableWAL writes).
  bool may_skip_flush_at_close = true;
};

rocksdb::DBOptions TunedDbOptions(const Tuning& tuning);
rocksdb::ColumnFamilyOptions TunedFamilyOptions(const Tuning& tuning, const FamilySpec& spec,
                                                int slot);

// The engine's table format with these block options, and with values for what only
// that engine has (pieces per table and the like), drawn from `random` unless it is null.
// One definition per library (tuning_compassdb.cc, tuning_rocksdb.cc).
rocksdb::TableFactory* NewTunedTableFactory(Random* random,
                                            const rocksdb::BlockBasedTableOptions& options);
// One option for memtables, blocks and index together, where the engine has it. As above in
// both libraries.
void SetMemoryLimit(uint64_t bytes, rocksdb::DBOptions* options);

struct EngineTraits {
  const char* name;
  // Values of any family may be separated, and collected.
  bool separates_values;
  // A value that KeyMayExist hands out is the current one. RocksDB 7.8.3 now
  // and then hands out one that a range deletion covers.
  bool hint_values_exact;
  // RocksDB 7.8.3 that recycles logs crashes now and then in a flush of several families (MarkLogsSynced).
  bool recycles_logs;
};
EngineTraits Traits();

}  // namespace compassdb_test
