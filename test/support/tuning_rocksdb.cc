// SPDX-License-Identifier: Apache-2.0
#include "support/tuning.h"

namespace compassdb_test {

rocksdb::TableFactory* NewTunedTableFactory(Random*,
                                            const rocksdb::BlockBasedTableOptions& options) {
  return rocksdb::NewBlockBasedTableFactory(options);
}

void SetMemoryLimit(uint64_t, rocksdb::DBOptions*) {}

EngineTraits Traits() { return {.name = "rocksdb", .separates_values = false, .hint_values_exact = false, .recycles_logs = false}; }

}  // namespace compassdb_test
