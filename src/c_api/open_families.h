// SPDX-License-Identifier: Apache-2.0
// Column families as C names them when it opens a database: three lists of one length.
#pragma once

#include <string>
#include <vector>

#include "c_api/errors.h"
#include "c_api/handles.h"

namespace compassdb {

struct FamilyLists {
  int count;
  const char* const* names;
  const rocksdb_options_t* const* options;
  rocksdb_column_family_handle_t** handles;  // to be filled
};

// Runs open(descriptors, &handles), which returns a Status, and fills the list of handles if it is OK.
template <class Open>
bool OpenFamilies(const FamilyLists& lists, char** errptr, Open open) noexcept {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const bool opened = Succeeds(errptr, [&] {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    families.reserve(static_cast<size_t>(lists.count));
    for (int i = 0; i < lists.count; ++i) families.emplace_back(lists.names[i], lists.options[i]->rep);
    return open(families, &handles);
  });
  for (size_t i = 0; opened && i < handles.size(); ++i) {
    lists.handles[i] = MustSucceed([&] { return new rocksdb_column_family_handle_t{handles[i]}; });
  }
  return opened;
}

}  // namespace compassdb
