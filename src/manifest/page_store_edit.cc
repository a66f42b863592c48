// SPDX-License-Identifier: Apache-2.0
#include "manifest/page_store_edit.h"

#include "util/coding.h"

namespace compassdb {

namespace {

// On disk, never renumbered.
enum PageTag : uint32_t {
  kPageGeometry = 30,
  kPageSection = 31,
  kDeletedPageRun = 32,
  kAddedPageRun = 33,
  kFoldedSequence = 34,
  kKeysWhole = 35,
  kInPlaceSequence = 36,
};

void PutTagged(std::string* dst, PageTag tag, uint64_t value) {
  PutVarint32(dst, tag);
  PutVarint64(dst, value);
}

std::string SectionBody(const PageSectionMeta& m) {
  std::string body;
  for (uint64_t v : {m.file_number, m.pages, m.records, m.bytes, m.overflow_records,
                     m.overflow_bytes, m.overflow_from}) {
    PutVarint64(&body, v);
  }
  return body;
}

bool GetSection(Slice* src, PageSectionMeta* m) {
  Slice body;
  uint64_t section = 0;
  if (!GetVarint64(src, &section) || section >= kMaxPageSections ||
      !GetLengthPrefixedSlice(src, &body)) {
    return false;
  }
  m->section = static_cast<uint32_t>(section);
  for (uint64_t* v : {&m->file_number, &m->pages, &m->records, &m->bytes, &m->overflow_records,
                      &m->overflow_bytes, &m->overflow_from}) {
    if (!GetVarint64(&body, v)) return false;
  }
  return m->pages > 0 && m->pages <= kMaxSectionPages && body.empty();
}

std::string RunBody(const PageRunMeta& m) {
  std::string body;
  for (uint64_t v : {static_cast<uint64_t>(m.kind), m.extent.file_number, m.extent.offset,
                     m.extent.length, m.count}) {
    PutVarint64(&body, v);
  }
  PutFixed64(&body, m.file_id);
  return body;
}

bool GetRun(Slice* src, PageRunMeta* m) {
  Slice body;
  uint64_t kind = 0;
  if (!GetVarint64(src, &m->run_id) || !GetLengthPrefixedSlice(src, &body)) return false;
  for (uint64_t* v : {&kind, &m->extent.file_number, &m->extent.offset, &m->extent.length, &m->count}) {
    if (!GetVarint64(&body, v)) return false;
  }
  if (kind > static_cast<uint64_t>(PageRunKind::kListedOverflow)) return false;
  m->kind = static_cast<PageRunKind>(kind);
  return GetFixed64(&body, &m->file_id) && body.empty() &&
         m->extent.offset + m->extent.length >= m->extent.offset;
}

bool GetGeometry(Slice* src, PageGeometry* g) {
  uint64_t sections = 0, bytes = 0;
  if (!GetVarint64(src, &sections) || !GetVarint64(src, &bytes)) return false;
  if (sections == 0 || sections > kMaxPageSections || bytes < kMinPageBytes ||
      bytes > kMaxPageBytes || bytes % kMinPageBytes != 0) {
    return false;
  }
  *g = {static_cast<uint32_t>(sections), static_cast<uint32_t>(bytes)};
  return true;
}

}  // namespace

void EncodePageFields(const PageStoreEdit& edit, std::string* dst) {
  if (edit.page_geometry) {
    PutTagged(dst, kPageGeometry, edit.page_geometry->sections);
    PutVarint64(dst, edit.page_geometry->page_bytes);
  }
  for (const PageSectionMeta& m : edit.page_sections) {
    PutTagged(dst, kPageSection, m.section);
    PutLengthPrefixedSlice(dst, SectionBody(m));
  }
  for (uint64_t id : edit.deleted_page_runs) PutTagged(dst, kDeletedPageRun, id);
  for (const PageRunMeta& m : edit.added_page_runs) {
    PutTagged(dst, kAddedPageRun, m.run_id);
    PutLengthPrefixedSlice(dst, RunBody(m));
  }
  if (edit.folded_sequence) PutTagged(dst, kFoldedSequence, *edit.folded_sequence);
  if (edit.keys_whole) PutTagged(dst, kKeysWhole, *edit.keys_whole ? 1 : 0);
  if (edit.in_place_sequence) PutTagged(dst, kInPlaceSequence, *edit.in_place_sequence);
}

bool DecodePageField(uint32_t tag, Slice* src, PageStoreEdit* edit, const char** bad) {
  uint64_t number = 0;
  switch (tag) {
    case kPageGeometry:
      edit->page_geometry.emplace();
      if (!GetGeometry(src, &*edit->page_geometry)) *bad = "page geometry";
      return true;
    case kPageSection:
      if (!GetSection(src, &edit->page_sections.emplace_back())) *bad = "page section";
      return true;
    case kDeletedPageRun:
      if (!GetVarint64(src, &number)) *bad = "deleted page run";
      edit->deleted_page_runs.push_back(number);
      return true;
    case kAddedPageRun:
      if (!GetRun(src, &edit->added_page_runs.emplace_back())) *bad = "added page run";
      return true;
    case kFoldedSequence:
      if (!GetVarint64(src, &number)) *bad = "folded sequence";
      edit->folded_sequence = number;
      return true;
    case kKeysWhole:
      if (!GetVarint64(src, &number) || number > 1) *bad = "whole key store";
      edit->keys_whole = number == 1;
      return true;
    case kInPlaceSequence:
      if (!GetVarint64(src, &number)) *bad = "in-place sequence";
      edit->in_place_sequence = number;
      return true;
    default:
      return false;
  }
}

void DescribePageFields(const PageStoreEdit& edit, std::string* dst) {
  if (edit.page_geometry) {
    *dst += "\n  pages of " + std::to_string(edit.page_geometry->page_bytes) + " bytes in " +
            std::to_string(edit.page_geometry->sections) + " sections";
  }
  for (const PageSectionMeta& m : edit.page_sections) {
    *dst += "\n  section " + std::to_string(m.section) + ": file " + std::to_string(m.file_number) +
            ", " + std::to_string(m.pages) + " pages, " + std::to_string(m.records) + " records, " +
            std::to_string(m.overflow_records) + " of them overflow from run " +
            std::to_string(m.overflow_from) + " on";
  }
  for (uint64_t id : edit.deleted_page_runs) *dst += "\n  - page run " + std::to_string(id);
  for (const PageRunMeta& m : edit.added_page_runs) {
    *dst += std::string("\n  + ") + (m.kind == PageRunKind::kJournal ? "journal " : "overflow run ") +
            std::to_string(m.run_id) + ": " + std::to_string(m.count) + " entries, " +
            std::to_string(m.extent.length) + " bytes in file " + std::to_string(m.extent.file_number);
  }
  if (edit.folded_sequence) *dst += "\n  folded up to " + std::to_string(*edit.folded_sequence);
  if (edit.in_place_sequence) {
    *dst += "\n  pages without a journal go up to " + std::to_string(*edit.in_place_sequence);
  }
  if (edit.keys_whole) *dst += *edit.keys_whole ? "\n  the key store is whole" : "\n  the key store lacks keys";
}

}  // namespace compassdb
