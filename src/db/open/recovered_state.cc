// SPDX-License-Identifier: Apache-2.0
#include "db/open/recovered_state.h"

#include <algorithm>

namespace compassdb {

VersionEdit RecoveredFamily::AllTables(uint32_t id) const {
  VersionEdit edit;
  edit.column_family = id;
  for (const auto& [table, added] : tables) edit.added.push_back(added);
  for (const auto& [run, meta] : values) edit.added_values.push_back(meta);
  if (!page_geometry) return edit;
  edit.page_geometry = page_geometry;
  for (const auto& [section, meta] : page_sections) edit.page_sections.push_back(meta);
  for (const auto& [run, meta] : page_runs) edit.added_page_runs.push_back(meta);
  edit.folded_sequence = folded_sequence;
  edit.keys_whole = keys_whole;
  if (in_place_sequence > folded_sequence) edit.in_place_sequence = in_place_sequence;
  return edit;
}

void RecoveredFamily::AddFiles(std::set<uint64_t>* numbers) const {
  for (const auto& [table, added] : tables) {
    for (const TphPiece& piece : added.tph.pieces) numbers->insert(piece.meta->extent.file_number);
    if (added.tph.directory.length > 0) numbers->insert(added.tph.directory.file_number);
  }
  for (const auto& [run, meta] : values) numbers->insert(meta.extent.file_number);
  for (const auto& [run, meta] : page_runs) numbers->insert(meta.extent.file_number);
}

Status RecoveredFamily::ApplyPages(const VersionEdit& edit) {
  if (edit.page_geometry) {
    if (page_geometry && *page_geometry != *edit.page_geometry) {
      return Status::Corruption("manifest: changes number or size of existing pages", name);
    }
    page_geometry = edit.page_geometry;
  }
  if (edit.folded_sequence) folded_sequence = std::max(folded_sequence, *edit.folded_sequence);
  if (edit.in_place_sequence) in_place_sequence = std::max(in_place_sequence, *edit.in_place_sequence);
  if (edit.keys_whole) keys_whole = *edit.keys_whole;
  for (const PageSectionMeta& meta : edit.page_sections) {
    if (!page_geometry || meta.section >= page_geometry->sections) {
      return Status::Corruption("manifest: a page section that is not one",
                                std::to_string(meta.section));
    }
    page_sections[meta.section] = meta;
  }
  for (uint64_t id : edit.deleted_page_runs) {
    if (page_runs.erase(id) == 0) {
      return Status::Corruption("manifest: deletes a page run that does not exist", std::to_string(id));
    }
  }
  for (const PageRunMeta& meta : edit.added_page_runs) {
    if (!page_runs.emplace(meta.run_id, meta).second) {
      return Status::Corruption("manifest: adds a page run twice", std::to_string(meta.run_id));
    }
  }
  return Status::OK();
}

Status RecoveredState::ApplyAll(const EditRecord& edits) {
  for (VersionEdit& edit : edits) {
    if (Status s = Apply(std::move(edit)); !s.ok()) return s;
  }
  return Status::OK();
}

std::vector<FileChecksum> RecoveredState::LiveChecksums() const {
  std::vector<FileChecksum> live;
  if (file_checksums.empty()) return live;
  std::set<uint64_t> files;
  for (const auto& [id, family] : families) family.AddFiles(&files);
  for (const auto& [number, checksum] : file_checksums) {
    if (files.count(number) != 0) live.push_back(checksum);
  }
  return live;
}

Status RecoveredState::Apply(VersionEdit edit) {
  if (edit.db_id) db_id = *edit.db_id;
  if (edit.hash_seed) hash_seed = *edit.hash_seed;
  if (edit.next_number) next_number = std::max(next_number, *edit.next_number);
  if (edit.min_log_number) min_log_number = std::max(min_log_number, *edit.min_log_number);
  if (edit.synced_log) synced_log = *edit.synced_log;
  for (FileChecksum& checksum : edit.file_checksums) {
    file_checksums[checksum.file_number] = std::move(checksum);
  }
  // The last sequence must include the records of pages.
  for (const auto& said : {edit.last_sequence, edit.folded_sequence, edit.in_place_sequence}) {
    last_sequence = std::max(last_sequence, said.value_or(0));
  }
  if (edit.max_column_family) {
    max_column_family = std::max(max_column_family, *edit.max_column_family);
  }
  if (edit.add_column_family) {
    RecoveredFamily family;
    family.name = *edit.add_column_family;
    if (edit.comparator) family.comparator = *edit.comparator;
    if (!families.emplace(edit.column_family, std::move(family)).second) {
      return Status::Corruption("manifest", "column family " +
                                                std::to_string(edit.column_family) +
                                                " is added twice");
    }
  }
  auto it = families.find(edit.column_family);
  const bool touches = edit.drop_column_family || edit.log_number || edit.history_low ||
                       !edit.added.empty() || !edit.deleted.empty() ||
                       !edit.added_values.empty() || !edit.deleted_values.empty() ||
                       edit.TouchesPages();
  if (it == families.end()) {
    if (!touches) return Status::OK();
    return Status::Corruption("manifest", "an edit names the unknown column family " +
                                              std::to_string(edit.column_family));
  }
  if (edit.drop_column_family) {
    families.erase(it);
    return Status::OK();
  }
  RecoveredFamily& family = it->second;
  if (edit.log_number) family.log_number = *edit.log_number;
  if (edit.history_low) family.history_low = *edit.history_low;
  for (const VersionEdit::Deleted& deleted : edit.deleted) {
    const auto table = family.tables.find(deleted.tph_id);
    if (table == family.tables.end() || table->second.level != deleted.level) {
      return Status::Corruption("manifest: deletes a table that does not exist",
                                std::to_string(deleted.tph_id));
    }
    family.tables.erase(table);
  }
  for (VersionEdit::Added& added : edit.added) {
    const uint64_t id = added.tph.tph_id;
    if (!family.tables.emplace(id, std::move(added)).second) {
      return Status::Corruption("manifest: adds a table twice", std::to_string(id));
    }
  }
  for (uint64_t id : edit.deleted_values) {
    if (family.values.erase(id) == 0) {
      return Status::Corruption("manifest: deletes a run of values that does not exist",
                                std::to_string(id));
    }
  }
  for (const ValueRunMeta& meta : edit.added_values) {
    if (!family.values.emplace(meta.run_id, meta).second) {
      return Status::Corruption("manifest: adds a run of values twice", std::to_string(meta.run_id));
    }
  }
  return family.ApplyPages(edit);
}

}  // namespace compassdb
