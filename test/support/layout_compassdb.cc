// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "compassdb/preset.h"
#include "compassdb/table.h"
#include "support/layout.h"

namespace compassdb_test {

namespace {
constexpr const char* kBoltHashed = "bolt-hashed";
constexpr const char* kTuned = "tuned";
}  // namespace

const std::vector<std::string>& Layouts() {
  static const std::vector<std::string> kLayouts = [] {
    std::vector<std::string> names{kTuned};
    for (compassdb::Preset preset : compassdb::AllPresets()) {
      names.push_back(compassdb::PresetName(preset));
    }
    names.emplace_back(kBoltHashed);
    return names;
  }();
  return kLayouts;
}

void ApplyFullSizeLayout(const std::string& name, rocksdb::ColumnFamilyOptions* options) {
  if (name == kTuned) return;
  compassdb::Preset preset;
  const bool hashed = name == kBoltHashed;
  rocksdb::Status s = compassdb::PresetFromName(hashed ? "bolt-sorted" : name, &preset);
  if (s.ok()) s = compassdb::ApplyPreset(preset, options);
  if (!s.ok()) abort();
  if (!hashed) return;
  options->table_factory->GetOptions<compassdb::PieceTableOptions>()->point_index = compassdb::PointIndex::kPerfectHash;
}

void ApplyLayout(const std::string& name, rocksdb::ColumnFamilyOptions* options) {
  if (name != kTuned) options->enable_blob_files = false;  // unless the preset is for it
  ApplyFullSizeLayout(name, options);
  auto* const pieces = options->table_factory->GetOptions<compassdb::PieceTableOptions>();
  if (pieces != nullptr) pieces->punch_bytes_per_second = 0;  // a life is shorter than what the rate waits
  if (name == kTuned) return;
  if (options->min_blob_size > 24) options->min_blob_size = 24;
  pieces->target_table_bytes = 8 << 10;
  pieces->value_group_bytes = 512;  // the tolerated garbage depends on it
  pieces->tableless_sections = 3;
  pieces->memtable_as_log_index = true;
  if (pieces->group_compaction_bytes != 0) pieces->group_compaction_bytes = 64 << 10;
}

}  // namespace compassdb_test
