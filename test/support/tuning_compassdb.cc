// SPDX-License-Identifier: Apache-2.0
#include "compassdb/table.h"
#include "support/tuning.h"

namespace compassdb_test {

rocksdb::TableFactory* NewTunedTableFactory(Random* random,
                                            const rocksdb::BlockBasedTableOptions& options) {
  // Half of the time as a program written for RocksDB would have it.
  if (random == nullptr || random->OneIn(2)) return rocksdb::NewBlockBasedTableFactory(options);
  compassdb::PieceTableOptions pieces;
  static const uint32_t kMaxPieces[] = {1, 2, 3, 4, 8, 16, 64, 1024};
  pieces.max_pieces = random->Pick(kMaxPieces);
  static const uint32_t kDeadPercents[] = {5, 20, 40, 100, 400};
  pieces.max_dead_percent = random->Pick(kDeadPercents);
  static const compassdb::DataOrder kOrders[] = {
      compassdb::DataOrder::kKey, compassdb::DataOrder::kSlot, compassdb::DataOrder::kHash};
  pieces.data_order = random->Pick(kOrders);
  if (random->OneIn(2)) pieces.target_table_bytes = uint64_t{4} << (10 + random->Uniform(5));
  pieces.one_level = random->OneIn(3);
  static const uint64_t kScanBytes[] = {0, 16 << 10, 1 << 20, 64 << 20};
  pieces.scan_bytes_per_read = random->Pick(kScanBytes);
  if (random->OneIn(3)) pieces.perfect_hash = compassdb::PerfectHash::kCpHash;
  pieces.perfect_hash_threads = 1 + random->Uniform(3);
  // The families of the tests have comparators that allow it.
  if (random->OneIn(3)) pieces.partition = compassdb::Partition::kHashRange;
  if (random->OneIn(3)) pieces.point_index = compassdb::PointIndex::kFilter;
  pieces.leveled = random->OneIn(3);
  static const uint64_t kGroupBytes[] = {0, 32 << 10, 256 << 10, 64 << 20};
  pieces.group_compaction_bytes = random->Pick(kGroupBytes);
  pieces.value_group_bytes = uint64_t{512} << random->Uniform(5);
  pieces.value_hot_cold = random->OneIn(2);
  pieces.value_reserve_percent = static_cast<uint32_t>(random->Uniform(60));
  return compassdb::NewPieceTableFactory(pieces, options);
}

void SetMemoryLimit(uint64_t bytes, rocksdb::DBOptions* options) { options->memory_limit = bytes; }

EngineTraits Traits() { return {.name = "compassdb", .separates_values = true, .hint_values_exact = true, .recycles_logs = true}; }

}  // namespace compassdb_test
