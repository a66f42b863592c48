// SPDX-License-Identifier: Apache-2.0
#include "compassdb/preset.h"

#include <array>

#include "options/projection.h"
#include "options/table_factories.h"

namespace compassdb {

namespace {

struct Named {
  Preset preset;
  const char* name;
};
constexpr std::array<Named, 8> kPresets = {{{Preset::kDefault, "default"},
                                            {Preset::kReadMostly, "read-mostly"},
                                            {Preset::kUpdateHeavy, "update-heavy"},
                                            {Preset::kCompassPaper, "compass-paper"},
                                            {Preset::kHashRange, "hash-range"},
                                             {Preset::kHashKv, "hash-kv"},
                                             {Preset::kBoltSorted, "bolt-sorted"},
                                             {Preset::kTableless, "tableless"}}};

}  // namespace

std::vector<Preset> AllPresets() {
  std::vector<Preset> all;
  for (const Named& n : kPresets) all.push_back(n.preset);
  return all;
}

std::string PresetName(Preset preset) {
  for (const Named& n : kPresets) {
    if (n.preset == preset) return n.name;
  }
  return "";
}

Status PresetFromName(const std::string& name, Preset* preset) {
  std::string known;
  for (const Named& n : kPresets) {
    if (name == n.name) {
      *preset = n.preset;
      return Status::OK();
    }
    known += std::string(known.empty() ? "" : ", ") + n.name;
  }
  return Status::InvalidArgument("no preset \"" + name + "\"", "there are " + known);
}

Status ApplyPreset(Preset preset, rocksdb::ColumnFamilyOptions* options) {
  const auto* factory = options->table_factory.get();
  if (factory != nullptr && factory->GetOptions<rocksdb::BlockBasedTableOptions>() == nullptr) {
    return Status::NotSupported("presets need the engine's tables, not those of", factory->Name());
  }
  TableSettings settings = TableSettingsOf(factory);
  if (factory != nullptr && HasCacheOfItsOwn(*factory)) settings.block.block_cache.reset();
  const rocksdb::ColumnFamilyOptions defaults;
  PieceTableOptions piece;
  piece.target_table_bytes = settings.piece.target_table_bytes;
  options->max_write_buffer_number = defaults.max_write_buffer_number;
  options->min_write_buffer_number_to_merge = defaults.min_write_buffer_number_to_merge;
  options->level0_file_num_compaction_trigger = defaults.level0_file_num_compaction_trigger;
  options->level_compaction_dynamic_level_bytes = defaults.level_compaction_dynamic_level_bytes;
  // Resets what kHashKv set, except its collections: existing values keep their bound.
  if (preset != Preset::kHashKv && settings.piece.value_hot_cold && options->min_blob_size == kDefaultMinBlobSize) {
    options->enable_blob_files = defaults.enable_blob_files;
    options->min_blob_size = defaults.min_blob_size;
  }
  switch (preset) {
    case Preset::kDefault:
      break;
    case Preset::kReadMostly:
      piece.one_level = true;
      piece.max_pieces = 64;
      piece.max_dead_percent = 110;
      options->max_write_buffer_number = 8;
      options->min_write_buffer_number_to_merge = 4;
      options->level0_file_num_compaction_trigger = 8;
      break;
    case Preset::kUpdateHeavy:
      piece.max_pieces = 2;
      piece.max_dead_percent = 10;
      break;
    case Preset::kCompassPaper:
      piece.partition = Partition::kHashRange;
      piece.data_order = DataOrder::kSlot;
      piece.perfect_hash = PerfectHash::kCpHash;
      piece.max_pieces = 16;
      piece.scan_bytes_per_read = 0;
      break;
    case Preset::kHashRange:
      piece.partition = Partition::kHashRange;
      break;
    case Preset::kHashKv:
      options->enable_blob_files = true;
      options->min_blob_size = kDefaultMinBlobSize;
      options->enable_blob_garbage_collection = true;
      piece.value_hot_cold = true;
      // Keys alone are merged: a merge mostly costs the old table's bytes, even if the delta is small.
      options->level0_file_num_compaction_trigger = 8;
      break;
    case Preset::kBoltSorted:
      piece.leveled = true;
      piece.point_index = PointIndex::kFilter;
      piece.max_pieces = 1;
      options->level_compaction_dynamic_level_bytes = true;
      options->max_write_buffer_number = 4;
      options->min_write_buffer_number_to_merge = 2;
      break;
    case Preset::kTableless:
      piece.store = StoreKind::kTableless;
      break;
  }
  options->table_factory.reset(NewPieceTableFactory(piece, settings.block));
  return Status::OK();
}

}  // namespace compassdb
