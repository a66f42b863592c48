// SPDX-License-Identifier: Apache-2.0
// What CheckOptionsCompatibility must find unchanged. Loosely: comparator, merge operator and table
// factory, by name, as these decide how stored data is read. Exactly: all options that are printed,
// save those that say nothing about the data or the database.
#pragma once

#include "options/options_file.h"

namespace compassdb {

Status CompareDbOptions(const ConfigOptions& config, const rocksdb::DBOptions& stored,
                        const rocksdb::DBOptions& given);

// `objects`: the stored texts of the family's objects.
Status CompareFamilyOptions(const ConfigOptions& config, const NamedFamilyOptions& stored,
                            const OptionMap& objects,
                            const rocksdb::ColumnFamilyOptions& given);

}  // namespace compassdb
