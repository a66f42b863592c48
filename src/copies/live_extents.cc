// SPDX-License-Identifier: Apache-2.0
#include "copies/live_extents.h"

#include "manifest/manifest.h"

namespace compassdb {

Status ReadLiveExtents(FileSystem* fs, const std::string& dir, uint64_t number,
                       ExtentsByFile* extents) {
  extents->clear();
  struct Family {
    std::map<uint64_t, TphMeta> tables;  // by id
    std::map<uint64_t, Extent> values;   // by run
    std::map<uint64_t, Extent> pages;    // likewise
  };
  std::map<uint32_t, Family> families;
  Status s = Manifest::Replay(fs, dir, number, [&](const EditRecord& edits) {
    for (const VersionEdit& edit : edits) {
      if (edit.drop_column_family) {
        families.erase(edit.column_family);
        continue;
      }
      auto& [tables, values, pages] = families[edit.column_family];
      for (const VersionEdit::Deleted& deleted : edit.deleted) tables.erase(deleted.tph_id);
      for (const VersionEdit::Added& added : edit.added) tables[added.tph.tph_id] = added.tph;
      for (uint64_t id : edit.deleted_values) values.erase(id);
      for (const ValueRunMeta& run : edit.added_values) values[run.run_id] = run.extent;
      for (uint64_t id : edit.deleted_page_runs) pages.erase(id);
      for (const PageRunMeta& run : edit.added_page_runs) pages[run.run_id] = run.extent;
    }
    return Status::OK();
  });
  if (!s.ok()) return s;
  for (const auto& [id, family] : families) {
    for (const auto& [run, extent] : family.values) (*extents)[extent.file_number].push_back(extent);
    for (const auto& [run, extent] : family.pages) (*extents)[extent.file_number].push_back(extent);
    for (const auto& [table_id, table] : family.tables) {
      for (const TphPiece& piece : table.pieces) {
        (*extents)[piece.meta->extent.file_number].push_back(piece.meta->extent);
      }
      if (table.directory.length == 0) continue;
      (*extents)[table.directory.file_number].push_back(table.directory);
    }
  }
  return s;
}

}  // namespace compassdb
