// SPDX-License-Identifier: Apache-2.0
// The fields of an edit that are about a table-less store (docs/formats/manifest.md).
#pragma once

#include <string>

#include "manifest/version_edit.h"
#include "rocksdb/slice.h"

namespace compassdb {

using rocksdb::Slice;

void EncodePageFields(const VersionEdit& edit, std::string* dst);
// Consumes the field after `tag`. False if the tag is none of these; *bad names the field if it is damaged.
bool DecodePageField(uint32_t tag, Slice* src, VersionEdit* edit, const char** bad);
// Appends a line per field.
void DescribePageFields(const VersionEdit& edit, std::string* dst);

}  // namespace compassdb
