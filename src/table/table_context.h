// SPDX-License-Identifier: Apache-2.0
// What all pieces and tables of a store share. They hold references, so it may
// outlive the store. Immutable except for its counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "table/block/block_io.h"
#include "table/directory/index_cache.h"
#include "table/directory/index_memory.h"
#include "table/file/file_cache.h"
#include "table/piece/key_order.h"
#include "table/read_options.h"

namespace compassdb {

struct TableContext {
  TableContext(FileCache* file_cache, const TableReaderOptions& reader_options)
      : files(file_cache),
        options(reader_options),
        order(reader_options.comparator),
        loader(reader_options),
        index_cache(reader_options.block_cache, reader_options.index_priority,
                    reader_options.statistics) {}

  FileCache* const files;
  const TableReaderOptions options;
  const KeyOrder order;
  const BlockLoader loader;
  const IndexCache index_cache;
  mutable IndexUsage index_usage;  // of all parts in memory
  mutable std::atomic<uint64_t> stored_bytes{0};  // extents of all tables of every state
};

using TableContextRef = std::shared_ptr<const TableContext>;

}  // namespace compassdb
