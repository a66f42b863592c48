// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/trace_reader_writer.h"
#include "rocksdb/utilities/replayer.h"

namespace compassdb {

// Runs traces on `db`, whose families are `handles`. Next and Execute by any threads, the rest by one.
std::unique_ptr<rocksdb::Replayer> NewReplayer(
    rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
    std::unique_ptr<rocksdb::TraceReader> reader);

}  // namespace compassdb
