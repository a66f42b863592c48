// SPDX-License-Identifier: Apache-2.0
#include "options/store_choices.h"

#include "options/option_value.h"
#include "options/projection.h"
#include "options/table_factories.h"
#include "table/piece/key_order.h"

namespace compassdb {

NamedValues StoreChoices(const rocksdb::ColumnFamilyOptions& options) {
  const PieceTableOptions piece = TableSettingsOf(options.table_factory.get()).piece;
  NamedValues choices;
  const auto add = [&](const char* name, const auto& value) {
    choices.emplace_back(name, FormatValue(value));
  };
  add("store", piece.store);
  if (piece.store == StoreKind::kTableless) {
    add("tableless_key_store", piece.tableless_key_store);
    add("tableless_atomic_page_writes", piece.tableless_atomic_page_writes);
    add("memtable_as_log_index", piece.memtable_as_log_index);
    return choices;
  }
  add("point_index", piece.point_index);
  if (piece.point_index == PointIndex::kPerfectHash) add("perfect_hash", piece.perfect_hash);
  const bool by_hash = KeyOrder(options.comparator).HashesIdentifyKeys();
  add("data_order", by_hash ? piece.data_order : DataOrder::kKey);
  add("partition", piece.partition);
  add("leveled", IsLeveled(piece));
  if (!IsLeveled(piece)) add("max_pieces", piece.max_pieces);
  add("one_level", piece.one_level);
  add("enable_blob_files", options.enable_blob_files);
  if (options.enable_blob_files) {
    add("min_blob_size", LeastSeparated(options));
    add("value_hot_cold", piece.value_hot_cold);
  }
  return choices;
}

}  // namespace compassdb
