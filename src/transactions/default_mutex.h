// SPDX-License-Identifier: Apache-2.0
// The mutexes with which transactions wait, from the standard library.
#pragma once

#include <memory>

#include "rocksdb/utilities/transaction_db_mutex.h"

namespace compassdb {

std::shared_ptr<rocksdb::TransactionDBMutexFactory> NewDefaultMutexFactory();

}  // namespace compassdb
