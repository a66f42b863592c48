// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "rocksdb/options.h"

namespace compassdb_test {

// The layouts of data that all tests of the system go through: every preset of the engine, "bolt-hashed"
// (bolt-sorted's tables with perfect hash directories), and "tuned", which leaves the family's options as they are.
// This is the one list of them; a preset that the engine gains takes part by itself. One definition per library
// (layout_compassdb.cc, layout_rocksdb.cc).
const std::vector<std::string>& Layouts();

// With sizes so small that a few kilobytes make several tables, levels and segments, and with holes punched at once.
// A database keeps the layout that it was made with. `name` is of the list.
void ApplyLayout(const std::string& name, rocksdb::ColumnFamilyOptions* options);
// With the engine's own sizes.
void ApplyFullSizeLayout(const std::string& name, rocksdb::ColumnFamilyOptions* options);

}  // namespace compassdb_test
