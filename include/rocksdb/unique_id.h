// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "rocksdb/table_properties.h"

namespace ROCKSDB_NAMESPACE {

// 16 bytes that name a table for good, wherever it is copied; NotSupported if the properties are
// not enough. The second form has 24 bytes.
Status GetUniqueIdFromTableProperties(const TableProperties &props,
                                      std::string *out_id);

Status GetExtendedUniqueIdFromTableProperties(const TableProperties &props,
                                              std::string *out_id);

// Hexadecimal with dashes.
std::string UniqueIdToHumanString(const std::string &id);

}  // namespace ROCKSDB_NAMESPACE
