// SPDX-License-Identifier: Apache-2.0
// What all pieces and tables of a store share. Immutable; they hold references,
// so that it may outlive the store.
#pragma once

#include <memory>

#include "table/block_io.h"
#include "table/file_cache.h"
#include "table/key_order.h"
#include "table/read_options.h"

namespace compassdb {

struct TableContext {
  TableContext(FileCache* file_cache, const TableReaderOptions& reader_options)
      : files(file_cache),
        options(reader_options),
        order(reader_options.comparator),
        loader(reader_options) {}

  FileCache* const files;
  const TableReaderOptions options;
  const KeyOrder order;
  const BlockLoader loader;
};

using TableContextRef = std::shared_ptr<const TableContext>;

}  // namespace compassdb
