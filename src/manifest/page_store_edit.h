// SPDX-License-Identifier: Apache-2.0
// The part of an edit that is about a table-less store (docs/formats/manifest.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/internal_key.h"
#include "manifest/page_store_meta.h"
#include "rocksdb/slice.h"

namespace compassdb {

using rocksdb::Slice;

// Values that are not set do not change. A section replaces the one with its number.
struct PageStoreEdit {
  std::optional<PageGeometry> page_geometry;
  std::vector<PageSectionMeta> page_sections;
  std::vector<uint64_t> deleted_page_runs;  // ids
  std::vector<PageRunMeta> added_page_runs;
  std::optional<SequenceNumber> folded_sequence;  // pages have records up to it
  std::optional<bool> keys_whole;                 // its key store has every key
  // Pages without a journal may have records up to it; above folded_sequence the logs have them, too.
  std::optional<SequenceNumber> in_place_sequence;

  bool TouchesPages() const {
    return page_geometry || !page_sections.empty() || !deleted_page_runs.empty() ||
           !added_page_runs.empty() || folded_sequence || keys_whole || in_place_sequence;
  }
};

void EncodePageFields(const PageStoreEdit& edit, std::string* dst);
// Consumes the field after `tag`. False if the tag is none of these; *bad names the field if it is damaged.
bool DecodePageField(uint32_t tag, Slice* src, PageStoreEdit* edit, const char** bad);
// Appends a line per field.
void DescribePageFields(const PageStoreEdit& edit, std::string* dst);

}  // namespace compassdb
