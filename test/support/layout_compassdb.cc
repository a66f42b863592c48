// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "compassdb/preset.h"
#include "compassdb/table.h"
#include "support/layout.h"

namespace compassdb_test {

namespace {
constexpr const char* kBoltHashed = "bolt-hashed";
}  // namespace

const std::vector<std::string>& Layouts() {
  static const std::vector<std::string> kLayouts = [] {
    std::vector<std::string> names{"tuned"};
    for (compassdb::Preset preset : compassdb::AllPresets()) {
      names.push_back(compassdb::PresetName(preset));
    }
    names.emplace_back(kBoltHashed);
    return names;
  }();
  return kLayouts;
}

void ApplyLayout(const std::string& name, rocksdb::ColumnFamilyOptions* options) {
  if (name == "tuned") return;
  options->enable_blob_files = false;  // unless the preset is for it
  compassdb::Preset preset;
  const bool hashed = name == kBoltHashed;
  rocksdb::Status s = compassdb::PresetFromName(hashed ? "bolt-sorted" : name, &preset);
  if (s.ok()) s = compassdb::ApplyPreset(preset, options);
  if (!s.ok()) abort();
  if (options->min_blob_size > 24) options->min_blob_size = 24;
  auto* pieces = options->table_factory->GetOptions<compassdb::PieceTableOptions>();
  if (hashed) pieces->point_index = compassdb::PointIndex::kPerfectHash;
  pieces->target_table_bytes = 8 << 10;
  pieces->value_group_bytes = 512;  // what is tolerated of garbage goes with it
  pieces->tableless_sections = 3;
  if (pieces->group_compaction_bytes != 0) pieces->group_compaction_bytes = 64 << 10;
}

}  // namespace compassdb_test
