// SPDX-License-Identifier: Apache-2.0
#include "support/layout.h"

namespace compassdb_test {

const std::vector<std::string>& Layouts() {
  static const std::vector<std::string> kLayouts{"tuned"};
  return kLayouts;
}

void ApplyLayout(const std::string&, rocksdb::ColumnFamilyOptions*) {}
void ApplyFullSizeLayout(const std::string&, rocksdb::ColumnFamilyOptions*) {}

}  // namespace compassdb_test
